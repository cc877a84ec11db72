"""Answers to a person: what one of several typed commands printed says nothing of the run itself."""

from __future__ import annotations

from itertools import islice

from postmortem.lazy import lazy
from postmortem.model import Finding, Kind
from postmortem.scene import Reading, Scene

LONGEST = 2000  # lines of a session that are looked at
SEVERAL = 2  # one command above its output is the run itself
# `$ ls`, `[root@n7 ~]# date`, `me@box:~/src$ make`, `root@c01:/# nvidia-smi`
_PROMPT = lazy(r"^(?:# |> )?(?:\$|\[[\w.-]+@[\w.-]+ [^\]]{0,80}\][#$%]|[\w.-]+@[\w.-]+:[~/]\S{0,120}[#$%]) {1,3}(?=\S)")


def answers_a_person(finding: Finding, scene: Scene) -> bool:
    """Whether all that tells the finding was printed in sessions of several typed commands."""
    told = {e.source: scene.reading(e.source) for e in finding.evidence}
    return all(reading is not None and is_session(reading) for reading in told.values())


def is_session(reading: Reading) -> bool:
    """Whether a text holds several prompts with commands, such as `[root@n7 ~]# chronyc tracking`."""
    if reading.source.kind is not Kind.LOG or reading.source.text.count > LONGEST:
        return False
    prompts = (number for number, raw in reading.source.text.kept() if _PROMPT.match(raw))
    return len(list(islice(prompts, SEVERAL))) == SEVERAL

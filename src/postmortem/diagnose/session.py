"""Answers to a person: what one of several typed commands printed says nothing of the run itself."""

from __future__ import annotations

from itertools import islice

from postmortem.lazy import lazy
from postmortem.model import Finding, Kind
from postmortem.scene import Reading, Scene

LONGEST = 2000  # lines of a session that are looked at
SEVERAL = 2  # one command above its output is the run itself
MANAGERS_WORD = "outcome.job-completed"
# `[root@n7 ~]# date`, `me@box:~/src$ make`, `root@c01:/# nvidia-smi`; a bare `$ ls` is what a CI prints, too
_PROMPT = lazy(r"^(?:# |> )?(?:\$|\[[\w.-]+@[\w.-]+ [^\]]{0,80}\][#$%]|[\w.-]+@[\w.-]+:[~/]\S{0,120}[#$%]) {1,3}(?=\S)")


def answers_a_person(finding: Finding, scene: Scene) -> bool:
    """Whether all that tells the finding was printed in sessions of several typed commands."""
    told = {e.source: scene.reading(e.source) for e in finding.evidence}
    answers = all(reading is not None and is_session(reading) for reading in told.values())
    return answers and finding.class_id != MANAGERS_WORD


def is_session(reading: Reading) -> bool:
    """Whether a text begins with a prompt and holds several, such as `[root@n7 ~]# chronyc tracking`.

    A CI's log has the commands of its steps after the words of its runner.
    """
    if reading.source.kind is not Kind.LOG or reading.source.text.count > LONGEST:
        return False
    kept = [raw for _, raw in reading.source.text.kept() if raw.strip()]
    prompts = (raw for raw in kept if _PROMPT.match(raw))
    return bool(kept) and bool(_PROMPT.match(kept[0])) and len(list(islice(prompts, SEVERAL))) == SEVERAL

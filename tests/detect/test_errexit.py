"""Scripts that `set -e` ended without a fault: traces as bash 5.2 prints them, and last words beside the script."""

from __future__ import annotations

import pytest
from scene_texts import Texts, log, seen

from postmortem.detect import errexit
from postmortem.model import Kind

SCRIPT = (
    "#!/bin/bash\nset -eu\nn=0\necho \"sweep: start\"\nfor f in a b; do\n"
    "  echo \"sweep: removed $f\"\n  {}\ndone\necho \"sweep: all done\"\n"
)


def beside(counter: str, words: str, options: str = "set -eu") -> Texts:
    text = SCRIPT.format(counter).replace("set -eu", options)
    return {"sweep.sh": (Kind.SCRIPT, text), **log(words + "sweep.sh exited with status 1\n")}


TRACES = {
    "counter": ("+ set -e\n+ n=0\n+ (( n++ ))\nexit status 1\n", "(( n++ ))"),
    "let": ("+ set -euo pipefail\n+ echo x\nx\n+ let n=0\nexit status 1\n", "let n=0"),
    "count-of-nothing": ("+ set -e\n++ grep -ci foo /tmp/x\n+ n=0\n== exit status 1 ==\n", "grep -ci foo /tmp/x"),
    "a-test-as-last": ("+ set -e\n+ echo x\nx\n+ [ -f /etc/x ]\nexit status 1\n", "[ -f /etc/x ]"),
    "busybox-x": ("bash -ex run.sh\n+ echo a\na\n+ read -r line\nexit status 1\n", "read -r line"),
    "no-errexit": ("+ set -u\n+ n=0\n+ (( n++ ))\nexit status 1\n", None),
    "the-tool-complained": ("+ set -e\n+ n=0\n+ grep x f\ngrep: f: No such file or directory\nexit status 1\n", None),
    "another-command-is-last": ("+ set -e\n+ (( n++ ))\n+ curl -f h\nexit status 1\n", None),
    "it-went-well": ("+ set -e\n+ n=0\n+ (( n++ ))\nexit status 0\n", None),
    "an-assignment-of-a-plain-command": ("+ set -e\n++ curl -s h\n+ n=0\nexit status 1\n", None),
}


@pytest.mark.parametrize("name", TRACES)
def test_trace(name: str) -> None:
    text, command = TRACES[name]
    events, _ = seen(errexit.DETECTOR, log(text))
    assert [e.fields["command"] for e in events] == ([command] if command else [])


WORDS = {
    "stopped-at-the-counter": (beside("((n++))", "sweep: start\nsweep: removed a\n"), ["7"]),
    "let-from-zero": (beside("let n++", "sweep: start\nsweep: removed a\n"), ["7"]),
    "went-on-to-the-end": (beside("((n++))", "sweep: start\nsweep: removed a\nsweep: all done\n"), []),
    "never-came-there": (beside("((n++))", "sweep: start\n"), []),
    "no-errexit": (beside("((n++))", "sweep: start\nsweep: removed a\n", "set -u"), []),
    "pre-increment": (beside("((++n))", "sweep: start\nsweep: removed a\n"), []),
    "guarded": (beside("((n++)) || true", "sweep: start\nsweep: removed a\n"), []),
}


@pytest.mark.parametrize("name", WORDS)
def test_last_words(name: str) -> None:
    texts, lines = WORDS[name]
    events, _ = seen(errexit.DETECTOR, texts)
    assert [e.fields["line"] for e in events] == lines

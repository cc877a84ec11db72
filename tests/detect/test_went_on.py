"""Scripts that went on after a command had failed, and scripts that did not."""

from __future__ import annotations

import pytest
from scene_texts import seen

from postmortem.detect import went_on
from postmortem.model import Kind

PIPE = '#!/bin/sh\n{set}OUT=/b/x.gz\nmydump shop | gzip > "$OUT"\necho "backup: all done, see $OUT"\n'
PLAIN = "#!/bin/bash\n{set}loadtables --all\necho 'nightly: tables are loaded'\n"
LOCAL = '#!/bin/bash\nset -e\nnewest() {{\n  local v=$(curl -fsS "$U/NEWEST")\n  echo "$v"\n}}\nV=$(newest)\necho "fetch: newest is \'$V\'"\n{set}'
TRACE = '#!/bin/bash\nset -x{set}\nawk -f fix.awk in.cfg > out.cfg\nsystemctl reload proxy\n'  # fmt: skip
WAIT = '#!/bin/bash\nset -eu\nfor n in 1 2 3; do\n  worker --part $n > /var/log/app/part-$n.log 2>&1 &\ndone\nwait{set}\necho "merge: all parts are there"\n'
PANIC = "panic: runtime error: index out of range [5] with length 5\n\ngoroutine 1 [running]:\nmain.run(0x3)\n\t/src/main.go:61 +0x2d4\n"

STORIES = {
    "not found in a pipe": (PIPE, "", "job.sh: line 3: mydump: not found\nbackup: all done, see /b/x.gz\n", "pipe-no-pipefail"),
    "the script ended there": (PIPE, "", "job.sh: line 3: mydump: not found\n", ""),
    "said before": (PIPE, "", "backup: all done, see /b/x.gz\njob.sh: line 3: mydump: not found\n", ""),
    "errexit and pipefail": (PIPE, "set -e -o pipefail\n", "job.sh: line 4: mydump: not found\nbackup: all done, see /b/x.gz\n", ""),
    "no errexit": (PLAIN, "", "job.sh: line 2: loadtables: command not found\nnightly: tables are loaded\n", "a script without set -e"),
    "errexit": (PLAIN, "set -e\n", "job.sh: line 3: loadtables: command not found\nnightly: tables are loaded\n", ""),
    "local hides it": (LOCAL, "", "+ fetch\ncurl: (22) The requested URL returned error: 404\nfetch: newest is ''\n", "local-assign"),
    "curl worked": (LOCAL, "", "fetch: newest is '1.9'\n", ""),
    "a trace goes on": (TRACE, "", "+ awk -f fix.awk in.cfg\nawk: cannot open fix.awk (No such file or directory)\n+ systemctl reload proxy\n", "a script without set -e"),
    "a trace ends": (TRACE, " -e", "+ awk -f fix.awk in.cfg\nawk: cannot open fix.awk (No such file or directory)\n", ""),
    "a trace without an error": (TRACE, "", "+ awk -f fix.awk in.cfg\n+ systemctl reload proxy\n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("script", "option", "log", "want"), STORIES.values(), ids=STORIES)
def test_one_log(script: str, option: str, log: str, want: str) -> None:
    events, _ = seen(went_on.DETECTOR, {"job.sh": (Kind.SCRIPT, script.format(set=option)), "job.log": (Kind.LOG, log)})
    assert [e.fields["construct"] for e in events] == ([want] if want else [])
    assert all(e.fields["reached"] == "yes" and e.fields["script"] == "job.sh" for e in events)


@pytest.mark.parametrize(
    ("name", "said", "want"),
    [
        ("part-2.log", "merge: all parts are there\n", ["background-wait"]),
        ("other.log", "merge: all parts are there\n", []),
        ("part-2.log", "merge: started\n", []),
    ],
    ids=["a worker died", "another program died", "the script did not go on"],
)
def test_a_bare_wait(name: str, said: str, want: list[str]) -> None:
    texts = {"merge.sh": (Kind.SCRIPT, WAIT.format(set="")), "merge.log": (Kind.LOG, said), name: (Kind.LOG, PANIC)}
    events, _ = seen(went_on.DETECTOR, texts)
    assert [e.fields["construct"] for e in events] == want

"""Lines that only name a test that passed: what its name speaks of did not happen to the run."""

from __future__ import annotations

from postmortem.lazy import lazy

# `✓ 12 [chromium] › a.spec.ts:3:1 › shows the refused banner (1.2s)`, `ok 7 - survives SIGKILL`, `--- PASS: TestX`,
# `tests/test_oom.py::test_killed PASSED [ 12%]`, `test pool::out_of_memory ... ok`, `[       OK ] Pool.Timeout (3 ms)`,
# ` 3/41 Test #3: oom_kill .....   Passed    0.03 sec`, `mem.c:151: TPASS: victim signalled: (9) SIGKILL`
_PASSED = lazy(
    r"^\s*(?:[✓✔√] |ok \d+\b|--- PASS: |\[ +OK +\] \w+\.|PASS(?:ED)?:? \S+(?:::|/|\.\w+ )|\[PASS\] )"
    r"|::\S+ PASSED(?: +\[ *\d+%\])?$|^test \S+ \.\.\. ok(?: |$)|\bTPASS ?: |^\s*\d+/\d+ Test +#\d+: .{1,200}\bPassed\b"
    r"|^\w+ \([\w.]+\)(?: \.\.\.|\n.{0,200}\.\.\.) ok$"
)


def names_a_passed_test(message: str) -> bool:
    """Whether the line is a test runner's word that one test passed."""
    return bool(_PASSED.search(message))

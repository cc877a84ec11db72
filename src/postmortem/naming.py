"""What can be a process's name: an ordinary word of the sentence that tells of its end is none."""

from __future__ import annotations

from collections.abc import Mapping

KEYS = ("comm", "victim", "parent_comm", "invoker", "top_comm", "holder")
# no program is called so, whoever tells it
WORDS = frozenset(
    """
    a an and any are be because been being but by did do does during each either for from got had has have he how into
    is its itself my neither no nor not of on one onto or our she some than that the their them then there these they
    this those to too us via was we were what when where while whose why with without you your
    aborted aborting caused crashed died dies ended exited exiting exits expected failed failing fails finished gets
    getting gives killed killing lost received receives restarted returned returning returns sent signalled signaled
    started starting stopped stopping terminated terminating unexpected unexpectedly want wanted wants
    null nil none undefined unknown
    """.split()  # noqa: SIM905
)
# programs may be called so, but in a sentence it is the kind of thing that ended
NOUNS = frozenset(
    """
    action after application as at before binary builtin call child child_process children code command commands
    container core daemon entrypoint error eval event exception exec exit fatal function handler host image info
    instance it job jobs kernel last line message module notice operation parent pid pod problem process processes
    prog program programs rank reason request result run script service session shell signal source stage state
    status step subprocess system task tasks test tests thread time trap unit user warning worker workers
    """.split()  # noqa: SIM905
)
_SHELL = frozenset("$`*?|;&<>{}")


def is_name(text: str, prose: bool = False) -> bool:
    """Whether a text can be a process's name; in `prose` a noun for all, such as `worker`, is none."""
    word = text.strip("\"'").lower()
    if not any(c.isalpha() for c in word) or word in WORDS:
        return False
    return not (prose and (word in NOUNS or not _SHELL.isdisjoint(word)))


def without_words(fields: Mapping[str, str], prose: bool = False) -> Mapping[str, str]:
    """The fields of a record without names of processes that are ordinary words, or without a letter."""
    bad = [key for key in KEYS if (value := fields.get(key)) and not is_name(value, prose)]
    return {k: v for k, v in fields.items() if k not in bad} if bad else fields

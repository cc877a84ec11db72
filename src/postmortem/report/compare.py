"""Two reports side by side: verdict, machine, numbers, and lines that only one of them has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from postmortem.report import Report
from postmortem.report.words import about, exhibits, headline, size

MOST_LINES, MOST_NAMES = 40, 12
KINDS = ("log", "kernel", "journal", "script", "config")
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"^(?:\w{3} )?\w{3} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?"), "<time>"),
    (re.compile(r"^\[ *\d+\.\d+\]"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", re.I), "<hex>"),
    (re.compile(r"\d+"), "<n>"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs; None where a side does not have it."""

    topic: str
    name: str
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs, and lines by source that only one side has, with numbers and times masked."""

    differences: tuple[Difference, ...]
    vanished: tuple[tuple[str, int, str], ...]  # of a: source, line, text
    new: tuple[tuple[str, int, str], ...]  # of b
    same_failure: bool
    unread: tuple[str, ...] = ()  # logs of both whose lines are in no report, because they are big

    def text(self, names: Mapping[str, str]) -> str:
        """As JSON, schema postmortem/comparison/v1."""
        value = {
            "schema": "postmortem/comparison/v1",
            "a": names["a"],
            "b": names["b"],
            "same_failure": self.same_failure,
            "differences": [{"topic": d.topic, "name": d.name, "a": d.a, "b": d.b} for d in self.differences],
            "vanished": [{"source": s, "line": n, "text": t} for s, n, t in self.vanished],
            "new": [{"source": s, "line": n, "text": t} for s, n, t in self.new],
            "not_compared": list(self.unread),
        }
        return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def compare(a: Report, b: Report) -> Comparison:
    """What differs between two reports."""
    topics = (
        ("verdict", verdict),
        ("facts", facts),
        ("machine", machine),
        ("findings", findings),
        ("numbers", numbers),
        ("sources", sources),
    )
    found = tuple(d for topic, of in topics for d in differing(topic, of(a), of(b)))
    gone, new = lines_of_one_side(a, b)
    same = bool(a["fingerprint"]) and a["fingerprint"] == b["fingerprint"]
    return Comparison(found, gone, new, same, tuple(sorted((logs(a) & logs(b)) - (texts(a).keys() & texts(b).keys()))))


def differing(topic: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys([*a, *b]):
        if a.get(name) != b.get(name):
            yield Difference(topic, name, a.get(name), b.get(name))


def verdict(report: Report) -> dict[str, str]:
    root, end = report["root_cause"], report["outcome"]
    told = {"status": report["status"], "cause": root["class"] if root else "", "said": headline(report)}
    told |= {"confidence": root["confidence"]} if root else {}
    return told | ({"outcome": end["what"]} if end else {})


def facts(report: Report) -> dict[str, str]:
    """What is known of the cause: victim, limits, codes."""
    return {name: str(value) for name, value in ((report["root_cause"] or {}).get("facts") or {}).items()}


def machine(report: Report) -> dict[str, str]:
    """Versions and names; of scripts, their checksums."""
    told = {name: value for name, value in about(report) if name != "input"}
    told |= {f"script {name}": digest[:12] for name, digest in report["machine"].get("scripts", {}).items()}
    return told | {"tool": report["tool"]["version"], "catalogue": report["tool"]["catalogue"]}


def findings(report: Report) -> dict[str, str]:
    """Classes with their places; those ruled out too."""
    told = {one["class"]: one["place"] for one in reversed(report["chain"])}
    return told | {one["class"]: "ruled out" for one in report["ruled_out"] if one["class"] not in told}


def numbers(report: Report) -> dict[str, str]:
    """Limits, peaks and what GPUs show."""
    told = {}
    for series in exhibits(report, "series", "memory"):
        for item in [*series["levels"], *series["points"][-1:]]:
            told[f"{series['title']}: {item['name']}"] = size(item["value"])
    for table in exhibits(report, "table", "gpus"):
        for row in table["rows"]:
            values = row["values"]
            told |= {f"GPU {values.get('gpu', '?')}: {k}": str(v) for k, v in values.items() if k != "gpu"}
    return told


def sources(report: Report) -> dict[str, str]:
    told = {base(one["path"]): one["state"] for one in report["input"]["sources"]}
    return told | {f"probe {one['name']}": one["state"] for one in report["probes"]}


def base(path: str) -> str:
    """The path without the folder that archives put everything in."""
    return path.removeprefix("./").removeprefix("files/")


Lines = tuple[tuple[str, int, str], ...]


def lines_of_one_side(a: Report, b: Report) -> tuple[Lines, Lines]:
    """Lines whose words, without numbers and times, only one side's source of that name has."""
    of_a, of_b = texts(a), texts(b)
    shared = sorted(of_a.keys() & of_b.keys())
    return only(shared, of_a, of_b), only(shared, of_b, of_a)


def logs(report: Report) -> set[str]:
    """The sources whose lines are worth a comparison."""
    return {base(one["path"]) for one in report["input"]["sources"] if one["kind"] in KINDS and one["lines"]}


def texts(report: Report) -> dict[str, list[str]]:
    shown = (one for one in exhibits(report, "source") if one.get("source_kind") in KINDS)
    return {base(one["source"]): one["text"].split("\n") for one in shown}


def only(names: Iterable[str], here: Mapping[str, list[str]], there: Mapping[str, list[str]]) -> Lines:
    found = []
    for name in names:
        known = {masked(line) for line in there[name]}
        for number, line in enumerate(here[name], 1):
            words = masked(line)
            if words.strip() and words not in known:
                known.add(words)
                found.append((name, number, line))
    return tuple(found)


def masked(text: str) -> str:
    for pattern, stand_in in _MASKS:
        text = pattern.sub(stand_in, text)
    return text


def in_words(found: Comparison, names: Mapping[str, str], form: str) -> str:
    """For a terminal, or as Markdown."""
    return "\n".join((markdown if form == "markdown" else plain)(found, names)) + "\n"


def plain(found: Comparison, names: Mapping[str, str]) -> Iterator[str]:
    yield f"A  {names['a']}"
    yield f"B  {names['b']}"
    yield same(found)
    topic = ""
    for one in found.differences:
        if one.topic != topic:
            topic = one.topic
            yield f"\n{topic.capitalize()}"
        yield f"  {one.name}"
        yield from (f"    {side}  {value}" for side, value in (("A", one.a), ("B", one.b)) if value is not None)
    for title, lines, sign in (("Lines only in A", found.vanished, "-"), ("Lines only in B", found.new, "+")):
        if lines:
            yield f"\n{title}"
            yield from (f"  {sign} {source}:{number}: {text}" for source, number, text in lines[:MOST_LINES])
            yield from (f"  ... {len(lines) - MOST_LINES} more" for _ in [0] if len(lines) > MOST_LINES)
    yield from (f"\n{one}" for one in not_compared(found))


def markdown(found: Comparison, names: Mapping[str, str]) -> Iterator[str]:
    from postmortem.report.markdown import code, fence, inert

    yield f"## {inert(same(found))}"
    yield ""
    yield f"A: {code(names['a'])}, B: {code(names['b'])}"
    yield ""
    yield "| | A | B |"
    yield "| --- | --- | --- |"
    for one in found.differences:
        yield f"| {one.topic}: {code(one.name)} | {code(one.a or '-')} | {code(one.b or '-')} |"
    for title, lines, sign in (("Lines only in A", found.vanished, "-"), ("Lines only in B", found.new, "+")):
        if lines:
            yield f"\n### {title}\n"
            yield from fence([f"{sign} {source}:{number}: {text}" for source, number, text in lines[:MOST_LINES]])
    yield from (f"\n{inert(one)}" for one in not_compared(found))


def not_compared(found: Comparison) -> Iterator[str]:
    """What was too big to stand in the reports, so that its lines are not told apart."""
    if found.unread:
        shown = found.unread[:MOST_NAMES]
        left = f" and {len(found.unread) - MOST_NAMES} more" if len(found.unread) > MOST_NAMES else ""
        yield f"Lines not compared, too big to stand in a report: {', '.join(shown)}{left}"


def same(found: Comparison) -> str:
    if not found.differences and not found.new and not found.vanished:
        return "The two say the same."
    return "The same failure in both." if found.same_failure else "The two differ."

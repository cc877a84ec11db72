"""What a verdict rests on taken away: each evidence line in turn, and the counters that rule a class out."""

from __future__ import annotations

from collections.abc import Iterator

from evidence import Files, base, files, joined, lines, run

from scoring import Case, Report, is_high, said

FOR = ("root_cause", "outcome")


def evidence_lines(report: Report) -> list[tuple[str, int]]:
    """Every line that the root cause, the outcome or the chain of a report rests on."""
    claims = [report[key] for key in FOR if report.get(key)] + [k for k in report["chain"] if k["place"] != "context"]
    return sorted({(e["source"], e["line"]) for claim in claims for e in claim["evidence"] if e["line"]})


def without_line(given: Files, path: str, number: int) -> Files | None:
    """The files without one line; None where the report names a member that is no file of its own."""
    if path not in given:
        return None
    rows = lines(given[path])
    return dict(given) | {path: joined(rows[: number - 1] + rows[number:])}


def confident_wrong(case: Case, report: Report) -> str | None:
    """The wrong answer that a report gives with high confidence, if it does.

    Right is what the label names, and what the report on the whole case places in its chain: with the cause out of
    sight, a consequence is the best answer.
    """
    got = said(report)
    chain = {k["class"] for k in base(case)["chain"] if k["place"] != "context"}
    return got if got and is_high(report) and got not in case.named | chain | {said(base(case))} else None


def jumps(case: Case) -> Iterator[tuple[str, str | None]]:
    """(FILE:LINE that was removed, the confident wrong answer that this led to or None) for each evidence line."""
    for path, number in evidence_lines(base(case)):
        fewer = without_line(files(case), path, number)
        if fewer is not None:
            yield f"{path}:{number}", confident_wrong(case, run(fewer))


def revivals(case: Case) -> Iterator[tuple[str, str | None]]:
    """(class and what was removed, the claim it came back with or None) for each class that the case rules out.

    Without the sources that speak against it the class may be possible; it must not be sure, and not be the
    root with high confidence.
    """
    for ruled_out in base(case)["ruled_out"]:
        gone = {e["source"] for e in ruled_out["evidence"]} & set(files(case))
        fewer = {path: data for path, data in files(case).items() if path not in gone}
        name = ruled_out["class"]
        if not gone or not fewer or name in case.good:
            continue
        report = run(fewer)
        sure = [f for f in report["findings"] if f["class"] == name and f["confidence"] == "confirmed"]
        headed = said(report) == name and is_high(report)
        yield f"{name} without {', '.join(sorted(gone))}", "confirmed" if sure or headed else None

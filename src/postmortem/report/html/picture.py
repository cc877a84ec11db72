"""The geometry of the time line: one lane for each source, marks by place, the chain as arrows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from postmortem.report import Report
from postmortem.report.html.links import Links
from postmortem.report.html.scale import WIDTH, Span, domain, first_view, second
from postmortem.report.html.ticks import Tick, ticks
from postmortem.report.moment import year_known
from postmortem.report.words import exhibits, followed, place

LANE, TOP = 48, 6
MARK_Y = 32  # of a mark within its lane; the lane's name stands above
MOST_LANES = 30
RANK = ("event", "context", "contributing", "symptom", "consequence", "root")


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of the time line as a dot."""

    x: float
    y: float
    place: str
    label: str
    href: str
    spread: float  # half its uncertainty, in units of the picture
    count: int
    lead: bool  # the line that a link of the chain begins with


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a cause to its effect."""

    path: str
    x: float
    y: float
    edge: str
    label: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One source: its name, its upper edge, and how busy it was."""

    name: str
    y: int
    bars: str  # path of how many lines the source wrote when


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that the template draws; `view` is what is seen first."""

    start: float
    end: float
    height: int
    view: tuple[float, float]  # x and width
    lanes: tuple[Lane, ...] = ()
    marks: tuple[Mark, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    ticks: tuple[Tick, ...] = ()
    unit: str = "time"  # of start and end: `time` is seconds since 1970; else `s` since boot, or `line`
    notes: tuple[str, ...] = field(default=())


def picture(report: Report, links: Links) -> Picture | None:
    """The picture, or None when no line has a time or an order."""
    dated = [row for row in report["timeline"] if row["when"]]
    with_year = [row for row in dated if year_known(row["when"])]
    ordered: Any = next(iter(exhibits(report, "series", "order")), {"unit": "time", "rows": []})
    rows = ordered["rows"] or with_year or dated
    if not rows:
        return None
    unit = str(ordered["unit"])
    if unit != "time" and len({row["at"] for row in rows}) < 2:
        return None
    told = [second(row) for row in rows if row["place"] not in ("event", "context")] or [second(r) for r in rows]
    span = domain(told, [*(second(row) for row in rows), *active_from_to(report)])
    inside = [row for row in rows if span.holds(second(row))]
    active = {one["source"]: one for a in exhibits(report, "series", "activity") for one in a["sources"]}
    names = lanes_of(inside, active)
    y = {name: TOP + at * LANE for at, name in enumerate(names)}
    view = first_view(span, told)
    return Picture(
        start=round(span.start, 3),
        end=round(span.end, 3),
        height=TOP + len(names) * LANE + 4,
        view=view,
        lanes=tuple(Lane(name, y[name], bars(report, name, y[name], span)) for name in names),
        marks=marks(inside, y, span, links, leads(report)),
        arrows=arrows(report, inside, y, span, view[1] / 100),
        ticks=ticks(span.start, span.end, view[0] / WIDTH, view[1] / WIDTH, unit),
        unit=unit,
        notes=notes(dated, rows, inside, names, report) if unit == "time" else by_order(dated, unit),
    )


def active_from_to(report: Report) -> list[float]:
    """When the first and the last line were written, of the sources whose lines are counted."""
    ends = []
    for one in exhibits(report, "series", "activity"):
        busy = [at for s in one["sources"] for at, count in enumerate(s["counts"]) if count]
        ends += [one["start"] + min(busy) * one["width"], one["start"] + (max(busy) + 1) * one["width"]]
    return ends


def lanes_of(rows: Iterable[Any], active: dict[str, Any]) -> list[str]:
    """The sources with rows: those of the chain first, in order of time."""
    strength: dict[str, int] = {}
    for row in rows:
        strength[row["source"]] = max(strength.get(row["source"], 0), RANK.index(row["place"]))
    names = sorted(strength, key=lambda name: -strength[name])
    return (names + [name for name in active if name not in strength][:4])[:MOST_LANES]


def leads(report: Report) -> set[tuple[str, int]]:
    """(source, line) of the first evidence of each link from root to symptom."""
    firsts = [link["evidence"][0] for link in followed(report)]
    return {(item["source"], item["line"]) for item in firsts}


def marks(rows: list[Any], y: dict[str, int], span: Span, links: Links, lead: set[tuple[str, int]]) -> tuple[Mark, ...]:
    """The dots, the weightiest drawn last."""
    drawn = [r for r in rows if r["source"] in y]
    drawn.sort(key=lambda r: (RANK.index(r["place"]), (r["source"], r["line"]) in lead))
    scale = WIDTH / (span.end - span.start)
    return tuple(
        Mark(
            span.x(second(row)),
            y[row["source"]] + MARK_Y,
            row["place"],
            label(row),
            links.to(row["source"], row["line"]),
            round(min(row["when"]["plus_minus_s"] * scale, WIDTH), 3) if row.get("when") else 0.0,
            row.get("count", 1),
            (row["source"], row["line"]) in lead,
        )
        for row in drawn
    )


def label(row: Any) -> str:
    at = row["when"]["utc"].replace("T", " ") + "  " if row.get("when") else ""
    many = f" ({row['count']} of them)" if row.get("count", 1) > 1 else ""
    what = row["class"] or row.get("event", "")
    return f"{at}{place(row)}  {what}{many}\n{row['text'][:300]}"


def arrows(report: Report, rows: list[Any], y: dict[str, int], span: Span, least: float) -> tuple[Arrow, ...]:
    """A curve for each link of the chain whose both ends are drawn and stand at least so far apart in one lane."""
    drawn = {(r["source"], r["line"]): (span.x(second(r)), y[r["source"]] + MARK_Y) for r in rows if r["source"] in y}
    ends: dict[str, tuple[float, float]] = {}
    for link in followed(report):
        place = next((p for e in link["evidence"] if (p := drawn.get((e["source"], e["line"])))), None)
        if place:
            ends.setdefault(link["class"], place)
    made = []
    for link in followed(report):
        start, end = ends.get(link["because_of"] or ""), ends.get(link["class"])
        if start and end and (start[1] != end[1] or abs(start[0] - end[0]) >= least):
            said = f"{link['because_of']} caused {link['class']} ({link['edge']})"
            made.append(Arrow(curve(start, end), *end, link["edge"] or "", said))
    return tuple(made)


def curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    (a, b), (c, d) = start, end
    bend = 18 if b == d else 0
    third = (c - a) / 3
    return f"M{a:g} {b:g}C{a + third:g} {b - bend:g} {c - third:g} {d - bend:g} {c:g} {d:g}"


def bars(report: Report, name: str, y: int, span: Span) -> str:
    """The lane's lines over time as one path of bars, the busiest stretch 14 high."""
    for one in exhibits(report, "series", "activity"):
        counts: list[int] = next((s["counts"] for s in one["sources"] if s["source"] == name), [])
        most = max(counts, default=0)
        parts = []
        for at, count in enumerate(counts):
            left = one["start"] + at * one["width"]
            if count and left + one["width"] >= span.start and left <= span.end:
                high = max(2.0, 14 * (count / most) ** 0.5)
                x0, x1 = max(0.0, span.x(left)), min(WIDTH, span.x(left + one["width"]))
                parts.append(f"M{x0:g} {y + LANE - 2}v{-high:.1f}H{x1:g}v{high:.1f}z")
        return "".join(parts)
    return ""


def by_order(dated: list[Any], unit: str) -> tuple[str, ...]:
    """What is told of a picture without a time of day."""
    if dated:
        return ("Lines that a log without the time since boot wrote are in the table only.",)
    return ("No line here has a time of day: lines stand by their order.",) if unit == "line" else ()


def notes(dated: list[Any], rows: list[Any], inside: list[Any], names: list[str], report: Report) -> tuple[str, ...]:
    """What the picture does not show as it is, and why."""
    left_out = len(rows) - len(inside)
    many = sum(row.get("count", 1) - 1 for row in inside)
    lost = len({row["source"] for row in inside}) - len(set(names) & {row["source"] for row in inside})
    read = {s["path"] for s in report["input"]["sources"] if s.get("sampled")} & set(names)
    sampled = any(one.get("sampled") for one in exhibits(report, "series", "activity"))
    said = (
        (left_out, f"{left_out} lines far from the incident are in the table only."),
        (len(rows) < len(dated), f"{len(dated) - len(rows)} lines whose log names no year are in the table only."),
        (many, f"{many} repeated events are drawn with the first of their kind and stretch of time."),
        (read, f"Of {', '.join(sorted(read)[:3])} only the first and the last lines of each kind are read."),
        (lost, f"{lost} more sources have no lane."),
        (
            any(not row["when"]["zone_known"] for row in rows if row.get("when")),
            "Some logs name no time zone; they are read as UTC.",
        ),
        (dated and not any(year_known(row["when"]) for row in rows), "No log names a year."),
        (sampled, "Grey bars, how many lines a source wrote, are estimated from samples."),
    )
    return tuple(text for true, text in said if true)

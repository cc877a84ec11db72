"""Curves and bars by matplotlib, as SVG text that a page may hold; imported only where there is something to draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from postmortem.report import Report
from postmortem.report.html.svg import tidy
from postmortem.report.moment import parsed, told
from postmortem.report.words import exhibits, shown

INK, QUIET, GRID, ACCENT, ALARM, FILL = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
SERIES = ("#0a0a01", "#0a0a02", "#0a0a03", "#0a0a04", "#0a0a05", "#0a0a06")  # stand for the page's own colours
GIB = 1024.0**3


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture with the same content in words."""

    title: str
    svg: Markup
    rows: tuple[tuple[str, str, str], ...]  # name, value, where or when


def plots(report: Report) -> tuple[Plot, ...]:
    """One plot for each series that has something to compare; the activity is part of the time line."""
    series = [one for one in exhibits(report, "series") if one.get("name") not in ("activity", "order")]
    return tuple(plot(one, f"plot{n}") for n, one in enumerate(series, 1) if one.get("lines") or one.get("levels"))


def plot(one: Any, name: str) -> Plot:
    """The picture; only the words, where matplotlib cannot start (it needs a writable folder for its cache)."""
    if one.get("lines"):
        fill, height = curves, 2.2
    elif len({p["when"]["utc"] for p in one["points"] if p["when"]}) > 1:
        fill, height = levels, 2.6
    else:
        fill, height = bars, 0.25 + 0.3 * len(values(one))
    try:
        svg = tidy(draw(lambda ax: fill(ax, one), height), name, one["title"])
    except OSError:
        svg = Markup("")
    return Plot(one["title"], svg, tuple(rows(one)))


def rows(one: Any) -> list[tuple[str, str, str]]:
    """The same in words: every level and point of a small series, the range of each line of a big one."""
    if one.get("lines"):
        return [line_in_words(line, one["unit"]) for line in one["lines"]]
    told_of = [*one["levels"], *one["points"][:20]]
    listed = [
        (p["name"], shown(p["value"], one["unit"]), f"{told(p['when'], '')} {p['source']}:{p['line']}".strip())
        for p in told_of
    ]
    return listed + [
        (m["text"], "", f"{told(m['when'], '')} {m['source']}:{m['line']}".strip()) for m in one["marks"][:20]
    ]


def line_in_words(line: Any, unit: str) -> tuple[str, str, str]:
    numbers = [p["value"] for p in line["points"]]
    ranged = f"from {min(numbers):g} to {max(numbers):g} {unit}, last {numbers[-1]:g}"
    return line["name"], ranged, told(line["points"][-1]["when"], "")


def draw(fill: Callable[[Any], None], height: float) -> str:
    """The figure as SVG text, the same bytes for the same data."""
    import io
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # else it talks of its cache on standard error
    import matplotlib
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "postmortem", "font.family": "DejaVu Sans", "font.size": 9}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(5.2, height), layout="constrained")
        figure.patch.set_visible(False)
        ax = figure.subplots()
        ax.patch.set_visible(False)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.spines["bottom"].set_color(GRID)
        ax.tick_params(colors=QUIET, length=0)
        fill(ax)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def values(one: Any) -> list[Any]:
    """What bars compare: the levels and the last point, the largest first."""
    return sorted([*one["levels"], *one["points"][-1:]], key=lambda p: -p["value"])


def bars(ax: Any, one: Any) -> None:
    """The numbers of one look at a cgroup, side by side."""
    shown_here = values(one)
    limit = next((p["value"] for p in shown_here if p["name"] == "limit"), None)
    for at, item in enumerate(shown_here):
        full = limit is not None and item["name"] in ("in use", "peak") and item["value"] >= 0.98 * limit
        colour = ALARM if full else FILL if item["name"] in ("limit", "total", "soft limit") else ACCENT
        ax.barh(at, item["value"] / GIB, color=colour, height=0.62)
        beside(ax, (item["value"] / GIB, at), shown(item["value"], one["unit"]), INK)
    ax.set_yticks(range(len(shown_here)), [safe(p["name"]) for p in shown_here])
    ax.invert_yaxis()
    ax.set_xlim(0, max(p["value"] for p in shown_here) / GIB * 1.22 or 1)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", colors=INK)


def levels(ax: Any, one: Any) -> None:
    """Use over time under its limits, with the moments at which the killer came."""
    points = [p for p in one["points"] if p["when"]]
    times = [at(p) for p in points]
    ax.plot(times, [p["value"] / GIB for p in points], color=ACCENT, marker="o", markersize=4, linewidth=1.6)
    for item in one["levels"]:
        alarm = item["name"] == "limit"
        ax.axhline(item["value"] / GIB, color=ALARM if alarm else QUIET, linewidth=1, linestyle="-" if alarm else "--")
        name = f"{safe(item['name'])} {shown(item['value'], one['unit'])}"
        beside(ax, (1, item["value"] / GIB), name, INK, xycoords=ax.get_yaxis_transform())
    for item in one["marks"]:
        if item["when"]:
            ax.axvline(at(item), color=ALARM, linewidth=0.8, linestyle=":")
    ax.set_ylim(bottom=0)
    ax.set_ylabel("GiB", color=QUIET)
    timed(ax)


def curves(ax: Any, one: Any) -> None:
    """A monitor's numbers, one line for each GPU, and the moment of the root cause."""
    for number, line in enumerate(one["lines"]):
        points = [p for p in line["points"] if p["when"]] or line["points"]
        xs = [at(p) for p in points] if points[0]["when"] else list(range(len(points)))
        colour = SERIES[number % len(SERIES)]
        ax.plot(xs, [p["value"] for p in points], color=colour, linewidth=1.4)
        beside(ax, (xs[-1], points[-1]["value"]), safe(line["name"]), colour)
    low, high = ax.get_xlim()
    for item in one["marks"]:
        if item["when"] and low <= (x := days(at(item))) <= high + 0.1 * (high - low):
            ax.axvline(x, color=ALARM, linewidth=1, linestyle=":")
    ax.set_ylim(bottom=0)
    ax.set_ylabel(safe(one["unit"]), color=QUIET)
    ax.grid(axis="y", color=GRID, linewidth=0.6)
    if one["lines"][0]["points"][0]["when"]:
        timed(ax)


def beside(ax: Any, where: tuple[Any, float], text: str, colour: str, **more: Any) -> None:
    """A label right of a point."""
    ax.annotate(text, where, (5, 0), textcoords="offset points", va="center", color=colour, **more)


def timed(ax: Any) -> None:
    from matplotlib import dates

    kit: Any = dates  # has no types
    locator = kit.AutoDateLocator(minticks=3, maxticks=5, tz=UTC)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(kit.ConciseDateFormatter(locator, tz=UTC))
    ax.xaxis.get_offset_text().set_color(QUIET)


def days(moment: datetime) -> float:
    """matplotlib's number of a moment: days since 1970."""
    return moment.timestamp() / 86400


def at(point: Any) -> datetime:
    moment = parsed(point["when"])
    assert moment is not None
    return moment


def safe(text: str) -> str:
    """A label that matplotlib takes as it stands: no formula, no letter that its font lacks."""
    return text.encode("ascii", "replace").decode()[:40].replace("$", "\\$")

"""The dashboard's pictures by matplotlib, as SVG in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from postmortem.report.html.plots import ACCENT, ALARM, FILL, GRID, INK, QUIET, SERIES, draw
from postmortem.report.html.svg import tidy
from postmortem.triage.summary import Summary

MOST_GROUPS, MOST_HOSTS, MOST_CLASSES, MOST_LINES = 15, 25, 14, 5


def pareto(summary: Summary) -> Markup | None:
    """The groups by number, with the share that they and all before them have."""
    groups = summary["groups"][:MOST_GROUPS]
    if not groups:
        return None

    def fill(ax: Any) -> None:
        total, run = 0.0, []
        for at, g in enumerate(groups):
            ax.barh(at, g["count"], color=ACCENT if g["named"] else FILL, height=0.66)
            total += g["share"]
            run.append(total)
            ax.annotate(
                f"{g['count']:,}   {total:.0%}",
                (g["count"], at),
                (5, 0),
                textcoords="offset points",
                va="center",
                color=QUIET,
            )
        ax.set_yticks(range(len(groups)), [short(g["label"], 62) for g in groups])
        ax.tick_params(axis="y", colors=INK)
        ax.invert_yaxis()
        ax.set_xlim(0, groups[0]["count"] * 1.25)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)

    return tidy(draw(fill, 0.5 + 0.28 * len(groups)), "pareto", "Causes, most often first, with their running share")


def heat(summary: Summary, frame: Any) -> Markup | None:
    """Failures by host and class, the darker the more."""
    failed = frame[(frame["status"] == "failed") & (frame["host"] != "")]
    if not len(failed):
        return None
    named = failed.assign(cause=failed["class"].where(failed["class"] != "", "unknown"))
    hosts = list(
        named["host"].value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST_HOSTS]
    )
    odd = {g["class"] for g in summary["groups"] if g["id"] in {i["group"] for i in summary["lemons"]["found"]}}
    causes = sorted(frequent(named["cause"]), key=lambda c: c not in odd)[:MOST_CLASSES]
    counts = named.groupby(["host", "cause"]).size()
    most = max((int(counts.get((h, c), 0)) for h in hosts for c in causes), default=1) or 1

    def fill(ax: Any) -> None:
        from matplotlib.patches import Rectangle

        for y, host in enumerate(hosts):
            for x, cause in enumerate(causes):
                count = int(counts.get((host, cause), 0))
                if count:
                    ax.add_patch(
                        Rectangle(
                            (x - 0.48, y - 0.46), 0.96, 0.92, color=ALARM, alpha=0.12 + 0.6 * count / most, linewidth=0
                        )
                    )
                    ax.annotate(str(count), (x, y), ha="center", va="center", color=INK, size=8)
        ax.set_xlim(-0.5, len(causes) - 0.5)
        ax.set_ylim(len(hosts) - 0.5, -0.5)
        ax.set_yticks(range(len(hosts)), [short(h, 28) for h in hosts])
        ax.set_xticks(
            range(len(causes)), [short(c, 30) for c in causes], rotation=38, ha="left", rotation_mode="anchor"
        )
        ax.xaxis.tick_top()
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(colors=INK)

    return tidy(draw(fill, 1.9 + 0.24 * len(hosts)), "heat", "Failures by host and class")


def frequent(column: Any) -> list[str]:
    """The values, the most frequent first, equal ones in order."""
    return list(column.value_counts().sort_index().sort_values(ascending=False, kind="stable").index)


def over_time(summary: Summary, frame: Any) -> Markup | None:
    """Failures of the most frequent groups, and of all, by day, week or month."""
    dated = frame[(frame["status"] == "failed") & (frame["day"] != "")]
    if dated["day"].nunique() < 2:
        return None
    import pandas as pd

    span = (pd.Timestamp(dated["day"].max()) - pd.Timestamp(dated["day"].min())).days
    step = "D" if span <= 90 else "W" if span <= 800 else "M"

    def binned(rows: Any) -> Any:
        return pd.PeriodIndex(rows["day"], freq=step).value_counts().sort_index()

    everything = binned(dated)
    bins = pd.period_range(everything.index[0], everything.index[-1], freq=step)
    starts = bins.to_timestamp()

    def fill(ax: Any) -> None:
        ax.bar(starts, everything.reindex(bins, fill_value=0), color=GRID, width=0.9 * span / max(1, len(bins) - 1))
        for number, g in enumerate(summary["groups"][:MOST_LINES]):
            counts = binned(dated[dated["group"] == g["id"]]).reindex(bins, fill_value=0)
            ax.plot(starts, counts, color=SERIES[number], linewidth=1.6, label=short(g["label"], 70))
        for change in summary["changes"]["found"][:4]:
            ax.axvline(pd.Timestamp(change["day"]), color=ALARM, linewidth=1, linestyle=":")
        ax.set_ylim(bottom=0)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, labelcolor=INK, fontsize=8)
        timed(ax)

    name = {"D": "day", "W": "week", "M": "month"}[step]
    return tidy(draw(fill, 3.9), "time", f"Failures a {name}: all (bars) and the most frequent groups (lines)")


def timed(ax: Any) -> None:
    import matplotlib.dates

    dates: Any = matplotlib.dates
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


def short(text: str, most: int) -> str:
    """A label that matplotlib takes as it stands."""
    plain = text.encode("ascii", "replace").decode().replace("$", "\\$").replace("\\d", "d")
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def all_of(summary: Summary, frame: Any) -> Sequence[tuple[str, str, Markup]]:
    """(id, heading, picture) of those that have something to show."""
    made = (
        ("causes", "Causes", pareto(summary)),
        ("days", "Over time", over_time(summary, frame)),
        ("machines", "Hosts by class", heat(summary, frame)),
    )
    return [(i, heading, picture) for i, heading, picture in made if picture is not None]

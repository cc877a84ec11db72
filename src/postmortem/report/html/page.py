"""The template with its style and script, under a content security policy made of their hashes."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from postmortem.report import Report
from postmortem.report.html.fit import LIMIT, SHARES, fitted
from postmortem.report.html.links import Links
from postmortem.report.html.picture import picture
from postmortem.report.html.plots import plots
from postmortem.report.moment import told
from postmortem.report.words import (
    about,
    alike,
    beside,
    counted,
    end,
    exhibits,
    followed,
    headline,
    place,
    reasons,
    rests_on,
    sentence,
    shown,
    size,
    unread,
    wanted,
    weight,
)

HERE = "postmortem.report.html"
NUMBERS = {"memory": "Memory", "oom-tasks": "Memory", "gpus": "GPUs"}
TICKED = re.compile(r"`([^`]+)`|(?<!\S)(/[\w.@\\-]+(?:/[\w.@\\-]+){2,})")
MOST_QUOTES = 3
PAGE, STYLE, SCRIPT = "page.html.j2", "style.css", "script.js"


def page(report: Report) -> str:
    """The whole file, below two megabytes: of a report too big for that, the part that fits."""
    for share in SHARES:
        made = written(fitted(report, share))
        if len(made.encode("utf-8", "surrogatepass")) < LIMIT:
            break
    return made


def written(report: Report) -> str:
    """The file of a report that fits."""
    style, script = text(STYLE), text(SCRIPT)
    allowed = f"style-src {digest(style)}; script-src {digest(script)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    template = environment().get_template(PAGE)
    return template.render(**parts(report), policy=policy, style=Markup(style), script=Markup(script))


def environment() -> Environment:
    """The template engine: everything is escaped, and a name that is not there is a mistake."""
    env = Environment(
        loader=DictLoader({PAGE: text(PAGE)}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "told": told,
        "place": place,
        "reasons": reasons,
        "weight": weight,
        "shown": shown,
        "size": size,
        "counted": counted,
    }
    env.filters |= {"ticked": ticked, "sentence": sentence}
    return env


def parts(report: Report) -> dict[str, Any]:
    """What the template shows, by the names that it uses."""
    links, chain = Links(report), alike(followed(report))
    drawn = picture(report, links)
    return {
        "r": report,
        "headline": headline(report),
        "about": about(report),
        "end": end(report),
        "rests_on": rests_on(report, MOST_QUOTES),
        "unread": unread(report, MOST_QUOTES),
        "followed": chain,
        "dated": any(one["when"] for group in chain for one in group),
        "beside": alike(beside(report)),
        "wanted": wanted(report),
        "contexts": [one for one in exhibits(report, "context") if not links.in_script(one)],
        "scripts": exhibits(report, "script"),
        "tables": [{**one, "columns": odd_first(one)} for one in exhibits(report, "table")],
        "numbers": heading(report),
        "seen": {mark.place for mark in drawn.marks} if drawn else set(),
        "trees": exhibits(report, "tree"),
        "sources": exhibits(report, "source"),
        "picture": drawn,
        "plots": plots(report),
        "link": links.to,
        "anchor": links.anchor,
        "source_id": links.source_id,
    }


def odd_first(table: Any) -> list[Any]:
    """The columns of a table: what names the row, then what is abnormal anywhere, so that a phone shows it."""
    odd = {key for row in table["rows"] for key in row["abnormal"]}
    first, *rest = table["columns"] or [{}]
    return [first, *sorted(rest, key=lambda c: c["key"] not in odd)] if first else []


def heading(report: Report) -> str:
    """`Memory`, `GPUs` or both."""
    shown_here = [*exhibits(report, "series"), *exhibits(report, "table")]
    names = [one.get("name", "") for one in shown_here if one.get("name") not in ("activity", "order")]
    return " and ".join(sorted({NUMBERS.get(name, "GPUs") for name in names}, reverse=True))


def ticked(text: str) -> Markup:
    """The text, with what stands in pairs of backticks as code, and long paths quieter than the words."""
    made, at = Markup(""), 0
    for match in TICKED.finditer(text):
        shape = Markup("<code>{}</code>") if match[1] else Markup('<span class="path">{}</span>')
        made += escape(text[at : match.start()]) + shape.format(match[1] or match[2])
        at = match.end()
    return made + escape(text[at:])


def text(name: str) -> str:
    return files(HERE).joinpath(name).read_text(encoding="utf-8")


def digest(content: str) -> str:
    """The CSP hash of an inline element's content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

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
from postmortem.report.html.links import Links
from postmortem.report.html.picture import picture
from postmortem.report.html.plots import plots
from postmortem.report.moment import told
from postmortem.report.words import (
    about,
    beside,
    end,
    exhibits,
    followed,
    headline,
    place,
    reasons,
    shown,
    size,
    weight,
)

HERE = "postmortem.report.html"
NUMBERS = {"memory": "Memory", "oom-tasks": "Memory", "gpus": "GPUs"}
TICKED = re.compile(r"`([^`]+)`")
PAGE, STYLE, SCRIPT = "page.html.j2", "style.css", "script.js"


def page(report: Report) -> str:
    """The whole file."""
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
    env.filters |= {"told": told, "place": place, "reasons": reasons, "weight": weight, "shown": shown, "size": size}
    env.filters["ticked"] = ticked
    return env


def parts(report: Report) -> dict[str, Any]:
    """What the template shows, by the names that it uses."""
    links = Links(report)
    return {
        "r": {"news": [], **report},
        "headline": headline(report),
        "about": about(report),
        "end": end(report),
        "followed": followed(report),
        "beside": beside(report),
        "contexts": [one for one in exhibits(report, "context") if not links.in_script(one)],
        "scripts": exhibits(report, "script"),
        "tables": exhibits(report, "table"),
        "numbers": heading(report),
        "trees": exhibits(report, "tree"),
        "sources": exhibits(report, "source"),
        "picture": picture(report, links),
        "plots": plots(report),
        "link": links.to,
        "anchor": links.anchor,
        "source_id": links.source_id,
    }


def heading(report: Report) -> str:
    """`Memory`, `GPUs` or both."""
    shown_here = [*exhibits(report, "series"), *exhibits(report, "table")]
    names = [one.get("name", "") for one in shown_here if one.get("name") not in ("activity", "order")]
    return " and ".join(sorted({NUMBERS.get(name, "GPUs") for name in names}, reverse=True))


def ticked(text: str) -> Markup:
    """The text, with what stands in pairs of backticks as code."""
    made, at = Markup(""), 0
    for match in TICKED.finditer(text):
        made += escape(text[at : match.start()]) + Markup("<code>{}</code>").format(match[1])
        at = match.end()
    return made + escape(text[at:])


def text(name: str) -> str:
    return files(HERE).joinpath(name).read_text(encoding="utf-8")


def digest(content: str) -> str:
    """The CSP hash of an inline element's content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

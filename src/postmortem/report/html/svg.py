"""matplotlib's SVG -> SVG for a page with a strict policy: no style attributes, the page's colours, its own ids."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from markupsafe import Markup

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
KEPT = frozenset(
    ("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
     "fill-opacity", "stroke-opacity", "text-anchor", "font-size")
)  # fmt: skip
COLOURS = {
    "#010101": "var(--ink)",
    "#020202": "var(--quiet)",
    "#030303": "var(--line)",
    "#040404": "var(--blue)",
    "#050505": "var(--red)",
    "#060606": "var(--fill)",
    "#0a0a01": "var(--blue)",
    "#0a0a02": "var(--amber)",
    "#0a0a03": "var(--green)",
    "#0a0a04": "var(--red)",
    "#0a0a05": "var(--violet)",
    "#0a0a06": "var(--quiet)",
}
_FONT = re.compile(r"(\d+(?:\.\d+)?)px")
_REFERENCE = re.compile(r"#([\w-]+)")


def tidy(text: str, name: str, title: str) -> Markup:
    """The picture as one <svg> element with `title` as its name; ids begin with `name`."""
    root = ElementTree.fromstring(text)
    referred = {
        f for e in root.iter() for v in e.attrib.values() for f in _REFERENCE.findall(v) if not v.startswith("#0")
    }
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.split("}")[1] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.split("}")[1]
        element.attrib = attributes(element.attrib, name, referred)
    box = root.attrib["viewBox"]
    root.attrib = {"viewBox": box, "class": "plot", "role": "img", "aria-label": title}
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def attributes(given: dict[str, str], name: str, referred: set[str]) -> dict[str, str]:
    """Style declarations as attributes, ids only where something refers to them."""
    made: dict[str, str] = {}
    for key, value in given.items():
        if key == "style":
            made |= declared(value)
        elif key == f"{{{XLINK}}}href":
            made["href"] = f"#{name}-{value[1:]}"
        elif key == "id":
            made |= {"id": f"{name}-{value}"} if value in referred else {}
        elif key == "clip-path":
            made[key] = value.replace("url(#", f"url(#{name}-")
        elif not key.startswith("{"):
            made[key] = value
    for key in ("fill", "stroke"):
        if made.get(key) in COLOURS:
            made[key] = COLOURS[made[key]]
    return made


def declared(style: str) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in style.split(";") if ":" in part)
    told = {key.strip(): value.strip() for key, value in pairs}
    if "font" in told and (size := _FONT.search(told["font"])):
        told["font-size"] = size[1]
    if "font-size" in told:
        told["font-size"] = told["font-size"].removesuffix("px")
    return {key: value for key, value in told.items() if key in KEPT}

"""probes.yaml + sh/*.sh + options -> one self-contained POSIX sh script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from postmortem import __version__
from postmortem.collect.options import CollectOptions, Extra
from postmortem.errors import UsageError

TAIL_BYTES = 65536
PART_BYTES = 2 << 20
PLACES = ":".join(
    (
        "/usr/local/nvidia/bin",
        "/usr/local/cuda/bin",
        "/usr/local/sbin",
        "/usr/local/bin",
        "/usr/sbin",
        "/usr/bin",
        "/sbin",
        "/bin",
        "/opt/bin",
        "/usr/lib/wsl/lib",
        "/run/nvidia/driver/usr/bin",
        "/opt/rocm/bin",
    )
)
_WORKER = ("worker", "processes", "cgroups", "kernel", "gpu", "scripts", "machine", "job", "system")
_WHY = {  # of requests that steps make on their way
    "logs.std": "where processes write",
    "logs.glob": "a log that was asked for",
    "scripts.glob": "a script that was asked for",
    "scripts.running": "which process reads which script",
    "disk.mounts-far": "mounts of other machines",
    "gpu.nvidia-smi-again": "rates need two samples",
    "spool": "where the collector kept what it read",
    "agent": "what the collector could not do",
}
_UNITS = {"K": 1 << 10, "M": 1 << 20}


@dataclass(frozen=True, slots=True)
class Spec:
    """One probe as probes.yaml states it; seconds until it is given up, most bytes of a member."""

    name: str
    tier: str
    why: str
    member: str = ""
    file: str = ""
    run: str = ""
    each: str = ""
    step: str = ""
    seconds: float = 2.0
    bytes: int = TAIL_BYTES
    only: tuple[str, ...] = ()  # profiles that take it; none: all


@dataclass(frozen=True, slots=True)
class Profile:
    """What a kind of machine takes besides or instead: logs of its own, and only these tiers (none: all)."""

    tiers: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What probes.yaml says."""

    specs: tuple[Spec, ...]
    logs: tuple[str, ...]
    scripts: tuple[str, ...]
    profiles: dict[str, Profile]

    def for_profile(self, name: str) -> tuple[Spec, ...]:
        """The probes that a profile takes; "" is the ordinary one. Raises UsageError for one that is not there."""
        if name and name not in self.profiles:
            raise UsageError(f"no profile {name!r}; there are {', '.join(self.profiles)}")
        tiers = self.profiles[name].tiers if name else ()
        wanted = name or "ordinary"
        return tuple(s for s in self.specs if (not s.only or wanted in s.only) and (not tiers or s.tier in tiers))

    def why(self, probe: str) -> str:
        """Why the probe of this name, as the agent's notes write it (`logs.tail:/var/log/x`), was taken."""
        name = probe.partition(":")[0]
        return next((spec.why for spec in self.specs if spec.name == name), _WHY.get(name, ""))


def _source(name: str) -> str:
    return files("postmortem.collect").joinpath(name).read_text(encoding="utf-8")


def _bytes(value: int | str) -> int:
    text = str(value)
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1] in _UNITS else int(text)


def _spec(tier: str, probe: dict[str, Any]) -> Spec:
    make: dict[str, Callable[[Any], Any]] = {"bytes": _bytes, "only": tuple}
    fields: dict[str, Any] = {key: make[key](value) if key in make else value for key, value in probe.items()}
    return Spec(tier=tier, **fields)


@cache
def load_plan() -> Plan:
    """The probes, logs and scripts of probes.yaml, in order of volatility."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root: dict[str, Any] = yaml.load(_source("probes.yaml"), Loader=loader)
    specs = [_spec(tier["tier"], probe) for tier in root["tiers"] for probe in tier["probes"]]
    profiles = {
        name: Profile(tuple(told.get("tiers", ())), tuple(told.get("logs", ())))
        for name, told in root["profiles"].items()
    }
    return Plan(tuple(specs), tuple(root["logs"]), tuple(root["scripts"]), profiles)


def quote(text: str) -> str:
    """The text as one word of POSIX shell, without line ends that would split a request."""
    return _quoted(text.replace("\n", " "))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def render(
    options: CollectOptions, *, follow: bool = False, lingers: bool = False, deadline: float | None = None
) -> str:
    """The agent for these options.

    `follow` ends it when its parent is gone, `lingers` lets it wait behind END until its input is closed, `deadline` in
    seconds is its own. Raises UsageError for a profile that is not there.
    """
    seconds = options.deadline if deadline is None else deadline
    settings = {
        "PM_VERSION": __version__,
        "PM_DEADLINE_CS": str(max(50, round(seconds * 100))),
        "PM_INCIDENT": options.incident or "",
        "PM_ARGV": " ".join(options.argv),
        "PM_FOLLOW": "yes" if follow else "no",
        "PM_LINGERS": "yes" if lingers else "no",
        "PM_PROFILE": options.profile,
        "US": "\x1f",
        "PM_RAW_BYTES": str(options.max_size * 4),
        "PM_SAMPLE_CS": str(round(options.sample * 100)),
        "PM_TAIL_BYTES": str(TAIL_BYTES),
        "PM_PART_BYTES": str(PART_BYTES),
        "PM_PLACES": PLACES,
    }
    parts = {
        "#@TAR@": _source("sh/tar.sh"),
        "#@CHILDREN@": _source("sh/children.sh"),
        "#@STEPS@": _source("sh/steps.sh"),
        "#@GUARD@": "GUARD=" + _quoted(_source("sh/guard.sh")),
        "#@SETTINGS@": "\n".join(f"{name}={quote(value)}" for name, value in settings.items()),
        "#@WORKER@": "WORKER=" + _quoted(_child(options)),
        "#@PLAN@": "\n".join(_plan(options)),
    }
    return re.sub("|".join(parts), lambda match: parts[match[0]], _source("sh/agent.sh"))


def _child(options: CollectOptions) -> str:
    """The worker's text: its own, the probes', and one function for each of the user's commands."""
    extras = [f"extra_{n}() {{\n{extra.run}\n}}" for n, extra in enumerate(options.extras) if extra.run]
    text = "\n".join([_source(f"sh/{name}.sh") for name in _WORKER] + extras)
    # Comments and indentation are for people; one argument of a process may have 128 KiB.
    return "\n".join(line for raw in text.splitlines() if (line := raw.strip("\t")) and not line.startswith("# "))


def _plan(options: CollectOptions) -> Iterator[str]:
    plan = load_plan()
    specs = plan.for_profile(options.profile)
    own = plan.profiles[options.profile].logs if options.profile else ()
    yield "log_tails() {"
    yield from (f"\tlogs {quote(glob)} {quote(label)} yes" for glob, label in options.logs)
    yield "\tstd_logs"
    yield from (f"\tlogs {quote(glob)} '' no" for glob in (*own, *plan.logs))
    yield "\treturn 0\n}"
    yield "all_scripts() {"
    yield "\trunning_scripts"
    yield from (f"\tscript {quote(path)} yes" for path in options.scripts)
    yield from (f"\tscript {quote(path)} no" for path in plan.scripts)
    yield "\treturn 0\n}"
    yield "plan() {"
    tier, extras_done = specs[0].tier, False
    for spec in specs:
        if spec.tier != tier:
            yield f"\ttier {quote(tier)}"
            tier = spec.tier
            if tier == "whole logs":
                yield from _extras(options.extras)
                extras_done = True
        yield "\t" + _call(spec)
    if not extras_done:
        yield from _extras(options.extras)
    yield "}"


def _call(spec: Spec) -> str:
    if spec.step:
        return spec.step
    what = "file" if spec.file else "run" if spec.run else "each"
    limits = f"{round(spec.seconds * 100)} {spec.bytes}"
    return f"probe {quote(spec.name)} {what} {limits} {quote(spec.member)} {quote(spec.file or spec.run or spec.each)}"


def _extras(extras: tuple[Extra, ...]) -> Iterator[str]:
    for n, extra in enumerate(extras):
        what, argument = ("file", extra.file) if extra.file else ("run", f"extra_{n}")
        member = "extra/" + re.sub(r"[^A-Za-z0-9._-]", "_", extra.name)
        limits = f"{round(extra.seconds * 100)} {extra.bytes}"
        yield f"\tprobe {quote('extra.' + extra.name)} {what} {limits} {quote(member)} {quote(argument)}"

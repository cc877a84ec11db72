"""The plan + sh/*.sh + options -> one self-contained POSIX sh script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem import __version__
from postmortem.collect.options import CollectOptions, Extra
from postmortem.collect.plan import TAIL_BYTES, Spec, load_plan, source

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
_WORKER = (
    "worker",
    "processes",
    "cgroups",
    "kernel",
    "gpu",
    "scripts",
    "machine",
    "job",
    "stacks",
    "samples",
    "system",
)


def quote(text: str) -> str:
    """The text as one word of POSIX shell, without line ends that would split a request."""
    return _quoted(text.replace("\n", " "))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def render(
    options: CollectOptions,
    *,
    follow: bool = False,
    lingers: bool = False,
    deadline: float | None = None,
    kernel_clock: str = "",
) -> str:
    """The agent for these options.

    `follow` ends it when its parent is gone, `lingers` lets it wait behind END until its input is closed, `deadline` in
    seconds is its own, `kernel_clock` what adjtimex(2) says there. Raises UsageError for a profile that is not there.
    """
    seconds = options.deadline if deadline is None else deadline
    settings = {
        "PM_VERSION": __version__,
        "PM_ADJTIMEX": kernel_clock.replace("\n", "|"),
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
        "#@TAR@": source("sh/tar.sh"),
        "#@CHILDREN@": source("sh/children.sh"),
        "#@STEPS@": source("sh/steps.sh"),
        "#@GUARD@": "GUARD=" + _quoted(source("sh/guard.sh")),
        "#@SETTINGS@": "\n".join(f"{name}={quote(value)}" for name, value in settings.items()),
        "#@WORKER@": "WORKER=" + _quoted(_child(options)),
        "#@PLAN@": "\n".join(_plan(options)),
    }
    return re.sub("|".join(parts), lambda match: parts[match[0]], source("sh/agent.sh"))


def _child(options: CollectOptions) -> str:
    """The worker's text: its own, the probes', and one function for each of the user's commands."""
    extras = [f"extra_{n}() {{\n{extra.run}\n}}" for n, extra in enumerate(options.extras) if extra.run]
    text = "\n".join([source(f"sh/{name}.sh") for name in _WORKER] + extras)
    # Comments and indentation are for people; one argument of a process may have 128 KiB.
    return "\n".join(line for raw in text.splitlines() if (line := raw.strip("\t")) and not line.startswith("# "))


def _plan(options: CollectOptions) -> Iterator[str]:
    plan = load_plan()
    specs = plan.for_profile(options.profile, options.allow)
    own = plan.profiles[options.profile].logs if options.profile else ()
    left_out = plan.left_out(options.enabled, options.disabled)
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
        yield "\t" + (f"left_out {quote(spec.name)}" if spec.name in left_out else _call(spec))
    if not extras_done:
        yield from _extras(options.extras)
    yield "}"


def _call(spec: Spec) -> str:
    if spec.how == "step":
        return spec.what
    limits = f"{round(spec.seconds * 100)} {spec.bytes}"
    return f"probe {quote(spec.name)} {spec.how} {limits} {quote(spec.member)} {quote(spec.what)}"


def _extras(extras: tuple[Extra, ...]) -> Iterator[str]:
    for n, extra in enumerate(extras):
        what, argument = ("file", extra.file) if extra.file else ("run", f"extra_{n}")
        member = "extra/" + re.sub(r"[^A-Za-z0-9._-]", "_", extra.name)
        limits = f"{round(extra.seconds * 100)} {extra.bytes}"
        yield f"\tprobe {quote('extra.' + extra.name)} {what} {limits} {quote(member)} {quote(argument)}"

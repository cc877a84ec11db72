"""A page stays small and opens at once, however big the bundle is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from made_reports import report_of

from postmortem.report.html import render
from postmortem.report.html.fit import fitted

LIMIT, SECONDS = 2_000_000, 1.0
FAULTS = (
    "NVRM: Xid (PCI:0000:{0:02x}:00): 79, pid={1}, name=train, GPU has fallen off the bus.",
    "Out of memory: Killed process {1} (worker{0}) total-vm:79244168kB, anon-rss:24899520kB, file-rss:8kB, shmem-rss:0kB",
    "INFO: task train{0}:{1} blocked for more than 120 seconds.",
    "print_req_error: I/O error, dev sd{0}, sector {1}",
)


def big(path: Path, megabytes: int) -> Path:
    """A kernel log with many faults among ordinary lines."""
    path.mkdir()
    with (path / "kern.log").open("w") as out:
        line, size = 0, 0
        while size < megabytes << 20:
            day, second = divmod(line // 50, 86400)
            clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
            stamp = f"2026-03-{day + 1:02d}T{clock}.{line % 50 * 20:03d}000+00:00 node7 kernel: "
            xid = f"NVRM: Xid (PCI:0000:{line % 8:02x}:00): 31, pid={line % 999}, name=train, Ch 00000008, intr 00000000. MMU Fault"
            text = stamp + (
                [xid, *(fault.format(line % 199, line % 77) for fault in FAULTS)][line // 10 % (len(FAULTS) + 1)]
                if line % 10 == 0
                else f"eth0: link {line % 7} is up and nothing is wrong with packet {line} of the ordinary traffic"
            )
            size += out.write(text + "\n")
            line += 1
    return path


def wide(path: Path, megabytes: int) -> Path:
    """Many nodes' kernel logs with many kinds of faults, and hundreds of small logs with long lines of markup."""
    path.mkdir()
    nodes = 40
    for node in range(nodes):
        with (path / f"node{node}.kern.log").open("w") as out:
            line = size = 0
            while size < (megabytes << 20) // nodes:
                second = line // 20
                stamp = f"2026-03-{1 + second // 86400:02d}T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
                fault = FAULTS[line // 97 % len(FAULTS)].format(line % 199, line % 77) + " <&>" * 300
                text = f"eth0: link {line % 7} is up, packet {line}" if line % 97 else fault
                size += out.write(f"{stamp}.{line % 20 * 50:03d}000+00:00 node{node} kernel: {text}\n")
                line += 1
    for rank in range(600 if megabytes > 100 else 120):
        steps = "".join(f"2026-03-01T00:00:{n:02d}Z INFO rank{rank}: step {n} <b>&amp;</b>\n" for n in range(60))
        end = f"2026-03-01T00:01:00Z ERROR rank{rank}: bind: Address already in use (os error 98) {'&<>' * 400}\n"
        (path / f"rank{rank}.log").write_text(steps + end)
    return path


def opens_within(browser: Any, file: Path) -> tuple[float, list[str]]:
    """Seconds to the load event, the least of three new tabs; and what the pages said or asked for."""
    best, noise = 99.0, []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("console", lambda message: noise.append(message.text))
        page.on("request", lambda request: noise.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        best = min(best, page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000)
        page.close()
    return best, noise


@pytest.mark.parametrize(
    ("make", "said"), [(big, "repeated events"), (wide, "more sources have no lane|The JSON report has them")], ids=["one log", "many logs"]
)
@pytest.mark.parametrize("megabytes", [2, pytest.param(256, marks=pytest.mark.slow)])
def test_a_big_bundle_makes_a_small_page(make: Any, said: str, megabytes: int, browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    file.write_text(render(report_of(make(tmp_path / "in", megabytes))), encoding="utf-8")
    assert file.stat().st_size < LIMIT
    seconds, noise = opens_within(browser, file)
    assert noise == []
    assert 0 < seconds < SECONDS
    page = browser.new_page()
    page.goto(file.as_uri())
    assert re.search(said, page.locator("main").inner_text())
    page.close()


def swollen(sample: Any) -> Any:
    """A report with more of everything than a page holds."""
    row, times = "&<>" * 600, sample["timeline"]
    source = next(e for e in sample["exhibits"] if e["kind"] == "source")
    context = next(e for e in sample["exhibits"] if e["kind"] == "context")
    return {
        **sample,
        "timeline": [{**times[n % len(times)], "text": row} for n in range(5000)],
        "exhibits": [*sample["exhibits"]]
        + [{**source, "source": f"s{n}", "title": f"s{n}", "text": row * 30} for n in range(50)]
        + [{**context, "lines": [{**one, "text": row} for one in context["lines"]]} for _ in range(300)],
        "input": {**sample["input"], "sources": sample["input"]["sources"] * 500},
    }


def test_what_does_not_fit_is_left_off_and_said(sample: Any) -> None:
    text = render(swollen(sample))
    assert len(text.encode()) < LIMIT
    assert "The JSON report has them." in text
    assert "The JSON report has them." not in render(sample)


def test_the_chain_is_kept_before_other_events(sample: Any) -> None:
    row = next(r for r in sample["timeline"] if r["place"] == "root")
    events = [{**row, "place": "event", "event": "log.error", "class": ""} for _ in range(3000)]
    times = fitted({**sample, "timeline": [*events, row]}, 0.1)["timeline"]
    assert row in times
    assert len(times) == 100

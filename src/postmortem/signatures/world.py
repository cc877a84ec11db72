"""What items are asked of: the scene by kind, the confirmed lines, the classes judged so far, and what was covered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from postmortem.model import Event, Evidence, Fact, Finding, Kind, State
from postmortem.scene import Reading, Scene
from postmortem.signatures.confirm import Hits
from postmortem.signatures.language import HEADS, EventItem, LineItem, Signature
from postmortem.signatures.truth import before
from postmortem.signatures.vocabulary import EVENTS

LOOKED_THROUGH = 20_000  # kept lines of a journal that are looked through for a line of the kernel
BOOT = (
    "Linux version ",
    "Command line: ",
    "Booting Linux",
)  # what a kernel log that reaches back to the boot begins with


@dataclass(slots=True)
class World:
    """The scene as items see it; `found` and `open` grow while classes are judged."""

    scene: Scene
    hits: Hits
    events: Mapping[str, tuple[Event, ...]]
    facts: Mapping[str, tuple[Fact, ...]]
    found: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    by_id: Mapping[str, Signature] = field(default_factory=dict)  # the classes that a question may have to name
    open: set[str] = field(default_factory=set)  # classes that nothing raised, but that something unknown could have
    _covered: dict[str, tuple[Reading, ...]] = field(default_factory=dict)

    def covering(self, item: LineItem | EventItem) -> tuple[Reading, ...]:
        """The readable sources that could have shown the item."""
        name = item.head if isinstance(item, LineItem) else item.kind
        if name not in self._covered:
            kinds = HEADS[name] if isinstance(item, LineItem) else EVENTS[name].sources
            of_kernel = Kind.KERNEL in kinds
            self._covered[name] = tuple(
                r for r in self.scene.of_kind(*sorted(kinds)) if not of_kernel or _has_kernel_lines(r)
            )
        return self._covered[name]


def world_of(scene: Scene, hits: Hits) -> World:
    """The scene and the confirmed lines, ready to be asked."""
    events: dict[str, list[Event]] = defaultdict(list)
    facts: dict[str, list[Fact]] = defaultdict(list)
    for event in scene.events:
        events[event.kind].append(event)
    for fact in scene.facts:
        facts[fact.name].append(fact)
    return World(
        scene,
        hits,
        {kind: tuple(found) for kind, found in events.items()},
        {name: tuple(found) for name, found in facts.items()},
    )


def _has_kernel_lines(reading: Reading) -> bool:
    """Whether the source shows what the kernel says; a journal may be of one unit only."""
    if reading.source.kind is not Kind.JOURNAL:
        return True
    for count, (_, raw) in enumerate(reading.source.text.kept()):
        if " kernel: " in raw or " kernel[" in raw:
            return True
        if count >= LOOKED_THROUGH:
            break
    return False


def absence(item: LineItem | EventItem, world: World, moment: Evidence | None) -> Evidence | None:
    """What shows that the item did not happen: a source that was collected whole and covers the moment, or None.

    One kernel log that covers it is enough; of other sources none may be unreadable or cut, for each could have had it.
    """
    kinds = HEADS[item.head] if isinstance(item, LineItem) else EVENTS[item.kind].sources
    covering = world.covering(item)
    good = [r for r in covering if r.source.state is State.WHOLE and _covers(r, moment)]
    if not good or (isinstance(item, LineItem) and item.key in world.hits.gave_up):
        return None
    if Kind.KERNEL not in kinds:
        same_kind = [r for r in world.scene.readings if r.source.kind in kinds and r.source.state is not State.MISSING]
        if any(r.source.state not in (State.WHOLE, State.EMPTY) for r in same_kind):
            return None
    return Evidence(good[0].path, 0, "")


def _covers(reading: Reading, moment: Evidence | None) -> bool:
    kernel = reading.source.kind in (Kind.KERNEL, Kind.JOURNAL)
    first = reading.raw(1) or ""
    if kernel and any(mark in first for mark in BOOT):
        return True  # it reaches back to the boot, and up to when it was collected
    start = next((w for n in range(1, 6) if (w := reading.when(n)) is not None), None)
    if moment is None or moment.when is None or start is None:
        return not kernel  # a kernel's ring buffer loses its beginning, a log that was collected whole does not
    return before(Evidence(reading.path, 0, "", start), Evidence(moment.source, 0, "", moment.when)) is True

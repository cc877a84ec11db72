"""What raised a class -> instances by entity: two victims are two, repeats of one are one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from postmortem.model import Evidence
from postmortem.signatures.claims import Anchor, Claim
from postmortem.signatures.entity import join

MOST_INSTANCES = 64
SAME_STORY_S = 300.0
OTHER_STORY_S = 3600.0  # records that name nothing, in two logs
_NO_IDENTITY = frozenset({"host", "file"})  # too common to show that two records are about one thing


@dataclass(slots=True)
class Instance:
    """One entity's records: those that raise the class, and those that only make it suspect."""

    entity: dict[str, str]
    kernel: bool
    raised: list[Claim] = field(default_factory=list)
    suspect: list[Claim] = field(default_factory=list)

    def add(self, claims: Iterable[Claim], suspect: bool) -> None:
        (self.suspect if suspect else self.raised).extend(claims)
        for claim in claims:
            self.entity = {**claim.entity, **self.entity}


def moment_order(evidence: Evidence) -> tuple[bool, float, str, int]:
    """Earliest first, unknown times last, then by place."""
    when = evidence.when
    return when is None, when.utc.timestamp() if when else 0.0, evidence.source, evidence.line


def instances(raised: Sequence[Claim], suspect: Sequence[Claim]) -> list[Instance]:
    """The instances, earliest first; records that name most are grouped first, so that vaguer ones find them."""
    found: list[Instance] = []
    for claims, suspicion in ((raised, False), (suspect, True)):
        for bucket in _buckets(claims):
            home = _home(bucket[0], found, suspicion)
            if home is None and len(found) < MOST_INSTANCES:
                home = Instance({}, bucket[0].kernel)
                found.append(home)
            if home is not None:
                home.add(bucket, suspicion)
    return sorted(found, key=lambda i: moment_order((i.raised or i.suspect)[0].moment))


def _buckets(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Records of one entity together; what names nothing may at another time be about another."""
    buckets: dict[tuple[object, ...], list[Claim]] = defaultdict(list)
    story, last = 0, None
    for claim in sorted(claims, key=lambda c: moment_order(c.moment)):
        if not claim.entity:
            when = claim.moment.when
            story += bool(last and when and (when.utc - last.utc).total_seconds() > SAME_STORY_S)
            last = when
        buckets[(claim.kernel, story if not claim.entity else 0, *sorted(claim.entity.items()))].append(claim)
    return sorted(buckets.values(), key=lambda b: -len(b[0].entity))  # stable: earlier ones stay first


def _home(claim: Claim, found: list[Instance], suspicion: bool) -> Instance | None:
    """The instance that a record belongs to: nothing differs, and something agrees or one side names nothing."""
    fits: list[tuple[int, float, int, Instance]] = []
    for instance in found:
        one_space = instance.kernel == claim.kernel
        shared = [k for k in claim.entity if k in instance.entity and k not in _NO_IDENTITY]
        agreeing = sum(join(instance.entity, claim.entity, (k,), one_space) is True for k in shared)
        near = _distance(instance, claim) <= SAME_STORY_S  # a suspicion of hours later is about another death
        vague = (suspicion and near) or ((not claim.entity or not instance.entity) and not _apart(instance, claim))
        if (agreeing or vague) and join(instance.entity, claim.entity, None, one_space):
            fits.append((-agreeing, _distance(instance, claim), len(fits), instance))
    return min(fits, key=lambda f: f[:3])[3] if fits else None


def _apart(instance: Instance, claim: Claim) -> bool:
    """Whether a record is of another time and of another log than all records of an instance."""
    sources = {c.moment.source for c in (*instance.raised, *instance.suspect)}
    return claim.moment.source not in sources and _distance(instance, claim) > OTHER_STORY_S


def _distance(instance: Instance, claim: Claim) -> float:
    times = [c.moment.when.utc for c in (*instance.raised, *instance.suspect) if c.moment.when]
    when = claim.moment.when
    return min((abs((t - when.utc).total_seconds()) for t in times), default=0.0) if when else 0.0


def anchor(instance: Instance) -> Anchor:
    """The instance as what further items are compared with."""
    moments = sorted((c.moment for c in instance.raised or instance.suspect), key=moment_order)
    return Anchor(instance.entity, tuple(moments), instance.kernel)

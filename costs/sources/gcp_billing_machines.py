"""What Google Cloud's machines with GPUs are billed for, and the sum of it.

A machine has no price of its own: it is the sum of its GPUs, cores, memory and bundled local SSD, each from
the SKU of its meter, region and term. Where one of them has no price there is no sum.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cache

import msgspec

from costs.rows import PRICE_STEP, Term

from .decimals import to_step
from .gcp_billing_skus import LOCAL_SSD, Meter, Rate, core, gpu, ram
from .machines import machine_of


@dataclass(frozen=True)
class _Build:
    """Which meters a machine runs on; its cores, memory and count of GPUs stand in the machine table."""

    gpus: str
    family: str  # "" where the GPU's meter is for the whole machine
    local_ssd_gib: int = 0


# machine series, GPUs and bundled local SSD: https://cloud.google.com/compute/docs/accelerator-optimized-machines
# (2026-11). Google's list prices confirm the SSD: of a3-ultragpu-8g at 84.806908493 in us-central1,
# 1.315068493 are 12,000 GiB at 0.08 a month.
# Left out: A3 Edge and types without SSD (no list price says that they run on these meters), parts of a G4
# card (billed by slices of their own), A4X (no SKUs).
_BUILDS = {
    **{f"a2-highgpu-{count}g": _Build("A100", "A2") for count in (1, 2, 4, 8)},
    "a2-megagpu-16g": _Build("A100", "A2"),
    **{f"a2-ultragpu-{count}g": _Build("A100 80GB", "A2", 375 * count) for count in (1, 2, 4, 8)},
    **{f"a3-highgpu-{count}g": _Build("H100", "A3", 750 * count) for count in (1, 2, 4, 8)},
    "a3-megagpu-8g": _Build("H100 Mega", "A3Plus", 6_000),
    "a3-ultragpu-8g": _Build("H200", "A3Ultra", 12_000),
    "a4-highgpu-8g": _Build("B200 slice", ""),
    **{f"g2-standard-{cores}": _Build("L4", "G2") for cores in (4, 8, 12, 16, 24, 32, 48, 96)},
    **{f"g4-standard-{cores}": _Build("RTX PRO 6000", "G4") for cores in (48, 96, 192, 384)},
}


@dataclass(frozen=True)
class Offer:
    """The rate of a meter in a region, and the SKU that states it."""

    sku: str
    line: int
    rate: Rate


class Composed(msgspec.Struct, frozen=True):
    """A machine in a region on a term: its price, or why there is none."""

    machine: str
    region: str
    term: Term
    per_hour: Decimal | None
    currency: str
    effective_from: datetime | None
    reason: str
    skus: list[str]


@dataclass
class Offers:
    """What the SKUs of one document say of each meter and region."""

    by_place: dict[tuple[Meter, str], Offer] = field(default_factory=dict)
    # lines whose price another one contradicts -> that one's SKU; neither is used anywhere
    contradicted: dict[int, str] = field(default_factory=dict)

    def settle(self, found: Sequence[tuple[Meter, str, Offer]]) -> None:
        """Take the offers; of two for one meter and region the first where they agree, else neither."""
        first: dict[tuple[Meter, str], Offer] = {}
        for meter, region, offer in found:
            other = first.setdefault((meter, region), offer)
            if other.rate.per_hour != offer.rate.per_hour or other.rate.currency != offer.rate.currency:
                self.contradicted.setdefault(offer.line, other.sku)
                self.contradicted.setdefault(other.line, offer.sku)
        for meter, region, offer in found:
            if offer.line not in self.contradicted:
                self.by_place.setdefault((meter, region), offer)

    def composed(self, meter: Meter, line: int, regions: Iterable[str]) -> list[Composed]:
        """Return the machines that a GPU's SKU makes where it is the first to say its price."""
        places = [(region, self.by_place.get((meter, region))) for region in regions]
        return [
            self._sum(name, meter.term, region)
            for region, offer in places
            if offer and offer.line == line
            for name in machines_with(meter.resource)
        ]

    def _sum(self, name: str, term: Term, region: str) -> Composed:
        parts = parts_of(name)
        found = ((part, self.by_place.get((Meter(part, term), region))) for part in parts)
        offers = {part: offer for part, offer in found if offer}
        missing = [part for part in parts if part not in offers]
        currencies = sorted({offer.rate.currency for offer in offers.values()})
        skus = [offer.sku for offer in offers.values()]
        if missing or len(currencies) > 1:
            reason = (
                f"no price of {', '.join(missing)}" if missing else "parts in " + " and ".join(currencies)
            )
            return Composed(name, region, term, None, currencies[0], None, reason, skus)
        amount = sum((offers[part].rate.per_hour * count for part, count in parts.items()), Decimal(0))
        moments = (offer.rate.effective_from for offer in offers.values())
        newest = max((moment for moment in moments if moment), default=None)
        return Composed(name, region, term, to_step(amount, PRICE_STEP), currencies[0], newest, "", skus)


@cache
def parts_of(name: str) -> Mapping[str, Decimal]:
    """Return how much of each meter a machine is billed for."""
    build, machine = _BUILDS[name], machine_of("gcp", name)
    if machine is None or machine.vcpus is None or machine.memory_gib is None:
        raise LookupError(f"the machine table has no whole row of {name}")
    parts = {gpu(build.gpus): machine.gpu_count}
    if build.family:
        parts |= {core(build.family): machine.vcpus, ram(build.family): machine.memory_gib}
    if build.local_ssd_gib:
        parts[LOCAL_SSD] = Decimal(build.local_ssd_gib)
    return parts


@cache
def machines_with(resource: str) -> tuple[str, ...]:
    """Return the machines that are billed for a resource."""
    return tuple(name for name in _BUILDS if resource in parts_of(name))


def gpus_beside(resource: str) -> set[str]:
    """Return the GPUs of the machines that are billed for a resource."""
    return {gpu(_BUILDS[name].gpus) for name in machines_with(resource)}

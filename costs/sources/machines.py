"""The machine types that come with the product: what each holds, and which quota it counts against.

Price lists leave out what they take for known, or have it wrong: how many accelerators a type holds, of
which form, how many vCPUs. Sources look it up here; the table is costs/data/machine_types.csv.
"""

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from .packaged import DATA

FILE = "machine_types.csv"
# Azure's own pages write one size in several cases; the other providers are exact
_ANY_CASE = frozenset({"azure"})


@dataclass(frozen=True)
class Machine:
    """One machine type as its provider states it."""

    provider: str
    name: str
    accelerator: str  # slug of the accelerator table
    accelerator_name: str  # as price lists write it
    gpu_count: Decimal  # below 1 where it holds a part of a card
    vcpus: Decimal | None
    memory_gib: Decimal | None
    quota_on_demand: str  # code of the quota that a running machine counts against; "" unknown
    quota_spot: str


def _key(provider: str, name: str) -> tuple[str, str]:
    return provider, name.casefold() if provider in _ANY_CASE else name


def _optional(text: str) -> Decimal | None:
    return Decimal(text) if text else None


@cache
def _machines() -> dict[tuple[str, str], Machine]:
    with (DATA / FILE).open(encoding="utf-8", newline="") as file:
        return {
            _key(row["provider"], row["name"]): Machine(
                provider=row["provider"],
                name=row["name"],
                accelerator=row["accelerator"],
                accelerator_name=row["accelerator_name"],
                gpu_count=Decimal(row["gpu_count"]),
                vcpus=_optional(row["vcpus"]),
                memory_gib=_optional(row["memory_gib"]),
                quota_on_demand=row["quota_on_demand"],
                quota_spot=row["quota_spot"],
            )
            for row in csv.DictReader(file)
        }


def machine_of(provider: str, name: str) -> Machine | None:
    """Return the machine type, None where the table has none of that name.

    >>> machine_of("azure", "standard_nv6ads_a10_v5").gpu_count
    Decimal('0.167')
    """
    return _machines().get(_key(provider, name))


def machines_of(provider: str) -> list[Machine]:
    """Return every machine type of a provider, in the table's order."""
    return [machine for machine in _machines().values() if machine.provider == provider]

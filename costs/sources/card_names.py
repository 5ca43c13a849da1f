"""Card names that say which memory is meant, where a catalogue gives the memory apart from the name."""

import csv
from decimal import Decimal
from functools import cache

from costs.names import accelerator_key

from .packaged import DATA

# GiB beside GB, and tables that count what a driver leaves free: 262 and 270 are all said of a B300
_TOLERANCE = Decimal("0.125")


@cache
def _memory_by_key() -> dict[str, Decimal]:
    with (DATA / "accelerators.csv").open(encoding="utf-8", newline="") as file:
        return {
            accelerator_key(name): Decimal(row["memory_gb"])
            for row in csv.DictReader(file)
            for name in (row["slug"], row["name"], *row["aliases"].split("|"))
            if name and row["memory_gb"]
        }


def card_name(name: str, memory_gb: Decimal | None) -> str:
    """Return the name with its memory, where the bare name means a card with another.

    "A100 PCIe" means 80 GB, and a catalogue that sells 40 GB under it means another part. So does one that
    states 40 GB for an L40: "L40 40GB" is no known name, and is shown to a person instead of guessed at.

    >>> card_name("A100 PCIe", Decimal(40)), card_name("A100 PCIe", Decimal(80))
    ('A100 PCIe 40GB', 'A100 PCIe')
    """
    usual = _memory_by_key().get(accelerator_key(name))
    if usual is None or memory_gb is None or abs(memory_gb - usual) <= usual * _TOLERANCE:
        return name
    return f"{name} {memory_gb.normalize():f}GB"

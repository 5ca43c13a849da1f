"""What an hour of one GPU can cost at the very least and at the very most, by accelerator and date.

The table is costs/data/price_bounds.csv: reviewed by hand, a reason in each row. Bounds are wide on purpose.
They catch what no list ever asked: a term's total taken for an hour, cents for dollars, a bid floor.
"""

import csv
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "data" / "price_bounds.csv"
ANY = "*"  # the accelerator of the rows that hold where no other does


@dataclass(frozen=True)
class Bounds:
    """The lowest and the highest plausible price of one GPU for an hour, from a day on."""

    accelerator: str  # slug
    from_: date
    low: Decimal  # USD
    high: Decimal
    why: str


@cache
def table() -> dict[str, list[Bounds]]:
    """Return the rows of each accelerator, oldest first."""
    found: dict[str, list[Bounds]] = {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            bounds = Bounds(
                row["accelerator"],
                date.fromisoformat(row["from"]),
                Decimal(row["low_usd_per_gpu_hour"]),
                Decimal(row["high_usd_per_gpu_hour"]),
                row["why"],
            )
            found.setdefault(bounds.accelerator, []).append(bounds)
    for rows in found.values():
        rows.sort(key=lambda each: each.from_)
    return found


def bounds_of(slug: str | None, on: date) -> Bounds:
    """Return the bounds of an accelerator on a day; before its first row the first one holds."""
    rows = table().get(slug or ANY) or table()[ANY]
    return rows[max(0, bisect_right(rows, on, key=lambda each: each.from_) - 1)]

"""The rules that a parsed row must pass before it may be published, each by its name. Pure.

A row is judged alone here; `staging` adds what needs the whole file (two lines about the same fact).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from .kinds import BY_ROW
from .names import accelerator_key
from .rows import AcceleratorRow, PriceRow, Row, RowError, UtilizationRow
from .text import has_steering

# Sanity bounds per GPU-hour, all terms and spot included; set 2026-11-30 from the lists at hand.
# They catch a term total taken for an hour (8,760 times), cents for dollars, a bid floor for a price.
BOUNDS_USD_PER_GPU_HOUR = (Decimal("0.01"), Decimal(100))
BOUNDS_USD_BY_ACCELERATOR = {  # the longest beginning of the accelerator's slug counts
    "h100": (Decimal("0.30"), Decimal(25)),
    "h200": (Decimal("0.30"), Decimal(30)),
    "b200": (Decimal("0.50"), Decimal(40)),
    "b300": (Decimal("0.50"), Decimal(50)),
    "gb200": (Decimal("0.50"), Decimal(50)),
    "gb300": (Decimal("0.50"), Decimal(60)),
    "mi300x": (Decimal("0.20"), Decimal(25)),
}
# one USD in other currencies, roughly: only to scale the bounds above
SCALE = {"USD": 1, "EUR": 1, "GBP": 1, "CHF": 1, "CAD": 2, "AUD": 2, "CNY": 8, "INR": 90, "JPY": 160}

SCOPE_LIMIT = 120


@dataclass(frozen=True)
class Known:
    """What the gate may know: key of every accelerator name or alias to the accelerator's slug."""

    slug_by_key: Mapping[str, str]

    def slug_of(self, sku: str, accelerator_name: str) -> str | None:
        """Return the accelerator of an offer, None where the table has no such name.

        A machine type that is an alias says more than the name beside it: catalogues write "A100" for
        Azure's NC24ads_A100_v4 and for ND96asr_v4, and only the second holds SXM parts. A slug says most.
        """
        by_name = self.slug_by_key.get(accelerator_key(accelerator_name))
        if by_name == accelerator_name:
            return by_name
        return self.slug_by_key.get(accelerator_key(sku), by_name)


def check_row(row: Row, known: Known) -> None:
    """Raise RowError when the row breaks a rule."""
    check_text(row)
    if isinstance(row, PriceRow):
        check_price(row, known)
    elif isinstance(row, UtilizationRow):
        check_utilization(row)
    elif isinstance(row, AcceleratorRow):
        check_accelerator(row, known)


def check_text(row: Row) -> None:
    """Refuse text that the tables cannot hold as it is."""
    for name, most in BY_ROW[type(row)].texts.items():
        text: str = getattr(row, name)
        if len(text) > most:
            raise RowError(name, text, "text_too_long", f"at most {most} characters")
        if text.isascii() and text.isprintable():
            continue
        if has_steering(text):
            raise RowError(name, text, "text_unreadable", "text without control or direction characters")


def check_price(row: PriceRow, known: Known) -> None:
    """Refuse an accelerator that the table lacks, and a price that no such accelerator has."""
    slug = known.slug_of(row.sku, row.accelerator_name)
    if slug is None:
        raise RowError(
            "accelerator_name",
            row.accelerator_name,
            "accelerator_unknown",
            "a name or an alias of the accelerator table; add it there and load the file again",
        )
    if row.currency not in SCALE:
        raise RowError("currency", row.currency, "currency_unknown", f"one of {', '.join(SCALE)}")
    if row.price_per_hour is None:
        return
    low, high = (bound * SCALE.get(row.currency, 1) for bound in price_bounds(slug))
    per_gpu_hour = row.price_per_hour / row.gpu_count
    if not low <= per_gpu_hour <= high:
        raise RowError(
            "price",
            row.price_per_hour,
            "price_per_gpu_hour_absurd",
            f"{low * row.gpu_count:.2f} to {high * row.gpu_count:.2f} {row.currency} per hour for "
            f"{row.gpu_count.normalize():f} × {row.accelerator_name}",
        )


def price_bounds(slug: str) -> tuple[Decimal, Decimal]:
    """Return the lowest and highest plausible USD per GPU-hour of an accelerator."""
    fitting = [start for start in BOUNDS_USD_BY_ACCELERATOR if slug.startswith(start)]
    return BOUNDS_USD_BY_ACCELERATOR[max(fitting, key=len)] if fitting else BOUNDS_USD_PER_GPU_HOUR


def check_utilization(row: UtilizationRow) -> None:
    """Refuse a row that measures nothing, and a period that is none."""
    if not (row.period_hours.is_finite() and 0 < row.period_hours <= 744):
        raise RowError("period_hours", row.period_hours, "period_out_of_bounds", "above 0 and at most 744")


def check_accelerator(row: AcceleratorRow, known: Known) -> None:
    """Refuse a name that already means another accelerator: prices could not tell them apart."""
    for name in (row.slug, row.name, *row.aliases):
        slug = known.slug_by_key.get(accelerator_key(name), row.slug)
        if slug != row.slug:
            raise RowError("aliases", name, "name_taken", f"a name that is not already one of {slug}")

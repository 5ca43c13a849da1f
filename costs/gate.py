"""The rules that a parsed row must pass before it may be published, each by its name. Pure.

A row is judged alone here; `staging` adds what needs the whole file (two lines about the same fact).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .kinds import BY_ROW
from .names import accelerator_key
from .rows import AcceleratorRow, AliasRow, MachineTypeRow, PriceRow, Row, RowError, UtilizationRow
from .text import has_steering

# one USD in other currencies, roughly: only to scale the bounds of costs/quarantine_rules
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
    elif isinstance(row, AliasRow | MachineTypeRow):
        check_slug(row.accelerator, known)


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
    """Refuse an accelerator that the table lacks; whether the price is right is asked of the whole file."""
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


def check_utilization(row: UtilizationRow) -> None:
    """Refuse a row that measures nothing, and a period that is none."""
    if not (row.period_hours.is_finite() and 0 < row.period_hours <= 744):
        raise RowError("period_hours", row.period_hours, "period_out_of_bounds", "above 0 and at most 744")


def check_slug(slug: str, known: Known) -> None:
    """Refuse a name for an accelerator that the table does not hold."""
    if known.slug_by_key.get(accelerator_key(slug)) != slug:
        raise RowError("accelerator", slug, "accelerator_unknown", "a slug of the accelerator table")


def check_accelerator(row: AcceleratorRow, known: Known) -> None:
    """Refuse a name that already means another accelerator: prices could not tell them apart."""
    for name in (row.slug, row.name, *row.aliases):
        slug = known.slug_by_key.get(accelerator_key(name), row.slug)
        if slug != row.slug:
            raise RowError("aliases", name, "name_taken", f"a name that is not already one of {slug}")

"""Listed prices that somebody picked elsewhere, as rows of the editor that are not saved yet."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError

from costs.models import Price
from costs.queries.prices import PriceKey, Quote, prices_on
from planner.forms.listed_price import ListedPriceField, key_text
from planner.models import ReservedSupply, Revision
from planner.queries import supplies_of

PARAMETER = "listed"
MOST = 8
MONTHS = {Price.Term.RESERVED_1Y.value: 12, Price.Term.RESERVED_3Y.value: 36}
KINDS = {Price.Term.ON_DEMAND.value: "on_demand", Price.Term.SPOT.value: "spot"} | dict.fromkeys(
    MONTHS, "reserved"
)
LONGEST_NAME = 80


def offered_rows(texts: Iterable[str], base: Revision, as_of: datetime) -> list[dict[str, Any]]:
    """Return the rows that an editor of `base` begins with; what is no price that it takes is left out."""
    keys = [key for text in texts if (key := _key(text)) is not None][:MOST]
    quotes = prices_on(keys, as_of)
    taken = {supply.name for supply in supplies_of(base)}
    rows = []
    for key in dict.fromkeys(keys):
        if quotes[key].source:  # some list knows it
            rows.append(_row(quotes[key], base, taken))
            taken.add(rows[-1]["name"])
    return rows


def _key(text: str) -> PriceKey | None:
    try:
        key: PriceKey | None = ListedPriceField().clean(text)
    except ValidationError:
        return None
    return key if key is not None and key.term in KINDS else None


def _row(quote: Quote, base: Revision, taken: set[str]) -> dict[str, Any]:
    key, count = quote.key, quote.gpu_count or 1
    row = {
        "name": _name(f"{key.provider} {key.sku} {key.region}, {Price.Term(key.term).label}", taken),
        "kind": KINDS[key.term],
        "listed": key_text(key),
        "gpus_per_instance": max(1, int(count)),
    }
    if key.term in MONTHS:
        row |= {"start": base.start, "term_months": MONTHS[key.term]}
        row["payment"] = key.payment or ReservedSupply.Payment.NO_UPFRONT.value
    return row


def _name(wanted: str, taken: Sequence[str] | set[str]) -> str:
    """Return a name that no supply of the plan has."""
    short, number = wanted[:LONGEST_NAME], 2
    while short in taken:
        end = f" {number}"
        short, number = wanted[: LONGEST_NAME - len(end)] + end, number + 1
    return short

"""A listed price as one picks it, "aws | p5.48xlarge | us-east-1 | on_demand", and what is known of it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import F

from costs.models import Price
from costs.queries import prices
from planner.models import SupplyPrice

MARK = " | "
EXAMPLE = "aws | p5.48xlarge | us-east-1 | on_demand"
MOST_SUGGESTED = 300


class ListedPriceField(forms.CharField):
    """The key of a price fact in one line, cleaned to a PriceKey; blank is None."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=400, **options)
        self.widget.attrs |= {"list": "listed-prices", "placeholder": EXAMPLE, "autocomplete": "off"}

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        parts = [part.strip() for part in text.split(MARK.strip())]
        if not 4 <= len(parts) <= 6 or not all(parts[:4]) or parts[3] not in Price.Term.values:
            terms = ", ".join(Price.Term.values)
            raise ValidationError(f"Write cloud | machine | region | term, with a term of {terms}: {EXAMPLE}")
        return prices.PriceKey(*parts)


def key_text(key: prices.PriceKey) -> str:
    """Return a key in one line, without empty ends."""
    parts = [key.provider, key.sku, key.region, key.term, key.payment, key.zone]
    while not parts[-1]:
        parts.pop()
    return MARK.join(parts)


def text_of(price: SupplyPrice) -> str:
    """Return the key of a supply's price in one line, "" where it was typed."""
    if not price.is_key:
        return ""
    return key_text(
        prices.PriceKey(price.provider, price.sku, price.region, price.term, price.payment, price.zone)
    )


def unknown_keys(keys: Iterable[prices.PriceKey], as_of: datetime) -> dict[prices.PriceKey, str]:
    """Return the keys that no list knows, with the reason; a key without a price today is known."""
    quotes = prices.prices_on(keys, as_of)
    return {key: quote.reason for key, quote in quotes.items() if not quote.source}


def suggestions(gpu_model: str, as_of: datetime) -> list[str]:
    """Return the keys of priced offers of an accelerator, cheapest first."""
    offers = prices.offers(as_of, gpu=[gpu_model], state=[Price.State.PRICED]).order_by(
        F("per_gpu_hour").asc(), "pk"
    )
    return [
        key_text(
            prices.PriceKey(
                offer.sku.provider, offer.sku.name, offer.region, offer.term, offer.payment, offer.zone
            )
        )
        for offer in offers[:MOST_SUGGESTED]
    ]

"""Facts as staged: what they say, in words and as a number."""

from decimal import Decimal

from costs.rows import PriceRow
from costs.rowtext import Payload, key_of


def words(payload: Payload, *, moment: bool = False) -> str:
    """Return which fact this is, in words."""
    said = ", ".join(part for part in key_of(PriceRow, payload) if part)
    return f"{said} at {payload['effective_from']}" if moment else said


def price_of(payload: Payload) -> Decimal | None:
    text = payload["price_per_hour"]
    return None if text is None else Decimal(text)

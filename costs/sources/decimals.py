"""Numbers out of text, exactly or not at all."""

import re
from decimal import Decimal, localcontext

from costs.rows import MAX_PRICE_PER_HOUR, PRICE_STEP, RowError

# ASCII digits and a point. Python's own Decimal() would also take "1_000", "１２", "NaN" and "Infinity";
# "1.234,56" and "1,234.56" mean different things in different countries, so neither is read.
_PLAIN = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?")
_PRICE_EXPECTED = f"a price above 0 and at most {MAX_PRICE_PER_HOUR} per hour"


def number(column: str, text: str) -> Decimal:
    """Return the number that `text` states, or refuse it. Never guess a separator.

    >>> number("Price", "21.9576420000")
    Decimal('21.9576420000')
    """
    stripped = text.strip(" ")
    if not _PLAIN.fullmatch(stripped):
        raise RowError(
            column, text, "not_a_number", "a number such as 1234.56, with a point and no other separator"
        )
    return Decimal(stripped)


def optional_number(column: str, text: str) -> Decimal | None:
    """Return the number, or None where the field is empty: unknown is not zero."""
    return number(column, text) if text.strip(" ") else None


def to_step(value: Decimal, step: Decimal) -> Decimal:
    """Return `value` at the step of its table column, half to even; unchanged where it fits already."""
    with localcontext() as context:
        context.prec = 200  # whatever number() reads, to whatever step
        stepped = value.quantize(step)
    return value if stepped == value else stepped


def price(column: str, text: str) -> Decimal:
    """Return an hourly price above zero, at the nine decimals that the tables keep."""
    value = number(column, text)
    if value < 0:
        raise RowError(column, text, "negative_price", _PRICE_EXPECTED)
    if value == 0:
        raise RowError(column, text, "zero_price", _PRICE_EXPECTED + ", or empty where it is not known")
    if value > MAX_PRICE_PER_HOUR or value < PRICE_STEP:
        raise RowError(column, text, "price_out_of_bounds", _PRICE_EXPECTED)
    return to_step(value, PRICE_STEP)

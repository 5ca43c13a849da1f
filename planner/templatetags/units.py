"""How numbers look on screen: the only rounding for the eye. Files never use these.

Every filter takes None and NaN as unknown and "" as not applicable. Text and its unit are joined by
no-break spaces, a negative carries a true minus before the sign of its currency.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

NBSP = "\u00a0"
MINUS = "\u2212"
UNKNOWN = "unknown"
NOT_APPLICABLE = "—"
WIDE = Context(prec=400)  # every float fits, so that an absurd number is shown and not a fault
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
LARGE = ((Decimal(10**9), "B"), (Decimal(10**6), "M"), (Decimal(10**3), "k"))

Number = Decimal | float | int | str | None


def _decimal(value: Number) -> Decimal | None:
    """Return the number exactly as written, None where it is unknown."""
    if value is None or value == "":
        return None
    number = Decimal(str(value))
    return number if number.is_finite() else None


def _absent(value: Number) -> str:
    return NOT_APPLICABLE if isinstance(value, str) and value == "" else UNKNOWN


def _rounded(number: Decimal, decimals: int) -> Decimal:
    # half up, as people round; Decimal's default (half even) would show $2.5 as $2
    return number.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=WIDE)


def _grouped(number: Decimal, decimals: int) -> str:
    return f"{abs(_rounded(number, decimals)):,.{decimals}f}"


def _sign(number: Decimal, decimals: int, always: bool = False) -> str:
    shown = _rounded(number, decimals)
    if shown < 0:
        return MINUS
    return "+" if always and shown > 0 else ""


def _currency(currency: str) -> str:
    return SYMBOLS.get(currency, f"{currency}{NBSP}")


def _significant(number: Decimal) -> tuple[str, str]:
    """Return three significant figures and the letter of their size: 1421000 is ("1.42", "M")."""
    size = abs(number)
    for factor, letter in LARGE:
        scaled = size / factor
        # 999,600 would round to 1000 k: it belongs to the next size up
        if _rounded(scaled * 1000, 0) >= 1000:
            for decimals, limit in ((2, Decimal(10)), (1, Decimal(100)), (0, Decimal(1000))):
                if _rounded(scaled, decimals) < limit:
                    return _grouped(scaled, decimals), letter
            return _grouped(scaled, 0), letter
    return _grouped(size, 2 if 0 < _rounded(size, 2) < 100 else 0), ""


@register.filter
def usd(value: Number, currency: str = "USD") -> str:
    """Return whole currency units with separators, for tables: $10,221,592."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    return f"{_sign(number, 0)}{_currency(currency)}{_grouped(number, 0)}"


@register.filter
def usd_short(value: Number, currency: str = "USD") -> str:
    """Return three significant figures, for heroes and cards: $1.42 M, $362 k, $74.90."""
    return _short(value, currency, always_signed=False)


def usd_short_signed(value: Number, currency: str = "USD") -> str:
    """Return a difference of money with its sign always: −$1.42 M, +$362 k."""
    return _short(value, currency, always_signed=True)


def _short(value: Number, currency: str, *, always_signed: bool) -> str:
    number = _decimal(value)
    if number is None:
        return _absent(value)
    figures, letter = _significant(number)
    text = f"{_sign(number, 2, always_signed)}{_currency(currency)}{figures}"
    return f"{text}{NBSP}{letter}" if letter else text


@register.filter
def usd_per_hour(value: Number, currency: str = "USD") -> str:
    """Return a rate: two decimals, four below 0.10. $3.22, $0.0875."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    decimals = 0 if number == 0 else 4 if abs(number) < Decimal("0.1") else 2
    return f"{_sign(number, decimals)}{_currency(currency)}{_grouped(number, decimals)}"


@register.filter
def small_rate(value: Number, currency: str = "USD") -> str:
    """Return a small rate with three significant figures: $0.0374, $0.00302."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    decimals = 2 if number == 0 else max(2, 2 - number.adjusted())
    return f"{_sign(number, decimals)}{_currency(currency)}{_grouped(number, decimals)}"


@register.filter
def count(value: Number) -> str:
    """Return a whole number with separators: 70,100."""
    number = _decimal(value)
    return _absent(value) if number is None else f"{_sign(number, 0)}{_grouped(number, 0)}"


@register.filter
def gpu_hours(value: Number) -> str:
    """Return GPU-hours, whole below a thousand, then k and M: 70.1 k GPU-h."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    if abs(_rounded(number, 0)) < 1000:
        return f"{_sign(number, 0)}{_grouped(number, 0)}{NBSP}GPU-h"
    figures, letter = _significant(number)
    return f"{_sign(number, 0)}{figures}{NBSP}{letter}{NBSP}GPU-h"


@register.filter
def percent(value: Number) -> str:
    """Return a share as percent: no decimals from 10 on, one below. 0.62 is 62 %, 0.052 is 5.2 %."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    scaled = number * 100
    decimals = 0 if scaled == 0 or abs(_rounded(scaled, 1)) >= 10 else 1
    return f"{_sign(scaled, decimals)}{_grouped(scaled, decimals)}{NBSP}%"


def percent_signed(value: Number) -> str:
    """Return a change as percent with one decimal and its sign: −12.2 %."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    scaled = number * 100
    return f"{_sign(scaled, 1, True)}{_grouped(scaled, 1)}{NBSP}%"


@register.filter
def points(value: Number) -> str:
    """Return a difference of two shares in points: 0.02 is +2 pt."""
    number = _decimal(value)
    if number is None:
        return _absent(value)
    scaled = number * 100
    return f"{_sign(scaled, 0, True)}{_grouped(scaled, 0)}{NBSP}pt"


@register.filter
def month(value: date | None) -> str:
    """Return the month of a date: Jun 2029."""
    return UNKNOWN if value is None else f"{value:%b %Y}".replace(" ", NBSP)


@register.filter
def day(value: date | None, today: date | None = None) -> str:
    """Return a day: 15 Jan, or 15 Jan 2027 when not this year."""
    if value is None:
        return UNKNOWN
    shown = value.astimezone(UTC).date() if isinstance(value, datetime) else value
    this_year = (today or timezone.now()).year
    text = f"{shown.day} {shown:%b}" if shown.year == this_year else f"{shown.day} {shown:%b %Y}"
    return text.replace(" ", NBSP)


@register.filter
def moment(value: datetime | None) -> str:
    """Return a moment to the minute, in UTC: 30 Nov 2026 09:40 UTC."""
    if value is None:
        return UNKNOWN
    shown = value.astimezone(UTC)
    return f"{shown.day} {shown:%b %Y %H:%M} UTC".replace(" ", NBSP)


@register.filter
def age(value: datetime | timedelta | None, now: datetime | None = None) -> str:
    """Return how old something is: 26 h old. Minutes below two hours, days above two days."""
    if value is None:
        return "never"
    passed = value if isinstance(value, timedelta) else (now or timezone.now()) - value
    minutes = max(0, int(passed.total_seconds() // 60))
    if minutes < 120:
        amount = f"{minutes} min"
    elif minutes < 48 * 60:
        amount = f"{minutes // 60} h"
    else:
        amount = f"{minutes // (24 * 60)} d"
    return f"{amount} old".replace(" ", NBSP)


@register.simple_tag
def delta(change: Any) -> SafeString | str:
    """Return a comparison's Delta as one span: arrow, sign and colour together, never colour alone."""
    if change is None:
        return ""
    tone = {"better": "good", "worse": "bad"}.get(change.meaning, "muted")
    arrow = f"{change.arrow}{NBSP}" if change.arrow else ""
    return format_html('<span class="delta {}">{}{}</span>', tone, arrow, change.text)

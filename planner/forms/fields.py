"""Fields that several forms share: names, numbers within bounds, first days of months."""

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

# joiners that emoji and some scripts need; every other invisible character is refused
JOINERS = "\u200c\u200d"
LONGEST_NAME = 120


def plain(number: Decimal) -> str:
    """Return a number as people type it: no exponent, no trailing zeros.

    >>> plain(Decimal("10.500")), plain(Decimal("1E+2"))
    ('10.5', '100')
    """
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


class TextField(forms.CharField):
    """One line of text without characters that cannot be seen."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if any(not character.isprintable() and character not in JOINERS for character in text):
            raise ValidationError("Use printable characters only: no control or direction characters.")
        return text


class NumberField(forms.DecimalField):
    """A number within bounds; blank is None where it is not required."""

    def __init__(
        self, *, least: Decimal | int | str, most: Decimal | int | str, decimals: int = 6, **options: Any
    ) -> None:
        low, high = Decimal(least), Decimal(most)
        digits = max(len(str(int(abs(high)))), len(str(int(abs(low))))) + decimals
        super().__init__(min_value=low, max_value=high, decimal_places=decimals, max_digits=digits, **options)
        self.widget.attrs["step"] = "any"

    def prepare_value(self, value: Any) -> Any:
        return plain(value) if isinstance(value, Decimal) else value


class PercentField(NumberField):
    """A share typed in percent, cleaned to a share: 62 becomes 0.62."""

    def clean(self, value: Any) -> Decimal | None:
        number: Decimal | None = super().clean(value)
        return None if number is None else number / 100

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(initial * 100 if isinstance(initial, Decimal) else initial, data)

    def prepare_value(self, value: Any) -> Any:
        return plain(value * 100) if isinstance(value, Decimal) else value


class MonthField(forms.DateField):
    """A month, cleaned to its first day. Takes 2027-01 and 2027-01-01."""

    def __init__(self, **options: Any) -> None:
        super().__init__(input_formats=["%Y-%m", "%Y-%m-%d"], **options)
        self.widget = forms.DateInput(attrs={"type": "month"}, format="%Y-%m")

    def clean(self, value: Any) -> date | None:
        day: date | None = super().clean(value)
        if day is None:
            return None
        if not 2000 <= day.year < 2090:
            raise ValidationError("Give a month from 2000 to 2089.")
        return day.replace(day=1)


class DayField(forms.DateField):
    """A day within the years that plans are about."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **options)

    def clean(self, value: Any) -> date | None:
        day: date | None = super().clean(value)
        if day is not None and not 2000 <= day.year < 2090:
            raise ValidationError("Give a day from 2000 to 2089.")
        return day

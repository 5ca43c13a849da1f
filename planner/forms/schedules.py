"""How often a source is fetched, and whether at all."""

from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from costs.schedule import FEWEST_MINUTES, MOST_MINUTES

MINUTES = {"minutes": 1, "hours": 60, "days": 1440}


class ScheduleForm(forms.Form):
    """A number and its unit, cleaned to minutes within what the table takes."""

    every = forms.IntegerField(label="Every", min_value=1, max_value=MOST_MINUTES)
    unit = forms.ChoiceField(label="Unit", choices=[(unit, unit) for unit in MINUTES])
    is_on = forms.BooleanField(label="Fetch by itself", required=False)
    # which schedule of the source: its parameters in one order
    params_key = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    @staticmethod
    def initial_of(span: timedelta) -> dict[str, Any]:
        """Return a span as a number of its largest whole unit.

        >>> ScheduleForm.initial_of(timedelta(days=7)), ScheduleForm.initial_of(timedelta(minutes=90))
        ({'every': 7, 'unit': 'days'}, {'every': 90, 'unit': 'minutes'})
        """
        minutes = max(1, span // timedelta(minutes=1))
        for unit, size in reversed(MINUTES.items()):
            if minutes % size == 0:
                return {"every": minutes // size, "unit": unit}
        raise AssertionError("every whole number is one of minutes")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if "every" in values and "unit" in values:
            minutes = values["every"] * MINUTES[values["unit"]]
            if not FEWEST_MINUTES <= minutes <= MOST_MINUTES:
                self.add_error(
                    "every", ValidationError(f"From {FEWEST_MINUTES} minutes to {MOST_MINUTES // 1440} days.")
                )
            values["minutes"] = minutes
        return values

"""What a person decides about facts that were held back."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from costs.models import QuarantinedFact
from planner.forms.fields import TextField

MOST_AT_ONCE = 2_000
LONGEST_ID = 18  # digits of what a database counts with


class IdsField(forms.Field):
    """Numbers of records, as ticked boxes send them."""

    widget = forms.SelectMultiple

    def to_python(self, value: Any) -> list[int]:
        texts = [str(each) for each in value or []]
        if not all(text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID for text in texts):
            raise ValidationError("One of the ticked lines is none of this list.")
        return sorted({int(text) for text in texts})


class DecisionForm(forms.Form):
    """Which records, what becomes of them, and why."""

    fact = IdsField(label="Lines", required=False)
    everything = forms.BooleanField(label="All that match", required=False)
    expected = forms.IntegerField(required=False, min_value=0)  # how many matched when the page was made
    action = forms.ChoiceField(choices=[("release", "Release"), ("keep_out", "Keep out")])
    note = TextField(
        label="Why",
        max_length=500,
        error_messages={"required": "Write a note: why is this right?"},
    )

    def __init__(self, *args: Any, matching: QuerySet[QuarantinedFact], **options: Any) -> None:
        super().__init__(*args, **options)
        self.matching = matching

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("everything"):
            values["fact"] = self._all(values.get("expected"))
        elif not values.get("fact") and "fact" not in self.errors:
            raise ValidationError("Tick at least one line, or all that match.")
        return values

    def _all(self, expected: int | None) -> list[int]:
        found = list(self.matching.values_list("pk", flat=True)[: MOST_AT_ONCE + 1])
        if len(found) > MOST_AT_ONCE:
            raise ValidationError(f"At most {MOST_AT_ONCE:,} at once: narrow the list by a filter.")
        if expected != len(found):
            raise ValidationError(f"The list has changed: {len(found):,} match now. Look at them again.")
        return found

    @property
    def ticked(self) -> set[str]:
        """Return the lines that were ticked, to be shown so again."""
        return {str(value) for value in self["fact"].value() or []} if self.is_bound else set()

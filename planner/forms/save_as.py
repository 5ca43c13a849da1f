"""Save a scenario of a comparison, with its what-if values, under a new name."""

from collections.abc import Sequence
from typing import Any

from django import forms

from planner.comparison.result import Comparison, Letter
from planner.forms.fields import LONGEST_NAME, TextField


class SaveAsForm(forms.Form):
    """Which scenario, under which name."""

    letter = forms.ChoiceField(label="Scenario")
    name = TextField(label="Name", max_length=LONGEST_NAME)

    def __init__(self, *args: Any, letters: Sequence[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["letter"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 # for the type checker
        field.choices = list(letters)


def suggested_name(comparison: Comparison, letter: Letter) -> str:
    """Return a name that says what was changed: "Own 96, 70 % share of the fleet in use"."""
    name = comparison.column(letter).name
    changed = [slider for slider in comparison.sliders if slider.is_changed and slider.value is not None]
    parts = [
        f"{slider.label.lower()} {slider.value:,.{slider.decimals}f} {slider.unit}" for slider in changed
    ]
    suffix = ", ".join(parts) or "copy"
    return f"{name[: LONGEST_NAME // 2]}, {suffix}"[:LONGEST_NAME]

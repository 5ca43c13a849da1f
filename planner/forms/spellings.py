"""Which accelerator a name means."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from costs.names import accelerator_key
from planner.forms.fields import TextField

LONGEST_SPELLING = 80  # as the table of spellings holds it


class SpellingForm(forms.Form):
    """One name, its accelerator, and why. `accelerators` are slugs with their names, `slugs` every spelling
    that is known, in the form in which they are compared."""

    spelling = TextField(label="Name in the file", max_length=LONGEST_SPELLING)
    accelerator = TextField(label="GPU", max_length=160)
    note = TextField(label="Note", max_length=400, required=False)

    def __init__(
        self, *args: Any, accelerators: Mapping[str, str], slugs: Mapping[str, str], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.accelerators, self.slugs = accelerators, slugs

    def clean_spelling(self) -> str:
        spelling: str = self.cleaned_data["spelling"]
        if not accelerator_key(spelling):
            raise ValidationError("A name with letters or digits: of this one nothing is left to compare.")
        return spelling

    def clean_accelerator(self) -> str:
        """Return the slug of what was chosen: a list offers names, any spelling that is known works too."""
        slug = self.slugs.get(accelerator_key(self.cleaned_data["accelerator"]), "")
        if slug not in self.accelerators:
            raise ValidationError(
                "No GPU of the table has this name. Choose one of the list, or add it to the table first."
            )
        return slug

"""The form that takes a file of facts. It looks at name, size and first bytes: nothing is parsed here."""

from types import ModuleType
from typing import Any, BinaryIO, cast

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.template.defaultfilters import filesizeformat

from costs.recognize import recognize
from costs.rows import FileError
from costs.sources import SOURCES
from planner.forms.fields import DayField
from planner.source_words import by_area, param_hint, param_label, parameters, title_of

NAME = RegexValidator(r"^[\w][\w .:/,+-]*$", "Letters, digits, blanks and . : / , + - _ only.")
LONGEST_PARAMETER = 80
DAYS = frozenset({"as_of", "starts_on"})
AUTO = ""  # the file says itself what it is
MOST_CANDIDATES = 6


def uploadable() -> list[str]:
    """Return the name of every source that takes files."""
    return [name for name, source in SOURCES.items() if source.SUFFIXES]


def choices() -> list[tuple[str, Any]]:
    """Return what a file may be, under headings; first that it says so itself."""
    groups = [(area, [(name, title_of(name)) for name in names]) for area, names in by_area(uploadable())]
    return [(AUTO, "let the file say"), *groups]


class UploadForm(forms.Form):
    """A file, what is in it, and what the file does not say of itself."""

    source = forms.ChoiceField(label="What is in the file?", required=False, widget=forms.HiddenInput)
    file = forms.FileField(label="File", max_length=255, allow_empty_file=True)

    def __init__(self, *args: Any, chosen: str = AUTO, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.candidates: list[str] = []  # that a file may be, where more than one fits
        self.fields["source"].choices = choices()  # type: ignore[attr-defined] # declared above
        source = SOURCES.get(self.data.get("source", "") if self.is_bound else chosen)
        self.names = parameters(source, of_file=True) if source is not None else []
        for name in self.names:
            self.fields[name] = _parameter(name)
        self.fields["file"].help_text = _taken(source)
        if not self.is_bound:
            self.initial["source"] = chosen

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file = values.get("file")
        if isinstance(file, UploadedFile) and "source" in values and self._has_fair_size(file):
            values["source"] = values["source"] or self._recognised(file)
            source = SOURCES.get(values["source"])
            if source is not None:
                self._check_suffix(file, source)
        return values

    def _has_fair_size(self, file: "UploadedFile[Any]") -> bool:
        if not file.size:
            self.add_error("file", ValidationError("The file is empty."))
        elif file.size > settings.UPLOAD_MAX_BYTES:
            self.add_error("file", ValidationError(too_large()))
        return "file" not in self.errors

    def _recognised(self, file: "UploadedFile[Any]") -> str:
        """Return the one source that the first bytes are of; say so where that is none or several."""
        try:
            found = recognize(cast(BinaryIO, file), file.name or "")
        except FileError as error:
            self.add_error("file", ValidationError(f"Expected {error.expected}."))
            return ""
        if len(found) == 1:
            return found[0]
        self.candidates = found[:MOST_CANDIDATES]
        self.add_error("source", ValidationError(_undecided(self.candidates)))
        return ""

    def _check_suffix(self, file: "UploadedFile[Any]", source: ModuleType) -> None:
        if not (file.name or "").lower().endswith(source.SUFFIXES):
            expected = " or ".join(source.SUFFIXES)
            self.add_error("file", ValidationError(f"{source.TITLE} takes files that end in {expected}."))

    def params(self) -> dict[str, str]:
        """Return what the parser is told besides the bytes."""
        told = {name: self.cleaned_data.get(name) for name in self.names}
        return {name: str(value) for name, value in told.items() if value}


def _parameter(name: str) -> forms.Field:
    label, hint = param_label(name), param_hint(name)
    if name in DAYS:
        return DayField(label=label, required=False, help_text=hint)
    return forms.CharField(
        label=label, required=False, max_length=LONGEST_PARAMETER, validators=[NAME], help_text=hint
    )


def _taken(source: ModuleType | None) -> str:
    limit = filesizeformat(settings.UPLOAD_MAX_BYTES)
    return f"{', '.join(source.SUFFIXES)}; at most {limit}." if source else f"At most {limit}."


def _undecided(found: list[str]) -> str:
    if not found:
        return "No source has this layout. Choose what it is meant to be: the check then says what is wrong."
    listed = " or ".join(title_of(name) for name in found)
    return f"It may be {listed}: choose one, and give the file again."


def too_large() -> str:
    limit = filesizeformat(settings.UPLOAD_MAX_BYTES)
    return (
        f"The file is larger than {limit}. Compress it with gzip (.csv.gz), split it, or load it from the "
        "shell: manage.py ingest auto --file PATH has no such limit."
    )

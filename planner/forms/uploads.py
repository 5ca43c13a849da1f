"""The form that takes a file of facts. It looks at names and sizes only: nothing is parsed here."""

from types import ModuleType
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.template.defaultfilters import filesizeformat

from costs.sources import SOURCES

NAME = RegexValidator(r"^[\w][\w .:/-]*$", "Letters, digits, blanks and . : / - _ only.")
HINTS = {
    "provider": "Of a SkyPilot catalogue, where the file's name does not say it (skypilot_aws.csv does).",
    "cluster": "Of hourly use: replaces what the file says. Leave it empty to keep that.",
}
# set for the sample fleet alone, never by a person
HIDDEN = frozenset({"sample"})


def uploadable() -> list[tuple[str, str]]:
    """Return name and title of every source that takes files."""
    return [(name, source.TITLE) for name, source in SOURCES.items() if source.SUFFIXES]


def parameters(source: ModuleType) -> list[str]:
    """Return the names of what a person may say besides the file."""
    return [name for name in source.PARAMS if name not in HIDDEN and name in HINTS]


class UploadForm(forms.Form):
    source = forms.ChoiceField(label="What is in the file?")
    provider = forms.CharField(
        label="Cloud", required=False, max_length=40, validators=[NAME], help_text=HINTS["provider"]
    )
    cluster = forms.CharField(
        label="Cluster", required=False, max_length=80, validators=[NAME], help_text=HINTS["cluster"]
    )
    file = forms.FileField(label="File", max_length=255, allow_empty_file=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)  # noqa: S101 # for the type checker: declared above
        source.choices = [("", "choose …"), *uploadable()]
        self.fields["file"].help_text = f"At most {filesizeformat(settings.UPLOAD_MAX_BYTES)}."

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file, source = values.get("file"), SOURCES.get(values.get("source", ""))
        if isinstance(file, UploadedFile) and source is not None:
            self._check_file(file, source)
        return values

    def _check_file(self, file: "UploadedFile[Any]", source: ModuleType) -> None:
        name = (file.name or "").lower()
        if not name.endswith(source.SUFFIXES):
            expected = " or ".join(source.SUFFIXES)
            self.add_error("file", ValidationError(f"{source.TITLE} takes files that end in {expected}."))
        elif not file.size:
            self.add_error("file", ValidationError("The file is empty."))
        elif file.size > settings.UPLOAD_MAX_BYTES:
            self.add_error("file", ValidationError(too_large()))

    def params(self) -> dict[str, str]:
        """Return what the parser is told besides the bytes."""
        names = parameters(SOURCES[self.cleaned_data["source"]])
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data.get(name)}


def too_large() -> str:
    limit = filesizeformat(settings.UPLOAD_MAX_BYTES)
    return (
        f"The file is larger than {limit}. Compress it with gzip (.csv.gz), split it, or load it from the "
        "shell: manage.py ingest SOURCE --file PATH has no such limit."
    )

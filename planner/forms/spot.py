"""What a job on spot is like: minutes and hours that a person types in, each with bounds and a default."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django import forms
from django.core.exceptions import ValidationError

from planner.params import Pairs, shortened

MINUTES_PER_HOUR = 60


def _number(label: str, unit: str, least: str, most: str, usual: str, places: int = 2) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        help_text=unit,
        min_value=Decimal(least),
        max_value=Decimal(most),
        decimal_places=places,
        initial=Decimal(usual) if usual else None,
        required=bool(usual),
    )


class JobForm(forms.Form):
    """The job. Its fields stand in the address under these names; an empty `mtbf` takes what was measured."""

    checkpoint = _number("Checkpoint every", "min", "0.1", "1440", "20")
    write = _number("Writing it takes", "min", "0.1", "120", "2")
    restart = _number("Restart takes", "min", "0", "1440", "6")
    job = _number("Job", "h", "0.1", "8760", "72")
    deadline = _number("Deadline", "h", "0.1", "17520", "96")
    machines = _number("Machines", "", "1", "1000", "1", places=0)
    mtbf = _number("A machine is lost every", "h", "0.01", "100000", "")


NAMES = tuple(JobForm.base_fields)


@dataclass(frozen=True)
class Field:
    """One field as the page draws it."""

    name: str
    label: str
    unit: str
    value: str
    least: str
    most: str
    is_whole: bool
    is_optional: bool


@dataclass(frozen=True)
class Job:
    """The job as it was asked for, in the units of the form."""

    values: Mapping[str, Decimal | None]

    def _known(self, name: str) -> float:
        value = self.values[name]
        if value is None:
            raise ValueError(f"{name} has a default")
        return float(value)

    @property
    def interval_hours(self) -> float:
        return self._known("checkpoint") / MINUTES_PER_HOUR

    @property
    def checkpoint_hours(self) -> float:
        return self._known("write") / MINUTES_PER_HOUR

    @property
    def restart_hours(self) -> float:
        return self._known("restart") / MINUTES_PER_HOUR

    @property
    def work_hours(self) -> float:
        return self._known("job")

    @property
    def deadline_hours(self) -> float:
        return self._known("deadline")

    @property
    def machines(self) -> int:
        return int(self._known("machines"))

    @property
    def mtbf_hours(self) -> float | None:
        """Return the hours between losses of one machine, where a person typed them in."""
        value = self.values["mtbf"]
        return None if value is None else float(value)

    @property
    def work_rate(self) -> float:
        """Return the useful work of a running hour: tau / (tau + delta)."""
        return self.interval_hours / (self.interval_hours + self.checkpoint_hours)

    def pairs(self) -> Pairs:
        """Return what differs from the defaults, as parameters."""
        return [
            (name, text_of(value))
            for name, value in self.values.items()
            if value is not None and value != JobForm.base_fields[name].initial
        ]

    def fields(self) -> list[Field]:
        """Return the fields with the values that hold."""
        return [_field(name, self.values[name]) for name in NAMES]


def read_job(given: Mapping[str, str]) -> tuple[Job, list[str]]:
    """Return the job that parameters ask for; what makes no sense is named and left at its default."""
    values: dict[str, Decimal | None] = {}
    notices = []
    for name, field in JobForm.base_fields.items():
        text = given.get(name, "").strip()
        values[name] = field.initial
        if not text:
            continue
        try:
            values[name] = field.clean(text)
        except ValidationError as error:
            why = " ".join(error.messages)
            notices.append(f"{field.label}: “{shortened(text)}” was ignored. {why}")
    return Job(values), notices


def text_of(value: Decimal) -> str:
    """Return a number without trailing zeros or exponent: 20, 0.5.

    >>> text_of(Decimal("20.00")), text_of(Decimal("0.50"))
    ('20', '0.5')
    """
    return format(value.normalize(), "f")


def _field(name: str, value: Decimal | None) -> Field:
    field = JobForm.base_fields[name]
    return Field(
        name=name,
        label=str(field.label),
        unit=str(field.help_text),
        value="" if value is None else text_of(value),
        least=text_of(field.min_value),  # type: ignore[attr-defined] # all are DecimalFields
        most=text_of(field.max_value),  # type: ignore[attr-defined]
        is_whole=field.decimal_places == 0,  # type: ignore[attr-defined]
        is_optional=not field.required,
    )

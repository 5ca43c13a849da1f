"""What the address of a GPU page says: term, clouds, region, window, the offer with its own line."""

from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from django.http import QueryDict

from costs.models import Price
from costs.queries.price_steps import Step
from planner.params import Pairs, shortened

TERMS = dict(Price.Term.choices)
WINDOWS = {"6m": "6 months", "12m": "12 months", "24m": "24 months", "all": "all"}
_MONTHS = {"6m": 6, "12m": 12, "24m": 24}
DEFAULT_TERM, DEFAULT_WINDOW = Price.Term.ON_DEMAND.value, "24m"
LONGEST_REGION = 80
LONG_AGO = date(2000, 1, 1)


@dataclass(frozen=True)
class Chosen:
    """The values that hold, in the order of the address; `notices` name what made no sense."""

    NAMES = ("term", "cloud", "region", "window", "line")

    term: str = DEFAULT_TERM
    clouds: tuple[str, ...] = ()
    region: str = ""
    window: str = DEFAULT_WINDOW
    line: str = ""  # the key of an offer
    notices: tuple[str, ...] = field(default=(), compare=False)

    def pairs(self) -> Pairs:
        """Return the parameters; what is as it is by default stays out of the address."""
        found = [("term", self.term)] if self.term != DEFAULT_TERM else []
        found += [("cloud", cloud) for cloud in self.clouds]
        found += [(name, value) for name, value in (("region", self.region),) if value]
        found += [("window", self.window)] if self.window != DEFAULT_WINDOW else []
        return found + ([("line", self.line)] if self.line else [])

    def lets_through(self, provider: str, region: str) -> bool:
        """Return whether cloud and region are among those asked for."""
        is_cloud = not self.clouds or provider in self.clouds
        return is_cloud and region.casefold().startswith(self.region.casefold())

    def first_day(self, now: datetime) -> date:
        """Return the first day of the window; for all of it a day before anything was sold."""
        today = now.astimezone(UTC).date()
        return months_before(today, _MONTHS[self.window]) if self.window in _MONTHS else LONG_AGO

    def settled(self, steps: Iterable[Step]) -> "Chosen":
        """Return the values without clouds that do not sell this GPU; they are named."""
        known = {step.provider for step in steps}
        unknown = [cloud for cloud in self.clouds if cloud not in known]
        if not unknown:
            return self
        notice = f"Cloud: {_quoted(unknown)} does not sell this GPU as far as is on file: ignored."
        kept = tuple(cloud for cloud in self.clouds if cloud in known)
        return replace(self, clouds=kept, notices=(*self.notices, notice))

    def without_line(self) -> "Chosen":
        """Return the values without an offer that has no price here; it is named."""
        notice = f"Line: no offer “{shortened(self.line)}” has a price here: ignored."
        return replace(self, line="", notices=(*self.notices, notice))


def read(query: QueryDict) -> Chosen:
    """Return what an address asks for; unknown values are named and left at their default."""
    notices: list[str] = []
    term = _choice(query, "term", TERMS, DEFAULT_TERM, notices)
    window = _choice(query, "window", WINDOWS, DEFAULT_WINDOW, notices)
    region = query.get("region", "").strip()
    if len(region) > LONGEST_REGION or "\0" in region:
        notices.append(f"Region: “{shortened(region)}” is not the start of a region's name: ignored.")
        region = ""
    clouds = dict.fromkeys(value for value in query.getlist("cloud") if value.strip())
    line = query.get("line", "").strip()
    return Chosen(term, tuple(clouds), region, window, line, tuple(notices))


def months_before(day: date, months: int) -> date:
    """Return the same day some months earlier, or the last of that month.

    >>> months_before(date(2026, 8, 31), 6)
    datetime.date(2026, 2, 28)
    """
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _choice(query: QueryDict, name: str, choices: dict[str, str], default: str, notices: list[str]) -> str:
    value = query.get(name, "").strip()
    if value and value not in choices:
        notices.append(f"{name.capitalize()}: “{shortened(value)}” is not among the choices: ignored.")
    return value if value in choices else default


def _quoted(values: Sequence[str]) -> str:
    return ", ".join(f"“{shortened(value)}”" for value in values)

"""The address of a comparison: read from a query string, and written back in one canonical order.

`s` names a scenario by its address, "own-96" or "own-96~3" for revision 3; 2 to 4 of them. `as_of` is the
date of the page: of measured use and of the prices that follow the newest; a day is taken at its end (UTC).
A revision that keeps prices of a date keeps them at every `as_of`; `prices=one_date` reads the prices of all
at the date of the page. Values that cannot be meant are left out and named in a notice: an address never ends
in an error page.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlencode

from planner.comparison.result import LETTERS, ViewName
from planner.moments import EXAMPLE, day_in, end_of, moment_in

MOST_SCENARIOS = len(LETTERS)
VIEW_NAMES: tuple[ViewName, ...] = ("cash", "amortized", "present_value")
REVISION_MARK = "~"
PRINT = "print"  # ?view=print lays the page out for paper; it is no view of money


@dataclass(frozen=True)
class Bounds:
    """What a what-if value may be, in the unit of its slider."""

    minimum: float
    maximum: float
    unit: str


# A plan beyond these is a typing error, not a plan.
BOUNDS: Mapping[str, Bounds] = {
    "util": Bounds(1, 100, "%"),
    "demand": Bounds(1, 100_000, "GPUs"),
    "growth": Bounds(-10, 20, "%"),
    "drift_year": Bounds(-60, 60, "%"),
    "capex_gpu": Bounds(100, 500_000, "$"),
    "kwh": Bounds(0, 2, "$/kWh"),
}
LAST_YEAR = 2099
ONE_DATE = "one_date"  # ?prices=one_date
RUN = "run_gpu_hours"  # GPU-hours of the training run that capacity is counted in
RUN_BOUNDS = Bounds(1, 1e9, "GPU-hours")
PARAMETERS = ("s", "view", "base", "as_of", "prices", *BOUNDS, RUN)


@dataclass(frozen=True)
class Chosen:
    """One scenario of an address; `revision` None is the newest."""

    slug: str
    revision: int | None = None

    def __str__(self) -> str:
        return self.slug if self.revision is None else f"{self.slug}{REVISION_MARK}{self.revision}"


@dataclass(frozen=True)
class Address:
    """What an address asks for. `as_of` None is live."""

    scenarios: tuple[Chosen, ...] = ()
    view: ViewName = "cash"
    base: str = ""  # a scenario's address; "" is the first
    as_of: datetime | None = None
    one_date: bool = False  # the prices of all at the date of the page, whatever scenarios keep
    overrides: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    run_gpu_hours: float | None = None  # None: a published run on the base's GPU

    def query(self) -> str:
        """Return the query string; defaults stay out of it."""
        pairs = [("s", str(chosen)) for chosen in self.scenarios]
        if self.view != "cash":
            pairs.append(("view", self.view))
        if self.base and self.scenarios and self.base != self.scenarios[0].slug:
            pairs.append(("base", self.base))
        if self.as_of is not None:
            pairs.append(("as_of", moment_text(self.as_of)))
        if self.one_date:
            pairs.append(("prices", ONE_DATE))
        pairs += [(key, number_text(self.overrides[key])) for key in BOUNDS if key in self.overrides]
        if self.run_gpu_hours is not None:
            pairs.append((RUN, number_text(self.run_gpu_hours)))
        return urlencode(pairs)


def moment_text(moment: datetime) -> str:
    """Return a UTC moment as addresses write it; microseconds only where there are some."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def number_text(value: float) -> str:
    """Return a number without a trailing ".0"."""
    return str(int(value)) if value == int(value) else repr(value)


def read_address(parameters: Mapping[str, Sequence[str]]) -> Address:
    """Return what a query string asks for; `parameters` holds every value of each name."""
    notices: list[str] = []
    overrides = _overrides(parameters, notices)
    run = _bounded(RUN, _last(parameters, RUN), RUN_BOUNDS, notices)
    return Address(
        scenarios=_scenarios(parameters.get("s", ()), notices),
        view=_view(parameters.get("view", ()), notices),
        base=_last(parameters, "base"),
        as_of=_as_of(_last(parameters, "as_of"), notices),
        one_date=_one_date(_last(parameters, "prices"), notices),
        overrides=overrides,
        notices=tuple(notices),
        run_gpu_hours=run,
    )


def _last(parameters: Mapping[str, Sequence[str]], name: str) -> str:
    values = parameters.get(name, ())
    return values[-1].strip() if values else ""


def _shown(value: str) -> str:
    """Return a value as a notice may repeat it: short, and without characters that steer text."""
    printable = "".join(character if character.isprintable() else "�" for character in value)
    return printable if len(printable) <= 40 else f"{printable[:40]}…"


def _scenarios(values: Sequence[str], notices: list[str]) -> tuple[Chosen, ...]:
    found: dict[str, Chosen] = {}
    for value in values:
        slug, mark, number = value.strip().partition(REVISION_MARK)
        if not slug:
            continue
        revision = int(number) if mark and number.isascii() and number.isdigit() and len(number) < 9 else None
        if mark and revision is None:
            notices.append(f"s={_shown(value)}: after {REVISION_MARK} comes the number of a revision.")
        if slug in found:
            notices.append(f"{_shown(slug)} is named twice and shown once.")
            continue
        found[slug] = Chosen(slug, revision)
    chosen = tuple(found.values())
    if len(chosen) > MOST_SCENARIOS:
        names = ", ".join(_shown(one.slug) for one in chosen[MOST_SCENARIOS:])
        notices.append(f"Four scenarios at most are compared; left out: {names}.")
    return chosen[:MOST_SCENARIOS]


def _view(values: Sequence[str], notices: list[str]) -> ViewName:
    named = [value for value in values if value != PRINT]
    for view in VIEW_NAMES:
        if named and named[-1] == view:
            return view
    if named:
        notices.append(f"view={_shown(named[-1])}: one of {', '.join(VIEW_NAMES)}; cash is shown.")
    return "cash"


def _as_of(text: str, notices: list[str]) -> datetime | None:
    if not text:
        return None
    day = day_in(text)
    asked = moment_in(text) if day is None else end_of(day)
    if asked is None or asked.year > LAST_YEAR:
        notices.append(f"as_of={_shown(text)}: {EXAMPLE}; live is shown.")
        return None
    return asked


def _one_date(text: str, notices: list[str]) -> bool:
    if text and text != ONE_DATE:
        notices.append(
            f"prices={_shown(text)}: {ONE_DATE}, or nothing; each scenario’s own prices are shown."
        )
    return text == ONE_DATE


def _overrides(parameters: Mapping[str, Sequence[str]], notices: list[str]) -> dict[str, float]:
    overrides = {}
    for key, bounds in BOUNDS.items():
        value = _bounded(key, _last(parameters, key), bounds, notices)
        if value is not None:
            overrides[key] = value
    if "util" in overrides and "demand" in overrides:
        notices.append("demand is not used beside util: both set the GPUs busy in month 1.")
        del overrides["demand"]
    return overrides


def _bounded(key: str, text: str, bounds: Bounds, notices: list[str]) -> float | None:
    """Return a number inside its bounds; None where there is none, and a notice where it cannot be meant."""
    value = read_number(text)
    if value is not None and bounds.minimum <= value <= bounds.maximum:
        return value
    if text:
        notices.append(
            f"{key}={_shown(text)} is not used: a number from {number_text(bounds.minimum)} "
            f"to {number_text(bounds.maximum)} ({bounds.unit})."
        )
    return None


def read_number(text: str) -> float | None:
    """Return a finite number, or None where the text is none. "1_0" and "१" are none."""
    if not text.isascii() or "_" in text or len(text) > 30:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

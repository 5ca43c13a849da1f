"""The figures by which commitments are run: how well they are used, what they save, when they end.

Utilization is used / committed; coverage is on-demand value covered / on-demand value of eligible use. High
utilization with low coverage means too little is committed, the reverse too much. The effective savings rate
counts what lies unused too. Definitions: FinOps Framework, rate optimization; AWS Cost Management,
utilization and coverage reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray, add_months, days_later
from planner.core.commitments.usage import known, share_of
from planner.core.ranges import AT_LEAST_0, SHARE, Range, optional, refuse, require_fields, takes
from planner.core.units import HOURS_PER_YEAR

EXPIRY_WINDOWS_DAYS = (30, 60, 90)
WINDOW_DAYS = Range(1, 3_660, whole=True)
MONEY = optional(AT_LEAST_0)
ROUNDING = 1e-9  # a part may pass the whole by so much of it


@takes(used_usd=MONEY, committed_usd=MONEY)
def utilization(used_usd: float | None, committed_usd: float | None) -> float | None:
    """Return used / committed; None where one is unknown or nothing is committed.

    Raises ValueError where more is used than committed.

    >>> utilization(47.125, 50.0)
    0.9425
    """
    return _share("used_usd", used_usd, committed_usd)


@takes(covered_usd=MONEY, eligible_usd=MONEY)
def coverage(covered_usd: float | None, eligible_usd: float | None) -> float | None:
    """Return on-demand value covered / on-demand value of eligible use; None as in utilization().

    >>> coverage(3.0, 12.0)
    0.25
    """
    return _share("covered_usd", covered_usd, eligible_usd)


def _share(name: str, part: float | None, whole: float | None) -> float | None:
    if part is None or whole is None:
        return None
    _refuse_more(name, part, whole)
    return share_of(min(part, whole), whole)


def _refuse_more(name: str, part: float, whole: float) -> None:
    if part > whole * (1.0 + ROUNDING):
        refuse(name, part, f"at most the whole, {whole:g}")


@takes(actual_usd=MONEY, on_demand_usd=MONEY)
def effective_savings_rate(actual_usd: float | None, on_demand_usd: float | None) -> float | None:
    """Return 1 - actual cost / on-demand equivalent, the unused commitment included; below 0 for a loss.

    None where one is unknown or nothing was used.

    >>> round(effective_savings_rate(58.24, 59.10), 4)
    0.0146
    """
    if actual_usd is None or on_demand_usd is None:
        return None
    return share_of(on_demand_usd - actual_usd, on_demand_usd)


@takes(discount=optional(SHARE), utilization=optional(SHARE))
def savings_rate_of_one(discount: float | None, utilization: float | None) -> float | None:
    """Return 1 - (1 - d) / u of one commitment: d in full use, 0 at u = 1 - d, below 0 under it.

    None where one is unknown and at u = 0, where nothing would have been paid on demand.

    >>> savings_rate_of_one(0.25, 0.75)
    0.0
    """
    if discount is None or not utilization:
        return None
    return 1.0 - (1.0 - discount) / utilization


@takes(committed_usd=MONEY, used_usd=MONEY)
def vacancy_usd(committed_usd: float | None, used_usd: float | None) -> float | None:
    """Return the committed money that bought nothing: committed - used; None where one is unknown.

    >>> vacancy_usd(50.0, 47.125)
    2.875
    """
    if committed_usd is None or used_usd is None:
        return None
    _refuse_more("used_usd", used_usd, committed_usd)
    return max(committed_usd - used_usd, 0.0)


@dataclass(frozen=True)
class CommitmentTerm:
    """A commitment's term: from `start` 00:00 UTC to `end`, the first day after it.

    `usd_per_hour` is its effective price, upfront part included; `gpus` is what it holds, 0 for a plan that
    commits money alone; None where unknown. Raises ValueError for an end that is not after the start.
    """

    name: str
    start: date
    end: date
    usd_per_hour: float | None
    gpus: float | None = 0.0

    def __post_init__(self) -> None:
        require_fields(self, self.name, usd_per_hour=MONEY, gpus=MONEY)
        if self.end <= self.start:
            refuse(f"{self.name}: end", self.end, f"after the start, {self.start}")

    @property
    def usd_per_year(self) -> float:
        """Return the yearly cost, price * 8,760 hours; NaN where the price is unknown."""
        return np.nan if self.usd_per_hour is None else self.usd_per_hour * HOURS_PER_YEAR

    def is_active(self, day: date) -> bool:
        """Return whether a day lies inside the term."""
        return self.start <= day < self.end


@dataclass(frozen=True)
class LadderStep:
    """What ends in one month, by the last day of each term; None where a price or a count is unknown."""

    month: date
    usd_per_year: float | None
    gpus: float | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Cliff:
    """The largest drop of what is active from one first of a month to the next; the month it falls in."""

    month: date
    drop: float
    share_of_active_today: float


@dataclass(frozen=True)
class ExpiryFigures:
    """When commitments end, seen from one day. Yearly money; None where a price or a count is unknown.

    `missing` names the commitments without a price that are not over. Cliffs are None too where nothing is
    active or drops.
    """

    active_usd_per_year: float | None
    active_gpus: float | None
    expiring_usd_per_year: Mapping[int, float | None]
    weighted_remaining_days: float | None
    cliff_usd: Cliff | None
    cliff_gpus: Cliff | None
    ladder: tuple[LadderStep, ...]
    missing: tuple[str, ...] = ()


def expiry_figures(commitments: Sequence[CommitmentTerm], as_of: date) -> ExpiryFigures:
    """Return what ends within 30, 60 and 90 days, the remaining term, the cliffs and the ladder.

    weighted remaining term = sum(yearly cost * days left) / sum(yearly cost), over what is active today.

    >>> june = CommitmentTerm("june", date(2026, 7, 1), date(2027, 7, 1), usd_per_hour=10.0, gpus=8.0)
    >>> figures = expiry_figures([june], date(2027, 6, 1))
    >>> figures.expiring_usd_per_year, figures.weighted_remaining_days, figures.cliff_gpus.month
    ({30: 87600.0, 60: 87600.0, 90: 87600.0}, 30.0, datetime.date(2027, 6, 1))
    """
    active = [each for each in commitments if each.is_active(as_of)]
    usd = float(_usd(active).sum())
    days = np.array([(each.end - as_of).days for each in active], dtype=np.float64)
    return ExpiryFigures(
        active_usd_per_year=known(usd),
        active_gpus=known(float(_gpus(active).sum())),
        expiring_usd_per_year={
            window: expiring_usd_per_year(commitments, as_of, window) for window in EXPIRY_WINDOWS_DAYS
        },
        weighted_remaining_days=share_of(float(_usd(active) @ days), usd),
        cliff_usd=_cliff(commitments, as_of, _usd(commitments)),
        cliff_gpus=_cliff(commitments, as_of, _gpus(commitments)),
        ladder=ladder(commitments, as_of),
        missing=tuple(each.name for each in commitments if each.usd_per_hour is None and each.end > as_of),
    )


def _usd(commitments: Sequence[CommitmentTerm]) -> FloatArray:
    return np.array([each.usd_per_year for each in commitments], dtype=np.float64)


def _gpus(commitments: Sequence[CommitmentTerm]) -> FloatArray:
    held = (each.gpus for each in commitments)
    return np.array([np.nan if gpus is None else gpus for gpus in held], dtype=np.float64)


@takes(window_days=WINDOW_DAYS)
def expiring_usd_per_year(
    commitments: Sequence[CommitmentTerm], as_of: date, window_days: int
) -> float | None:
    """Return the yearly cost of the commitments whose term ends within so many days after `as_of`.

    A term that ended by `as_of` is not in it, one that ends on the last day of the window is. None where one
    of them has no price; 0 where none ends.

    >>> block = CommitmentTerm("block", date(2027, 1, 1), date(2027, 1, 15), usd_per_hour=1.0)
    >>> [expiring_usd_per_year([block], date(2027, 1, 1), days) for days in (13, 14)]
    [0.0, 8760.0]
    """
    last = days_later(as_of, window_days)
    return known(float(_usd([each for each in commitments if as_of < each.end <= last]).sum()))


def ladder(commitments: Sequence[CommitmentTerm], as_of: date) -> tuple[LadderStep, ...]:
    """Return what ends by month, rising, of the terms that end after `as_of`; months without are left out.

    >>> block = CommitmentTerm("block", date(2027, 1, 1), date(2027, 2, 1), usd_per_hour=1.0, gpus=8.0)
    >>> ladder([block], date(2026, 12, 1))[0].month
    datetime.date(2027, 1, 1)
    """
    by_month: dict[date, list[CommitmentTerm]] = {}
    for each in commitments:
        if each.end > as_of:
            by_month.setdefault(days_later(each.end, -1).replace(day=1), []).append(each)
    return tuple(
        LadderStep(
            month=month,
            usd_per_year=known(float(_usd(ending).sum())),
            gpus=known(float(_gpus(ending).sum())),
            names=tuple(each.name for each in ending),
        )
        for month, ending in sorted(by_month.items())
    )


def _cliff(commitments: Sequence[CommitmentTerm], as_of: date, amounts: FloatArray) -> Cliff | None:
    """Return the largest drop between today, the first days of the months after, and the last end."""
    if not commitments:
        return None
    last = max(each.end for each in commitments)
    days = [as_of]
    while days[-1] < last:
        days.append(add_months(days[-1].replace(day=1), 1))
    active = np.array([[each.is_active(day) for each in commitments] for day in days])
    # an unknown amount matters only on days on which it is active
    by_day = np.where(active, amounts, 0.0).sum(axis=1)
    drops = by_day[:-1] - by_day[1:]
    if len(drops) == 0 or np.isnan(by_day).any() or by_day[0] == 0.0 or drops.max() <= 0.0:
        return None
    at = int(drops.argmax())
    drop = float(drops[at])
    return Cliff(days[at].replace(day=1), drop, drop / float(by_day[0]))

"""What leaving a supplier costs once, and how long its saving takes to pay that back.

Money still owed to the old supplier is no cost of switching, but it goes on being paid: it is stranded, and
set against the saving month by month. What was paid upfront is gone either way and counts for nothing here.
"""

from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import ANY, AT_LEAST_0, SHARE_ABOVE_0, optional, require_fields, takes

_AMOUNT = optional(AT_LEAST_0)
Verdict = Literal["pays back", "never pays back", "unknown"]


@dataclass(frozen=True)
class Switch:
    """What a switch takes, each quantity with its price. None: unknown.

    Engineering is told in weeks, in hours, or in both where they are different work.
    `parallel_months` are those in which both suppliers run, at `usd_per_parallel_month` for the second one.
    For `penalty_months` the new one gives `throughput_ratio` of the work it will: the rest is bought on top
    of `usd_per_month_at_new`.
    """

    engineering_weeks: float | None = 0.0
    usd_per_engineering_week: float | None = None
    engineering_hours: float | None = 0.0
    usd_per_engineering_hour: float | None = None
    revalidation_gpu_hours: float | None = 0.0
    usd_per_gpu_hour: float | None = None
    egress_gb: float | None = 0.0
    usd_per_egress_gb: float | None = None
    parallel_months: float | None = 0.0
    usd_per_parallel_month: float | None = None
    penalty_months: float | None = 0.0
    throughput_ratio: float | None = 1.0
    usd_per_month_at_new: float | None = None

    def __post_init__(self) -> None:
        require_fields(
            self,
            engineering_weeks=_AMOUNT,
            usd_per_engineering_week=_AMOUNT,
            engineering_hours=_AMOUNT,
            usd_per_engineering_hour=_AMOUNT,
            revalidation_gpu_hours=_AMOUNT,
            usd_per_gpu_hour=_AMOUNT,
            egress_gb=_AMOUNT,
            usd_per_egress_gb=_AMOUNT,
            parallel_months=_AMOUNT,
            usd_per_parallel_month=_AMOUNT,
            penalty_months=_AMOUNT,
            throughput_ratio=optional(SHARE_ABOVE_0),
            usd_per_month_at_new=_AMOUNT,
        )


@dataclass(frozen=True)
class SwitchingCost:
    """The parts in US dollars; one is None where an input is unknown, and `unknown` names those inputs."""

    engineering_usd: float | None
    revalidation_usd: float | None
    egress_usd: float | None
    parallel_usd: float | None
    penalty_usd: float | None
    unknown: tuple[str, ...]

    @property
    def total_usd(self) -> float | None:
        """Return the sum of the parts, None where one is unknown.

        >>> SwitchingCost(1.0, 2.0, 3.0, 4.0, 5.0, ()).total_usd
        15.0
        """
        parts = (
            self.engineering_usd, self.revalidation_usd, self.egress_usd, self.parallel_usd, self.penalty_usd,
        )  # fmt: skip
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None


_TERMS = (
    ("engineering_usd", ("engineering_weeks", "usd_per_engineering_week")),
    ("engineering_usd", ("engineering_hours", "usd_per_engineering_hour")),
    ("revalidation_usd", ("revalidation_gpu_hours", "usd_per_gpu_hour")),
    ("egress_usd", ("egress_gb", "usd_per_egress_gb")),
    ("parallel_usd", ("parallel_months", "usd_per_parallel_month")),
    ("penalty_usd", ("penalty_months", "throughput_ratio", "usd_per_month_at_new")),
)


def switching_cost(switch: Switch) -> SwitchingCost:
    """Return time * rate + GPU-hours * price + GB * price + months * parallel + months * (1/r - 1) * bill.

    r is the throughput ratio of the months of penalty: the same work then takes 1 / r of the GPU-hours. A
    quantity of 0 needs no price. Source: the definition of this model.

    >>> cost = switching_cost(Switch(
    ...     engineering_weeks=6, usd_per_engineering_week=4000, egress_gb=50_000, usd_per_egress_gb=0.05,
    ...     penalty_months=3, throughput_ratio=0.8, usd_per_month_at_new=40_000))
    >>> cost.engineering_usd, cost.egress_usd, cost.penalty_usd, cost.total_usd
    (24000.0, 2500.0, 30000.0, 56500.0)
    """
    slowdown = None if switch.throughput_ratio is None else 1.0 / switch.throughput_ratio - 1.0
    usd: dict[str, float | None] = {}
    unknown: list[str] = []
    for part, names in _TERMS:
        values = {name: slowdown if name == "throughput_ratio" else getattr(switch, name) for name in names}
        term, so_far = _product(list(values.values())), usd.get(part, 0.0)
        usd[part] = None if term is None or so_far is None else so_far + term
        unknown += [name for name, value in values.items() if term is None and value is None]
    return SwitchingCost(**usd, unknown=tuple(unknown))


@dataclass(frozen=True)
class Payback:
    """When a switch has paid back. Months are None where it never does, or `verdict` is "unknown".

    `stranded_usd` is still owed to the old supplier. `months_without_stranded` leaves it out.
    `usd_gained_by_waiting` is what switching at the end of the commitment, not now, saves; below 0 where now
    is better.
    """

    verdict: Verdict
    months: float | None
    months_without_stranded: float | None
    stranded_usd: float | None
    usd_gained_by_waiting: float | None
    unknown: tuple[str, ...] = ()


@takes(cost_usd=_AMOUNT, usd_saved_per_month=optional(ANY), owed_usd_per_month=_AMOUNT, owed_months=_AMOUNT)
def payback(
    cost_usd: float | None,
    usd_saved_per_month: float | None,
    owed_usd_per_month: float | None = 0.0,
    owed_months: float | None = 0.0,
) -> Payback:
    """Return the month T from which on saving * T covers cost + owed * min(T, months owed).

    The saving is the old bill less the new one, as if nothing were owed. T = cost / (saving - owed) where
    that is within the commitment, else (cost + owed * months owed) / saving; without what is owed, cost /
    saving. A saving of 0 or less never pays back. Waiting gains (owed - saving) * months owed. Undiscounted.
    Source: simple payback; the definition of stranded cost is this model's.

    >>> found = payback(56_500, 10_000, owed_usd_per_month=12_000, owed_months=6)
    >>> found.months, found.months_without_stranded, found.stranded_usd, found.usd_gained_by_waiting
    (12.85, 5.65, 72000.0, 12000.0)
    """
    given = {
        "cost_usd": cost_usd,
        "usd_saved_per_month": usd_saved_per_month,
        "owed_usd_per_month": owed_usd_per_month,
        "owed_months": owed_months,
    }
    stranded = _product([owed_usd_per_month, owed_months])
    missing = [name for name in ("cost_usd", "usd_saved_per_month") if given[name] is None]
    if stranded is None:
        missing += [name for name in ("owed_usd_per_month", "owed_months") if given[name] is None]
    if usd_saved_per_month is not None and usd_saved_per_month <= 0.0:
        gained = None if stranded is None else stranded - usd_saved_per_month * (owed_months or 0.0)
        return Payback("never pays back", None, None, stranded, gained, tuple(missing))
    if cost_usd is None or usd_saved_per_month is None:
        return Payback("unknown", None, None, stranded, None, tuple(missing))
    alone = cost_usd / usd_saved_per_month
    if stranded is None:
        return Payback("unknown", None, alone, None, None, tuple(missing))
    months = _months(cost_usd, usd_saved_per_month, stranded, owed_months or 0.0)
    gained = stranded - usd_saved_per_month * (owed_months or 0.0)
    return Payback("pays back", months, alone, stranded, gained)


def _months(cost_usd: float, saved: float, stranded_usd: float, owed_months: float) -> float:
    """Return T: inside the commitment where what is saved beats what is owed by then, else after it."""
    if saved * owed_months >= cost_usd + stranded_usd and owed_months > 0.0:
        left = saved - stranded_usd / owed_months
        return cost_usd / left if left > 0.0 else 0.0
    return (cost_usd + stranded_usd) / saved


def _product(factors: list[float | None]) -> float | None:
    """Return the product; 0 where one factor is 0, whatever is unknown, and None where one is unknown."""
    if any(factor == 0.0 for factor in factors):
        return 0.0
    product = 1.0
    for factor in factors:
        if factor is None:
            return None
        product *= factor
    return product

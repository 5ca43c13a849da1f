"""A least-cost supply problem in arrays: what is wanted, what may be taken or bought, and the limits.

Indices: k work, s option, t month, b block of hours. Money is present value unless its name says otherwise.
An infinite number of GPUs means that no limit is known; a NaN price means that it is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.ranges import (
    ABOVE_0,
    ANY,
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_1,
    SHARE,
    SHARE_ABOVE_0,
    endless,
    optional,
    refuse,
    require_fields,
    require_one_of,
    takes,
    with_unknown,
)

OptionKind = Literal["owned", "reserved", "block", "contract", "on_demand", "spot"]
OPTION_KINDS: tuple[OptionKind, ...] = ("owned", "reserved", "block", "contract", "on_demand", "spot")
MAYBE_USD = with_unknown(ANY)
GPUS = endless(AT_LEAST_0)


@dataclass(frozen=True)
class Work:
    """One class of work that is served in its own block. `gpus` wanted by block, shape (blocks,)."""

    name: str
    gpus: FloatArray
    critical: bool = False

    def __post_init__(self) -> None:
        require_fields(self, self.name, gpus=AT_LEAST_0)


@dataclass(frozen=True)
class DeferrableWork:
    """Work that may run in any block of its month, or up to `most_months_late` months later.

    `gpu_hours` are useful GPU-hours by month, shape (months,). Being late costs `usd_late_per_gpu_hour_month`
    per GPU-hour and month: it steers the choice and is not paid.
    """

    name: str
    gpu_hours: FloatArray
    most_months_late: int = 0
    usd_late_per_gpu_hour_month: float = 0.0
    critical: bool = False

    def __post_init__(self) -> None:
        require_fields(
            self,
            self.name,
            gpu_hours=AT_LEAST_0,
            most_months_late=COUNT,
            usd_late_per_gpu_hour_month=AT_LEAST_0,
        )
        if self.most_months_late > 0 and self.usd_late_per_gpu_hour_month == 0.0:
            # postponing would be free money: the solver would keep a backlog for ever
            refuse(f"{self.name}: usd_late_per_gpu_hour_month", 0.0, "above 0 where work may be late")


@dataclass(frozen=True)
class Purchase:
    """Units that may be bought: servers, or instances under a commitment. Rows are months of purchase.

    usd_per_unit: present value of all that one unit costs, used or not, shape (months,).
    gpus_per_unit: GPUs that it gives by (month of purchase, month), shape (months, months).
    most_per_month: units that may be bought, shape (months,); 0 where none may, infinite without limit.
    capex_usd_per_unit: counts against a budget of capital, undiscounted.
    cash_usd_per_unit: undiscounted payments by (month of purchase, month), for budgets of a year.
    kw_per_unit: IT power by (month of purchase, month).
    least_per_purchase: units of one purchase, if there is one, so that it holds a gang.
    """

    usd_per_unit: FloatArray
    gpus_per_unit: FloatArray
    most_per_month: FloatArray
    whole: bool = True
    capex_usd_per_unit: float = 0.0
    cash_usd_per_unit: FloatArray | None = None
    kw_per_unit: FloatArray | None = None
    unit: str = "server"
    least_per_purchase: int = 0

    def __post_init__(self) -> None:
        require_fields(
            self,
            usd_per_unit=MAYBE_USD,
            gpus_per_unit=AT_LEAST_0,
            most_per_month=GPUS,
            capex_usd_per_unit=AT_LEAST_0,
            cash_usd_per_unit=optional(MAYBE_USD),
            kw_per_unit=optional(AT_LEAST_0),
            least_per_purchase=COUNT,
        )


@dataclass(frozen=True)
class Option:
    """One way to take GPUs: what is there by block, what may be added, what an hour of use costs.

    usd_per_gpu_hour: present value of one paid GPU-hour used in each month, shape (months,).
    gpus: paid GPUs there without buying anything, shape (blocks,); infinite where no limit is known.
    quota_unit: what a quota is raised by, such as "P-quota node in us-east-2", of gpus_per_quota_unit GPUs.
    """

    name: str
    kind: OptionKind
    usd_per_gpu_hour: FloatArray
    gpus: FloatArray
    provider: str = ""
    region: str = ""
    purchase: Purchase | None = None
    quota_unit: str = ""
    gpus_per_quota_unit: int = 1

    def __post_init__(self) -> None:
        require_one_of(OPTION_KINDS, kind=self.kind)
        require_fields(
            self, self.name, usd_per_gpu_hour=MAYBE_USD, gpus=GPUS, gpus_per_quota_unit=COUNT_FROM_1
        )

    @property
    def supplier(self) -> str:
        """Return who supplies it: the provider, or the option itself where none is named."""
        return self.provider or self.name

    @property
    def quota_words(self) -> str:
        """Return one unit of the quota in words."""
        if self.quota_unit:
            return self.quota_unit
        size = self.gpus_per_quota_unit
        return f"{'GPU' if size == 1 else f'node of {size}'} of quota of {self.name}"

    @property
    def is_priced(self) -> bool:
        """Return whether every price of it is known."""
        known = not np.isnan(self.usd_per_gpu_hour).any()
        return known and (self.purchase is None or not np.isnan(self.purchase.usd_per_unit).any())


@dataclass(frozen=True)
class Limits:
    """What a plan may not go beyond. None and empty: no such limit.

    most_provider_share: of all paid GPU-hours of a month, for any one named provider; what is owned counts in
    the total and is not limited. most_spot_share: of the useful GPU-hours of deferrable work done in a month.
    least_coverage: share of critical demand, at its highest block, that the rest could serve if any one
    supplier were lost. cash_usd_by_year: undiscounted money of a calendar year. power_kw: IT power by site
    and month; "" is the site of options that name none.
    """

    capex_budget_usd: float | None = None
    most_provider_share: float | None = None
    most_spot_share: float | None = None
    least_coverage: float | None = None
    cash_usd_by_year: Mapping[int, float] = field(default_factory=dict)
    power_kw: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_fields(
            self,
            capex_budget_usd=optional(AT_LEAST_0),
            most_provider_share=optional(SHARE_ABOVE_0),
            most_spot_share=optional(SHARE),
            least_coverage=optional(SHARE),
        )


@dataclass(frozen=True)
class Crew:
    """Staff of all servers together: what they want, at least the dearest minimum of those that stand.

    options: rows of the options whose servers it looks after (n of them). usd_per_unit and minimum_usd:
    present values by (n, month). present: 1 by (n, month of purchase, month) while a server stands.
    standing_usd and standing_minimum_usd: the same of servers that are there in any case, by month.
    """

    options: tuple[int, ...]
    usd_per_unit: FloatArray
    minimum_usd: FloatArray
    present: FloatArray
    standing_usd: FloatArray
    standing_minimum_usd: FloatArray

    def __post_init__(self) -> None:
        require_fields(
            self,
            usd_per_unit=AT_LEAST_0,
            minimum_usd=AT_LEAST_0,
            present=SHARE,
            standing_usd=AT_LEAST_0,
            standing_minimum_usd=AT_LEAST_0,
        )


@dataclass(frozen=True)
class Problem:
    """What is wanted, by which hours, and what may serve it.

    hours, month: hours of each block and its month index, shape (blocks,); months ascend.
    end_factors: discount factors at the ends of months, shape (months,): for the cost of being late.
    useful_per_paid: useful GPU-hours of one paid GPU-hour by (work, option, month), 0 where not allowed;
    work is urgent first, then deferrable. usd_per_paid: present value of what one paid GPU-hour costs beside
    the option's own price, such as moving data, the same shape; None is nothing.
    reasons: why an option may not serve a work, by (work, option) name.
    usd_unmet_per_gpu_hour: present value of a GPU-hour left undone by month; None: all must be served.
    years: calendar year of each month, for yearly budgets; fixed_cash_usd: money already committed by month.
    fixed_usd: present value of what is paid in any case, added to every total.
    """

    hours: FloatArray
    month: IntArray
    end_factors: FloatArray
    urgent: tuple[Work, ...]
    deferrable: tuple[DeferrableWork, ...]
    options: tuple[Option, ...]
    useful_per_paid: FloatArray
    usd_per_paid: FloatArray | None = None
    limits: Limits = Limits()
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    usd_unmet_per_gpu_hour: FloatArray | None = None
    years: IntArray | None = None
    fixed_cash_usd: FloatArray | None = None
    fixed_usd: float = 0.0
    crew: Crew | None = None
    block_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_fields(
            self,
            hours=ABOVE_0,
            month=COUNT,
            end_factors=ABOVE_0,
            useful_per_paid=AT_LEAST_0,
            usd_per_paid=optional(MAYBE_USD),
            usd_unmet_per_gpu_hour=optional(AT_LEAST_0),
            fixed_usd=MAYBE_USD,
        )
        months, blocks = len(self.end_factors), len(self.hours)
        _require_shape("month", self.month, (blocks,))
        _require_shape(
            "useful_per_paid", self.useful_per_paid, (len(self.work_names), len(self.options), months)
        )
        if not np.array_equal(np.unique(self.month), np.arange(months)) or (np.diff(self.month) < 0).any():
            refuse("month", self.month, f"every month index from 0 to {months - 1}, ascending")
        for work in self.urgent:
            _require_shape(f"{work.name}: gpus", work.gpus, (blocks,))
        for late in self.deferrable:
            _require_shape(f"{late.name}: gpu_hours", late.gpu_hours, (months,))
        for option in self.options:
            _require_option(option, months, blocks)

    @property
    def months(self) -> int:
        """Return how many months there are."""
        return len(self.end_factors)

    @property
    def blocks(self) -> int:
        """Return how many blocks there are in all months together."""
        return len(self.hours)

    @cached_property
    def hours_of_month(self) -> FloatArray:
        """Return the hours of every month."""
        return np.bincount(self.month, weights=self.hours, minlength=self.months).astype(np.float64)

    @property
    def work_names(self) -> tuple[str, ...]:
        """Return the names of all work, urgent first."""
        return (*(work.name for work in self.urgent), *(work.name for work in self.deferrable))

    @cached_property
    def usd_per_use(self) -> FloatArray:
        """Return the present value of one paid GPU-hour by (work, option, month)."""
        own = np.array([option.usd_per_gpu_hour for option in self.options]).reshape(-1, self.months)
        extra = np.zeros_like(self.useful_per_paid) if self.usd_per_paid is None else self.usd_per_paid
        return own[None, :, :] + extra

    @cached_property
    def critical_gpus(self) -> FloatArray:
        """Return the highest critical demand of each month; deferrable work counts with its mean."""
        by_block = np.zeros(self.blocks)
        for work in self.urgent:
            by_block += work.gpus * work.critical
        for late in self.deferrable:
            by_block += (late.gpu_hours / self.hours_of_month)[self.month] * late.critical
        most = np.zeros(self.months)
        np.maximum.at(most, self.month, by_block)
        return most

    @takes(block=COUNT)
    def block_words(self, block: int) -> str:
        """Return a block in words, such as "month 3, block 1"."""
        if self.block_names:
            return f"month {int(self.month[block]) + 1}, {self.block_names[block]}"
        first = int(np.searchsorted(self.month, self.month[block]))
        return f"month {int(self.month[block]) + 1}, block {block - first + 1}"


def _require_option(option: Option, months: int, blocks: int) -> None:
    _require_shape(f"{option.name}: usd_per_gpu_hour", option.usd_per_gpu_hour, (months,))
    _require_shape(f"{option.name}: gpus", option.gpus, (blocks,))
    bought = option.purchase
    if bought is None:
        return
    _require_shape(f"{option.name}: usd_per_unit", bought.usd_per_unit, (months,))
    _require_shape(f"{option.name}: most_per_month", bought.most_per_month, (months,))
    _require_shape(f"{option.name}: gpus_per_unit", bought.gpus_per_unit, (months, months))
    for name in ("cash_usd_per_unit", "kw_per_unit"):
        table = getattr(bought, name)
        if table is not None:
            _require_shape(f"{option.name}: {name}", table, (months, months))


def _require_shape(name: str, values: FloatArray | IntArray, shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        refuse(name, f"an array of shape {values.shape}", f"one of shape {shape}")

"""What may be decided in a plan: servers ordered, commitments entered into, work put off, and the limits.

What the plan itself holds stays: its supplies are there, paid for, and may be used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from planner.core.plan import Owned, Reserved
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_1,
    SHARE,
    SHARE_ABOVE_0,
    optional,
    refuse,
    require_fields,
)


@dataclass(frozen=True)
class OwnedChoice:
    """Servers that may be ordered. `template` is one server, without spares; its order date is not looked at.

    `order_dates` None: the first of every month; otherwise these days, one in a month at most.
    """

    template: Owned
    most_per_order: int = 10
    order_dates: tuple[date, ...] | None = None

    def __post_init__(self) -> None:
        require_fields(self, self.template.name, most_per_order=COUNT_FROM_1)
        if self.template.servers != 1 or self.template.spare_servers != 0:
            have = f"{self.template.servers} servers and {self.template.spare_servers} spares"
            refuse(f"{self.template.name}: template", have, "one server without spares")
        _one_in_a_month(self.template.name, self.order_dates or ())


@dataclass(frozen=True)
class ReservedChoice:
    """A commitment that may be entered into. `template` is one instance; its start is not looked at.

    `starts` None: the first of every month; otherwise these firsts. `must_end_inside` closes the starts whose
    term outlives the plan; without it what falls inside is paid, as in any plan. `whole` False allows parts
    of an instance: a bound, of which no plan can be made.
    """

    template: Reserved
    most_per_start: int | None = None
    starts: tuple[date, ...] | None = None
    must_end_inside: bool = True
    whole: bool = True

    def __post_init__(self) -> None:
        require_fields(self, self.template.name, most_per_start=optional(COUNT_FROM_1))
        if self.template.gpus != self.template.gpus_per_instance:
            refuse(f"{self.template.name}: gpus", self.template.gpus, "those of one instance")
        for start in self.starts or ():
            if start.day != 1:
                refuse(f"{self.template.name}: starts", start, "the first of a month")
        _one_in_a_month(self.template.name, self.starts or ())


def _one_in_a_month(name: str, days: Sequence[date]) -> None:
    if len({(day.year, day.month) for day in days}) < len(days):
        refuse(f"{name}: days", ", ".join(map(str, days)), "one in a month at most")


@dataclass(frozen=True)
class Lateness:
    """How many months a workload may be late, and what a GPU-hour late costs a month; nobody is paid."""

    workload: str
    most_months: int
    usd_per_gpu_hour_month: float

    def __post_init__(self) -> None:
        require_fields(self, self.workload, most_months=COUNT, usd_per_gpu_hour_month=AT_LEAST_0)


@dataclass(frozen=True)
class Choices:
    """All that may be decided. Limits None: none; budgets of years and power at sites are the plan's.

    `usd_unmet_per_gpu_hour` None: all work must be served; a price allows work to be left undone at it (in
    the money of the month). `blocks_per_month`: load-duration blocks of each month.
    """

    owned: tuple[OwnedChoice, ...] = ()
    reserved: tuple[ReservedChoice, ...] = ()
    late: tuple[Lateness, ...] = ()
    capex_budget_usd: float | None = None
    most_provider_share: float | None = None
    most_spot_share: float | None = None
    least_coverage: float | None = None
    usd_unmet_per_gpu_hour: float | None = None
    blocks_per_month: int = 24
    quota_units: dict[str, str] = field(default_factory=dict)  # one unit of a quota in words, by supply

    def __post_init__(self) -> None:
        require_fields(
            self,
            capex_budget_usd=optional(AT_LEAST_0),
            most_provider_share=optional(SHARE_ABOVE_0),
            most_spot_share=optional(SHARE),
            least_coverage=optional(SHARE),
            usd_unmet_per_gpu_hour=optional(ABOVE_0),
            blocks_per_month=COUNT_FROM_1,
        )

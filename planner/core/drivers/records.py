"""Workload records: one class of work as people know it, turned into the demand of a plan.

A record says what drives it, how it varies, where it may run, on which GPUs it was measured, what may be done
about it and when. demand_of() turns it into a Workload and the projects that cost money; the plan's grids
(slots.py, load_duration.py) then give its hourly series and the load-duration blocks of each month.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from planner.core.calendar import FloatArray, Horizon
from planner.core.drivers.levers import Lever, month_factors
from planner.core.drivers.loads import Load
from planner.core.plan import Project, Region, Validation, Workload, WorkloadKind
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_1,
    Range,
    endless,
    refuse,
    require_fields,
    require_one_of,
    takes,
)
from planner.core.slots import Demand, build_demand
from planner.core.spot import SpotWork, spot_work
from planner.core.units import HOURS_PER_MONTH

WorkloadClass = Literal["inference_reserved", "best_effort"]
KIND: dict[str, WorkloadKind] = {"inference_reserved": "inference", "best_effort": "training"}


@dataclass(frozen=True)
class Interruption:
    """How the work takes a lost machine: time of a checkpoint, and to be running again."""

    checkpoint_hours: float
    restart_hours: float

    def __post_init__(self) -> None:
        require_fields(self, checkpoint_hours=ABOVE_0, restart_hours=AT_LEAST_0)

    @takes(instances=COUNT_FROM_1, mtbf_hours_per_instance=endless(ABOVE_0), unpaid_wait_hours=AT_LEAST_0)
    def on_spot(
        self, instances: int, mtbf_hours_per_instance: float, unpaid_wait_hours: float = 0.0
    ) -> SpotWork:
        """Return what interruptions make of a gang of so many machines (spot.py, Daly 2006)."""
        return spot_work(
            instances=instances,
            mtbf_hours_per_instance=mtbf_hours_per_instance,
            checkpoint_hours=self.checkpoint_hours,
            restart_hours=self.restart_hours,
            unpaid_wait_hours=unpaid_wait_hours,
        )


@dataclass(frozen=True)
class WorkloadRecord:
    """One class of work.

    workload_class: "inference_reserved" is served in its hour and never interrupted; "best_effort" may wait
    up to `deferrable_hours`, and run on spot where `interruption` says how. load: what drives it (loads.py).
    profile: 168 factors from Monday 00:00 UTC with mean 1; hourly_gpus: the series by the hour instead
    (shape.py). regions: where it may run, and what moving its data costs; None is anywhere. validations: the
    GPU models and precisions it was or would be measured on, with the throughput ratio to the plan's
    accelerator. levers: what may be done about its demand. gang_gpus: how many GPUs one job needs at once.
    critical: counts for N-1 and concentration.
    """

    name: str
    workload_class: WorkloadClass
    load: Load
    growth_per_month: float = 0.0
    profile: tuple[float, ...] | None = None
    hourly_gpus: tuple[float, ...] | None = None
    deferrable_hours: float = 0.0
    interruption: Interruption | None = None
    regions: tuple[Region, ...] | None = None
    validations: tuple[Validation, ...] | None = None
    levers: tuple[Lever, ...] = ()
    gang_gpus: int = 1
    critical: bool = False

    def __post_init__(self) -> None:
        require_one_of(tuple(KIND), workload_class=self.workload_class)
        require_fields(
            self,
            growth_per_month=Range(-0.5, 1.0),
            deferrable_hours=Range(0, 100_000, whole=True),
            gang_gpus=COUNT_FROM_1,
        )
        if self.workload_class == "inference_reserved":
            self._refuse_waiting()
        said = [(each.gpu_model, each.precision) for each in self.validations or ()]
        if len(set(said)) < len(said):
            twice = next(pair for pair in said if said.count(pair) > 1)
            refuse(
                f"{self.name}: validations", " ".join(twice).strip(), "one for each GPU model and precision"
            )

    def _refuse_waiting(self) -> None:
        right = "that of best_effort: reserved inference is served in its hour and never interrupted"
        if self.deferrable_hours:
            refuse(f"{self.name}: deferrable_hours", self.deferrable_hours, "0, or " + right)
        if self.interruption is not None:
            refuse(f"{self.name}: interruption", self.interruption, "none, or " + right)


@dataclass(frozen=True)
class Demanded:
    """A record as a plan takes it. `workload` is None where its load is unknown; `missing` says why."""

    workload: Workload | None
    projects: tuple[Project, ...]
    missing: str = ""


@takes(months=Range(1, 360, whole=True), hours_per_month=ABOVE_0)
def demand_of(
    record: WorkloadRecord, start: date, months: int, hours_per_month: float = HOURS_PER_MONTH
) -> Demanded:
    """Return the workload of a record in a plan of `months` from `start`, and the projects it costs.

    `hours_per_month` turns work a month into GPUs: 730 unless the plan says otherwise, so that months of
    another length want their hours' share. A series by the hour stands for load, growth and profile. A
    validation with a day and a price is a project of its own. A load whose rate nobody measured gives no
    workload and says so. Raises ValueError as Workload does, in evaluate().
    """
    # a series stands for the load, so nothing about the load has to be known
    gpus = _mean(record.hourly_gpus) if record.hourly_gpus else record.load.mean_gpus(hours_per_month)
    projects = (*lever_projects(record, start), *validation_projects(record, start))
    if gpus is None:
        rates = ", ".join(getattr(record.load, "missing", ()))
        return Demanded(None, projects, f"{record.name}: no measured rate for its load: {rates}")
    factors = month_factors(record.levers, Horizon(start, months)) if record.levers else None
    workload = Workload(
        name=record.name,
        kind=KIND[record.workload_class],
        gpus=gpus,
        growth_per_month=record.growth_per_month,
        profile=record.profile,
        deferrable_hours=record.deferrable_hours,
        interruptible=record.interruption is not None,
        month_factors=None if factors is None else tuple(float(each) for each in factors),
        hourly_gpus=record.hourly_gpus,
        regions=record.regions,
        validations=record.validations,
        gang_gpus=record.gang_gpus,
        critical=record.critical,
    )
    return Demanded(workload, projects)


def _mean(series: tuple[float, ...]) -> float:
    return sum(series) / len(series)


def lever_projects(record: WorkloadRecord, start: date) -> list[Project]:
    """Return the cost of each lever that is begun in the plan, by the name of its class and its own."""
    projects = [lever.project() for lever in record.levers if lever.start >= start]
    return [replace(each, name=f"{record.name}: {each.name}") for each in projects]


def validation_projects(record: WorkloadRecord, start: date) -> list[Project]:
    """Return the cost of each validation that has a day in the plan; what was done before is paid for.

    Money or weeks of None are unknown, and so is the cost: 0 says that there is none.
    """
    projects = []
    for each in record.validations or ():
        if each.validated_on is None or each.validated_on < start:
            continue
        name = " ".join(part for part in (record.name, "on", each.gpu_model, each.precision) if part)
        weeks = each.weeks_to_validate
        usd = None if weeks is None else each.usd_to_validate
        projects.append(Project(name, each.validated_on, usd, weeks or 0.0))
    return projects


def hourly_demand(workloads: Sequence[Workload], horizon: Horizon) -> FloatArray:
    """Return the GPUs wanted in every hour of a plan, by (workload, hour)."""
    return build_demand(horizon, workloads, (), each_hour=True).gpus


@takes(month=COUNT)
def load_duration(demand: Demand, month: int) -> tuple[FloatArray, FloatArray]:
    """Return one month's load-duration curve: GPUs wanted by all, from the peak down, and hours of each step.

    A month outside the demand has an empty curve.
    """
    inside = demand.slots.month == month
    gpus, hours = demand.gpus[:, inside].sum(axis=0), demand.slots.hours[inside]
    order = gpus.argsort()[::-1]
    return gpus[order], hours[order]

"""Demand: one class of work, where it may run, on which GPUs, and what changes it."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

WorkloadKind = Literal["inference", "training"]  # reserved and never deferred; best effort


@dataclass(frozen=True)
class Region:
    """A region in which a workload may run: its data and users are there, or what moving them takes.

    `usd_per_gb` None is unknown: every total then is, where data has to move.
    """

    name: str
    gb_per_gpu_hour: float = 0.0  # moved per useful GPU-hour served there
    usd_per_gb: float | None = 0.0


@dataclass(frozen=True)
class Validation:
    """One GPU model, and precision, that a workload was measured on, or would have to be.

    `throughput_ratio` is the work of one of its GPU-hours in GPU-hours of the plan's accelerator, measured on
    this workload; ratios of peak FLOP/s are no substitute. `validated_on` None: it may not be used yet.
    """

    gpu_model: str
    throughput_ratio: float = 1.0
    validated_on: date | None = None
    precision: str = ""
    weeks_to_validate: float | None = None
    usd_to_validate: float | None = None


@dataclass(frozen=True)
class Workload:
    """One class of demand, in GPUs of the plan's accelerator.

    `gpus` is the mean demand in month 1; `growth_per_month` is a share and applies from month 2.
    `profile` is 168 hourly factors, hour 0 being Monday 00:00 UTC, mean 1; None is flat.
    `month_factors` multiply the months (levers, ramps); `hourly_gpus`, one per hour of the plan, replaces
    `gpus`, growth and profile by a series such as the measured one carried forward.
    Inference is never deferred and never runs on spot. `interruptible` lets training use spot.
    `regions` None: it may run anywhere. `validations` None: every supply serves it one to one.
    A supply whose limit holds fewer than `gang_gpus` cannot take it.
    """

    name: str
    kind: WorkloadKind
    gpus: float
    growth_per_month: float = 0.0
    profile: tuple[float, ...] | None = None
    deferrable_hours: float = 0.0
    interruptible: bool = False
    month_factors: tuple[float, ...] | None = None
    hourly_gpus: tuple[float, ...] | None = None
    regions: tuple[Region, ...] | None = None
    validations: tuple[Validation, ...] | None = None
    gang_gpus: int = 1
    critical: bool = False


@dataclass(frozen=True)
class Project:
    """Work that costs money once: a validation, a lever, a move. Paid at the begin of its day's month."""

    name: str
    day: date
    usd: float | None = 0.0
    engineering_weeks: float = 0.0

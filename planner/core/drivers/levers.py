"""Levers: what one can do about demand instead of buying GPUs for it, with its date, work, money and effect.

A rate limit, a cache, a distilled model, batching: each multiplies the demand of its workload from the month
that begins on or after the day it is done. Several multiply each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.plan import Project
from planner.core.ranges import AT_LEAST_0, Range, optional, require_fields, takes
from planner.core.units import DAYS_PER_WEEK


@dataclass(frozen=True)
class Lever:
    """Begun on `start`, done after `engineering_weeks` of one person's work divided by `people`.

    `demand_factor` is what is left of the demand: 0.7 for a cache that answers three requests in ten. `usd`
    is the money beside the work, None where unknown.
    """

    name: str
    start: date
    engineering_weeks: float
    demand_factor: float
    usd: float | None = 0.0
    people: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            engineering_weeks=AT_LEAST_0,
            demand_factor=Range(0.0, 10.0),
            usd=optional(AT_LEAST_0),
            people=Range(0.0, 1_000.0, above=True),
        )

    @property
    def done(self) -> date:
        """Return the day from which it works: start + weeks / people, in whole days.

        >>> Lever("cache", date(2027, 1, 4), 6.0, 0.7, people=2.0).done
        datetime.date(2027, 1, 25)
        """
        return self.start + timedelta(days=round(self.engineering_weeks / self.people * DAYS_PER_WEEK))

    def project(self) -> Project:
        """Return what it costs, in the month it is begun."""
        return Project(self.name, self.start, self.usd, self.engineering_weeks)


def month_factors(levers: Sequence[Lever], horizon: Horizon) -> FloatArray:
    """Return the product of the levers that are done, by month."""
    factors = np.ones(horizon.months)
    for lever in levers:
        factors[np.arange(horizon.months) >= horizon.index_on_or_after(lever.done)] *= lever.demand_factor
    return factors


@takes(gpus=AT_LEAST_0)
def gpus_freed(levers: Sequence[Lever], gpus: FloatArray, horizon: Horizon) -> FloatArray:
    """Return by month the GPUs that levers make unnecessary; `gpus` is the demand without them by month."""
    return np.asarray(gpus * (1.0 - month_factors(levers, horizon)))

"""Capacity in engineering terms: how long one known training run would take on what a scenario has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.comparison.gather import Subject
from planner.comparison.published_runs import ReferenceRun, published_for, run_for
from planner.comparison.result import Letter
from planner.core.books.unit_cost import days_per_run, runs_a_month
from planner.core.calendar import add_months, hours_between
from planner.core.plan import Outcome


@dataclass(frozen=True)
class Training:
    """What a scenario trains with, and what a reference run comes to; `reason` says why there is none."""

    run: ReferenceRun | None
    useful_gpu_hours: float  # served to training over the plan
    hours: float  # of the plan
    months: int
    trains: bool
    reason: str = ""

    @property
    def days(self) -> float | None:
        """Return the days of one run on the GPUs that train on average; served hours are useful already."""
        if self.run is None or not self.useful_gpu_hours:
            return None
        return days_per_run(self.run.gpu_hours, self.useful_gpu_hours / self.hours, 1.0)

    @property
    def runs_a_month(self) -> float | None:
        """Return how many runs the mean month holds."""
        if self.run is None or not self.trains:
            return None
        return runs_a_month(self.useful_gpu_hours / self.months, self.run.gpu_hours)


def trainings(subjects: Sequence[Subject], base: Subject, typed: float | None) -> dict[Letter, Training]:
    """Return what one reference run comes to in each scenario: the same run for all."""
    run = run_for(base.plan.gpu_model, typed)
    return {one.letter: _training(one, run) for one in subjects}


def _training(subject: Subject, run: ReferenceRun | None) -> Training:
    plan = subject.plan
    served = training_gpu_hours(subject.outcome)
    hours = float(hours_between(plan.start, add_months(plan.start, plan.months)))
    kept, reason = run, ""
    trains = any(one.kind == "training" for one in plan.workloads)
    if not trains:
        reason = "the plan trains nothing"
    elif run is None:
        reason = f"no run is published for {subject.loaded.gpu_name}: type its GPU-hours"
    elif run.gpu and run not in published_for(plan.gpu_model):
        kept, reason = None, f"the run was on {run.gpu}, the plan is of {subject.loaded.gpu_name}"
    elif not served:
        reason = "no training is served"
    return Training(kept, served, hours, plan.months, trains, reason)


def training_gpu_hours(outcome: Outcome) -> float:
    """Return the useful GPU-hours that training workloads are served over the plan."""
    names = [one.name for one in outcome.plan.workloads if one.kind == "training"]
    frame = outcome.by_class
    if not names or not len(frame):
        return 0.0
    is_training = np.isin(frame["workload"].to_numpy().astype(str), names)
    return float(frame["useful_gpu_hours"].to_numpy(dtype=float)[is_training].sum())

"""What evaluating a plan costs, against the arithmetic alone in the same run.

Run as `python -m benchmarks.evaluate`. The floor is one numpy pass over the same hours: what a plan's
demand costs at one price, month by month.
"""

import time
from collections.abc import Callable
from datetime import date

import numpy as np

from planner.core.evaluate import evaluate
from planner.core.plan import OnDemand, Owned, Plan, Reserved, Spot, Workload

ROUNDS = 15
PROFILE = tuple(1.0 + 0.4 * np.sin(np.arange(168) * 2 * np.pi / 24))


def plan(months: int, deferrable_hours: float) -> Plan:
    return Plan(
        name="bench",
        start=date(2027, 1, 1),
        months=months,
        gpu_model="H100",
        workloads=(
            Workload("serving", "inference", 40.0, 0.015, PROFILE),
            Workload("training", "training", 60.0, 0.015, PROFILE, deferrable_hours, interruptible=True),
        ),
        supplies=(
            Owned(
                "Own", 12, 8, date(2027, 1, 1), 120, 300_000.0,
                idle_kw_per_server=2.0, max_kw_per_server=10.2, usd_per_kwh=0.1,
            ),
            Reserved("Reserve", 32, date(2027, 1, 1), 36, "no_upfront", 4.0, gpus_per_instance=8),
            OnDemand("On demand", 6.88, quota_gpus=160, reference=True),
            Spot("Spot", 2.2, 0.85, quota_gpus=32),
        ),
    )  # fmt: skip


def median_ms(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1e3)
    return float(np.median(times))


def floor_ms(months: int) -> float:
    demand = np.random.default_rng(1).random((2, months * 730))
    price = np.linspace(6.88, 5.0, months)
    return median_ms(lambda: demand.sum(axis=0).reshape(months, 730).sum(axis=1) * price)


def main() -> None:
    for months in (36, 60):
        floor = floor_ms(months)
        for hours in (0.0, 24.0):
            took = median_ms(lambda months=months, hours=hours: evaluate(plan(months, hours)))
            print(f"{months} months, deferral {hours:2.0f} h: {took:6.1f} ms, {took / floor:6.1f}x the floor")


if __name__ == "__main__":
    main()

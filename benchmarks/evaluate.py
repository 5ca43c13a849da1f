"""What evaluating a plan costs, against the arithmetic alone in the same run.

Run as `python -m benchmarks.evaluate`. The plan has 60 months, 5 classes of demand and 12 supplies. The floor
is the bare numpy of its dispatch: for every class and supply, one minimum and one subtraction over the same
slots, and the sums by month. Times are CPU milliseconds, the least of some rounds, taken in turn.
"""

import time
from collections.abc import Callable
from datetime import date

import numpy as np

from planner.core.evaluate import evaluate
from planner.core.plan import OnDemand, Owned, Plan, Reserved, Spot, Supply, Workload
from planner.core.setting import Grid

ROUNDS = 15
MONTHS = 60
SHAPE = 1.0 + 0.4 * np.sin(np.arange(168) * 2 * np.pi / 24)
PROFILE = tuple((SHAPE / SHAPE.mean()).tolist())
START = date(2027, 1, 1)


def workloads(deferrable_hours: float) -> tuple[Workload, ...]:
    """Return two classes of inference and three of training."""
    return (
        Workload("chat", "inference", 40.0, 0.015, PROFILE),
        Workload("search", "inference", 24.0, 0.010, PROFILE),
        Workload("training", "training", 60.0, 0.015, PROFILE, deferrable_hours, interruptible=True),
        Workload("tuning", "training", 16.0, 0.000, PROFILE, deferrable_hours),
        Workload("notebooks", "training", 12.0, 0.005, PROFILE),
    )


def owned(number: int) -> Owned:
    return Owned(
        f"Own {number}", 4 + number, 8, date(2027, 1 + 3 * number, 1), 120, 300_000.0, 40_000.0,
        idle_kw_per_server=2.0, max_kw_per_server=10.2, usd_per_kwh=0.1,
    )  # fmt: skip


def supplies() -> tuple[Supply, ...]:
    """Return twelve supplies: three of each kind."""
    return (
        *(owned(number) for number in range(3)),
        *(Reserved(f"Reserve {n}", 16, START, 12 * n, "no_upfront", 4.0 - n / 2) for n in (1, 2, 3)),
        *(OnDemand(f"On demand {n}", 6.0 + n, quota_gpus=64.0, reference=n == 1) for n in (1, 2, 3)),
        *(Spot(f"Spot {n}", 2.0 + n / 4, 0.85, quota_gpus=16.0) for n in (1, 2, 3)),
    )  # fmt: skip


def plan(deferrable_hours: float = 2000.0) -> Plan:
    return Plan("bench", START, MONTHS, "H100", workloads(deferrable_hours), supplies())


def floor(slots: int) -> Callable[[], object]:
    """Return the bare arithmetic of a dispatch over so many slots."""
    generator = np.random.default_rng(1)
    wanted, capacity = generator.random((5, slots)), generator.random((12, slots))
    starts = np.linspace(0, slots, MONTHS, endpoint=False).astype(int)

    def work() -> object:
        room = capacity.copy()
        sums = []
        for row in wanted:
            rest = row.copy()
            for place in range(len(room)):
                taken = np.minimum(rest, room[place])
                room[place] -= taken
                rest -= taken
                sums.append(np.add.reduceat(taken, starts))
        return sums

    return work


def least_ms(*works: Callable[[], object]) -> list[float]:
    """Return the least CPU time of each, taken in turn."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for place, work in enumerate(works):
            began = time.process_time()
            work()
            best[place] = min(best[place], (time.process_time() - began) * 1e3)
    return best


def main() -> None:
    cases = (
        ("24 load-duration blocks a month", Grid(blocks_per_month=24), 24 * MONTHS, 2000.0),
        ("the exact grid (168 hours of the week)", Grid(), 168 * MONTHS, 2000.0),
        ("every hour, in its order", Grid(each_hour=True), 730 * MONTHS, 2000.0),
        ("every hour, 24 h of deferral", Grid(), 730 * MONTHS, 24.0),
    )
    print(f"evaluate(): {MONTHS} months, 5 classes, 12 supplies. CPU ms, the least of {ROUNDS}")
    for name, grid, slots, hours in cases:
        took, bare = least_ms(lambda grid=grid, hours=hours: evaluate(plan(hours), grid), floor(slots))
        print(f"{name:40} {took:7.1f} ms   floor {bare:6.2f} ms   {took / bare:6.1f}x")


if __name__ == "__main__":
    main()

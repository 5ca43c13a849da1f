"""What 10,000 futures of four scenarios cost, against drawing their random numbers alone in the same run.

Run as `python -m benchmarks.uncertainty`. Four plans of 60 months that differ in what they own and reserve,
with correlated draws of prices, demand, utilization, delivery, resale, spot, exchange and power. The floor
draws as many normal numbers as a study of this size would have without any model: draws x months x 10.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.evaluate import MONTHS, least_ms, plan
from planner.core.plan import Owned, Plan, Reserved
from planner.core.uncertainty.draws import Draws, draw
from planner.core.uncertainty.factors import Pert, Uncertainty
from planner.core.uncertainty.simulate import Simulated, simulate
from planner.core.uncertainty.summary import contest, spread

COUNT = 10_000
UNCERTAIN = Uncertainty(utilization=Pert(0.45, 0.60, 0.75))


def scenarios() -> list[Plan]:
    """Return the whole plan, one without servers, one without commitments, one that only rents."""
    whole = plan()
    return [
        whole,
        without(whole, "reserve", Owned),
        without(whole, "own", Reserved),
        without(whole, "rent", Owned, Reserved),
    ]


def without(whole: Plan, name: str, *kinds: type) -> Plan:
    return replace(whole, name=name, supplies=tuple(s for s in whole.supplies if not isinstance(s, kinds)))


def draws() -> Draws:
    return draw(np.random.default_rng(1), COUNT, MONTHS, UNCERTAIN.correlations)


def read(simulated: tuple[Simulated, ...]) -> object:
    """Read what a comparison shows of a simulation."""
    return [spread(each.total["present_value_usd"]) for each in simulated], contest(
        simulated, "present_value_usd"
    )


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    plans, kept = scenarios(), draws()
    done = simulate(plans, kept, UNCERTAIN)
    whole, normals, drawing, reading, one = least_ms(
        lambda: read(simulate(plans, draws(), UNCERTAIN)),
        lambda: np.random.default_rng(1).standard_normal(COUNT * MONTHS * 10),
        draws,
        lambda: read(done),
        lambda: simulate(plans[:1], kept, UNCERTAIN),
    )
    print(f"{COUNT:,} draws x {MONTHS} months, four scenarios. CPU ms, least of rounds taken in turn")
    rows = (
        ("four scenarios, drawn, simulated, read", whole),
        ("  draws alone", drawing),
        ("  one scenario on draws that are kept", one),
        ("  quantiles, chances, regret", reading),
        ("floor: drawing 6 million normal numbers", normals),
    )
    for name, took in rows:
        print(f"{name:42} {took:8.1f} ms   {took / normals:6.2f}x")
    print(f"wall clock of the whole: {timed(lambda: read(simulate(plans, draws(), UNCERTAIN))):,.0f} ms")


if __name__ == "__main__":
    main()

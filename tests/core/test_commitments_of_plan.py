"""A commitment sized on a plan's own hours, against plain loops over hours, months and levels."""

import math
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

import pytest

from planner.core.commitments.of_plan import Future, Product, SizedCommitment, size_commitment
from planner.core.commitments.plan_need import hourly_need
from planner.core.plan import OnDemand, Plan, PlanRate, Reserved, SavingsPlan, Workload

START = date(2027, 1, 1)
DAY_AND_NIGHT = tuple(1.4 if 8 <= hour % 24 < 20 else 0.6 for hour in range(168))


def plan(gpus: float = 20.0, months: int = 6, drift: float = 0.0, usd: float | None = 4.0, rate: float = 0.1):
    return Plan(
        name="plan",
        start=START,
        months=months,
        gpu_model="H100",
        workloads=(Workload("serving", "inference", gpus, 0.03, DAY_AND_NIGHT),),
        supplies=(OnDemand("rent", usd, quota_gpus=8.0),),
        discount_rate_per_year=rate,
        price_drift_per_month=drift,
    )


@cache
def hours_of(product: Product, futures: tuple[Future, ...]) -> list[tuple[float, float, float]]:
    """Return (weight, on-demand price, GPUs) of every hour of every future inside the term."""
    found = []
    for future in futures:
        of, need = future.plan, hourly_need(future.plan, product.on_demand)
        for hour, gpus in enumerate(need.gpus):
            day = START + timedelta(days=hour // 24)
            if product.start <= day < product.end:
                month = (day.year - START.year) * 12 + day.month - START.month
                v = (1.0 + of.discount_rate_per_year) ** (-(month + 1) / 12)
                p = (of.supplies[0].usd_per_gpu_hour or 0.0) * (1.0 + of.price_drift_per_month) ** month
                found.append((future.probability * v, p, float(gpus)))
    return found


def cost(level: float, product: Product, futures: list[Future]) -> float:
    """Return f(K): charges, the rest on demand, and what idle hours bring back, hour by hour."""
    first = (product.start.year - START.year) * 12 + product.start.month - 1
    rate = futures[0].plan.discount_rate_per_year
    c, s = product.usd_per_gpu_hour or 0.0, product.salvage_usd_per_gpu_hour
    usd = (product.usd_upfront_per_gpu or 0.0) * level * (1.0 + rate) ** (-first / 12)
    for weight, p, gpus in hours_of(product, tuple(futures)):
        usd += weight * (c * level + p * max(gpus - level, 0.0) - s * max(level - gpus, 0.0))
    return usd


def brute_force(product: Product, futures: list[Future]) -> tuple[int, float]:
    """Return the largest of the cheapest levels up to the instances of the peak, and its cost."""
    size = product.gpus_per_instance
    peak = max(gpus for _, _, gpus in hours_of(product, tuple(futures)))
    costs = {
        level: cost(level, product, futures) for level in range(0, math.ceil(peak / size) * size + 1, size)
    }
    least = min(costs.values())
    return max(level for level, usd in costs.items() if usd <= least + 1e-9 * abs(least)), least


THREE = (("P10", 0.3, 10.0), ("P50", 0.4, 20.0), ("P90", 0.3, 40.0))


@pytest.mark.parametrize(
    ("product", "drift"),
    [
        (Product("a", "rent", START, 2, 2.6), 0.0),
        (Product("b", "rent", date(2027, 1, 15), 2, 1.0, 1500.0, 8), -0.05),
        (Product("c", "rent", date(2027, 2, 1), 1, 2.9, 0.0, 4, salvage_usd_per_gpu_hour=0.7), -0.02),
        (Product("d", "rent", START, 1, 4.5), 0.0),
        (Product("e", "rent", START, 1, 0.0), 0.0),
    ],
)
def test_the_level_beats_every_other_by_brute_force(product: Product, drift: float) -> None:
    futures = [Future(name, chance, plan(gpus, 3, drift)) for name, chance, gpus in THREE]
    sized = size_commitment(product, futures)
    best, usd = brute_force(product, futures)
    assert sized.gpus == best
    assert sized.usd == pytest.approx(usd, rel=1e-11)
    assert sized.usd_saved == pytest.approx(cost(0, product, futures) - usd, rel=1e-9, abs=1e-6)
    assert sized.usd_of(8) == pytest.approx(cost(8, product, futures), rel=1e-11)
    assert sized.check is not None
    assert sized.check.holds


def test_regret_is_against_the_best_level_of_each_future() -> None:
    product = Product("term", "rent", START, 2, 2.6, gpus_per_instance=4)
    futures = [Future(name, chance, plan(gpus, 3)) for name, chance, gpus in THREE]
    sized = size_commitment(product, futures)
    assert (sized.at_p10, sized.at_p90) == ("P10", "P90")
    for each, future in zip(sized.regrets, futures, strict=True):
        alone = [replace(future, probability=1.0)]
        best, usd = brute_force(product, alone)
        assert (each.best_gpus, each.usd_best) == (best, pytest.approx(usd))
        assert each.usd_regret == pytest.approx(cost(sized.gpus or 0, product, alone) - usd, abs=1e-6)


def test_by_hand_without_discounting() -> None:
    """January, 20 GPUs at 1.4 by day and 0.6 by night: 28 and 12. Half of the hours is less than 0.65: 12."""
    flat = replace(
        plan(months=1, rate=0.0), workloads=(Workload("w", "inference", 20.0, 0.0, DAY_AND_NIGHT),)
    )
    sized = size_commitment(Product("month", "rent", START, 1, 2.6), [Future("base", 1.0, flat)])
    assert sized.gpus == 12
    assert sized.break_even_utilization == pytest.approx(0.65)
    assert sized.usd == pytest.approx(744 * 12 * 2.6 + 372 * 16 * 4.0)
    assert (sized.utilization, sized.coverage) == (1.0, pytest.approx(12 / 20))
    saved = 744 * 12 * 1.4
    assert sized.sentence == (
        f"month, 2027-01-01 to 2027-02-01: commit 12 GPUs; expected saving ${saved:,.2f}."
        " A GPU pays above 65.0 % use."
    )


def test_what_is_paid_for_already_comes_off_first() -> None:
    """Of 28 by day and 12 by night a term holds 4, and 10.00 an hour at 2.50 pay for 4 more."""
    base = replace(plan(months=1), workloads=(Workload("w", "inference", 20.0, 0.0, DAY_AND_NIGHT),))
    held = Reserved("held", 4, START, 12, "no_upfront", 2.0)
    money = SavingsPlan("money", 10.0, START, 12, (PlanRate("rent", 2.5),))
    need = hourly_need(replace(base, supplies=(*base.supplies, held, money)), "rent")
    assert sorted(set(need.gpus.round(9))) == [4.0, 20.0]
    assert need.unmet_gpu_hours == 0.0  # the quota of 8 is lifted: a commitment is capacity of its own


def test_what_is_unknown_is_named_and_leaves_the_level_unknown() -> None:
    def missing(product: Product, usd: float | None = 4.0) -> SizedCommitment:
        return size_commitment(product, [Future("base", 1.0, plan(usd=usd))])

    assert missing(Product("a", "rent", START, 3, None)).missing == ("usd_per_gpu_hour",)
    assert missing(Product("a", "rent", START, 3, 2.0, None)).missing == ("usd_upfront_per_gpu",)
    assert missing(Product("a", "rent", START, 3, 2.0), None).missing == ("the price of rent",)
    beyond = missing(Product("a", "rent", START, 12, 2.0))
    assert (beyond.gpus, beyond.missing) == (None, ("the demand from 2027-07-01 to 2028-01-01",))
    assert beyond.sentence.endswith("unknown, for lack of the demand from 2027-07-01 to 2028-01-01.")
    assert beyond.usd_of(8) is None


def test_no_demand_and_free_on_demand_commit_nothing() -> None:
    product = Product("a", "rent", START, 3, 2.0)
    nobody = size_commitment(product, [Future("base", 1.0, plan(gpus=0.0))])
    assert (nobody.gpus, nobody.usd, nobody.utilization, nobody.coverage) == (0, 0.0, None, None)
    free = size_commitment(product, [Future("base", 1.0, plan(usd=0.0))])
    assert (free.gpus, free.break_even_utilization) == (0, None)


def test_impossible_sizings_are_refused() -> None:
    product, base = Product("a", "rent", START, 3, 2.0), plan()
    with pytest.raises(ValueError, match="futures is empty"):
        size_commitment(product, [])
    with pytest.raises(ValueError, match=r"futures is \[0\.5\]; right would be probabilities that sum to 1"):
        size_commitment(product, [Future("base", 0.5, base)])
    with pytest.raises(ValueError, match=r"base: probability is 1\.5"):
        Future("base", 1.5, base)
    with pytest.raises(ValueError, match=r"on_demand is 'spot'; right would be one of .*: rent"):
        size_commitment(replace(product, on_demand="spot"), [Future("base", 1.0, base)])
    with pytest.raises(ValueError, match="a: start is 2026-12-01"):
        size_commitment(replace(product, start=date(2026, 12, 1)), [Future("base", 1.0, base)])
    with pytest.raises(ValueError, match="plan 'plan': months is 7; right would be 6 as in the first"):
        size_commitment(product, [Future("a", 0.5, base), Future("b", 0.5, plan(months=7))])
    for salvage in (2.5, 4.0):
        with pytest.raises(ValueError, match="a: salvage_usd_per_gpu_hour is"):
            size_commitment(replace(product, salvage_usd_per_gpu_hour=salvage), [Future("a", 1.0, base)])
    with pytest.raises(ValueError, match="a multiple of gpus_per_instance, 8"):
        size_commitment(replace(product, gpus_per_instance=8), [Future("a", 1.0, base)]).usd_of(4)

"""Simulated plans: exact where nothing is uncertain, the same bytes from the same seed."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings

from planner.core.evaluate import evaluate
from planner.core.plan import VIEWS, Contract, ContractStep, Plan, PlanRate, PriceStep, SavingsPlan
from planner.core.uncertainty.draws import bridge, chosen, draw, pert_quantile, standard_error_of_share
from planner.core.uncertainty.factors import (
    CERTAIN,
    DEFAULT_CORRELATIONS,
    FACTORS,
    Correlation,
    Jump,
    Pert,
    Uncertainty,
)
from planner.core.uncertainty.simulate import STUDY_GRID, simulate
from planner.core.uncertainty.summary import (
    cash_band,
    comparable,
    contest,
    cvar,
    difference,
    quantile,
    spread,
)
from planner.core.uncertainty.tornado import tornado
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot, make_workload
from tests.core import strategies

BLOCKS = STUDY_GRID


def some_draws(count: int, months: int, seed: int = 7):  # type: ignore[no-untyped-def]
    return draw(np.random.default_rng(seed), count, months, DEFAULT_CORRELATIONS)


def mixed_plan(**changes: object) -> Plan:
    """Return servers on their way, a commitment, a contract, a savings plan, on demand and spot."""
    supplies = (
        make_owned(
            servers=2, lead_time_days=90, max_kw_per_server=10.0, idle_kw_per_server=2.0, usd_per_kwh=0.1
        ),
        make_reserved(gpus=4),
        Contract(
            "Contract", (ContractStep(date(2027, 3, 1), 4, 2.2),), date(2027, 10, 1), take_or_pay_share=0.5
        ),
        SavingsPlan("Savings", 5.0, date(2027, 1, 1), 12, (PlanRate("On demand", 2.5),)),
        make_on_demand(quota_gpus=64),
        make_spot(quota_gpus=8),
    )
    works = (
        make_workload(gpus=20.0),
        make_workload(name="batch", kind="training", gpus=8.0, deferrable_hours=2000.0, interruptible=True),
    )
    return make_plan(workloads=works, supplies=supplies, discount_rate_per_year=0.1, **changes)


@settings(deadline=None, max_examples=15)
@given(strategies.plans())
def test_without_uncertainty_every_draw_is_the_plan_itself(plan: Plan) -> None:
    exact = evaluate(plan, BLOCKS)
    done = simulate([plan], some_draws(3, plan.months), CERTAIN)[0]
    for view in VIEWS:
        scale = float(exact.monthly[view].abs().sum())
        assert done.total[view] == pytest.approx([exact.total[view]] * 3, rel=1e-9, abs=1e-9 * scale)
    assert done.unmet_gpu_hours == pytest.approx([exact.unmet_gpu_hours] * 3, abs=1e-6)


def test_every_kind_of_supply_is_simulated_as_it_is_evaluated() -> None:
    plan = mixed_plan()
    exact, done = evaluate(plan, BLOCKS), simulate([plan], some_draws(2, 12), CERTAIN)[0]
    for view in VIEWS:
        assert done.total[view] == pytest.approx([exact.total[view]] * 2, rel=1e-12)
    assert done.cash_usd_by_month[:, 0].sum() == pytest.approx(exact.total["cash_usd"])


def test_the_same_seed_gives_the_same_bytes() -> None:
    plan = mixed_plan()
    one = simulate([plan], some_draws(200, 12), Uncertainty())[0]
    two = simulate([plan], some_draws(200, 12), Uncertainty())[0]
    other = simulate([plan], some_draws(200, 12, seed=8), Uncertainty())[0]
    for view in VIEWS:
        assert one.total[view].tobytes() == two.total[view].tobytes()
        assert one.total[view].tobytes() != other.total[view].tobytes()


def test_a_draw_costs_what_evaluate_says_of_the_same_world() -> None:
    """Take single draws of demand, price, spot and delivery and evaluate the plans they mean."""
    plan = make_plan(
        months=6,
        workloads=(make_workload(gpus=20.0),),
        supplies=(make_owned(lead_time_days=59), make_reserved(gpus=4), make_on_demand(quota_gpus=64)),
    )
    only = replace(CERTAIN, demand_sigma=0.3, lead_time_sigma=0.8)
    draws = some_draws(300, 6)
    done = simulate([plan], draws, only)[0]
    for place in range(0, 300, 30):
        factor = float(np.exp(0.3 * draws.of("demand")[place]))
        days = round(59 * float(np.exp(0.8 * draws.of("delivery")[place])))
        owned = replace(plan.supplies[0], lead_time_days=days)  # type: ignore[type-var]
        world = replace(
            plan,
            workloads=(replace(plan.workloads[0], gpus=20.0 * factor),),
            supplies=(owned, *plan.supplies[1:]),
        )
        exact = evaluate(world, BLOCKS)
        assert done.total["cash_usd"][place] == pytest.approx(exact.total["cash_usd"], rel=2e-3)
        assert done.unmet_gpu_hours[place] == pytest.approx(exact.unmet_gpu_hours, abs=60.0)


def test_a_price_path_multiplies_what_is_rented_and_nothing_else() -> None:
    plan = make_plan(months=12, supplies=(make_reserved(gpus=4), make_on_demand()))
    draws = some_draws(50, 12)
    done = simulate([plan], draws, replace(CERTAIN, price_sigma_per_root_year=0.4))[0]
    hours = np.array([744, 672, 744, 720, 744, 720, 744, 744, 720, 744, 720, 744])
    rented = 4 * 4.0 * hours @ np.exp(0.4 * draws.walk)
    assert done.total["cash_usd"] == pytest.approx(4 * 2.0 * 8760 + rented)


def test_residual_power_and_foreign_money_have_their_own_factors() -> None:
    own = make_owned(max_kw_per_server=8.0, idle_kw_per_server=8.0, usd_per_kwh=0.1, pue=1.0)
    plan = make_plan(months=12, supplies=(own,))
    draws = some_draws(20, 12)
    base = evaluate(plan, BLOCKS)
    frame = base.monthly.groupby("line")["cash_usd"].sum()
    sold = simulate([plan], draws, replace(CERTAIN, residual_sigma=0.5))[0].total["cash_usd"]
    moved = (np.exp(0.5 * draws.of("residual")) - 1.0) * frame["residual"]
    assert sold == pytest.approx(base.total["cash_usd"] + moved)
    lit = simulate([plan], draws, replace(CERTAIN, power_sigma=0.5))[0].total["cash_usd"]
    assert lit == pytest.approx(
        base.total["cash_usd"] + (np.exp(0.5 * draws.of("power")) - 1) * 8 * 8760 * 0.1
    )
    abroad = replace(CERTAIN, fx_sigma_per_root_year=0.2, foreign=("On demand",))
    rented = simulate([make_plan(months=1)], draws, abroad)[0].total["cash_usd"]
    assert rented == pytest.approx(8 * 4.0 * 744 * np.exp(0.2 * np.sqrt(1 / 12) * draws.of("fx")))


def test_draws_have_the_correlations_that_were_asked_for() -> None:
    draws = some_draws(200_000, 2)
    assert np.corrcoef(draws.of("price"), draws.of("residual"))[0, 1] == pytest.approx(0.7, abs=0.01)
    assert np.corrcoef(draws.of("price"), draws.of("demand"))[0, 1] == pytest.approx(0.3, abs=0.01)
    assert np.corrcoef(draws.of("demand"), draws.of("power"))[0, 1] == pytest.approx(0.0, abs=0.01)


def test_price_paths_are_brownian_and_end_with_their_number() -> None:
    draws = some_draws(100_000, 25)
    assert (draws.walk[0] == 0.0).all()
    assert draws.walk[24] == pytest.approx(draws.of("price") * np.sqrt(2.0))
    # the variance grows with time, and increments do not remember
    assert draws.walk[6].var() == pytest.approx(0.5, rel=0.02)
    first, second = draws.walk[12], draws.walk[24] - draws.walk[12]
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.0, abs=0.01)
    assert bridge(np.zeros((0, 3)), np.zeros(3)).shape == (1, 3)


def test_a_pert_share_stays_in_its_range_with_the_mean_of_its_formula() -> None:
    normals = np.random.default_rng(1).standard_normal(100_000)
    shares = pert_quantile(Pert(0.45, 0.60, 0.75), normals)
    assert 0.45 <= shares.min() <= shares.max() <= 0.75
    assert shares.mean() == pytest.approx((0.45 + 4 * 0.60 + 0.75) / 6, abs=1e-3)
    assert (pert_quantile(Pert(0.6, 0.6, 0.6), normals[:3]) == 0.6).all()


def test_a_lower_utilization_needs_more_gpu_hours() -> None:
    uncertain = replace(CERTAIN, utilization=Pert(0.3, 0.6, 0.9))
    draws = chosen(np.array([[0.0, 0.0, z, 0, 0, 0, 0, 0] for z in (-2.0, 2.0)]), 1)
    low, high = simulate([make_plan(months=1)], draws, uncertain)[0].total["cash_usd"]
    shares = pert_quantile(Pert(0.3, 0.6, 0.9), np.array([-2.0, 2.0]))
    assert [low, high] == pytest.approx((8 * 4.0 * 744 * 0.6 / shares).tolist())


def test_prices_have_a_floor_and_may_jump_down() -> None:
    plan = make_plan(months=12)
    draws = some_draws(2_000, 12)
    floored = simulate([plan], draws, replace(CERTAIN, price_sigma_per_root_year=2.0, price_floor_share=0.9))[
        0
    ]
    assert floored.total["cash_usd"].min() >= 0.9 * 8 * 4.0 * 8760 * 0.999
    jumped = simulate([plan], draws, replace(CERTAIN, jump=Jump(6, 0.25, 0.5)))[0].total["cash_usd"]
    low = jumped < jumped.max() - 1.0
    assert low.mean() == pytest.approx(0.25, abs=0.03)


def test_medians_of_a_price_path_are_those_of_the_formula() -> None:
    values = np.exp(0.4 * some_draws(40_000, 13).walk[12])
    assert np.median(values) == pytest.approx(1.0, rel=0.01)
    assert np.quantile(values, 0.9) == pytest.approx(np.exp(1.2815515655 * 0.4), rel=0.02)
    assert values.mean() == pytest.approx(np.exp(0.4**2 / 2), rel=0.01)


def test_an_unknown_price_stays_unknown() -> None:
    plan = make_plan(months=2, supplies=(make_on_demand(usd_per_gpu_hour=None),))
    done = simulate([plan, make_plan(months=2)], some_draws(10, 2), Uncertainty())
    assert np.isnan(done[0].total["cash_usd"]).all()
    assert spread(done[0].total["cash_usd"]) is None
    assert contest(done, "cash_usd") is None
    assert cvar(done[0].total["cash_usd"], 0.9) is None
    assert tornado(plan, Uncertainty(), "cash_usd") is None
    assert [gap.field for gap in done[0].gaps] == ["usd_per_gpu_hour"]


def test_the_cheapest_share_and_regret_are_counted_draw_by_draw() -> None:
    rent, reserve = make_plan(months=12), make_plan(name="Reserve", months=12, supplies=(make_reserved(),))
    draws = some_draws(4_000, 12)
    uncertain = replace(CERTAIN, price_sigma_per_root_year=1.5)
    done = simulate([rent, reserve], draws, uncertain)
    found = contest(done, "cash_usd")
    assert found is not None
    one, other = (each.total["cash_usd"] for each in done)
    assert found.chances[0].probability == pytest.approx((one < other).mean())
    assert sum(chance.probability for chance in found.chances) == pytest.approx(1.0)
    assert found.chances[0].standard_error == pytest.approx(
        standard_error_of_share(found.chances[0].probability, 4_000)
    )
    assert found.chances[0].regret_mean == pytest.approx(np.maximum(one - other, 0.0).mean())
    assert found.comparable_share == 1.0
    apart = difference(done[0], done[1], "cash_usd")
    assert apart is not None
    assert apart.p50.value == pytest.approx(np.median(one - other))


def test_draws_in_which_plans_leave_different_work_undone_count_for_none() -> None:
    small = make_plan(months=1, supplies=(make_on_demand(quota_gpus=8),))
    done = simulate(
        [small, make_plan(name="All", months=1)], some_draws(500, 1), replace(CERTAIN, demand_sigma=0.2)
    )
    alike = comparable(done)
    assert 0.4 < alike.mean() < 0.6  # demand stays at or below the quota in half of the draws
    found = contest(done, "cash_usd")
    assert found is not None
    assert sum(chance.probability for chance in found.chances) == pytest.approx(alike.mean())


def test_ranks_of_the_interval_are_those_of_order_statistics() -> None:
    # n = 2,000 and q = 0.9: ranks 1,774 to 1,826 or the next above
    found = quantile(np.arange(1.0, 2001.0), 0.9)
    assert (found.low, round(found.high)) in {(1774.0, 1826), (1774.0, 1827)}
    assert found.value == pytest.approx(1800.1)


def test_standard_error_of_the_mean() -> None:
    found = spread(np.array([1.0, 2.0, 3.0, 4.0]))
    assert found is not None
    assert found.standard_error == pytest.approx(np.sqrt(5 / 3) / 2)


def test_cvar_is_the_mean_of_the_worst_share() -> None:
    assert cvar(np.array([1.0, 2.0, 3.0, 10.0]), 0.75) == 10.0
    assert cvar(np.array([1.0, 2.0, 3.0, 10.0]), 0.0) == 4.0
    # 1.5 worst draws of four: 10 whole, 3 in half
    assert cvar(np.array([1.0, 2.0, 3.0, 10.0]), 0.625) == pytest.approx((10 + 0.5 * 3) / 1.5)


def test_a_tornado_moves_one_input_at_a_time() -> None:
    plan = mixed_plan()
    found = tornado(plan, Uncertainty(), "cash_usd")
    assert found is not None
    assert found.total == pytest.approx(evaluate(plan, BLOCKS).total["cash_usd"], rel=1e-6)
    swings = [abs(bar.swing) for bar in found.bars]
    assert swings == sorted(swings, reverse=True)
    assert {bar.factor for bar in found.bars} <= set(FACTORS)
    price = next(bar for bar in found.bars if bar.factor == "price")
    assert price.is_monotone
    assert price.total_at_p10 < found.total < price.total_at_p90
    assert "fx" not in {bar.factor for bar in found.bars}  # nothing is foreign


def test_a_cash_band_has_a_quantile_for_each_month() -> None:
    done = simulate([mixed_plan()], some_draws(500, 12), Uncertainty())[0]
    low, high = cash_band(done, 0.1), cash_band(done, 0.9)
    assert low.shape == (12,)
    assert (low <= high).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Uncertainty(demand_sigma=-0.1), "demand_sigma is -0.1; right would be a number from 0 to 5"),
        (lambda: Uncertainty(power_sigma=float("nan")), "power_sigma is nan"),
        (
            lambda: Correlation("price", "weather", 0.1),
            "correlation of is 'weather'; right would be one of price",
        ),
        (lambda: Correlation("price", "spot", 1.1), "value is 1.1; right would be a number from -1 to 1"),
        (
            lambda: Uncertainty(
                correlations=(
                    Correlation("price", "demand", 0.9),
                    Correlation("price", "spot", 0.9),
                    Correlation("demand", "spot", -0.9),
                )
            ),
            "correlations is a matrix with eigenvalue",
        ),
        (lambda: Pert(0.5, 0.4, 0.9), "low, mode and high in rising order"),
        (lambda: Jump(3, 1.0, 0.5), "probability is 1.0"),
        (
            lambda: draw(np.random.default_rng(1), 0, 12, ()),
            "count is 0; right would be a whole number from 1",
        ),
        (lambda: quantile(np.zeros(3), 1.0), "rank is 1.0"),
        (lambda: cvar(np.zeros(3), 1.0), "level is 1.0; right would be a number from 0 to below 1"),
        (
            lambda: simulate([make_plan()], some_draws(2, 6), CERTAIN),
            "months is 12; right would be at most the 6",
        ),
        (
            lambda: simulate([make_plan()], some_draws(2, 12), replace(CERTAIN, foreign=("Nobody",))),
            "foreign is 'Nobody'",
        ),
        (
            lambda: contest(simulate([make_plan()], some_draws(2, 12), CERTAIN), "cash_usd"),
            "at least two plans",
        ),
    ],
)
def test_absurd_values_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        build()


def test_the_floor_counts_from_month_1_whatever_a_step_of_prices_does() -> None:
    halved = make_plan(months=3, price_steps=(PriceStep(date(2027, 2, 1), 0.5),))
    floor = replace(CERTAIN, price_floor_share=0.8)
    # the plan's own half is below the floor: the floor lifts nothing that the plan itself says
    assert simulate([halved], some_draws(2, 3), floor)[0].total["cash_usd"] == pytest.approx(
        [evaluate(halved).total["cash_usd"]] * 2
    )
    # with a wild market prices never leave 80 % of month 1 downwards, before and after a step up
    raised = make_plan(months=3, price_steps=(PriceStep(date(2027, 2, 1), 1.25),))
    wild = replace(floor, price_sigma_per_root_year=3.0)
    lowest = simulate([raised], some_draws(4_000, 3), wild)[0].cash_usd_by_month.min(axis=1)
    assert lowest[1:] == pytest.approx([0.8 * 8 * 4.0 * 672, 0.8 * 8 * 4.0 * 744])

"""Break-even over two inputs, against month by month and against the one-case search."""

from dataclasses import replace
from datetime import date
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.service_value import remaining_service_value_usd, service_value_usd
from planner.core.books.surface import Axis, OwnOrRent, break_even_surface
from planner.core.break_even import (
    break_even_hours,
    break_even_month_of_each,
    break_even_months,
    cumulative_own_and_rent,
    find_break_even,
)
from planner.core.money import residual_share_by_age
from planner.core.prices import value_of_future_compute

few = settings(max_examples=50, deadline=None)
PRICE_06 = OwnOrRent(
    gpus=8,
    usd_capex=280_000.0,
    usd_running_per_month=3_500.0,
    usd_rent_per_gpu_hour=3.0,
    hours_by_month=(730.0,) * 84,
    lead_months=3,
    utilization=0.85,
    rate_per_year=0.10,
)
DECLINES = Axis("price_decline_per_month", (0.0, 0.005, 0.01, 0.015, 0.02))


def month_by_month(case: OwnOrRent, residual: bool = False) -> float:
    """Return the first month with own <= rent from the first in which they differ, added up by hand."""
    own, rent, has_differed = case.usd_capex or 0.0, 0.0, False
    for month, hours in enumerate(case.hours_by_month, start=1):
        factor = (1 + case.rate_per_year) ** (-month / 12)
        price = (case.usd_rent_per_gpu_hour or 0.0) * (1 - case.price_decline_per_month) ** (month - 1)
        used = case.gpus * case.utilization * hours
        rent += used * price * factor
        load = used * (case.usd_load_per_gpu_hour or 0.0)
        waits = month <= case.lead_months
        own += (used * price if waits else (case.usd_running_per_month or 0.0) + load) * factor
        age = np.array([max(month - case.lead_months, 0.0)])
        worth = (case.usd_capex or 0.0) * float(residual_share_by_age(age)[0]) * factor if residual else 0.0
        margin = 1e-9 * max(own - worth, rent)
        has_differed = has_differed or abs(own - worth - rent) > margin
        if has_differed and own - worth <= rent + margin:
            return float(month)
    return np.inf


def test_price_06_is_a_row_of_a_surface_with_the_naive_answer_beside_it() -> None:
    surface = break_even_surface(PRICE_06, DECLINES, Axis("utilization", (0.4, 0.6, 0.85, 1.0)))
    assert surface.month.shape == (4, 5)
    assert surface.month[2].tolist() == [32.0, 36.0, 42.0, 57.0, np.inf]
    assert (surface.naive_month == 20.0).all()
    # 280,000 / (8 * 3.00 * 730 - 3,500) = 19.97 months
    assert round(280_000 / (8 * 3.0 * 730 - 3_500), 2) == 19.97
    # the busier the sooner, the faster prices fall the later
    assert (np.diff(surface.month[:, 0]) < 0).all()


def test_every_cell_is_the_case_with_these_two_inputs_month_by_month() -> None:
    capex = Axis("usd_capex", (100_000.0, 280_000.0, 500_000.0))
    rent = Axis("usd_rent_per_gpu_hour", (1.5, 3.0, 7.0))
    case = replace(PRICE_06, usd_load_per_gpu_hour=0.1, price_decline_per_month=0.01)
    surface = break_even_surface(case, capex, rent)
    for (row, usd_rent), (column, usd_capex) in product(enumerate(rent.values), enumerate(capex.values)):
        cell = replace(case, usd_rent_per_gpu_hour=usd_rent, usd_capex=usd_capex)
        naive = replace(cell, lead_months=0, utilization=1.0, price_decline_per_month=0.0, rate_per_year=0.0)
        assert surface.month[row, column] == month_by_month(cell)
        assert surface.month_with_residual[row, column] == month_by_month(cell, residual=True)
        assert surface.naive_month[row, column] == month_by_month(naive)


@few
@given(
    st.floats(1e4, 1e6),
    st.floats(0.0, 1e4),
    st.floats(0.5, 10.0),
    st.integers(0, 30),
    st.floats(0.05, 1.0),
    st.floats(-0.01, 0.05),
    st.floats(0.0, 0.3),
)
def test_the_surface_agrees_with_the_search_of_one_case(
    capex: float, running: float, rent: float, lead: int, use: float, decline: float, rate: float
) -> None:
    case = OwnOrRent(8, capex, running, rent, (730.0,) * 48, lead, use, decline, rate)
    surface = break_even_surface(case, Axis("utilization", (use,)), Axis("usd_capex", (capex,)))
    own, cost = cumulative_own_and_rent(
        gpus=8,
        usd_capex=capex,
        usd_running_per_month=running,
        lead_months=lead,
        usd_rent_per_gpu_hour=rent,
        utilization=use,
        price_decline_per_month=decline,
        rate_per_year=rate,
        hours=np.full(48, 730.0),
    )
    found = find_break_even(own, cost, [date(2027, 1, 1)] * 48, np.zeros(48))
    assert found is not None
    assert surface.month[0, 0] == (np.inf if found.month is None else found.month)


@few
@given(
    st.floats(1e4, 1e5),
    st.floats(0.0, 2e3),
    st.floats(2.0, 10.0),
    st.integers(0, 12),
    st.floats(0.0, 0.02),
    st.floats(0.0, 0.2),
    st.booleans(),
)
def test_at_the_break_even_utilization_both_cost_the_same_at_the_horizon(
    capex: float, running: float, rent: float, lead: int, decline: float, rate: float, residual: bool
) -> None:
    case = OwnOrRent(8, capex, running, rent, (730.0,) * 48, lead, 1.0, decline, rate, 0.05)
    one = Axis("usd_capex", (capex,)), Axis("rate_per_year", (rate,))
    surface = break_even_surface(case, *one)
    share = float((surface.utilization_with_residual if residual else surface.utilization)[0, 0])
    if share > 1.0:
        return
    own, cost = cumulative_own_and_rent(
        gpus=8,
        usd_capex=capex,
        usd_running_per_month=running,
        lead_months=lead,
        usd_rent_per_gpu_hour=rent,
        utilization=share,
        price_decline_per_month=decline,
        rate_per_year=rate,
        hours=np.full(48, 730.0),
        usd_load_per_gpu_hour=0.05,
    )
    worth = capex * float(residual_share_by_age(np.array([48.0 - lead]))[0]) * (1 + rate) ** -4
    assert own[-1] - (worth if residual else 0.0) == pytest.approx(cost[-1], rel=1e-9)


def test_what_is_unknown_stays_unknown_and_is_named() -> None:
    case = replace(PRICE_06, usd_running_per_month=None)
    surface = break_even_surface(case, DECLINES, Axis("utilization", (0.85,)))
    for figure in (surface.month, surface.month_with_residual, surface.naive_month, surface.utilization):
        assert np.isnan(figure).all()
    assert surface.missing == ("usd_running_per_month",)
    # an axis that sets the input makes it known again
    known = break_even_surface(case, Axis("usd_running_per_month", (3_500.0,)), Axis("utilization", (0.85,)))
    assert (known.month[0, 0], known.missing) == (32.0, ())


def test_renting_below_the_energy_of_the_load_has_no_break_even_utilization() -> None:
    case = replace(PRICE_06, usd_load_per_gpu_hour=5.0)
    surface = break_even_surface(
        case, Axis("usd_rent_per_gpu_hour", (3.0, 50.0)), Axis("utilization", (1.0,))
    )
    assert surface.utilization[0, 0] == np.inf
    assert 0.0 < surface.utilization[0, 1] < 1.0


def test_many_rows_at_once_are_the_rows_one_by_one() -> None:
    rng = np.random.default_rng(7)
    own = 40.0 + rng.uniform(0.0, 3.0, (50, 24)).cumsum(axis=1)
    rent = rng.uniform(0.0, 6.0, (50, 24)).cumsum(axis=1)
    rent[:5, :4] = own[:5, :4]  # equal at first: nothing is reached before they differ
    rent[5] = own[5]
    month, until = break_even_month_of_each(own, rent)
    for row in range(50):
        found = find_break_even(own[row], rent[row], [date(2027, 1, 1)] * 24, np.zeros(24))
        assert found is not None
        assert month[row] == (np.inf if found.month is None else found.month)
        assert until[row] == (np.inf if found.until is None else found.until)
    assert np.isfinite(until).any()
    assert np.isinf(month).any()


def test_hours_and_months_of_the_plain_formula() -> None:
    assert break_even_hours(833_806.0, 98.32, 0.87) == pytest.approx(8_556.24, abs=0.01)
    assert break_even_hours(1.0, 2.0, 2.0) is None
    assert break_even_months(8_760.0, utilization=0.5) == 24.0
    assert break_even_months(None) is None


def test_the_value_of_the_service_stream_falls_with_the_market() -> None:
    """A halving every 18 months at 6 %: the hours of one month a year ahead are worth 0.5943 of today's."""
    months = np.arange(1, 13)
    path = 2.0 ** (-months / 18)
    work = np.zeros(12)
    work[-1] = 100.0
    value = service_value_usd(work, path, 0.06)
    assert value == pytest.approx(100.0 * value_of_future_compute(1.0, 1.5, 0.06))
    assert value == pytest.approx(59.43, abs=0.005)


@few
@given(st.lists(st.floats(0.0, 1e4), min_size=2, max_size=40), st.floats(0.0, 0.3), st.floats(0.0, 0.05))
def test_what_is_left_is_the_value_less_what_was_used(work: list[float], rate: float, fall: float) -> None:
    path = 3.0 * (1 - fall) ** np.arange(len(work))
    left = remaining_service_value_usd(np.array(work), path, rate)
    whole = service_value_usd(np.array(work), path, rate)
    assert whole is not None
    for month in range(1, len(work) + 1):
        used = service_value_usd(np.array(work[:month]), path[:month], rate)
        assert used is not None
        assert used + left[month - 1] * (1 + rate) ** (-month / 12) == pytest.approx(whole, rel=1e-9)


def test_months_not_worth_their_running_cost_are_not_worked() -> None:
    # worth 20, 10, 5 and 6 to run: at the end of month 1 there is 10 - 6 to come, not 5 - 6 too
    left = remaining_service_value_usd(np.array([10.0, 10.0, 10.0]), np.array([2.0, 1.0, 0.5]), 0.0, 6.0)
    assert left.tolist() == [4.0, 0.0, 0.0]
    assert np.isnan(remaining_service_value_usd(np.ones(3), np.array([1.0, 1.0, np.nan]), 0.0)[:2]).all()
    assert service_value_usd(np.ones(1), np.array([np.nan]), 0.0) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"lead_months": 100},
        {"lead_months": 84, "price_decline_per_month": 0.1},
        {"usd_load_per_gpu_hour": 3.0},
        {"price_decline_per_month": 0.99, "lead_months": 15},
    ],
)
def test_a_fleet_that_saves_no_rent_has_no_break_even_utilization(changes: dict[str, float]) -> None:
    """Rounding of large sums is not taken for a saving: with it the share came out as about 1e16."""
    case = replace(PRICE_06, usd_capex=273_456.789, **changes)  # type: ignore[arg-type]
    rates = Axis("rate_per_year", (-0.5, 0.0, 0.1))
    surface = break_even_surface(case, rates, Axis("utilization", (0.1, 1.0)))
    if changes.get("price_decline_per_month") == 0.99:
        # 8 * 730 * 3.00 * 0.01^15 in month 16: something, but nothing that tells from 0
        assert (surface.utilization > 1e9).all()
    else:
        assert np.isinf(surface.utilization).all()
        assert np.isinf(surface.utilization_with_residual).all()


def test_without_a_month_there_is_no_horizon() -> None:
    with pytest.raises(ValueError, match=r"hours_by_month is .*at least one month"):
        replace(PRICE_06, hours_by_month=())


def test_refusals() -> None:
    with pytest.raises(ValueError, match="name is 'colour'; right would be usd_capex"):
        Axis("colour", (1.0,))
    with pytest.raises(ValueError, match="at least one value of utilization"):
        Axis("utilization", ())
    with pytest.raises(ValueError, match="values of utilization is"):
        Axis("utilization", (0.5, 1.5))
    with pytest.raises(ValueError, match="down is utilization; right would be another input"):
        break_even_surface(PRICE_06, Axis("utilization", (0.5,)), Axis("utilization", (0.6,)))
    with pytest.raises(ValueError, match=r"lead_months is 1\.5"):
        replace(PRICE_06, lead_months=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"price_decline_per_month is 1\.0"):
        replace(PRICE_06, price_decline_per_month=1.0)
    with pytest.raises(ValueError, match="usd_per_gpu_hour is 2 months; right would be as many as work"):
        service_value_usd(np.ones(1), np.ones(2), 0.0)
    with pytest.raises(ValueError, match="usd_running_per_month is 1 months; right would be as many as work"):
        remaining_service_value_usd(np.ones(3), np.ones(3), 0.0, np.ones(1))

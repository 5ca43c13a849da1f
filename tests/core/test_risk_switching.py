"""What leaving a supplier costs, and when its saving has paid that back."""

import math
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.risk.switching import Switch, payback, switching_cost

EVERYTHING = Switch(
    engineering_weeks=6, usd_per_engineering_week=4_000,
    engineering_hours=20, usd_per_engineering_hour=100,
    revalidation_gpu_hours=2_000, usd_per_gpu_hour=2.5,
    egress_gb=50_000, usd_per_egress_gb=0.05,
    parallel_months=2, usd_per_parallel_month=10_000,
    penalty_months=3, throughput_ratio=0.8, usd_per_month_at_new=40_000,
)  # fmt: skip
AMOUNTS = st.floats(0.0, 1e6)


def test_a_switch_worked_out_by_hand() -> None:
    found = switching_cost(EVERYTHING)
    assert found.engineering_usd == 6 * 4_000 + 20 * 100
    assert found.revalidation_usd == 2_000 * 2.5
    assert found.egress_usd == 50_000 * 0.05
    assert found.parallel_usd == 2 * 10_000
    assert found.penalty_usd == pytest.approx(3 * 40_000 * 0.25)  # 1 / 0.8 is a quarter more
    assert found.total_usd == pytest.approx(26_000 + 5_000 + 2_500 + 20_000 + 30_000)


def test_nothing_to_do_costs_nothing_and_needs_no_price() -> None:
    found = switching_cost(Switch())
    assert (found.total_usd, found.unknown) == (0.0, ())


def test_an_unknown_input_makes_its_part_and_the_total_unknown_and_is_named() -> None:
    found = switching_cost(Switch(egress_gb=50_000, engineering_weeks=None, usd_per_engineering_week=4_000))
    assert (found.egress_usd, found.engineering_usd, found.total_usd) == (None, None, None)
    assert found.parallel_usd == 0.0
    assert found.unknown == ("engineering_weeks", "usd_per_egress_gb")


@settings(max_examples=50, deadline=None)
@given(st.lists(AMOUNTS, min_size=12, max_size=12), st.floats(0.01, 1.0))
def test_twice_the_prices_cost_twice_as_much(amounts: list[float], ratio: float) -> None:
    names = [each.name for each in fields(Switch) if each.name != "throughput_ratio"]
    once = dict(zip(names, amounts, strict=True))
    twice = {name: value * (2 if name.startswith("usd_") else 1) for name, value in once.items()}
    one, two = (switching_cost(Switch(**given, throughput_ratio=ratio)) for given in (once, twice))
    assert one.total_usd is not None
    assert two.total_usd == pytest.approx(2 * one.total_usd)


# --- payback ---


def test_without_a_commitment_it_is_cost_over_saving() -> None:
    found = payback(60_000, 5_000)
    assert (found.verdict, found.months, found.months_without_stranded) == ("pays back", 12, 12)
    assert (found.stranded_usd, found.usd_gained_by_waiting) == (0, 0)


def test_a_commitment_that_outweighs_the_saving_is_paid_off_first() -> None:
    """Saves 10,000 a month, owes 12,000 for six: at month T after it 10,000 T = 56,500 + 72,000."""
    found = payback(56_500, 10_000, owed_usd_per_month=12_000, owed_months=6)
    assert (found.months, found.stranded_usd) == (12.85, 72_000)
    assert found.usd_gained_by_waiting == 6 * 2_000  # until then each month loses 2,000


def test_a_small_commitment_is_paid_off_on_the_way() -> None:
    """Saves 10,000, owes 2,000 for 24 months: 8,000 a month are left for 40,000."""
    found = payback(40_000, 10_000, owed_usd_per_month=2_000, owed_months=24)
    assert (found.months, found.months_without_stranded) == (5, 4)
    assert found.usd_gained_by_waiting == -8_000 * 24


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 500), st.integers(1, 100), st.integers(0, 150), st.integers(0, 36))
def test_from_the_month_of_payback_on_the_saving_covers_everything(
    cost: int, saved: int, owed: int, owed_months: int
) -> None:
    months = payback(cost, saved, owed, owed_months).months
    assert months is not None

    def left(month: float) -> float:
        return saved * month - cost - owed * min(month, owed_months)

    assert left(months) == pytest.approx(0.0, abs=1e-6)
    for month in range(600):
        assert (left(month) >= -1e-6) == (month >= months - 1e-9) or math.isclose(
            left(month), 0, abs_tol=1e-6
        )


@pytest.mark.parametrize("saved", [0.0, -5.0])
def test_what_saves_nothing_never_pays_back(saved: float) -> None:
    found = payback(1_000, saved, 10, 2)
    assert (found.verdict, found.months) == ("never pays back", None)
    assert found.usd_gained_by_waiting == 20 - 2 * saved


def test_unknown_in_unknown_out() -> None:
    assert payback(None, 100).verdict == "unknown"
    assert payback(None, 100).unknown == ("cost_usd",)
    assert payback(1_000, None).unknown == ("usd_saved_per_month",)
    found = payback(1_000, 100, owed_usd_per_month=None, owed_months=3)
    assert (found.verdict, found.months, found.months_without_stranded) == ("unknown", None, 10)
    assert (found.stranded_usd, found.unknown) == (None, ("owed_usd_per_month",))
    assert payback(1_000, 100, owed_usd_per_month=None, owed_months=0).months == 10


@pytest.mark.parametrize("name", [each.name for each in fields(Switch)])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_amounts_without_a_meaning_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        Switch(**{name: value})


def test_a_payback_of_impossible_amounts_is_refused() -> None:
    for call, name in (
        (lambda: payback(-1, 1), "cost_usd"),
        (lambda: payback(1, math.nan), "usd_saved_per_month"),
        (lambda: payback(1, 1, -1, 1), "owed_usd_per_month"),
        (lambda: payback(1, 1, 1, -1), "owed_months"),
        (lambda: Switch(throughput_ratio=0.0), "throughput_ratio"),
    ):
        with pytest.raises(ValueError, match=name):
            call()

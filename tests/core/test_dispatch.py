"""Who serves what: the order of demand, the order of supply, and deferral windows."""

from datetime import date
from typing import Any

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Outcome
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot, make_workload
from tests.core.reading import served, unmet

FEBRUARY = date(2027, 2, 1)  # a Monday, four whole weeks, 672 hours
# 12 hours of every day at twice the mean, 12 at nothing
DAYS = ((2.0,) * 12 + (0.0,) * 12) * 7


def training(**changes: Any) -> Any:
    return make_workload(**{"name": "training", "kind": "training", **changes})


def february(workloads: tuple[Any, ...], supplies: tuple[Any, ...], months: int = 1) -> Outcome:
    return evaluate(make_plan(start=FEBRUARY, months=months, workloads=workloads, supplies=supplies))


def reserved(gpus: int, **changes: Any) -> Any:
    return make_reserved(**{"gpus": gpus, "start": FEBRUARY, **changes})


def owned(**changes: Any) -> Any:
    power = {"idle_kw_per_server": 0.0, "max_kw_per_server": 8.0, "pue": 1.0, "usd_per_kwh": 0.1}
    return make_owned(**{"order_date": FEBRUARY, **power, **changes})


def test_supplies_are_used_by_rising_marginal_cost() -> None:
    """Reserved 0, owned 0.10 of energy, spot 1.2 / 0.8 = 1.50, on demand 4.00; 8 + 8 + 8 of 30, 6 left."""
    supplies = (make_on_demand(), make_spot(quota_gpus=10), owned(), reserved(8))
    outcome = february((training(gpus=30.0, interruptible=True),), supplies)
    hours = {name: served(outcome, name)[0] / 672 for name in ("Reserve", "Own", "Spot", "On demand")}
    assert hours == pytest.approx({"Reserve": 8.0, "Own": 8.0, "Spot": 8.0, "On demand": 6.0})


def test_cheap_spot_goes_before_dear_energy() -> None:
    """Energy of 8 kW at 1.00 a kWh is 1.00 per GPU-hour; spot at 0.72 / 0.8 is 0.90."""
    supplies = (owned(usd_per_kwh=1.0), make_spot(usd_per_gpu_hour=0.72))
    outcome = february((training(interruptible=True),), supplies)
    assert served(outcome, "Own") == [0.0]


def test_equal_prices_are_used_in_the_order_of_the_plan() -> None:
    supplies = (make_on_demand(name="A", quota_gpus=6), make_on_demand(name="B", reference=False))
    outcome = february((make_workload(),), supplies)
    assert (served(outcome, "A"), served(outcome, "B")) == ([6 * 672.0], [2 * 672.0])


def test_the_order_follows_the_price_path() -> None:
    """On demand halves each month: 1.2, 0.6, 0.3; the energy of 8 kW / 8 GPUs at 0.50 stays at 0.5."""
    supplies = (owned(usd_per_kwh=0.5), make_on_demand(usd_per_gpu_hour=1.2))
    plan = make_plan(start=FEBRUARY, months=3, supplies=supplies, price_drift_per_month=-0.5)
    assert served(evaluate(plan), "Own") == [8 * 672.0, 8 * 744.0, 0.0]


def test_only_interruptible_training_runs_on_spot() -> None:
    workloads = (
        make_workload(gpus=1.0),
        training(gpus=2.0),
        training(name="b", gpus=4.0, interruptible=True),
    )
    outcome = february(workloads, (make_spot(useful_work_factor=1.0),))
    assert served(outcome, "Spot") == [4 * 672.0]
    assert unmet(outcome) == [3 * 672.0]


def test_inference_goes_before_training_whatever_the_order_of_the_plan() -> None:
    """6 GPUs for 4 of inference and 4 of training: 2 of training wait in vain."""
    outcome = february(
        (training(gpus=4.0), make_workload(gpus=4.0)), (reserved(6), make_spot(usd_per_gpu_hour=9.0))
    )
    assert unmet(outcome) == [2 * 672.0]
    assert outcome.notes[0].startswith("training: 1,344 GPU-hours stay unmet, the first in Feb 2027")


def test_work_that_cannot_use_spot_chooses_first() -> None:
    workloads = (training(name="a", gpus=4.0, interruptible=True), training(name="b", gpus=4.0))
    outcome = february(workloads, (reserved(4), make_spot(useful_work_factor=1.0)))
    assert outcome.unmet_gpu_hours == 0.0


@pytest.mark.parametrize(
    ("limit", "unmet_hours"),
    [
        # 8 GPUs for 12 h of the day, 4 GPUs reserved: half of 96 a day is left
        (0, 48.0 * 28),
        # windows of 12 h: the busy ones need 96 and hold 48
        (12, 48.0 * 28),
        # windows of 18 h hold 72 and need 96, 96, 48, 48 in three days: 48 left in 72 h;
        # 28 days are 9 such spells and a day with windows of 18 h (96) and 6 h (nothing)
        (18, 48.0 * 9 + 24),
        # a day holds what it needs
        (24, 0.0),
        # 500 h hold 2,000 and need the 96 of 21 days; the cut window of 172 h holds 688 and needs 672
        (500, 21 * 96.0 - 2000),
        (672, 0.0),
        (10_000, 0.0),
    ],
)
def test_deferred_work_stays_in_its_window(limit: int, unmet_hours: float) -> None:
    workload = training(gpus=4.0, profile=DAYS, deferrable_hours=float(limit))
    outcome = february((workload,), (reserved(4),))
    assert unmet(outcome) == pytest.approx([unmet_hours])
    assert outcome.useful_gpu_hours == pytest.approx(4 * 672 - unmet_hours)


def test_nothing_is_carried_into_the_next_month() -> None:
    workload = training(gpus=4.0, deferrable_hours=10_000.0)
    supply = reserved(100, start=date(2027, 3, 1), gpus_per_instance=1)
    assert unmet(february((workload,), (supply,), months=2)) == [4 * 672.0, 0.0]


def test_shorter_limits_are_served_first() -> None:
    """4 GPUs reserved; the day's work of the second fills them, the first gets nothing."""
    patient = training(name="patient", gpus=4.0, deferrable_hours=168.0)
    urgent = training(name="urgent", gpus=4.0, profile=DAYS, deferrable_hours=24.0)
    outcome = february((patient, urgent), (reserved(4),))
    assert outcome.notes[0].startswith("patient: 2,688 GPU-hours stay unmet")
    assert len([note for note in outcome.notes if "unmet" in note]) == 1


def test_deferred_work_fills_hours_that_inference_leaves() -> None:
    """Inference takes 8 GPUs by day, training the same 8 by night."""
    workloads = (
        make_workload(gpus=4.0, profile=DAYS),
        training(gpus=4.0, profile=DAYS, deferrable_hours=24.0),
    )
    outcome = february(workloads, (reserved(8), make_on_demand()))
    assert served(outcome, "On demand") == [0.0]
    assert outcome.unmet_gpu_hours == 0.0


def test_deferred_work_takes_what_is_paid_for_before_cheaper_spot() -> None:
    """Energy costs 1.00 per GPU-hour, spot 0.90: work that waits still runs on the servers first."""
    supplies = (owned(usd_per_kwh=1.0), make_spot(usd_per_gpu_hour=0.72))
    outcome = february((training(interruptible=True, deferrable_hours=24.0),), supplies)
    assert served(outcome, "Spot") == [0.0]


def test_a_plan_without_demand_costs_what_it_commits() -> None:
    outcome = february((), (reserved(8),))
    assert outcome.demand_gpu_hours == 0.0
    assert outcome.total["cash_usd"] == 16 * 672.0
    assert outcome.usd_per_useful_gpu_hour["cash_usd"] is None


def test_a_plan_without_supplies_leaves_everything_unmet() -> None:
    outcome = february((make_workload(),), ())
    assert outcome.unmet_gpu_hours == 8 * 672.0
    assert outcome.total["cash_usd"] == 0.0
    assert outcome.break_even["cash_usd"] is None


def test_growth_starts_in_month_2_and_profiles_are_not_rescaled() -> None:
    """March 2027 begins on a Monday with 31 days: 3 more days than 4 weeks, all of them busy ones."""
    profile = (7 / 3,) * 72 + (0.0,) * 96
    workload = make_workload(gpus=3.0, growth_per_month=0.5, profile=profile)
    outcome = february((workload,), (make_on_demand(),), months=2)
    assert served(outcome, "On demand") == pytest.approx([3 * 672.0, 4.5 * 7 / 3 * 72 * 5])

"""Claims about the figures of the spot page: each is worked out here by its formula, or was published."""

import math
from decimal import Decimal

import pytest

from planner.models import Person
from tests.fact_builders import make_batch, make_price
from tests.planner.spot_facts import (
    HOUR,
    ago,
    answer_in,
    facts_of,
    file_of,
    kappa,
    make_band,
    make_history,
    make_machine,
    make_on_demand,
    make_spot_price,
    make_trace,
    rows_of,
    text_of,
    why,
)

pytestmark = pytest.mark.django_db
NOW_COLUMN, P50, P95, VOLATILITY, UNDER, BAND, EFFECTIVE, INTERVAL, MISSED = range(1, 10)


@pytest.fixture
def visit(client):
    """Return a function that opens an address as a viewer."""
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def cells(response, number: int = 0) -> list[str]:
    return [cell.replace("\u00a0", " ") for cell in rows_of(response)[number]]


# --- the answer ---


def test_it_is_worth_it_while_what_is_lost_is_under_what_is_saved(visit):
    """1.00 against 4.00: three quarters of the hours may be lost. A loss every 24 hours costs less."""
    make_history()
    lost = 1 - 1 / kappa(24)
    assert answer_in(visit("/spot/?mtbf=24")) == (
        f"Worth it while interruptions cost under 75 % of hours; now {percent(lost)}."
    )


def test_it_is_not_worth_it_where_more_is_lost_than_saved(visit):
    """3.60 against 4.00 pays up to 10 % of the hours; a loss an hour costs 32 %."""
    make_machine()
    make_on_demand()
    make_spot_price("28.8", 100, 0)
    assert percent(1 - 1 / kappa(1)) == "32 %"
    assert answer_in(visit("/spot/?mtbf=1")) == (
        "Not worth it: interruptions cost 32 % of hours, and it pays only under 10 %."
    )


def test_it_is_not_worth_it_at_the_price_of_on_demand(visit):
    make_machine()
    make_on_demand()
    make_spot_price("32", 100, 0)
    assert answer_in(visit("/spot/")) == "Not worth it: spot costs as much as on demand, or more."


def test_without_interruption_data_the_price_alone_speaks_and_nothing_is_zero(visit):
    make_history()
    response = visit("/spot/")
    assert answer_in(response) == (
        "Worth it while interruptions cost under 75 % of hours; what they cost now is unknown."
    )
    assert "neither a measured trace nor a published band" in text_of(response)
    assert cells(response)[BAND:] == ["no interruption data", *["no data: no interruption data"] * 3]
    assert not any(cell.startswith("0 %") for cell in cells(response))


def test_without_an_on_demand_price_nobody_is_told_that_it_pays(visit):
    make_machine()
    make_spot_price("8", 100, 0)
    response = visit("/spot/")
    assert answer_in(response) == "Spot is $1.00/GPU-h in use1-az6; whether that is worth it is unknown."
    assert "no on-demand price of p5.48xlarge in us-east-1 is on file" in text_of(response)
    assert cells(response)[UNDER].startswith("unknown")


def test_an_on_demand_price_of_linux_says_nothing_of_windows(visit):
    make_history(product="Windows")
    response = visit("/spot/")
    assert "on-demand prices on file are those of Linux/UNIX" in text_of(response)
    assert "is unknown" in answer_in(response)


def test_an_on_demand_price_of_another_region_is_none_of_this_one(visit):
    make_machine()
    make_on_demand(region="us-west-2")
    make_spot_price("8", 100, 0)
    assert cells(visit("/spot/?against=nearest"))[UNDER].startswith("unknown")


def test_a_price_of_another_day_stands_in_only_where_asked_for_and_says_its_day(visit):
    make_machine()
    make_on_demand("32", days=400)
    make_spot_price("8", 24 * 900, 24 * 800)
    at = f"&as_of={ago(24 * 800):%Y-%m-%dT%H:%M:%SZ}"
    held = visit(f"/spot/?mtbf=24{at}", follow=True)
    assert "none is on file for" in text_of(held)
    assert "Take the nearest" in text_of(held)
    nearest = visit(f"/spot/?mtbf=24&against=nearest{at}", follow=True)
    assert answer_in(nearest).startswith("Worth it while interruptions cost under 75 % of hours")
    assert "stand in: none is on file for the days of these spot prices" in text_of(nearest)


def test_the_price_that_counts_is_the_one_that_held_at_the_end_of_the_window(visit):
    """16 until a month ago, 32 since: seen from now spot is a quarter, seen from before it was a half."""
    make_machine()
    make_on_demand("16", days=400, effective_to=ago(24 * 30))
    make_on_demand("32", days=30, name="p5.48xlarge", gpu_count=Decimal("8.5"))
    make_spot_price("8", 24 * 90, 0)
    assert "under 75 % of hours" in answer_in(visit("/spot/"))
    before = visit(f"/spot/?as_of={ago(24 * 40):%Y-%m-%dT%H:%M:%SZ}", follow=True)
    assert "under 50 % of hours" in answer_in(before)


# --- prices ---


def test_prices_count_for_as_long_as_they_held(visit):
    """7 days at 1.00 and 3 at 1.50: mean 1.15, and the median 1.00."""
    make_history()
    row = cells(visit("/spot/"))
    deviation = math.sqrt((7 * 0.15**2 + 3 * 0.35**2) / 10)
    assert row[NOW_COLUMN : VOLATILITY + 1] == ["$1.00", "$1.00", "$1.50", percent(deviation / 1.15)]


def test_the_time_under_three_fifths_of_on_demand_is_that_of_the_window(visit):
    make_machine()
    make_on_demand("16")
    # 9.60 is 0.6 of 16: 8 lies under it for 4 of 5 days, 12 over it
    make_spot_price("12", 120, 96, follows_gap=True)
    make_spot_price("8", 96, 0)
    assert cells(visit("/spot/"))[UNDER] == "80 %"


# --- what interruptions cost ---


@pytest.mark.parametrize(
    ("machines", "interval_minutes", "over_on_demand"), [(1, 22.1803, 0.373338), (8, 7.0268, 0.717021)]
)
def test_a_gang_loses_far_more_than_one_machine(visit, machines, interval_minutes, over_on_demand):
    """Spot at 30 % of on demand, lost every 2.3 h, 2 min to write, 6 to restart; alone, and a gang of 8."""
    make_machine()
    make_on_demand("32")
    make_spot_price("9.6", 100, 0)
    response = visit(f"/spot/?machines={machines}&mtbf=2.3", follow=True)
    (row,) = file_of(visit(f"/spot.csv?machines={machines}&mtbf=2.3"))
    assert float(row["best_interval_h"]) * 60 == pytest.approx(interval_minutes, abs=1e-4)
    at_best = facts_of(response)["Effective at the best interval"]
    assert at_best == f"${4 * over_on_demand:.2f}"


def test_the_effective_price_is_that_of_the_interval_that_was_asked_for_and_opens_to_its_formula(visit):
    make_history()
    response = visit("/spot/?checkpoint=30&mtbf=10")
    paid = kappa(10, interval=30 * HOUR)
    assert cells(response)[EFFECTIVE] == f"${paid:.2f}"
    said = why(response, "effective-0")
    assert "τ 30 min, δ 2 min, R 6 min, M 10 h" in said
    assert f"κ = M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ = {paid:.4f}" in said
    assert "aws_spot_history run" in said
    assert "list_prices run" in said
    assert "typed in" in said


def test_the_job_is_paid_for_what_is_lost_as_well(visit):
    make_history()
    facts = facts_of(visit("/spot/?mtbf=24"))
    assert facts["The job on demand"] == "$2.30 k"  # 72 h of 8 GPUs at 4.00
    assert facts["The job on spot"] == f"${72 * 8 * kappa(24):,.0f}"


def test_no_number_is_given_where_work_and_restart_take_longer_than_machines_last(visit):
    """τ 20 min and R 6 min are over the 25 minutes between losses."""
    make_history()
    response = visit("/spot/?mtbf=0.4")
    assert answer_in(response).endswith("machines are lost too often for that to be worked out.")
    assert cells(response)[EFFECTIVE] == (
        "lost too often: interval and restart together are longer than the time between interruptions"
    )
    (row,) = file_of(visit("/spot.csv?mtbf=0.4"))
    assert row["effective_usd_per_useful_gpu_h"] == ""
    assert (
        row["effective_is"] == "interval and restart together are longer than the time between interruptions"
    )


@pytest.mark.parametrize(
    "query",
    ["machines=1000&mtbf=0.01&restart=0", "checkpoint=0.1&write=120&restart=0&mtbf=0.01", "mtbf=0.02"],
)
def test_absurd_losses_are_refused_and_no_fault(visit, query):
    make_history()
    response = visit(f"/spot/?{query}", follow=True)
    assert response.status_code == 200
    assert cells(response)[EFFECTIVE].startswith("lost too often")
    assert facts_of(response)["Effective at the best interval"].startswith("interval and restart together")


def test_a_band_is_shown_as_published_with_its_date_and_gives_no_more_than_a_lower_bound(visit):
    make_history()
    make_band("5-10%", "0.05", "0.10")
    response = visit("/spot/")
    mtbf = -730 / math.log(1 - 0.05)
    assert mtbf == pytest.approx(14_232, abs=1)
    row = cells(response)
    day = f"{ago(72).day} {ago(72):%b %Y}"
    assert row[BAND] == f"5-10% of {day}"
    assert row[EFFECTIVE] == f"≥ ${kappa(mtbf):.2f}"
    assert row[INTERVAL].startswith("≤ ")
    assert row[MISSED] == "no data: no interruption data"
    assert answer_in(response).endswith(f"now at least {percent(1 - 1 / kappa(mtbf))}.")
    assert f"5-10% of machines were interrupted in the month before {day}: no more than a lower bound." in (
        text_of(response)
    )
    assert "M 14,232 h" in why(response, "effective-0")
    assert "a lower bound" in why(response, "column-band")


def test_the_lowest_band_bounds_nothing_but_checkpoints_still_cost(visit):
    make_history()
    make_band("<5%", "0", "0.05")
    response = visit("/spot/")
    assert cells(response)[EFFECTIVE] == "≥ $1.10"  # 2 minutes to write for every 20 of work
    assert answer_in(response).endswith("now at least 9.1 %.")
    assert cells(response)[INTERVAL] == "unknown: the band begins at 0 %: it bounds nothing"


def test_what_a_person_typed_in_counts_more_than_a_band(visit):
    make_history()
    make_band()
    assert cells(visit("/spot/?mtbf=24"))[EFFECTIVE] == f"${kappa(24):.2f}"


# --- measured traces ---


def test_the_time_between_losses_is_measured_capacity_over_measured_losses(visit):
    """Two traces of the region: 100 + 50 hours with a machine, 30 without, 3 losses between them."""
    make_history()
    make_trace([(60, 1), (10, 0), (40, 1), (10, 0)])
    make_trace([(50, 1), (10, 0)], zone="us-east-1b", scope="b")
    response = visit("/spot/?job=5&deadline=10")
    assert cells(response)[EFFECTIVE] == f"${kappa(150 / 3):.2f}"
    said = why(response, "effective-0")
    assert "150 h of capacity and 3 losses in 2 traces of the region, zones us-east-1a, us-east-1b" in said


def test_a_trace_of_another_region_machine_or_too_few_machines_says_nothing(visit):
    make_history()
    make_trace([(60, 1), (10, 0)], region="us-west-2", scope="a")
    make_trace([(60, 1), (10, 0)], gpu_count=Decimal(1), scope="b")
    make_trace([(60, 1), (10, 0)], accelerator_name="V100", scope="c")
    make_trace([(60, 1), (10, 0)], measures="preemption", scope="d")
    assert cells(visit("/spot/"))[MISSED] == "no data: no interruption data"
    make_trace([(60, 1), (10, 0)], scope="e")
    assert cells(visit("/spot/?job=5&deadline=10"))[MISSED].endswith(" %")
    assert cells(visit("/spot/?job=5&deadline=10&machines=2"))[MISSED] == "no data: no interruption data"


def test_missed_deadlines_are_counted_start_by_start(visit):
    """Up for 20 h, down for 20, up for 20: 46 starts have 15 hours left for 10 hours of work."""
    make_history()
    make_trace([(20, 1), (20, 0), (20, 1)])
    response = visit("/spot/?checkpoint=1440&write=0.1&restart=0&job=10&deadline=15")
    rate = 1440 / 1440.1  # of every hour, the rest is writing
    up = [(0, 20), (40, 60)]

    def is_late(start: int) -> bool:
        left = 10.0
        for begin, end in up:
            running = max(0.0, min(end, start + 15) - max(begin, start))
            left -= running * rate
        return left > 1e-9

    late = [is_late(start) for start in range(46)]
    assert 20 < sum(late) < 40
    assert cells(response)[MISSED] == percent(sum(late) / 46)
    assert "from 46 starts" in why(response, "missed-0")
    (row,) = file_of(visit("/spot.csv?checkpoint=1440&write=0.1&restart=0&job=10&deadline=15"))
    assert float(row["share_late"]) == pytest.approx(sum(late) / 46)


def test_a_fallback_in_time_is_paid_at_its_own_price(visit):
    """Never any capacity: all 5 hours and one restart run on demand, at 4.00."""
    make_history()
    make_trace([(40, 0)])
    said = why(visit("/spot/?job=5&deadline=10"), "missed-0")
    assert "Starts that end on demand 100 %" in said
    assert f"Cost with that fallback ${4 * (5 + 0.1) / 5:.2f}" in said


def test_a_deadline_that_no_trace_is_long_enough_for_has_no_share(visit):
    make_history()
    make_trace([(40, 1), (10, 0)])
    assert cells(visit("/spot/"))[MISSED] == "unknown: the deadline is longer than any trace"
    assert cells(visit("/spot/?deadline=30"))[MISSED] == (
        "unknown: the deadline is shorter than the work and one restart"
    )


# --- old inputs ---


def test_an_old_band_is_shown_as_such_and_says_nothing_of_now(visit):
    make_history()
    make_band("5-10%", "0.05", "0.10", as_of=ago(24 * 15))
    response = visit("/spot/")
    assert cells(response)[BAND].startswith("5-10% stale, of ")
    assert answer_in(response).endswith("what they cost now is unknown.")
    assert "a list older than twice its cadence: no more than a lower bound" in text_of(response)


def test_an_old_on_demand_price_counts_only_where_asked_for(visit):
    """A price list of AWS is due each week; 15 days after its date it is stale."""
    make_machine()
    make_price(
        price_per_hour=Decimal(32), effective_from=ago(9000), source="aws_prices",
        batch=make_batch(source="aws_prices", as_of=ago(24 * 15)),
    )  # fmt: skip
    make_spot_price("8", 100, 0)
    response = visit("/spot/")
    assert "whether that is worth it is unknown" in answer_in(response)
    assert "older than twice its cadence" in text_of(response)
    asked = visit("/spot/?against=nearest")
    assert answer_in(asked).startswith("Worth it while interruptions cost under 75 % of hours")
    assert "are used though they are older than twice their cadence" in text_of(asked)

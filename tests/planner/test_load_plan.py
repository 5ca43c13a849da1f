"""A revision becomes the core's plan: prices at a date, unknown stays unknown with a reason."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from planner.core import plan as core
from planner.core.evaluate import evaluate
from planner.models import Scenario
from planner.queries import load_plan, load_plans, newest_revisions, whole_revisions
from tests.fact_builders import make_batch, make_price
from tests.plan_builders import (
    make_key,
    make_on_demand,
    make_owned,
    make_reserved,
    make_revision,
    make_scenario,
    make_spot,
    make_typed,
    make_workload,
)

pytestmark = pytest.mark.django_db
AS_OF = datetime(2026, 11, 30, tzinfo=UTC)


def loaded(scenario: Scenario, as_of: datetime = AS_OF):
    return load_plan(whole_revisions().get(scenario=scenario), as_of)


def test_every_input_reaches_the_core_as_typed():
    workload = make_workload(
        name="runs", kind="training", gpus=Decimal("91.76"), growth_per_month=Decimal("0.015"),
        profile=[2.0] * 84 + [0.0] * 84, deferrable_hours=48, interruptible=True,
    )  # fmt: skip
    supplies = [
        make_on_demand("3.93", quota_gpus=Decimal(88), gpus_per_instance=8),
        make_reserved("2.19", gpus=96, gpus_per_instance=8, term_months=36, salvage_share=Decimal("0.1")),
        make_spot("1.95", useful_work_factor=Decimal("0.87"), quota_gpus=Decimal(40)),
        make_owned(servers=12, usd_capex_per_server=Decimal(268_000), loan_share=Decimal("0.5"),
                   loan_rate_per_year=Decimal("0.07"), loan_months=36),
    ]  # fmt: skip
    scenario = make_scenario("mixed", supplies, [workload], make_revision(months=36))
    plan = loaded(scenario).plan
    assert plan.workloads == (
        core.Workload("runs", "training", 91.76, 0.015, (2.0,) * 84 + (0.0,) * 84, 48, True),
    )
    on_demand, reserved, spot, owned = plan.supplies
    assert on_demand == core.OnDemand("on demand", 3.93, 88.0, 8, True)
    assert reserved == core.Reserved(
        "reserved", 96, date(2027, 1, 1), 36, "no_upfront", 2.19, 0.0, 8, salvage_share=0.1
    )
    assert spot == core.Spot("spot", 1.95, 0.87, 40.0, 1)
    assert (owned.servers, owned.usd_capex_per_server) == (12, 268_000.0)
    assert owned.loan == core.Loan(0.5, 0.07, 36)
    assert (plan.start, plan.months, plan.currency) == (date(2027, 1, 1), 36, "USD")


def test_a_yearly_price_change_becomes_the_monthly_share_that_compounds_to_it():
    scenario = make_scenario(revision=make_revision(price_change_per_year=Decimal("-0.12")))
    drift = loaded(scenario).plan.price_drift_per_month
    assert (1 + drift) ** 12 == pytest.approx(0.88, abs=1e-12)


def test_supplies_keep_the_order_in_which_they_were_typed():
    supplies = [make_owned(name="first"), make_spot(name="second"), make_on_demand(name="third")]
    assert [s.name for s in loaded(make_scenario(supplies=supplies)).plan.supplies] == [
        "first", "second", "third",
    ]  # fmt: skip


def test_a_price_key_is_read_at_the_date_asked_for():
    old = datetime(2026, 1, 1, tzinfo=UTC)
    change = datetime(2026, 6, 1, tzinfo=UTC)
    price = make_price(price_per_hour=Decimal("80"), effective_from=old, effective_to=change)
    make_price(sku=price.sku, price_per_hour=Decimal("40"), effective_from=change)
    scenario = make_scenario(supplies=[make_on_demand(price=make_key())])
    # 8 GPUs an instance: 80 / 8 and 40 / 8
    assert loaded(scenario, datetime(2026, 3, 1, tzinfo=UTC)).plan.supplies[0].usd_per_gpu_hour == 10.0
    assert loaded(scenario).plan.supplies[0].usd_per_gpu_hour == 5.0


def test_a_fact_carries_its_run_and_date_as_source():
    batch = make_batch(as_of=datetime(2026, 11, 20, tzinfo=UTC))
    make_price(batch=batch)
    scenario = make_scenario(supplies=[make_on_demand(price=make_key())])
    found = loaded(scenario)
    source = found.sources[0]
    assert (source.run_id, source.as_of, source.typed_by) == (batch.run_id, batch.as_of, "")
    assert found.runs == (batch.run_id,)
    assert "aws p5.48xlarge, us-east-1, on demand" in source.text


def test_a_missing_price_is_none_with_a_reason_and_makes_a_gap():
    scenario = make_scenario(supplies=[make_on_demand(price=make_key(region="mars-1"))])
    found = loaded(scenario)
    assert found.plan.supplies[0].usd_per_gpu_hour is None
    assert "mars-1" in found.sources[0].reason
    outcome = evaluate(found.plan)
    assert outcome.total["cash_usd"] is None
    assert [(gap.supply, gap.field) for gap in outcome.gaps] == [("on demand", "usd_per_gpu_hour")]


def test_a_price_that_is_not_sold_is_unknown_not_zero():
    make_price(state="not_sold", price_per_hour=None)
    scenario = make_scenario(supplies=[make_on_demand(price=make_key())])
    assert loaded(scenario).plan.supplies[0].usd_per_gpu_hour is None


def test_a_dollar_price_in_a_plan_in_euro_is_unknown_with_the_reason():
    make_price()
    supplies = [make_on_demand(price=make_key())]
    scenario = make_scenario(supplies=supplies, revision=make_revision(currency="EUR"))
    source = loaded(scenario).sources[0]
    assert source.usd_per_gpu_hour is None
    assert source.reason == "the price is in USD, the plan in EUR"


# an effective $2 per GPU-hour for a year of 8,760 hours is $17,520 a GPU; half of it upfront leaves $1
@pytest.mark.parametrize(
    ("payment", "upfront", "rate", "upfront_per_gpu"),
    [
        ("no_upfront", None, 2.0, 0.0),
        ("all_upfront", None, 0.0, 17_520.0),
        ("partial_upfront", Decimal(8 * 8_760), 1.0, 8_760.0),
        ("partial_upfront", None, None, None),
    ],
)
def test_an_effective_rate_is_split_into_what_is_due_upfront_and_by_the_hour(
    payment, upfront, rate, upfront_per_gpu
):
    make_price(term="reserved_1y", payment=payment, price_per_hour=Decimal(16), upfront=upfront)
    key = make_key(term="reserved_1y", payment=payment)
    scenario = make_scenario(supplies=[make_on_demand(), make_reserved(price=key, payment=payment)])
    reserved = loaded(scenario).plan.supplies[1]
    assert reserved.usd_per_gpu_hour == rate
    assert reserved.usd_upfront_per_gpu == upfront_per_gpu


def test_an_absurd_listed_price_is_unknown_rather_than_a_failure():
    make_price(gpu_count=Decimal(1), price_per_hour=Decimal(99_999))
    scenario = make_scenario(supplies=[make_on_demand(price=make_key())])
    found = loaded(scenario)
    assert found.plan.supplies[0].usd_per_gpu_hour is None
    assert "cannot be a price" in found.sources[0].reason


def test_two_supplies_of_one_name_are_told_apart():
    supplies = [make_on_demand(), make_spot(name="on demand")]
    plan = loaded(make_scenario(supplies=supplies)).plan
    assert [supply.name for supply in plan.supplies] == ["on demand", "on demand (2)"]


def test_an_unknown_purchase_price_stays_unknown():
    scenario = make_scenario(supplies=[make_on_demand(), make_owned(usd_capex_per_server=None)])
    found = loaded(scenario)
    assert found.plan.supplies[1].usd_capex_per_server is None
    assert found.sources[1].reason == "no purchase price is given"


def test_many_plans_take_as_many_queries_as_one(django_assert_num_queries):
    make_price()

    def make(count: int) -> None:
        for _ in range(count):
            price = make_typed("1")
            make_scenario(supplies=[make_on_demand(price=make_key()), make_spot(price=price), make_owned()])

    make(1)
    # revisions, workloads, owned, reserved, on demand and its prices, spot and its prices, quotes, GPUs
    with django_assert_num_queries(10):
        load_plans(newest_revisions(Scenario.objects.all()), AS_OF)
    make(5)
    with django_assert_num_queries(10):
        load_plans(newest_revisions(Scenario.objects.all()), AS_OF)

"""Google's and Azure's commitments follow the same algorithm, with eligibility as data."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.flexible import (
    NOT_RECORDED,
    CommittedResource,
    Eligibility,
    apply_quantities_and_plans,
    azure_savings_plan,
    google_flexible_commitment,
    not_eligible,
    plan_prices,
)
from planner.core.commitments.savings_plan import apply_plans
from planner.core.commitments.usage import SpendPlan, UsageItem

READ = date(2026, 11, 1)
FEW = settings(max_examples=50, deadline=None)
ITEMS = [UsageItem("vCPU", 0.04), UsageItem("GiB", 0.005), UsageItem("A100", 3.0)]
ELIGIBLE = [
    Eligibility("vCPU", READ, discount=0.25),
    Eligibility("GiB", READ, discount=0.25),
    Eligibility("A100", READ, reason="accelerator-optimized family"),
]


def quantity(item: str = "A100", resource: str = "gpu", units: float = 8.0, usd: float | None = 2.0):
    gpus = units if resource == "gpu" else None
    return CommittedResource(item, resource, units, usd, attached_reservation_gpus=gpus)


def test_quantities_come_first_then_money_on_the_rest() -> None:
    plan = google_flexible_commitment("one year", 3.0, ITEMS, ELIGIBLE)
    units = np.array([200.0, 1000.0, 10.0])
    resources = [
        quantity(),
        quantity("vCPU", "vcpu", 96.0, 0.02),
        quantity("GiB", "memory_gib", 800.0, 0.003),
    ]
    bill = apply_quantities_and_plans(ITEMS, units, resources, [plan])
    # left over: 104 vCPU at 0.04, 200 GiB at 0.005, 2 GPUs at 3. Both discounts are 25 %: GiB, the lower
    # plan price, takes 0.75 of the 3.00, vCPU 2.25 of its 3.12
    vcpus_covered = 2.25 / 0.03
    assert bill.resource_usd.tolist() == [pytest.approx(8 * 2.0 + 96 * 0.02 + 800 * 0.003)]
    assert bill.plans.covered_units[0] == pytest.approx([vcpus_covered, 200.0, 0.0])
    assert bill.plans.order["one year"] == ("GiB", "vCPU")
    rest = (104 - vcpus_covered) * 0.04 + 2 * 3.0
    assert bill.usd_charge == pytest.approx(20.32 + 3.0 + rest)


def test_a_quantity_is_charged_in_hours_without_use() -> None:
    bill = apply_quantities_and_plans([ITEMS[2]], np.array([[0.0], [8.0]]), [quantity()])
    assert bill.resource_usd.tolist() == [16.0, 16.0]
    assert bill.unused_resource_units.tolist() == [[8.0], [0.0]]


def test_quantities_of_one_item_add_up() -> None:
    both = apply_quantities_and_plans([ITEMS[2]], np.array([10.0]), [quantity(units=4), quantity(units=4)])
    one = apply_quantities_and_plans([ITEMS[2]], np.array([10.0]), [quantity(units=8)])
    assert both.usd_charge == one.usd_charge == 22.0


@FEW
@given(
    st.lists(st.lists(st.floats(0.0, 50.0), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(0.0, 60.0),
    st.floats(0.0, 5.0),
)
def test_covered_by_quantity_by_money_and_rest_are_the_use(
    hours: list[list[float]], committed: float, money: float
) -> None:
    units = np.array(hours)
    plan = google_flexible_commitment("p", money, ITEMS, ELIGIBLE)
    bill = apply_quantities_and_plans(ITEMS, units, [quantity(units=committed)], [plan])
    parts = bill.resource_units + bill.plans.covered_units + bill.plans.on_demand_units
    assert parts == pytest.approx(units)
    assert (bill.unused_resource_units >= 0.0).all()
    assert bill.usd_charge >= len(units) * (2.0 * committed + money) - 1e-9


def test_what_is_not_eligible_has_a_reason() -> None:
    assert not_eligible(ITEMS, ELIGIBLE[1:]) == {
        "vCPU": NOT_RECORDED,
        "A100": "accelerator-optimized family",
    }
    assert plan_prices(ITEMS, ELIGIBLE[1:]) == {"vCPU": None, "GiB": pytest.approx(0.00375), "A100": None}


def test_azure_takes_quoted_prices_in_the_same_order_as_everybody() -> None:
    items = [UsageItem("ND96", 98.0, account="research"), UsageItem("NC24", 4.0, account="product")]
    quoted = [Eligibility("ND96", READ, usd_per_unit=60.0), Eligibility("NC24", READ, usd_per_unit=2.0)]
    units = np.array([1.0, 3.0])
    wide = azure_savings_plan("wide", 10.0, items, quoted)
    same = SpendPlan("wide", 10.0, {"ND96": 60.0, "NC24": 2.0}, owner=None)
    bill = apply_quantities_and_plans(items, units, [], [wide])
    assert bill.usd_charge == apply_plans(items, units, [same]).totals().usd_charge
    assert bill.plans.covered_units[0].tolist() == pytest.approx([4.0 / 60.0, 3.0])  # 50 % before 39 %
    narrow = azure_savings_plan("one", 10.0, items, quoted, only_subscription="research")
    covered = apply_plans(items, units, [narrow]).covered_units[0]
    assert covered.tolist() == pytest.approx([10.0 / 60.0, 0.0])


def test_an_unknown_price_is_unknown_and_named() -> None:
    items = [UsageItem("vCPU", None), ITEMS[1]]
    plan = google_flexible_commitment("p", 0.5, items, ELIGIBLE)
    assert np.isnan(plan.usd_per_unit["vCPU"])
    bill = apply_quantities_and_plans(items, np.array([10.0, 10.0]), [], [plan])
    assert (bill.usd_charge, bill.missing) == (None, ("vCPU",))
    assert bill.plans.totals().usd_used is None
    unpriced = apply_quantities_and_plans([ITEMS[2]], np.array([1.0]), [quantity(usd=None)])
    assert (unpriced.usd_charge, unpriced.missing) == (None, ("A100",))
    assert unpriced.resource_units.tolist() == [[1.0]]


def test_bad_input_is_refused_with_the_right_range() -> None:
    with pytest.raises(ValueError, match="attached_reservation_gpus is None; right would be at least the"):
        CommittedResource("A100", "gpu", 8, 2.0)
    with pytest.raises(ValueError, match="attached_reservation_gpus is 4"):
        CommittedResource("A100", "gpu", 8, 2.0, attached_reservation_gpus=4)
    with pytest.raises(ValueError, match="resource is 'tpu'; right would be vcpu, memory_gib or gpu"):
        CommittedResource("v5e", "tpu", 8, 2.0)
    with pytest.raises(ValueError, match="reason is ''"):
        Eligibility("A100", READ)
    with pytest.raises(ValueError, match=r"A100: discount is 1\.0"):
        Eligibility("A100", READ, discount=1.0)
    with pytest.raises(ValueError, match="none where a discount is given"):
        Eligibility("A100", READ, discount=0.2, usd_per_unit=1.0)
    with pytest.raises(ValueError, match="eligibility is"):
        not_eligible(ITEMS, [ELIGIBLE[0], ELIGIBLE[0]])
    with pytest.raises(ValueError, match="resources is 'TPU'"):
        apply_quantities_and_plans(ITEMS, np.array([1.0, 1.0, 1.0]), [quantity("TPU", "vcpu")])
    with pytest.raises(ValueError, match="p: usd_per_hour is -1"):
        SpendPlan("p", -1.0, {})

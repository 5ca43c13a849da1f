"""Claims about a commitment at a listed price: how it splits over the years of its term, or is unknown."""

from decimal import Decimal

import pytest

from costs.models import Price
from planner.models import Revision, Scenario
from planner.queries import load_plan, whole_revisions
from planner.scenarios.price_sources import YEARS_OF_TERM, PriceSource
from tests.fact_builders import make_price
from tests.plan_builders import NOW, make_key, make_reserved, make_scenario

pytestmark = pytest.mark.django_db


def source(term: str, payment: str = "no_upfront", **facts) -> PriceSource:
    """Return where the price of a commitment comes from that names a listed price of $2 a GPU-hour."""
    make_price(term=term, payment=payment, price_per_hour=Decimal(16), **facts)
    row = make_reserved(price=make_key(term=term, payment=payment), payment=payment)
    scenario: Scenario = make_scenario("Plan", [row])
    revision: Revision = whole_revisions().get(scenario=scenario)
    return load_plan(revision, NOW).sources[0]


@pytest.mark.parametrize("payment", ["no_upfront", "partial_upfront", "all_upfront"])
@pytest.mark.parametrize("term", ["on_demand", "spot", "capacity_block", "reserved_5y"])
def test_a_term_of_no_known_length_makes_the_price_unknown_and_says_so(term: str, payment: str):
    found = source(term, payment, upfront=Decimal(8760))
    assert (found.usd_per_gpu_hour, found.usd_upfront_per_gpu) == (None, None)
    label = dict(Price.Term.choices).get(term, term)
    assert found.reason == f"a price for “{label}” is not that of a commitment of known length"


@pytest.mark.parametrize(("term", "years"), YEARS_OF_TERM.items())
def test_a_payment_upfront_is_for_the_years_of_its_own_term(term: str, years: int):
    found = source(term, "all_upfront")
    assert (found.usd_per_gpu_hour, found.usd_upfront_per_gpu, found.reason) == (0, 2 * 8760 * years, "")


def test_a_part_upfront_is_taken_off_the_hours_of_its_own_term():
    # $70,080 for 8 GPUs over 3 years: $8,760 a GPU, a third of a dollar an hour
    found = source("reserved_3y", "partial_upfront", upfront=Decimal(70_080))
    assert found.usd_upfront_per_gpu == 8760
    assert round(found.usd_per_gpu_hour, 6) == round(2 - Decimal(1) / 3, 6)


def test_every_term_in_years_is_known_and_no_other():
    stated = {term: int(term[-2]) for term in Price.Term.values if term.endswith("y")}
    assert stated == YEARS_OF_TERM

"""Every figure of the spot page says what the inputs of its explanation give."""

import re

import pytest

from planner.core.explain import recompute
from planner.models import Person
from planner.templatetags.units import percent
from tests.planner.explained import assert_answer_opens, assert_shown, body_of
from tests.planner.spot_facts import (
    make_band,
    make_history,
    make_machine,
    make_on_demand,
    make_spot_price,
    make_trace,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def visit(client):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def table_of(body: str) -> str:
    (table,) = re.findall(r'<table class="tight stick-first zones">.*?</table>', body, re.S)
    return table.split("<tbody>")[1]


@pytest.mark.parametrize(
    "query",
    [
        "mtbf=10",
        "mtbf=400&machines=4&job=5&deadline=10",
        "mtbf=10&checkpoint=30&write=5&restart=12",
        "mtbf=0.2",  # lost too often: refused
        "",
    ],
)
@pytest.mark.parametrize("evidence", ["none", "band", "endless band", "traces"])
def test_every_number_of_the_page_follows_from_its_inputs(visit, query, evidence):
    make_history()
    if evidence == "band":
        make_band()
    elif evidence == "endless band":
        make_band("<5%", "0", "0.05")
    elif evidence == "traces":
        make_trace([(30, 1), (5, 0), (200, 1), (2, 0), (100, 1)])
    response = visit(f"/spot/?{query}", follow=True)
    body = body_of(response)
    assert assert_shown(body, response.context["explanations"]) >= 7
    assert_answer_opens(body)
    # in the table every amount and share opens; bands are published names
    rest = re.sub(r"<button.*?</button>", "", table_of(body), flags=re.S)
    assert not re.search(r"[$]\d|\d\u00a0%", rest), rest


def test_several_zones_each_explain_their_own(visit):
    make_machine()
    make_on_demand()
    for zone, price in (("use1-az1", "8"), ("use1-az2", "12"), ("use1-az3", "31.7")):
        make_spot_price(price, 240, 100, zone=zone, follows_gap=True)
        make_spot_price("9.1", 100, 0, zone=zone)
    response = visit("/spot/?mtbf=20")
    told = response.context["explanations"]
    assert assert_shown(body_of(response), told) >= 25
    assert len({told[f"p95-{place}"].value for place in range(3)}) == 3


def test_a_share_of_time_is_worked_out_from_how_long_each_price_held(visit):
    """8.00 for 6 days, 12.00 for 3, 8.00 for one: at most 0.6 * 32 = 19.20 for all of it."""
    make_history()
    told = visit("/spot/?mtbf=10").context["explanations"]
    assert recompute(told["under-0"]) == 1.0
    assert recompute(told["p50-0"]) == 1.0  # 8.00 over 8 GPUs
    # mean 9.2, variance 0.3 * 2.8^2 + 0.7 * 1.2^2 = 3.36
    assert recompute(told["volatility-0"]) == pytest.approx(3.36**0.5 / 9.2, abs=1e-6)
    assert percent(recompute(told["worth"])) == "75\u00a0%"  # 1 - 1 / 4


def test_without_evidence_nothing_is_said_of_losses(visit):
    make_history()
    told = visit("/spot/").context["explanations"]
    assert not {"effective-0", "interval-0", "missed-0", "costs-now", "mtbf", "job-on-spot"} & set(told)

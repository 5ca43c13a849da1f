"""Claims about the terms of chosen offers side by side, and the way from there into a scenario."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from planner.models import Person
from planner.prices.terms import MOST_PLACES
from tests.fact_builders import make_accelerator, make_batch, make_price, make_sku
from tests.plan_builders import make_scenario
from tests.planner.price_reading import file_of, text_of

pytestmark = pytest.mark.django_db
ON_DEMAND = "aws | p5.48xlarge | us-east-1 | on_demand"
THREE_YEARS = "aws | p5.48xlarge | us-east-1 | reserved_3y | no_upfront"


@pytest.fixture
def visit(client):
    client.force_login(Person.objects.create_user("planner@example.com", role="planner"))
    return client.get


@pytest.fixture
def terms():
    """Eight H100 for 32 on demand, 16 for three years, 8 spot; a savings plan without a price."""
    sku, batch = make_sku(), make_batch(source="skypilot", as_of=timezone.now())
    fields = {"sku": sku, "batch": batch, "source": "skypilot"}
    make_price(**fields, price_per_hour=Decimal(32))
    make_price(**fields, term="reserved_3y", payment="no_upfront", price_per_hour=Decimal(16))
    make_price(**fields, term="spot", price_per_hour=Decimal(8))
    make_price(
        **fields, term="compute_plan_1y", state="unknown", state_reason="not read", price_per_hour=None
    )


def address(*keys: str, fmt: str = "", **parameters: str):
    return (f"/prices/terms{fmt or '/'}", {"o": list(keys)} | parameters)


def test_every_term_of_the_chosen_machine_is_shown_against_on_demand(visit, terms):
    """16 / 32: half the price, which pays from half of the hours on; 8 / 32 is spot, and no commitment."""
    rows = {row["term"]: row for row in file_of(visit(*address(ON_DEMAND, fmt=".csv")))}
    assert [rows[term]["usd_per_gpu_h"] for term in ("on_demand", "reserved_3y", "spot")] == ["4", "2", "1"]
    assert [rows[term]["against_on_demand"] for term in rows] == ["", "-0.75", "-0.5", ""]
    assert [rows[term]["pays_above_use"] for term in rows] == ["", "", "0.5", ""]
    text = text_of(visit(*address(ON_DEMAND)))
    assert "3 years no upfront $2.00 −50.0 % 50 % $16.00" in text
    assert "unknown not read" in text


def test_the_answer_is_the_lowest_lasting_price_and_spot_beside_it(visit, terms):
    text = text_of(visit(*address(ON_DEMAND)))
    assert (
        "The lowest lasting price is $2.00/GPU-h: aws p5.48xlarge us-east-1, 3 years, no upfront; "
        "it costs less than on demand when used above 50 % of its hours. Spot starts at $1.00/GPU-h"
    ) in text


def test_stale_terms_are_marked_and_not_recommended(visit):
    sku, old = make_sku(), timezone.now() - timedelta(days=90)
    make_price(sku=sku, source="skypilot", batch=make_batch(source="skypilot", as_of=old))
    make_price(
        sku=sku, source="skypilot", batch=make_batch(source="skypilot", as_of=old), term="reserved_3y",
        payment="no_upfront", price_per_hour=Decimal(16),
    )  # fmt: skip
    response = visit(*address(THREE_YEARS))
    assert "Every price of these offers is stale: none is fresh enough to go by." in text_of(response)
    assert response.content.decode().count('<tr class="stale">') == 2
    assert "against a stale price" in text_of(response)


def test_the_page_has_one_group_for_each_machine_in_the_order_chosen_and_a_fixed_count_of_queries(
    visit, terms, django_assert_max_num_queries
):
    other = make_sku(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1))
    make_price(sku=other, region="eu", price_per_hour=Decimal(3))
    keys = ["lambda | gpu_1x_h100 | eu | on_demand", ON_DEMAND, THREE_YEARS]
    visit(*address(*keys))
    with django_assert_max_num_queries(10):
        response = visit(*address(*keys))
    text = text_of(response)
    assert text.index("lambda gpu_1x_h100, eu") < text.index("aws p5.48xlarge, us-east-1 ")
    assert response.content.decode().count('<span class="pill">chosen</span>') == 3


def test_a_machine_that_nobody_lists_says_so(visit, terms):
    text = text_of(visit(*address("aws | p9.metal | mars | on_demand")))
    assert "No price of this machine in this region is on file" in text
    assert "None of these offers states a price." in text


def test_nothing_chosen_leads_back_to_the_prices(visit):
    assert "Choose offers on the prices page" in text_of(visit("/prices/terms/"))


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("o=p5", "“p5” was ignored. Write cloud | machine | region | term"),
        ("o=a|b|c|on_demand&colour=red", "parameter “colour”"),
        ("as_of=2999-01-01", "lies ahead and was ignored"),
        ("o=%3Cscript%3E", "“<script>” was ignored."),
    ],
)
def test_what_is_no_offer_is_named(visit, query, notice):
    response = visit(f"/prices/terms/?{query}")
    assert notice in text_of(response)
    assert "<script>”" not in response.content.decode()


def test_too_many_machines_are_named_and_left_out(visit):
    keys = [f"aws | m{number} | r | on_demand" for number in range(MOST_PLACES + 2)]
    assert "At most 8 machines are compared; left out: m8 r, m9 r." in text_of(visit(*address(*keys)))


def test_the_address_settles_on_one_way_to_write_an_offer(visit):
    response = visit("/prices/terms/?o=aws|p5|us|on_demand&o=aws | p5 | us | on_demand&as_of=")
    assert response["Location"] == "/prices/terms/?o=aws+%7C+p5+%7C+us+%7C+on_demand"
    assert visit(response["Location"]).status_code == 200


def test_prices_of_a_past_date_can_be_compared_too(visit, terms):
    response = visit(*address(ON_DEMAND, as_of="2020-01-01"))
    assert "for 1 Jan 2020" in text_of(response)
    answer = json.loads(
        b"".join(visit(*address(ON_DEMAND, fmt=".json", as_of="2020-01-01")).streaming_content)
    )
    assert (answer["rows"], answer["address"].endswith("as_of=2020-01-01")) == ([], True)


def test_ticked_offers_of_the_prices_page_lead_here(visit, terms):
    body = visit("/prices/?sort=-usd_per_gpu_h").content.decode()
    assert f'form="choose" name="o" value="{ON_DEMAND}"' in body
    assert f'value="{THREE_YEARS}"' in body
    assert '<form class="actions" id="choose" method="get" action="/prices/terms/">' in body


def test_a_reader_is_not_offered_to_change_scenarios(client, terms):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    assert "Add to scenario" not in client.get("/prices/").content.decode()
    body = client.get(*address(ON_DEMAND)).content.decode()
    assert 'name="listed"' not in body
    assert "formaction" not in body


def test_ticked_terms_stand_in_the_editor_of_a_scenario_unsaved(visit, terms):
    make_accelerator(slug="other")
    scenario = make_scenario("Ours")
    body = visit(*address(THREE_YEARS)).content.decode()
    assert f'name="listed" value="{THREE_YEARS}"' in body
    assert f'formaction="/scenarios/{scenario.slug}/edit/"' in body
    edit = visit(f"/scenarios/{scenario.slug}/edit/", {"listed": [THREE_YEARS, ON_DEMAND, "nonsense"]})
    assert "2 listed prices are filled in under Rented. Nothing is saved yet." in text_of(edit)
    forms = {form["name"].value(): form for form in edit.context["editor"].rented}
    added = forms["aws p5.48xlarge us-east-1, 3 years"]
    values = {name: added[name].value() for name in ("kind", "listed", "term_months", "payment")}
    assert values == {
        "kind": "reserved", "listed": THREE_YEARS, "term_months": 36, "payment": "no_upfront",
    }  # fmt: skip
    assert added["gpus_per_instance"].value() == 8
    assert forms["aws p5.48xlarge us-east-1, on demand"]["kind"].value() == "on_demand"
    assert scenario.revisions.count() == 1


def test_a_term_that_the_editor_does_not_take_is_not_offered_to_it(visit):
    make_price(term="capacity_block", payment="all_upfront")
    key = "aws | p5.48xlarge | us-east-1 | capacity_block | all_upfront"
    assert 'name="listed"' not in visit(*address(key)).content.decode()
    scenario = make_scenario("Ours")
    assert "filled in" not in text_of(visit(f"/scenarios/{scenario.slug}/edit/", {"listed": key}))

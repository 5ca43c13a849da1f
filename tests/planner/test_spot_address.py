"""Claims about the address of the spot page: it is the state, and what makes no sense is named."""

import re
from html import unescape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.models import SpotPrice
from planner.models import Person
from tests.planner.spot_facts import (
    ago,
    make_band,
    make_history,
    make_machine,
    make_spot_price,
    rows_of,
    text_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def visit(client):
    """Return a function that opens an address as a viewer."""
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def test_a_form_leads_to_an_address_without_its_defaults(visit):
    make_history()
    response = visit(
        "/spot/?gpu=aws/p5.48xlarge&product=Linux/UNIX&zone=&window=90d&against=held&checkpoint=20.0&restart=7"
    )
    assert (response.status_code, response["Location"]) == (302, "/spot/?restart=7")


@pytest.mark.parametrize("text", ["aws/p4d.24xlarge", "p4d.24xlarge", "a100"])
def test_a_gpu_is_named_by_machine_or_accelerator(visit, text):
    make_history()
    make_machine("p4d.24xlarge", accelerator="a100")
    make_spot_price("8", 100, 90, sku="p4d.24xlarge")
    response = visit("/spot/", {"gpu": text}, follow=True)
    assert response.context["spot"].history.sku == "p4d.24xlarge"


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("colour=red", "The address names parameter “colour”, which this page does not know: ignored."),
        ("gpu=h900", "GPU: of “h900” there is no spot history on file; ignored."),
        ("product=BeOS", "Product: “BeOS” is none of Linux/UNIX; Linux/UNIX is shown."),
        ("window=1d", "Window: “1d” is none of 30d, 90d, 12mo, all; 90d is shown."),
        ("against=me", "On-demand price: “me” is none of held, nearest; held is shown."),
        ("zone=use1-az9", "Zone “use1-az9” has no prices on file"),
        ("region=mars-1", "Region “mars-1” has no prices on file"),
        ("checkpoint=0", "Checkpoint every: “0” was ignored. Ensure this value is greater than or equal to"),
        ("checkpoint=1441", "less than or equal to 1440"),
        ("write=x", "Writing it takes: “x” was ignored. Enter a number."),
        ("restart=-1", "Restart takes: “-1” was ignored."),
        ("job=NaN", "Job: “NaN” was ignored. Enter a number."),
        ("deadline=1e9", "Deadline: “1e9” was ignored."),
        ("machines=1.5", "Machines: “1.5” was ignored."),
        ("mtbf=0", "A machine is lost every: “0” was ignored."),
        ("as_of=yesterday", "as_of: “yesterday” is no date such as 2026-11-30"),
        ("as_of=0001-01-01", "is no date such as"),
        ("gpu=%00", "there is no spot history on file"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_named_and_changes_nothing_else(visit, query, notice):
    make_history()
    response = visit(f"/spot/?{query}")
    assert response.status_code == 200
    assert notice in text_of(response)
    assert len(rows_of(response)) == 1


VALUES = ["aws/p5.48xlarge", "p5.48xlarge", "h100-sxm-80gb", "us-east-1", "use1-az6", "30d", "all", "nearest"]
VALUES += ["held", "20", "5", "0", "-1", "2026-11-30", "2100-01-01", "", " ", "=x", "é", "1e5", "Linux/UNIX"]
NAMES = ["gpu", "product", "region", "zone", "window", "against", "as_of", "checkpoint", "write", "restart"]
NAMES += ["job", "deadline", "machines", "mtbf", "odd"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=5))
def test_any_address_settles_after_one_step(visit, pairs):
    if not SpotPrice.objects.exists():
        make_history()
    data = {}
    for name, value in pairs:
        data.setdefault(name, []).append(value)
    response = visit("/spot/", data)
    if response.status_code == 302:
        response = visit(response["Location"])
    assert response.status_code == 200


def test_links_of_the_page_lead_to_pages_that_do_not_redirect(visit):
    make_history()
    make_spot_price("9", 300, 0, zone="us-east-1a", zone_kind="name")
    make_band()
    body = visit("/spot/?zone=use1-az6&window=30d&against=nearest&mtbf=9").content.decode()
    links = {unescape(href) for href in re.findall(r'href="(/spot[^"]*)"', body)}
    assert len(links) > 5
    assert {visit(link).status_code for link in links} == {200}
    assert {visit(link.replace(".csv", ".json")).status_code for link in links if ".csv" in link} == {200}


def test_a_day_is_looked_at_as_of_its_end(visit):
    make_history()
    response = visit(f"/spot/?as_of={ago(48):%Y-%m-%d}")
    assert response["Location"] == f"/spot/?as_of={ago(48):%Y-%m-%d}T23%3A59%3A59Z"


def test_a_swap_gets_the_part_alone(client, visit):
    make_history()
    part = client.get("/spot/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "Zone by zone" in part

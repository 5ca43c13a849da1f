"""Claims about old prices: marked on the page, never recommended, named by source, hollow in the chart."""

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from costs.models import QuarantinedFact
from planner.models import Person
from tests.fact_builders import make_accelerator, make_batch, make_price, make_run, make_sku
from tests.planner.price_reading import file_of, rows_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def visit(client):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def offer(days: float, usd, **changes):
    """Make an offer of one H100 that a list of every seven days stated so long ago."""
    batch = make_batch(source="skypilot", as_of=timezone.now() - timedelta(days=days))
    sku = {"provider": "aws", "name": f"one {days} {usd}", "gpu_count": Decimal(1)}
    return make_price(batch=batch, source="skypilot", price_per_hour=Decimal(usd), **sku | changes)


def classes(response) -> dict[str, str]:
    """Return the look of each row by its first cell."""
    rows = re.findall(r'<tr(?: class="(\w+)")?><th scope="row">(.*?)</th>', response.content.decode(), re.S)
    return {re.sub(r"<[^>]+>", "", name).strip(): look for look, name in rows}


def test_late_rows_are_tinted_and_stale_rows_say_so(visit):
    for days, region in ((1, "new"), (8, "late"), (15, "stale")):
        offer(days, 2, region=region)
    response = visit("/prices/?cols=region%2Cas_of%2Cage")
    assert classes(response) == {"new": "", "late": "late", "stale": "stale"}
    words = {row[0]: row[1:] for row in rows_of(response)}
    assert words["late"][0].endswith("late")
    assert words["stale"] == [words["stale"][0], "15 d old, stale"]
    assert words["stale"][0].endswith("stale")
    assert words["new"][1] == "24 h old"


def test_the_answer_skips_stale_offers_and_says_how_many_were_cheaper(visit):
    offer(400, 1)
    offer(30, "1.5")
    offer(1, 3)
    text = text_of(visit("/prices/"))
    assert "on demand starts at $3.00/GPU-h" in text
    assert "2 cheaper offers are left out as stale: their lists are more than twice as old" in text


def test_one_cheaper_stale_offer_is_one(visit):
    offer(400, 1)
    offer(1, 3)
    assert "1 cheaper offer is left out as stale: its list is" in text_of(visit("/prices/"))


def test_where_all_is_stale_nothing_is_recommended_and_the_last_known_price_has_its_date(visit):
    offer(400, 1)
    text = text_of(visit("/prices/"))
    assert "No price of H100 SXM 80 GB here is fresh enough to go by." in text
    assert "The lowest known on demand was $1.00/GPU-h (aws us-east-1), of" in text
    assert "400 d old" in text


def test_each_late_source_has_a_line_with_its_age_and_rhythm(visit):
    offer(1, 2)
    offer(400, 2)
    sku = make_sku()
    batch = make_batch(source="vantage", as_of=timezone.now() - timedelta(days=40))
    make_price(sku=sku, batch=batch, source="vantage")
    make_price(sku=sku, batch=make_batch(as_of=timezone.now()))
    text = text_of(visit("/prices/"))
    assert "late, 40 d old; a new list is expected every 31 days." in text
    assert "some offers are stale, the oldest 400 d old; a new list is expected every 7 days." in text
    assert text.count("a new list is expected") == 2


def test_filters_that_leave_out_the_late_source_leave_out_its_line(visit):
    offer(400, 2, region="old-region")
    offer(1, 2, region="new-region")
    assert "a new list is expected" not in text_of(visit("/prices/?region=new"))


def test_stale_marks_are_hollow_in_the_chart(visit):
    offer(1, 2)
    offer(400, 1)
    body = visit("/prices/").content.decode()
    figure = json.loads(re.search(r'<script id="figure-offers"[^>]*>(.*?)</script>', body, re.S).group(1))
    assert {trace["marker"]["symbol"]: trace["x"] for trace in figure["data"]} == {
        "circle": [2.0], "circle-open": [1.0],
    }  # fmt: skip
    assert "hollow: stale" in body


def test_the_file_says_the_age_of_every_row(visit):
    offer(15, 2)
    (row,) = file_of(visit("/prices.csv?cols=age"))
    assert float(row["age_hours"]) == pytest.approx(360, abs=0.1)
    assert row["age_state"] == "stale"


def test_the_answer_tells_the_change_of_its_first_price(visit):
    """From 4 to 3 dollars: 25 % less."""
    now, sku = timezone.now(), make_sku(gpu_count=Decimal(1))
    batch = make_batch(source="skypilot", as_of=now)
    fields = {"sku": sku, "batch": batch, "source": "skypilot"}
    cut, start = now - timedelta(days=100), now - timedelta(days=500)
    make_price(**fields, price_per_hour=Decimal(4), effective_from=start, effective_to=cut)
    make_price(**fields, price_per_hour=Decimal(3), effective_from=cut)
    response = visit("/prices/?cols=change_12m")
    assert "starts at $3.00/GPU-h (aws us-east-1), down 25 % in 12 months." in text_of(response)
    assert rows_of(response) == [["−25.0 %"]]
    assert 'class="sparkline"' in response.content.decode()
    (row,) = file_of(visit("/prices.csv?cols=change_12m"))
    assert row["change_12_months"] == "-0.25"


def test_terms_beyond_the_four_usual_ones_have_their_words_too(visit):
    offer(1, 5)
    for term, usd in (("compute_plan_3y", 2), ("capacity_block", 3), ("convertible_1y", 4)):
        offer(1, usd, term=term, name=term)
    text = text_of(visit("/prices/"))
    assert "on demand starts at $5.00/GPU-h" in text
    for words in ("for 1 year, convertible from $4.00", "on a savings plan of 3 years from $2.00"):
        assert words in text
    assert "in a capacity block from $3.00" in text


def hold(rule: str, **changes):
    fact = {"provider": "aws", "sku": "p5.48xlarge", "accelerator_name": "H100"} | changes
    return QuarantinedFact.objects.create(
        run=make_run(source="skypilot", status="partial"), source="skypilot", scope="all", line=3,
        key="aws / p5", digest="0" * 64, rule=rule, evidence="because", payload=fact,
    )  # fmt: skip


def test_prices_in_quarantine_are_counted_by_rule_for_the_filters_and_lead_to_their_list(visit):
    make_sku(accelerator=make_accelerator())
    offer(1, 2)
    hold("price_jump")
    hold("price_jump")
    hold("zero_price", provider="gcp")
    response = visit("/prices/")
    text = text_of(response).replace(" ,", ",").replace(" .", ".")  # where the links end
    assert "3 prices are held in quarantine for these filters: 2 price jump, 1 zero price." in text
    assert 'href="/data/quarantine/?rule=price_jump"' in response.content.decode()
    text = text_of(visit("/prices/?cloud=aws")).replace(" .", ".")
    assert "2 prices are held in quarantine for these filters: 2 price jump." in text
    yesterday = (timezone.now() - timedelta(days=1)).date()
    assert "held in quarantine" not in text_of(visit(f"/prices/?as_of={yesterday}"))

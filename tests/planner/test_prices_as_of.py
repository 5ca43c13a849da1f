"""Claims about prices of a past date: what held then, what the address may say, and what the file carries."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from planner.models import Person
from planner.prices.as_of import read_as_of
from tests.fact_builders import make_batch, make_price, make_sku
from tests.planner.price_reading import file_of, rows_of, text_of

CUT = datetime(2025, 6, 5, tzinfo=UTC)
START = datetime(2025, 4, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 9, 40, tzinfo=UTC)
COLUMNS = "cols=region%2Cusd_per_gpu_h"


@pytest.fixture
def visit(client, db):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


@pytest.fixture
def cut(db):
    """One price, cut on 5 June 2025 from 98.32 to 55.04 for eight GPUs: 12.29 to 6.88 for one."""
    sku, batch = make_sku(), make_batch(source="price_history_table", as_of=timezone.now())
    fields = {"sku": sku, "batch": batch, "source": batch.source}
    make_price(**fields, price_per_hour=Decimal("98.32"), effective_from=START, effective_to=CUT)
    make_price(**fields, price_per_hour=Decimal("55.04"), effective_from=CUT)


@pytest.mark.parametrize(
    ("date", "dollars"), [("2025-04-01", "$12.29"), ("2025-06-04", "$12.29"), ("2025-06-05", "$6.88")]
)
def test_the_page_shows_what_held_at_the_end_of_that_day(visit, cut, date, dollars):
    response = visit(f"/prices/?as_of={date}&{COLUMNS}")
    assert rows_of(response) == [["us-east-1", dollars]]
    assert "Prices as they held on" in text_of(response)


def test_a_moment_is_taken_to_the_second(visit, cut):
    before = visit(f"/prices/?as_of=2025-06-04T23%3A59%3A59Z&{COLUMNS}")
    after = visit(f"/prices/?as_of=2025-06-05T00%3A00%3A00Z&{COLUMNS}")
    assert (rows_of(before)[0][1], rows_of(after)[0][1]) == ("$12.29", "$6.88")


def test_the_date_is_a_chip_that_can_be_taken_away_and_a_link_to_the_live_page(visit, cut):
    text, body = (
        text_of(visit("/prices/?as_of=2025-06-04")),
        visit("/prices/?as_of=2025-06-04").content.decode(),
    )
    assert "Prices of: 4 Jun 2025" in text
    assert 'aria-label="Remove Prices of:' in body
    assert 'href="/prices/">Go live' in body


def test_choices_are_those_of_the_date(visit, cut):
    make_price(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), effective_from=NOW)
    assert 'value="lambda"' not in visit("/prices/?as_of=2025-06-04").content.decode()
    assert 'value="lambda"' in visit("/prices/").content.decode()


def test_ages_count_up_to_the_date(visit):
    batch = make_batch(source="skypilot", as_of=CUT)
    make_price(batch=batch, source="skypilot", effective_from=START)
    assert [row[0] for row in rows_of(visit("/prices/?as_of=2025-06-06&cols=age"))] == ["47 h old"]
    assert "stale" in rows_of(visit("/prices/?cols=age"))[0][0]


@pytest.mark.parametrize(
    ("value", "notice"),
    [
        ("2999-01-01", "“2999-01-01” lies ahead and was ignored: live is shown."),
        ("2025-13-01", "“2025-13-01” was ignored: write a date such as 2026-11-30"),
        ("yesterday", "“yesterday” was ignored"),
        ("1066-10-14", "was ignored"),
        ("20250604", None),
    ],
)
def test_a_date_that_makes_no_sense_or_lies_ahead_is_named_and_live_is_shown(visit, cut, value, notice):
    response = visit(f"/prices/?as_of={value}&{COLUMNS}", follow=True)
    if notice is None:  # another way to write a date
        assert "as_of=2025-06-04" in response.redirect_chain[0][0]
        return
    assert f"Prices of: {notice}" in text_of(response) or notice in text_of(response)
    assert rows_of(response) == [["us-east-1", "$6.88"]]


def test_a_date_before_all_prices_says_from_when_on_there_are_any(visit, cut):
    text = text_of(visit("/prices/?as_of=2020-01-01"))
    assert "No price on file held on 1 Jan 2020" in text
    assert "holds from 1 Apr 2025" in text
    assert "No prices yet" not in text


def test_the_file_carries_the_date_in_its_rows_its_address_and_its_head(visit, cut):
    (row,) = file_of(visit(f"/prices.csv?as_of=2025-06-04&{COLUMNS}"))
    assert row["usd_per_gpu_h"] == "12.29"
    assert row["prices_on"].startswith("2025-06-04T23:59:59")
    assert "as_of=2025-06-04" in row["address"]
    answer = json.loads(b"".join(visit("/prices.json?as_of=2025-06-04").streaming_content))
    assert answer["as_of"].startswith("2025-06-04T23:59:59")
    assert answer["rows"][0]["usd_per_gpu_h"] == 12.29


def test_today_is_live_but_keeps_its_date_in_the_address(visit, cut):
    today = timezone.now().date().isoformat()
    response = visit(f"/prices/?as_of={today}&{COLUMNS}")
    assert response.status_code == 200
    assert rows_of(response) == [["us-east-1", "$6.88"]]


@given(st.text(max_size=40))
def test_any_text_gives_a_moment_that_is_not_ahead(text):
    found = read_as_of({"as_of": text}, NOW)
    assert found.moment <= NOW
    assert found.is_frozen or found.moment == NOW


@given(st.datetimes(NOW.replace(year=2000, tzinfo=None), NOW.replace(tzinfo=None), timezones=st.just(UTC)))
def test_what_the_address_says_of_a_date_reads_back_as_the_same(moment):
    for text in (moment.isoformat(), moment.date().isoformat()):
        once = read_as_of({"as_of": text}, NOW)
        assert read_as_of({"as_of": once.text}, NOW + timedelta(days=1)).text == once.text
        assert once.notice == ""

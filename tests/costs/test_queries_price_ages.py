"""Claims about the age of prices: against the rhythm of their own list, and the same in Python and SQL."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from costs.models import Price
from costs.queries.price_ages import MONTHLY, age_of, age_state, cadence_of, is_late, is_stale
from costs.sources import SOURCES
from tests.fact_builders import make_price, make_sku

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PRICE_LISTS = sorted(name for name, source in SOURCES.items() if source.KIND == "prices")


def test_a_list_without_a_rhythm_counts_as_monthly():
    assert SOURCES["market_history"].CADENCE is None
    assert cadence_of("market_history") == cadence_of("a source of another version") == MONTHLY
    assert cadence_of("skypilot") == SOURCES["skypilot"].CADENCE == timedelta(days=7)


@pytest.mark.parametrize(
    ("days", "word"),
    [(0, "fresh"), (7, "fresh"), (7.01, "late"), (14, "late"), (14.01, "stale"), (900, "stale")],
)
def test_late_is_after_one_cadence_and_stale_after_two(days, word):
    price = SimpleNamespace(source="skypilot", as_of=NOW - timedelta(days=days))
    assert age_state(price, NOW) == word


def test_a_price_stated_after_the_date_of_the_page_is_of_no_age():
    price = SimpleNamespace(source="skypilot", as_of=NOW + timedelta(days=3))
    assert age_of(price, NOW) == timedelta(0)
    assert age_state(price, NOW) == "fresh"


@pytest.mark.django_db
@pytest.mark.parametrize("source", [*PRICE_LISTS, "a source of another version"])
def test_the_database_says_the_same_of_every_source(source):
    sku, cadence = make_sku(), cadence_of(source)
    for number, share in enumerate((0.5, 1, 1.01, 2, 2.01)):
        make_price(sku=sku, source=source, region=f"r{number}", as_of=NOW - share * cadence)
    stale = set(Price.objects.filter(is_stale(NOW)))
    late = set(Price.objects.filter(is_late(NOW)))
    for price in Price.objects.all():
        assert (price in stale) == (age_state(price, NOW) == "stale")
        assert (price in late) == (age_state(price, NOW) in ("late", "stale"))
    assert late, len(stale) == (3, 1)

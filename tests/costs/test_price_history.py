"""Price histories: many dated statements of one price become its steps, in whatever order files come."""

from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.ledger import verify
from costs.models import Batch, Price, StagedRow
from costs.queries.prices import price_on

from . import fake_prices
from .conftest import Take
from .tables import history

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ledger_is_exact(take: Take, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Whatever a test did, the tables hold what the accepted files say."""
    monkeypatch.setattr(fake_prices, "MODE", "history")
    yield
    assert verify().problems == []
    assert not StagedRow.objects.exists()


def days(*prices: tuple[str, str]) -> str:
    """Return a file of one machine's price on some days."""
    return "as_of\n" + "".join(f"a,8,east,{price},USD,H100,{day}\n" for day, price in prices)


def test_a_daily_file_shows_a_cut_as_one_change(take: Take) -> None:
    run = take(
        days(
            ("2025-06-03", "98.32"), ("2025-06-04", "98.32"), ("2025-06-05", "55.04"), ("2025-06-06", "55.04")
        )
    )
    assert (run.status, run.lines_kept, run.facts, run.added) == ("done", 4, 4, 2)
    assert history("a") == [("98.32", "2025-06-03", "2025-06-05"), ("55.04", "2025-06-05", None)]


def test_a_question_before_and_after_the_cut_gives_both_prices(take: Take) -> None:
    take(days(("2025-06-03", "98.32"), ("2025-06-05", "55.04")))
    asked = [datetime(2025, 6, day, tzinfo=UTC) for day in (2, 4, 5, 30)]
    quotes = [price_on("acme", "a", "east", "on_demand", "", at) for at in asked]
    assert [str(quote.usd_per_hour)[:5] if quote.usd_per_hour else None for quote in quotes] == [
        None, "98.32", "55.04", "55.04",
    ]  # fmt: skip
    assert quotes[0].state == "unknown"


def test_lines_need_not_be_in_the_order_of_their_days(take: Take) -> None:
    take(days(("2025-06-05", "55.04"), ("2025-06-01", "98.32"), ("2025-06-03", "98.32")))
    assert history("a") == [("98.32", "2025-06-01", "2025-06-05"), ("55.04", "2025-06-05", None)]


PARTS = (
    (("2025-01-01", "29"), ("2025-01-02", "29"), ("2025-01-03", "28")),
    (("2025-01-03", "28"), ("2025-01-04", "28"), ("2025-01-05", "29")),
    (("2025-01-07", "29"), ("2025-01-08", "27")),
)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_files_that_overlap_may_come_in_any_order(take: Take, order: tuple[int, ...]) -> None:
    for part in (*order, order[0]):
        take(days(*PARTS[part]), name=f"part{part}.csv")
    assert history("a") == [
        ("29", "2025-01-01", "2025-01-03"), ("28", "2025-01-03", "2025-01-05"),
        # nobody looked on the 6th: what is known of the days after it begins anew
        ("29", "2025-01-05", "2025-01-07"), ("29", "2025-01-07", "2025-01-08"), ("27", "2025-01-08", None),
    ]  # fmt: skip


def test_the_same_file_twice_changes_nothing(take: Take) -> None:
    take(days(*PARTS[0]))
    before = list(Price.objects.order_by("pk").values())
    assert take(days(*PARTS[0])).status == "duplicate"
    assert list(Price.objects.order_by("pk").values()) == before
    assert Batch.objects.filter(source="fake_prices").count() == 1


def test_what_was_last_seen_when_is_kept_with_the_price(take: Take) -> None:
    take(days(("2025-06-01", "29"), ("2025-06-20", "29")))
    assert f"{Price.objects.get().as_of:%Y-%m-%d}" == "2025-06-20"


def test_one_moment_with_two_prices_is_held_and_the_rest_is_taken(take: Take) -> None:
    run = take(days(("2025-06-01", "29"), ("2025-06-02", "28"), ("2025-06-02", "27")))
    assert sorted(run.quarantined.values_list("line", "rule")) == [
        (3, "contradicting_lines"), (4, "contradicting_lines"),
    ]  # fmt: skip
    assert history("a") == [("29", "2025-06-01", None)]


def test_a_price_of_tomorrow_is_refused(take: Take) -> None:
    run = take(days(("2025-06-01", "29"), ("2029-06-01", "28")))
    assert run.rejected.get().rule == "time_in_future"


def test_a_file_that_fills_a_gap_leaves_no_mark_of_it(take: Take) -> None:
    for part in (0, 2, 1):
        take(days(*PARTS[part]), name=f"part{part}.csv")
    take(days(("2025-01-05", "29"), ("2025-01-06", "29"), ("2025-01-07", "29")), name="between.csv")
    assert history("a") == [
        ("29", "2025-01-01", "2025-01-03"), ("28", "2025-01-03", "2025-01-05"),
        ("29", "2025-01-05", "2025-01-08"), ("27", "2025-01-08", None),
    ]  # fmt: skip


@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_windows_come_in_whatever_order_the_tables_are_the_same(
    take: Take, data: st.DataObject
) -> None:
    prices = data.draw(st.lists(st.sampled_from(["27", "28", "29"]), min_size=2, max_size=9))
    whole = [(f"2025-03-{day:02}", price) for day, price in enumerate(prices, 1)]
    ends = st.tuples(st.integers(0, len(whole) - 1), st.integers(1, len(whole)))
    cuts = data.draw(st.lists(ends.filter(lambda cut: cut[0] < cut[1]), min_size=1, max_size=5))
    tables = []
    for order in (cuts, [*reversed(cuts), cuts[0]]):
        with transaction.atomic():
            for number, (start, end) in enumerate(order):
                take(days(*whole[start:end]), name=f"{number}.csv")
            columns = ("effective_from", "effective_to", "as_of", "follows_gap", "price_per_hour")
            tables.append(list(Price.objects.order_by("effective_from").values_list(*columns)))
            assert verify().problems == []
            transaction.set_rollback(True)
    assert tables[0] == tables[1]

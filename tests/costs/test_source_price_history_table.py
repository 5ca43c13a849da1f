"""State what is kept of prices that somebody wrote down day by day."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.rows import FileError, PriceRow
from costs.sources import price_table_history as history

from .readings import Reading, read_text

NAME = "aws_p5_48xlarge_us-east-1_daily_2025-04_2026-08.csv"
HEADER = "timestamp,instance,price_usd\n"


def reading_of(*lines: str, name: str = NAME, **params: str) -> Reading:
    return read_text("price_history_table", HEADER + "".join(f"{line}\n" for line in lines), name, params)


def rows(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


def test_each_line_is_a_price_that_was_seen_at_a_moment() -> None:
    reading = reading_of("2025-06-04T07:23:25,p5.48xlarge,98.32", "2025-06-05T07:22:36,p5.48xlarge,55.04")
    assert [(row.effective_from, row.price_per_hour) for row in rows(reading)] == [
        (datetime(2025, 6, 4, 7, 23, 25, tzinfo=UTC), Decimal("98.32")),
        (datetime(2025, 6, 5, 7, 22, 36, tzinfo=UTC), Decimal("55.04")),
    ]
    (row, _) = rows(reading)
    assert (row.provider, row.region, row.accelerator_name, row.gpu_count) == ("aws", "us-east-1", "H100", 8)
    assert (row.term, row.currency) == ("on_demand", "USD")
    assert reading.scopes == {"aws:us-east-1"}


def test_lines_may_stand_in_any_order_and_equal_prices_differ_in_nothing_but_the_moment() -> None:
    """What differs would make two prices of one."""
    first, second = rows(reading_of("2025-06-06,p5.48xlarge,55.04", "2025-06-05T07:22:36,p5.48xlarge,55.04"))
    assert first.effective_from is not None
    assert second.effective_from is not None
    assert first.effective_from > second.effective_from
    assert (first.reference, first.state_reason, first.observed_on) == (
        second.reference,
        second.state_reason,
        second.observed_on,
    )


def test_a_blank_price_is_a_day_on_which_nobody_saw_one() -> None:
    reading = reading_of(
        "2024-05-01,p5.48xlarge,", "2025-04-23T19:14:17,p5.48xlarge,", "2025-04-23T19:41:48,p5.48xlarge,98.32"
    )
    assert reading.by_rule == {"no_observation": 2}
    assert len(reading.rows) == 1


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-06-05", datetime(2025, 6, 5, tzinfo=UTC)),
        ("2025-06-05T07:22:36", datetime(2025, 6, 5, 7, 22, 36, tzinfo=UTC)),
        ("2025-06-05 07:22:36.250", datetime(2025, 6, 5, 7, 22, 36, 250_000, tzinfo=UTC)),
        ("2025-06-05T09:22:36+02:00", datetime(2025, 6, 5, 7, 22, 36, tzinfo=UTC)),
        ("2025-06-05T07:22:36Z", datetime(2025, 6, 5, 7, 22, 36, tzinfo=UTC)),
    ],
)
def test_a_stamp_without_zone_is_utc_and_a_date_its_first_moment(text: str, moment: datetime) -> None:
    assert history.seen_at(text) == moment


@given(st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30)), st.integers(-14, 14))  # noqa: DTZ001
def test_a_stamp_with_a_zone_means_that_zone(moment: datetime, hours: int) -> None:
    sign, size = ("-" if hours < 0 else "+"), abs(hours)
    assert history.seen_at(f"{moment.isoformat()}{sign}{size:02}:00") == moment.replace(
        tzinfo=UTC
    ) - timedelta(hours=hours)
    assert history.seen_at(moment.isoformat()) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("2025-06-05T07:22:36,p5.48xlarge,0", "zero_price"),
        ("2025-06-05T07:22:36,p5.48xlarge,cheap", "not_a_number"),
        ("2025-06-31,p5.48xlarge,55.04", "not_a_date"),
        ("2025-06-05T27:22:36,p5.48xlarge,55.04", "not_a_time"),
        ("yesterday,p5.48xlarge,55.04", "not_a_time"),
        (",p5.48xlarge,", "not_a_time"),
        ("2025-06-05T07:22:36,p9.48xlarge,55.04", "machine_unknown"),
        ("2025-06-05T07:22:36,m7i.large,0.1", "no_accelerator"),
        ("2025-06-05T07:22:36,p5.48xlarge", "field_count"),
    ],
)
def test_a_line_that_is_wrong_is_refused_and_the_others_stay(line: str, rule: str) -> None:
    reading = reading_of(line, "2025-06-05T07:22:36,p5.48xlarge,55.04")
    assert reading.by_rule == {rule: 1}
    assert set(reading.kept) == {3}


def test_the_region_is_a_parameter_or_in_the_name() -> None:
    line = "2025-06-05T07:22:36,p5.48xlarge,55.04"
    (row,) = rows(reading_of(line, name="aws_p5_daily.csv", region="eu-west-1"))
    assert row.region == "eu-west-1"
    (row,) = rows(reading_of(line, name="aws_us-gov-west-1.csv"))
    assert row.region == "us-gov-west-1"
    with pytest.raises(FileError, match="region_unknown"):
        reading_of(line, name="aws_p5_daily.csv")
    with pytest.raises(FileError, match="provider_unknown"):
        reading_of(line, name="p5_us-east-1_daily.csv")


def test_only_that_header_looks_like_a_history() -> None:
    assert history.looks_like(HEADER, "a.csv")
    assert history.looks_like(history.TEMPLATE, "a.csv")
    assert not history.looks_like("timestamp,instance,zone,price_usd\n", "a.csv")
    assert not history.looks_like("region,instance_type,price_per_hour,currency\n", "a.csv")

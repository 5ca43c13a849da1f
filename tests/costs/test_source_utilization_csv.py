"""State how hours of use are read: our layout, the research series and the daily file."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from costs.rows import FileError, UtilizationRow
from costs.sources.utilization_csv import TEMPLATE

from .readings import Reading, read_text

OWN = "hour_utc,cluster,pool,gpu_type,gpus_installed,gpus_available,gpus_allocated,gpus_pending,active_share"
RESEARCH = "hour_utc,cluster,pool,gpu_type,gpus_total,gpus_allocated,gpus_pending,mean_gpu_utilization"
DAILY = (
    "date_local,hours_in_day,gpu_hours_reported,gpu_hours_down,gpu_hours_available,gpu_hours_allocated,"
    "gpu_hours_idle,utilization_available_published,allocated_over_available_uncapped,gpus_installed_est,jobs,"
    "active_users,wait_p50_s,wait_p90_s,gpu_hours_hourly_sum"
)
START = "2026-11-29T13:00:00Z,main,training,H100"


def series(header: str, *lines: str, **params: str) -> Reading:
    return read_text("utilization_csv", "\n".join([header, *lines, ""]), "use.csv", params)


def only_row(reading: Reading) -> UtilizationRow:
    assert reading.by_rule == {}
    (row,) = reading.rows
    assert isinstance(row, UtilizationRow)
    return row


def figures(row: UtilizationRow) -> tuple[Decimal | None, ...]:
    return (row.gpus_installed, row.gpus_available, row.gpus_allocated, row.gpus_pending, row.active_share)


def daily(date: str, hours: str, reported: str, available: str, allocated: str) -> str:
    return f"{date},{hours},{reported},0,{available},{allocated},0,0.5,0.5,56,1,1,,,{allocated}"


def test_our_layout_is_read_as_it_is_documented() -> None:
    row = only_row(series(OWN, f"{START},64,60,55.25,8,0.61"))
    assert (row.cluster, row.pool, row.gpu_type) == ("main", "training", "H100")
    assert row.starts_at == datetime(2026, 11, 29, 13, tzinfo=UTC)
    assert row.period_hours == 1
    assert figures(row) == (64, 60, Decimal("55.25"), 8, Decimal("0.61"))


def test_empty_is_unknown_and_not_zero() -> None:
    assert figures(only_row(series(OWN, f"{START},,,0,,"))) == (None, None, 0, None, None)


def test_a_line_in_which_all_is_unknown_is_out_of_scope() -> None:
    reading = series(OWN, f"{START},,,,,")
    assert reading.by_rule == {"no_gpu_figures": 1}
    assert reading.out_of_scope[2].expected


def test_allocated_above_available_is_kept_as_it_is() -> None:
    assert only_row(series(OWN, f"{START},64,60,66,0,")).gpus_allocated == 66


@pytest.mark.parametrize(
    ("line", "column", "rule"),
    [
        ("2026-11-29T13:00:00,main,training,H100,64,60,55,8,0.6", "hour_utc", "time_without_zone"),
        ("2026-11-29T13:15:00Z,main,training,H100,64,60,55,8,0.6", "hour_utc", "not_on_the_hour"),
        ("29.11.2026 13:00,main,training,H100,64,60,55,8,0.6", "hour_utc", "not_a_time"),
        (f"{START},64,60,-1,8,0.6", "gpus_allocated", "gpus_out_of_bounds"),
        (f"{START},64,60,20000000,8,0.6", "gpus_allocated", "gpus_out_of_bounds"),
        (f"{START},64,60,NaN,8,0.6", "gpus_allocated", "not_a_number"),
        (f'{START},64,60,"55,5",8,0.6', "gpus_allocated", "not_a_number"),
        (f"{START},64,60,55,8,61", "active_share", "share_out_of_bounds"),
        ("2026-11-29T13:00:00Z,,training,H100,64,60,55,8,0.6", "cluster", "empty"),
        ("2026-11-29T13:00:00Z,main,,H100,64,60,55,8,0.6", "pool", "empty"),
        ("2026-11-29T13:00:00Z,main,training,,64,60,55,8,0.6", "gpu_type", "empty"),
        (f"{START},64,60,55,8", "(line)", "field_count"),
    ],
)
def test_a_wrong_line_is_refused_by_column_and_rule(line: str, column: str, rule: str) -> None:
    reading = series(OWN, f"{START},64,60,55,8,0.6", line)
    assert len(reading.kept) == 1
    error = reading.wrong[3]
    assert (error.column, error.rule) == (column, rule)
    assert error.expected


def test_available_of_a_research_series_is_total_less_down() -> None:
    row = only_row(series(RESEARCH + ",gpus_down", f"{START},64,55,0,45.25,4"))
    assert figures(row) == (64, 60, 55, 0, Decimal("0.4525"))


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (RESEARCH, f"{START},64,55,0,"),  # nothing says what was down
        (RESEARCH + ",gpus_down", f"{START},64,55,0,,"),
        (RESEARCH + ",gpus_down", f"{START},,55,0,,4"),
    ],
)
def test_available_is_unknown_where_total_or_down_is(header: str, line: str) -> None:
    assert only_row(series(header, line)).gpus_available is None


@pytest.mark.parametrize(
    ("line", "rule"),
    [(f"{START},64,55,0,,70", "down_above_total"), (f"{START},64,55,0,101,4", "percent_out_of_bounds")],
)
def test_a_research_line_that_cannot_be_is_refused(line: str, rule: str) -> None:
    assert series(RESEARCH + ",gpus_down", line).by_rule == {rule: 1}


def test_a_series_of_nodes_says_nothing_about_gpus() -> None:
    header = RESEARCH + ",nodes_total,nodes_active,nodes_active_max,minutes"
    reading = series(header, "2017-10-03T00:00:00Z,philly,all,,,,,,420,312.533,318,60")
    assert (reading.rows, reading.by_rule) == ([], {"no_gpu_figures": 1})


def test_columns_that_nothing_reads_are_named_unless_they_are_known() -> None:
    reading = series(RESEARCH + ",carry_over_spread,mood,weather", f"{START},64,55,0,,0,good,rain")
    assert reading.info.params["unknown_columns"] == "mood, weather"
    assert len(reading.kept) == 1


@pytest.mark.parametrize("column", OWN.split(",")[1:])
def test_a_missing_column_of_our_layout_is_named(column: str) -> None:
    header = ",".join(name for name in OWN.split(",") if name != column)
    with pytest.raises(FileError) as caught:
        series(header, "x")
    assert (caught.value.code, caught.value.column) == ("columns_missing", column)


def test_the_cluster_may_be_given_and_is_the_scope() -> None:
    assert series(OWN, f"{START},64,60,55,8,").scopes == {"main"}
    reading = series(OWN, "2026-11-29T13:00:00Z,,training,H100,64,60,55,8,", cluster="berlin")
    assert only_row(reading).cluster == "berlin"
    assert reading.scopes == {"berlin"}


# --- the daily file of a publisher in Chicago ---


def test_a_local_day_becomes_mean_gpus_over_its_hours() -> None:
    row = only_row(series(DAILY, daily("2024-01-15", "24", "1344.0000", "1200.0000", "696.0000")))
    assert row.cluster == "uchicago-dsi (daily)"
    assert row.starts_at == datetime(2024, 1, 15, 6, tzinfo=UTC), "midnight in Chicago in winter"
    assert row.period_hours == 24
    assert figures(row) == (56, 50, 29, None, None)


@pytest.mark.parametrize(
    ("date", "hours", "start_hour"),
    [("2024-03-10", "23", 6), ("2024-11-03", "25", 5), ("2024-07-01", "24", 5)],
)
def test_days_on_which_the_clocks_change_have_their_real_hours(
    date: str, hours: str, start_hour: int
) -> None:
    total = str(95 * int(hours))
    row = only_row(series(DAILY, daily(date, hours, total, total, total)))
    assert (row.period_hours, row.starts_at.hour) == (int(hours), start_hour)
    assert row.gpus_allocated == 95


def test_a_wrong_count_of_hours_is_refused() -> None:
    reading = series(DAILY, daily("2024-03-10", "24", "2400", "2400", "2400"))
    assert reading.wrong[2].rule == "hours_in_day_wrong"
    assert reading.wrong[2].expected.startswith("23")


def test_the_capacity_of_the_first_day_is_unknown_and_its_use_is_kept() -> None:
    row = only_row(series(DAILY, daily("2023-05-04", "24", "519225.91", "519147.57", "428.54")))
    assert (row.gpus_installed, row.gpus_available) == (None, None)
    assert row.gpus_allocated == (Decimal("428.54") / 24).quantize(Decimal("0.0001"))


def test_the_template_reads() -> None:
    reading = read_text("utilization_csv", TEMPLATE, "template.csv")
    assert (len(reading.kept), reading.by_rule) == (2, {})

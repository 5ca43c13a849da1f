"""State how measured traces of spot capacity are read. Traces are ours, in the real formats."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from costs.rows import FileError, SpotCapacityRow
from costs.sources import spot_traces

from .readings import Reading, packed, read_bytes, read_text

PATH = "skypilot_spot_traces/availability/16-node/aws-08-27-2023/us-east-2b_v100_1.json"
START = datetime(2023, 8, 27, tzinfo=UTC)
LOG = "bamboo_aws-spot-instances-g4dn-xlarge-us-east-1c-2020-11-20-1930-to-2020-11-21-2200.csv"
# a name without the zone and without clock times
ZONELESS_LOG = "bamboo_aws-spot-instances-p2-xlarge-2020-11-20-to-2020-11-23.csv"
GIVEN = {
    "starts_on": "2023-08-27", "trace": "ours", "measures": "preemption", "zone": "us-east-2b",
    "accelerator": "V100", "gpu_count": "1",
}  # fmt: skip


def trace(*nodes: object, gap: object = 300, name: str = PATH, **params: str) -> Reading:
    text = json.dumps({"metadata": {"gap_seconds": gap}, "data": nodes})
    return read_text("spot_traces", text, name, params)


def log(*lines: str, name: str = LOG, **params: str) -> Reading:
    return read_text("spot_traces", "".join(f"{line}\n" for line in lines), name, params)


def rows(reading: Reading) -> list[SpotCapacityRow]:
    return [row for row in reading.rows if isinstance(row, SpotCapacityRow)]


def steps(reading: Reading) -> list[tuple[int, int]]:
    """Return seconds since the start of the trace and machines."""
    start = datetime.fromisoformat(reading.info.params["starts_at"])
    return [(int((row.observed_at - start).total_seconds()), int(row.nodes)) for row in rows(reading)]


def refusal(*nodes: object, name: str = "trace.json", **params: str) -> FileError:
    with pytest.raises(FileError) as caught:
        trace(*nodes, name=name, **params)
    return caught.value


# --- ticks ---


def test_a_line_is_a_tick_that_changes_the_count_and_the_last_one() -> None:
    reading = trace(0, 0, 3, 3, 3, 16, 16)
    assert steps(reading) == [(0, 0), (600, 3), (1500, 16), (1800, 16)]
    assert list(reading.kept) == [1, 3, 6, 7]  # a line's number is that of its tick


def test_a_trace_that_never_changes_is_its_first_and_its_last_tick() -> None:
    assert steps(trace(1, 1, 1)) == [(0, 1), (600, 1)]
    assert steps(trace(1)) == [(0, 1)]


def test_the_path_says_what_was_measured() -> None:
    reading = trace(16)
    assert rows(reading) == [
        SpotCapacityRow(
            provider="aws",
            trace="availability/16-node/aws-08-27-2023",
            region="us-east-2",
            zone="us-east-2b",
            accelerator_name="V100",
            gpu_count=Decimal(1),
            nodes_wanted=Decimal(16),
            measures="availability",
            observed_at=START,
            nodes=Decimal(16),
        )
    ]
    assert reading.scopes == {"availability/16-node/aws-08-27-2023"}


def test_a_packed_trace_in_a_folder_of_another_system_says_the_same() -> None:
    text = json.dumps({"metadata": {"gap_seconds": 300}, "data": [16]})
    name = PATH.replace("/", "\\") + ".gz"
    assert rows(read_bytes("spot_traces", packed(text), name)) == rows(trace(16))


@pytest.mark.parametrize("gap", [32, 195, 300, 600])
def test_ticks_are_as_far_apart_as_the_trace_says(gap: int) -> None:
    reading = trace(0, 1, 1, gap=gap)
    assert steps(reading) == [(0, 0), (gap, 1), (2 * gap, 1)]
    assert reading.info.as_of == START + timedelta(seconds=2 * gap)


def test_prices_beside_the_ticks_are_left_out() -> None:
    text = json.dumps({"metadata": {"gap_seconds": 32}, "data": [1], "prices": [0.918]})
    assert len(rows(read_text("spot_traces", text, PATH))) == 1


# --- what neither the path nor a parameter says is asked for ---


def test_a_trace_without_a_date_asks_for_the_parameter() -> None:
    error = refusal(1, name="us-east-2b_v100_1.json")
    assert (error.code, error.column) == ("start_missing", "starts_on")
    assert "parameter starts_on" in error.expected


@pytest.mark.parametrize("missing", ["zone", "measures", "trace", "accelerator", "gpu_count"])
def test_whatever_else_is_missing_is_asked_for_by_name(missing: str) -> None:
    error = refusal(1, **{name: value for name, value in GIVEN.items() if name != missing})
    assert (error.code, error.column) == (f"{missing}_missing", missing)


def test_parameters_do_what_a_path_does() -> None:
    (row,) = rows(trace(2, name="trace.json", **GIVEN))
    assert (row.trace, row.zone, row.measures, row.observed_at) == ("ours", "us-east-2b", "preemption", START)
    assert row.nodes_wanted is None  # as many as could be had
    (row,) = rows(trace(2, name=PATH, measures="preemption", nodes_wanted="4"))
    assert (row.measures, row.nodes_wanted) == ("preemption", Decimal(4))


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"starts_on": "15.02.2023"}, "not_a_date"),
        ({"measures": "both"}, "measures_unknown"),
        ({"zone": "Ohio"}, "zone_unknown"),
        ({"gpu_count": "one"}, "not_a_number"),
        ({"gpu_count": "0"}, "gpu_count_out_of_bounds"),
        ({"nodes_wanted": "-1"}, "nodes_wanted_out_of_bounds"),
    ],
)
def test_a_parameter_that_is_wrong_refuses_the_file(params: dict[str, str], code: str) -> None:
    assert refusal(1, **{**GIVEN, **params}).code == code


def test_a_folder_with_an_impossible_day_refuses_the_file() -> None:
    assert refusal(1, name=PATH.replace("08-27", "13-27")).code == "not_a_date"


# --- refused ---


@pytest.mark.parametrize(
    ("nodes", "rule"),
    [
        (-1, "nodes_not_whole"),
        (0.5, "nodes_not_whole"),
        (None, "not_a_number"),
        (True, "not_a_number"),
        ("many", "not_a_number"),
        ([], "not_a_number"),
        (17, "nodes_above_wanted"),
    ],
)
def test_a_tick_that_is_wrong_is_refused_alone(nodes: object, rule: str) -> None:
    reading = trace(1, nodes, 2)
    assert (set(reading.wrong), reading.by_rule) == ({2}, {rule: 1})
    assert steps(reading) == [(0, 1), (600, 2)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"data": [1]}', "json_wrong"),
        ('{"metadata": {"gap_seconds": "195"}, "data": [1]}', "json_wrong"),
        ('{"metadata": {"gap_seconds": 0}, "data": [1]}', "gap_wrong"),
        ('{"metadata": {"gap_seconds": 86401}, "data": [1]}', "gap_wrong"),
        ('{"metadata": {"gap_seconds": 195}, "data": []}', "empty_file"),
        ('{"metadata": {"gap_seconds": 195}, "data": [1, 0', "json_wrong"),
        ("[1, 2]", "json_wrong"),
    ],
)
def test_what_is_no_trace_is_refused(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("spot_traces", text, PATH)
    assert caught.value.code == code


# --- a cluster's log ---


def test_of_two_rows_at_one_time_the_later_counts() -> None:
    reading = log("0,0", "21529,0", "21529,4", "21556,4", "21556,12", "88194,8")
    assert steps(reading) == [(0, 0), (21529, 4), (21556, 12), (88194, 8)]
    assert {line: error.rule for line, error in reading.out_of_scope.items()} == {
        2: "before_the_step",
        4: "before_the_step",
    }


def test_a_log_in_seconds_is_told_by_the_span_of_its_name() -> None:
    reading = log("0,0", "88194,7")  # 24.5 hours; the name spans 26.5
    (row, last) = rows(reading)
    assert (row.observed_at, last.observed_at) == (
        datetime(2020, 11, 20, 19, 30, tzinfo=UTC),
        datetime(2020, 11, 21, 19, 59, 54, tzinfo=UTC),
    )
    assert (row.zone, row.accelerator_name, row.gpu_count) == ("us-east-1c", "T4", Decimal(1))
    assert (row.measures, row.nodes_wanted) == ("preemption", None)


def test_a_log_in_hours_is_told_by_the_span_of_its_name() -> None:
    reading = log("0.000,0", "0.030,9", "88.695,14", name=ZONELESS_LOG, zone="us-east-1c")
    assert steps(reading) == [(0, 0), (108, 9), (319_302, 14)]
    assert rows(reading)[0].accelerator_name == "K80"


def test_the_unit_may_be_given() -> None:
    reading = log("0,0", "2,4", name="cluster.csv", time_unit="minutes", **GIVEN)
    assert steps(reading) == [(0, 0), (120, 4)]


def test_a_log_whose_unit_nothing_says_asks_for_it() -> None:
    with pytest.raises(FileError, match="time_unit_missing") as caught:
        log("0,0", "2,4", name="cluster.csv", **GIVEN)
    assert caught.value.column == "time_unit"
    with pytest.raises(FileError, match="time_unit_unknown"):
        log("0,0", "2,4", name="cluster.csv", time_unit="days", **GIVEN)
    with pytest.raises(FileError, match="time_unit_missing"):
        log("0,0", "999999,4")  # longer than the span of the name, in any unit


def test_a_log_that_does_not_name_its_zone_asks_for_it() -> None:
    with pytest.raises(FileError, match="zone_missing"):
        log("0.000,0", "88.695,14", name=ZONELESS_LOG)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("5,1,1", "field_count"),
        ("7", "field_count"),
        ("later,1", "not_a_number"),
        ("-5,1", "not_a_number"),
        ("50,", "not_a_number"),
        ("50,1.5", "nodes_not_whole"),
        ("10,3", "time_goes_back"),
    ],
)
def test_a_row_that_is_wrong_is_refused_alone(line: str, rule: str) -> None:
    reading = log("0,0", "20,2", line, "88194,7")
    assert {at: error.rule for at, error in reading.wrong.items()} == {3: rule}
    assert steps(reading) == [(0, 0), (20, 2), (88194, 7)]


# --- recognised ---


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        ('{"metadata": {"gap_seconds": 195}, "data": [0, 0', True),
        ("0,0\n21529,0\n21529,4\n", True),
        ("0.000,0\r\n0.030,0\r\n", True),
        ("provider,sku\n1,2\n", False),
        ("0,0\n", False),
        ("0,0,0\n0,0,0\n", False),
        ("", False),
    ],
)
def test_a_file_is_recognised_by_its_start(head: str, is_ours: bool) -> None:
    assert spot_traces.looks_like(head, "file") is is_ours


def test_there_is_nothing_to_fetch() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        spot_traces.fetch({}, START)

"""State what becomes of every real spot file. Expected counts come from csv, json and gzip alone."""

import csv
import gzip
import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from costs.rows import FileError, InterruptionRow, SpotCapacityRow, SpotPriceRow
from costs.sources import SOURCES
from costs.sources.aws_spot_history_zones import place_of
from costs.steps import Run, merge

from .readings import Reading, read, read_path

pytestmark = pytest.mark.shared

DUMPS = "aws_describe_spot_price_history_us-east-1_2021-03_2021-05"
CSV = "aws_spot_price_history_accelerated_2019-12_2021-05.csv.gz"
VIDEO = ("vt1.3xlarge", "vt1.6xlarge", "vt1.24xlarge")  # transcoders: no GPU, no training chip
Key = tuple[str, str, str]  # type, zone, product
Raw = tuple[datetime, Decimal]


@pytest.fixture(scope="module")
def spot(shared: Path) -> Path:
    return shared / "data" / "spot"


def in_csv(spot: Path) -> list[dict[str, str]]:
    with gzip.open(spot / CSV, "rt", newline="") as file:
        return list(csv.DictReader(file))


def prices(reading: Reading) -> list[SpotPriceRow]:
    return [row for row in reading.rows if isinstance(row, SpotPriceRow)]


def test_each_file_is_recognised_by_its_own_source_and_no_other_file_is(shared: Path) -> None:
    ours = ("aws_spot_history", "aws_zones", "spot_advisor", "spot_traces")
    found: dict[str, set[str]] = defaultdict(set)
    for path in (path for path in (shared / "data").rglob("*") if path.is_file()):
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = file.read(64 << 10)
        claimed = {
            name for name in ours if SOURCES[name].looks_like(head.decode("utf-8", "replace"), path.name)
        }
        assert len(claimed) <= 1, path
        for name in claimed:
            found[name].add(str(path.relative_to(shared / "data")))
    assert {name: len(files) for name, files in found.items()} == {
        "aws_spot_history": 20 + 3, "spot_advisor": 4, "spot_traces": 27 + 2,
    }  # fmt: skip
    assert all(file.startswith("spot/") for files in found.values() for file in files)


# --- price histories ---


def test_every_row_of_every_dump_is_kept(spot: Path) -> None:
    files = sorted((spot / DUMPS).iterdir())
    assert len(files) == 20
    total = 0
    for path in files:
        raw = json.loads(gzip.decompress(path.read_bytes()))["SpotPriceHistory"]
        reading = read_path("aws_spot_history", path)
        assert (reading.lines, len(reading.kept), reading.by_rule) == (len(raw), len(raw), {}), path.name
        assert [
            (row.zone, row.sku, row.product, row.price_per_hour, row.observed_at) for row in prices(reading)
        ] == [
            (
                each["AvailabilityZone"],
                each["InstanceType"],
                each["ProductDescription"],
                Decimal(each["SpotPrice"]),
                datetime.fromisoformat(each["Timestamp"]),
            )
            for each in raw
        ], path.name
        assert reading.scopes == {"us-east-1"}
        assert {row.zone_kind for row in prices(reading)} == {"name"}
        total += len(raw)
    assert total == 35_031  # the other 3,485 recorded rows lie in the CSV alone


def test_the_plain_dump_is_kept_whole(spot: Path) -> None:
    path = spot / "aws_describe_spot_price_history_g4dn.8xlarge_linux_2021.json"
    raw = json.loads(path.read_text())["SpotPriceHistory"]
    reading = read_path("aws_spot_history", path)
    assert (len(reading.kept), reading.by_rule, len(raw)) == (932, {}, 932)
    assert reading.info.as_of == max(datetime.fromisoformat(each["Timestamp"]) for each in raw)


def test_every_row_of_the_csv_is_kept(spot: Path) -> None:
    raw = in_csv(spot)
    reading = read_path("aws_spot_history", spot / CSV)
    assert (len(reading.kept), reading.by_rule) == (48_772, {})
    assert Counter(row.region for row in prices(reading)) == Counter(
        each["AvailabilityZone"][:-1] for each in raw
    )
    assert sum(row.region == "us-east-1" for row in prices(reading)) == 38_516
    assert Counter((row.sku, row.product) for row in prices(reading)) == Counter(
        (each["InstanceType"], each["ProductDescription"]) for each in raw
    )


def test_oddity_13_rows_with_ids_are_kept_as_such_and_those_of_transcoders_are_not_ours(spot: Path) -> None:
    path = spot / "aws_spot_prices_az_id_2022-05-31_accelerated.tsv"
    raw = [line.split("\t") for line in path.read_text().splitlines()]
    reading = read_path("aws_spot_history", path)
    video = sum(fields[1] in VIDEO for fields in raw)
    assert (len(raw), video) == (1_914, 24)
    assert reading.by_rule == {"not_accelerated": video}
    assert len(reading.kept) == 1_890
    assert {row.zone_kind for row in prices(reading)} == {"id"}
    assert {row.zone for row in prices(reading)} == {fields[0] for fields in raw}
    assert len(reading.scopes) == 17
    assert reading.info.as_of == datetime(2022, 5, 31, 23, 59, 29, tzinfo=UTC)


def test_oddity_13_the_regions_of_ids_are_those_of_the_catalogue(shared: Path) -> None:
    path = shared / "data" / "prices" / "skypilot_aws_p4-p6_v8.csv"
    with path.open(newline="") as file:
        listed = {(row["AvailabilityZone"], row["Region"]) for row in csv.DictReader(file)}
    assert len(listed) > 30
    assert {(zone, place_of("zone", zone)[0]) for zone, _ in listed} == listed


# --- change points ---


def raw_series(rows: Iterable[dict[str, str]], region: str) -> dict[Key, list[Raw]]:
    """Return the observations of each series, oldest first, from the file's own text."""
    found: dict[Key, list[Raw]] = defaultdict(list)
    for row in rows:
        if row["AvailabilityZone"].startswith(region):
            key = (row["InstanceType"], row["AvailabilityZone"], row["ProductDescription"])
            found[key].append((datetime.fromisoformat(row["Timestamp"]), Decimal(row["SpotPrice"])))
    return {key: sorted(observed) for key, observed in found.items()}


def changes(observed: Sequence[Raw]) -> int:
    return 1 + sum(before[1] != after[1] for before, after in pairwise(observed))


def assert_same_function(runs: Sequence[Run], observed: Sequence[Raw]) -> None:
    """Compare at every raw moment, just before each and half way to the next."""
    starts, moments = [run.starts_at for run in runs], [at for at, _ in observed]
    probes = set(moments)
    probes |= {at - timedelta(microseconds=1) for at in moments[1:]}
    probes |= {before + (after - before) / 2 for before, after in pairwise(moments)}
    for probe in probes:
        raw = observed[bisect_right(moments, probe) - 1][1]
        assert runs[bisect_right(starts, probe) - 1].value == raw


@pytest.fixture(scope="module")
def us_east_1(spot: Path) -> dict[Key, list[Raw]]:
    return raw_series(in_csv(spot), "us-east-1")


@pytest.fixture(scope="module")
def parsed(spot: Path) -> dict[Key, list[Any]]:
    """Return the same observations as the source reads them, in the file's order."""
    found: dict[Key, list[Any]] = defaultdict(list)
    reading = read_path("aws_spot_history", spot / CSV)
    for line, (row,) in reading.kept.items():
        assert isinstance(row, SpotPriceRow)
        if row.region == "us-east-1":
            found[row.sku, row.zone, row.product].append((row.observed_at, row.price_per_hour, (1, line)))
    return found


def test_recorded_rows_become_change_points_that_say_the_same(
    us_east_1: dict[Key, list[Raw]], parsed: dict[Key, list[Any]]
) -> None:
    points = 0
    assert set(parsed) == set(us_east_1)
    assert sum(map(len, parsed.values())) == 38_516
    for key, observed in us_east_1.items():
        runs = merge([], parsed[key], gaps=True)
        assert len(runs) == changes(observed)
        assert (runs[0].starts_at, runs[-1].last_seen_at) == (observed[0][0], observed[-1][0])
        assert [run.follows_gap for run in runs] == [True] + [False] * (len(runs) - 1)
        assert_same_function(runs, observed)
        points += len(runs)
    assert (len(us_east_1), points) == (360, 6_572)


def windows_of(observed: Sequence[Any]) -> list[list[Any]]:
    """Return three months' answers as AWS gives them: with the last price before each start."""
    found = []
    for start, end in (
        ("2021-01-01", "2021-03-31"),
        ("2021-03-25", "2021-05-01"),
        ("2021-05-01", "2021-07-01"),
    ):
        first, last = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (start, end))
        within = [each for each in observed if first <= each[0] < last]
        before = [each for each in observed if each[0] < first]
        found.append(([max(before)] if before else []) + within)
    return found


def test_windows_in_any_order_and_twice_give_the_same_change_points(parsed: dict[Key, list[Any]]) -> None:
    for observed in parsed.values():
        at_once = merge([], observed, gaps=True)
        windows = windows_of(observed)
        assert sum(map(len, windows)) > len(observed)
        for order in permutations([*windows, windows[0]], 4):
            runs: list[Run] = []
            for window in order:
                runs = merge(runs, window, gaps=True)
            assert runs == at_once


def test_a_window_that_is_not_loaded_leaves_a_gap_that_nothing_is_said_of(
    parsed: dict[Key, list[Any]],
) -> None:
    observed = sorted(parsed["p3.2xlarge", "us-east-1a", "Linux/UNIX"])
    first, last = observed[:20], observed[-20:]
    runs = merge(merge([], last, gaps=True), first, gaps=True)
    # one price all along, which makes one run; two since nobody watched what lies between
    assert [(run.value, run.follows_gap) for run in runs] == [(Decimal("0.918"), True)] * 2
    assert runs[0].last_seen_at == first[-1][0]


def test_oddity_12_a_price_that_is_given_again_each_day_is_one_run(spot: Path) -> None:
    found = defaultdict(list)
    for row in prices(read_path("aws_spot_history", spot / DUMPS / "p3.2xlarge.json.gz")):
        if row.product == "Linux/UNIX":
            found[row.zone].append((row.observed_at, row.price_per_hour, None))
    assert sum(map(len, found.values())) == 288
    for observed in found.values():
        (run,) = merge([], observed, gaps=True)
        assert run.value == Decimal("0.918")


def test_oddity_14_licences_add_a_fixed_fee_and_inf1_has_no_windows(
    us_east_1: dict[Key, list[Raw]],
) -> None:
    fees = defaultdict(set)
    for (sku, zone, product), observed in us_east_1.items():
        if product in ("Red Hat Enterprise Linux", "SUSE Linux"):
            plain = dict(us_east_1[sku, zone, "Linux/UNIX"])
            fees[sku, product] |= {price - plain[at] for at, price in observed if at in plain}
        assert not (sku.startswith("inf1.") and product == "Windows")
    assert len(fees) == 44
    assert all(len(fee) == 1 and min(fee) > 0 for fee in fees.values())


# --- the advisor ---


ACCELERATED = frozenset(
    (
        *("dl1", "dl2q", "g2", "g3", "g3s", "g4ad", "g4dn", "g5", "g5g", "g6", "g6e", "gr6", "inf1", "inf2"),
        *("p2", "p3", "p3dn", "p4d", "p4de", "p5", "p5en", "trn1", "trn1n"),
    )
)


@pytest.mark.parametrize(
    ("name", "entries", "kept"),
    [
        ("aws_spot_advisor_accelerated_2021-02-10.json", 515, 515),
        ("aws_spot_advisor_accelerated_2024-02-28.json", 1_032, 1_020),
        ("aws_spot_advisor_accelerated_2025-06-28.json", 1_376, 1_364),
        ("aws_spot_advisor_full_2025-06-28.json.gz", 25_323, 1_428),
    ],
)
def test_the_advisor_is_kept_for_accelerated_types(spot: Path, name: str, entries: int, kept: int) -> None:
    data = (spot / name).read_bytes()
    raw = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    flat = [
        (region, system, sku, entry["r"], entry["s"])
        for region, systems in raw["spot_advisor"].items()
        for system, types in systems.items()
        for sku, entry in types.items()
    ]
    ours = [row for row in flat if row[2].split(".")[0] in ACCELERATED]
    assert len(ours) == kept
    reading = read_path("spot_advisor", spot / name)
    rows = [row for row in reading.rows if isinstance(row, InterruptionRow)]
    assert (len(flat), reading.lines, len(rows)) == (entries, entries, kept)
    assert reading.by_rule == ({"not_accelerated": entries - kept} if entries > kept else {})
    said = {row[:3]: row[3:] for row in flat}
    for row in rows:
        assert row.saving_share is not None
        assert (row.band, row.saving_share * 100) == said[row.region, row.product, row.sku]
    date = name.removesuffix(".gz").removesuffix(".json")[-10:]
    assert reading.info.as_of == datetime.fromisoformat(f"{date}T00:00:00+00:00")
    assert reading.scopes == {region for region, *_ in ours}


def test_oddity_15_the_maxima_of_the_bands_are_not_what_their_labels_say(spot: Path) -> None:
    path = spot / "aws_spot_advisor_accelerated_2025-06-28.json"
    published = {each["index"]: each["max"] for each in json.loads(path.read_text())["ranges"]}
    assert published == {0: 5, 1: 11, 2: 16, 3: 22, 4: 100}
    ends = {
        row.band: row.share_high and row.share_high * 100
        for row in read_path("spot_advisor", path).rows
        if isinstance(row, InterruptionRow)
    }
    assert ends == {0: 5, 1: 10, 2: 15, 3: 20, 4: None}


def test_the_file_of_all_types_has_what_its_slice_has_and_the_gr6_that_it_lacks(spot: Path) -> None:
    whole = read_path("spot_advisor", spot / "aws_spot_advisor_full_2025-06-28.json.gz")
    part = read_path("spot_advisor", spot / "aws_spot_advisor_accelerated_2025-06-28.json")
    more = [row for row in whole.rows if isinstance(row, InterruptionRow) and row not in set(part.rows)]
    assert set(part.rows) <= set(whole.rows)
    assert {row.sku for row in more} == {"gr6.4xlarge", "gr6.8xlarge"}
    assert len(more) == 64


# --- traces ---

TRACES = "skypilot_spot_traces"


def test_every_trace_is_kept_as_its_steps(spot: Path) -> None:
    files = sorted((spot / TRACES).rglob("*.json.gz"))
    assert len(files) == 27
    lines, gaps = 0, set()
    for path in files:
        raw = json.loads(gzip.decompress(path.read_bytes()))
        data, gap = raw["data"], raw["metadata"]["gap_seconds"]
        gaps.add(gap)
        name = str(path.relative_to(spot))
        with path.open("rb") as file:
            reading = read("spot_traces", file, name)
        expected = [
            (at, nodes) for at, nodes in enumerate(data) if at in (0, len(data) - 1) or nodes != data[at - 1]
        ]
        assert (len(reading.kept), reading.by_rule) == (len(expected), {}), name
        rows = [row for row in reading.rows if isinstance(row, SpotCapacityRow)]
        start = rows[0].observed_at
        assert [((row.observed_at - start).total_seconds() / gap, row.nodes) for row in rows] == expected
        assert f"{start:%m-%d-%Y}" in name
        assert {row.measures for row in rows} == {name.split("/")[1]}
        assert {row.nodes_wanted for row in rows} == {int(name.split("/")[2].removesuffix("-node"))}
        assert {f"{row.zone}_{row.accelerator_name.lower()}_{row.gpu_count}" for row in rows} == {
            path.name.removesuffix(".json.gz")
        }
        lines += len(rows)
    assert gaps == {32, 195, 300, 600}
    assert lines == 8_837  # of 319,071 ticks; 8,811 change the count


def test_a_trace_without_its_folder_asks_for_its_date(spot: Path) -> None:
    path = spot / TRACES / "availability/1-node/aws-02-15-2023/us-east-1a_v100_1.json.gz"
    with pytest.raises(FileError, match="start_missing"):
        read_path("spot_traces", path)


@pytest.mark.parametrize(
    ("name", "params", "seconds_per_unit"),
    [
        ("bamboo_aws-spot-instances-g4dn-xlarge-us-east-1c-2020-11-20-1930-to-2020-11-21-2200.csv", {}, 1),
        # which zone is not said anywhere
        ("bamboo_aws-spot-instances-p2-xlarge-2020-11-20-to-2020-11-23.csv", {"zone": "us-east-1c"}, 3600),
    ],
)
def test_the_logs_of_clusters_are_kept_as_the_later_of_two_rows_at_one_time(
    spot: Path, name: str, params: dict[str, str], seconds_per_unit: int
) -> None:
    with (spot / name).open(newline="") as file:
        raw = [(Decimal(elapsed), int(nodes)) for elapsed, nodes in csv.reader(file)]
    later = dict(raw)  # of one key the last value stays
    reading = read_path("spot_traces", spot / name, params)
    rows = [row for row in reading.rows if isinstance(row, SpotCapacityRow)]
    assert reading.lines == len(raw)
    assert reading.by_rule == {"before_the_step": len(raw) - len(later)}
    start = rows[0].observed_at
    assert [(row.observed_at - start, row.nodes) for row in rows] == [
        (timedelta(seconds=float(elapsed * seconds_per_unit)), nodes) for elapsed, nodes in later.items()
    ]


def test_the_log_that_names_no_zone_is_refused_until_one_is_given(spot: Path) -> None:
    with pytest.raises(FileError, match="zone_missing"):
        read_path("spot_traces", spot / "bamboo_aws-spot-instances-p2-xlarge-2020-11-20-to-2020-11-23.csv")

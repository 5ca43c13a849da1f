"""State how changes of a cloud catalogue are read, and how Google's halves become machines."""

from datetime import UTC, datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.rows import FileError, PriceRow
from costs.sources import price_changes

from .readings import Reading, packed, read_bytes, read_text

HEADER = "observed_at,cloud,instance_type,accelerator,accelerator_count,region,zone,price,spot_price,event"
NAME = "changes.csv"
T1, T2, T3 = "2026-04-02T10:55:58-05:00", "2026-04-13T18:51:44+00:00", "2026-04-27T10:09:42+00:00"
UTC1 = "2026-04-02T15:55:58+00:00"


def changes(*lines: str) -> Reading:
    return read_text("catalogue_changes", "\n".join([HEADER, *lines, ""]), NAME)


def azure(at: str, price: str, spot: str, event: str = "changed", machine: str = "NC24ads_A100_v4") -> str:
    return f"{at},azure,Standard_{machine},A100-80GB,1,westus2,,{price},{spot},{event}"


def host(at: str, machine: str, price: str, spot: str, event: str = "changed", zone: str = "b") -> str:
    return f"{at},gcp,{machine},,,us-west4,us-west4-{zone},{price},{spot},{event}"


def gpus(
    at: str, name: str, count: str, price: str, spot: str, event: str = "changed", zone: str = "b"
) -> str:
    return f"{at},gcp,,{name},{count},us-west4,us-west4-{zone},{price},{spot},{event}"


Fact = tuple[str, str, str, str, str | None]


def facts(reading: Reading, *lines: int) -> list[Fact]:
    """Return moment, machine, term, state and price of each row."""
    found = []
    for row in [row for line in lines for row in reading.kept[line]] if lines else reading.rows:
        assert isinstance(row, PriceRow)
        assert row.effective_from is not None
        price = None if row.price_per_hour is None else f"{row.price_per_hour.normalize():f}"
        found.append((row.effective_from.isoformat(), row.sku, row.term, row.state, price))
    return found


def rules(reading: Reading) -> dict[int, str]:
    return {line: error.rule for line, error in (reading.wrong | reading.out_of_scope).items()}


# --- offers on one line ---


def test_a_line_is_an_observation_of_two_prices_at_its_moment_in_utc() -> None:
    """Oddity 18: stamps carry offsets."""
    reading = changes(azure(T1, "3.673", "1.1", "initial"))
    assert facts(reading) == [
        (UTC1, "Standard_NC24ads_A100_v4", "on_demand", "priced", "3.673"),
        (UTC1, "Standard_NC24ads_A100_v4", "spot", "priced", "1.1"),
    ]
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.provider, row.accelerator_name, row.gpu_count, row.region) == (
        *("azure", "A100-80GB", 1, "westus2"),
    )
    assert reading.info.as_of == datetime(2026, 4, 2, 15, 55, 58, tzinfo=UTC)
    assert reading.scopes == {"azure"}


def test_a_removed_offer_is_not_sold_from_that_moment_on() -> None:
    reading = changes(azure(T1, "3.673", "1.1", "initial"), azure(T2, "", "", "removed"))
    assert [fact[2:] for fact in facts(reading, 3)] == [
        ("on_demand", "not_sold", None),
        ("spot", "not_sold", None),
    ]
    reasons = {row.state_reason for row in reading.kept[3] if isinstance(row, PriceRow)}
    assert reasons == {"the catalogue lists the offer no longer"}


def test_a_blank_price_is_not_sold_on_that_term() -> None:
    reading = changes(azure(T1, "3.673", "", "added"), azure(T2, "", "1.1"))
    assert [fact[2:] for fact in facts(reading)] == [
        ("on_demand", "priced", "3.673"),
        ("spot", "not_sold", None),
        ("on_demand", "not_sold", None),
        ("spot", "priced", "1.1"),
    ]


def test_flapping_between_linux_and_windows_meters_is_left_to_the_gate() -> None:
    """Three hours at 24 cores x 0.046 more, and back: each line is read as it stands."""
    reading = changes(
        azure("2026-05-01T01:34:34+00:00", "3.673", "1.1"),
        azure("2026-05-01T04:45:28+00:00", "4.777", "1.1"),
        azure("2026-05-01T07:20:56+00:00", "3.673", "1.1"),
    )
    assert [fact[4] for fact in facts(reading) if fact[2] == "on_demand"] == ["3.673", "4.777", "3.673"]


def test_a_part_of_a_card_that_the_catalogue_counts_as_a_whole_one_is_refused_by_name() -> None:
    line = f"{T1},azure,Standard_NV4as_v4,MI25,1,westus2,,0.233,0.05,added"
    whole = f"{T1},azure,Standard_NV32as_v4,MI25,1,westus2,,1.864,0.4,added"
    reading = changes(line, whole)
    assert rules(reading) == {2: "gpu_count_wrong"}
    assert reading.out_of_scope[2].expected.startswith("0.125")


def test_a_cloud_of_two_names_stands_under_ours() -> None:
    reading = changes(f"{T1},do,gpu-h100x1-80gb,H100,1,nyc2,,3.39,,added")
    assert reading.scopes == {"digitalocean"}


# --- Google's halves ---


def test_a_machine_costs_its_host_and_its_gpus() -> None:
    """Oddity 9: GPU rows and host rows must be added."""
    reading = changes(
        host(T1, "a2-highgpu-2g", "1.5", "0.6", "initial"),
        gpus(T1, "A100", "2", "5.8", "3", "initial"),
    )
    assert facts(reading) == [
        (UTC1, "a2-highgpu-2g", "on_demand", "priced", "7.3"),
        (UTC1, "a2-highgpu-2g", "spot", "priced", "3.6"),
    ]
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.accelerator_name, row.gpu_count, row.zone) == ("A100", 2, "us-west4-b")
    assert (row.region, row.vcpus, row.memory_gib) == ("us-west4", 24, 170)
    assert rules(reading) == {2: "part_of_machine"}


def test_a_change_of_either_half_is_a_change_of_the_sum() -> None:
    reading = changes(
        gpus(T1, "A100", "2", "5.8", "3", "initial"),
        host(T1, "a2-highgpu-2g", "1.5", "0.6", "initial"),
        gpus(T2, "A100", "2", "5.8", "3.2"),
        host(T3, "a2-highgpu-2g", "1.4", "0.6"),
    )
    spot = [fact for fact in facts(reading) if fact[2] == "spot"]
    assert [(at, price) for at, _, _, _, price in spot] == [(UTC1, "3.6"), (T2, "3.8"), (T3, "3.8")]
    on_demand = [fact[4] for fact in facts(reading) if fact[2] == "on_demand"]
    assert on_demand == ["7.3", "7.3", "7.2"]


def test_halves_that_change_at_one_moment_give_one_sum_in_any_order() -> None:
    first = [gpus(T1, "A100", "2", "5.8", "3", "initial"), host(T1, "a2-highgpu-2g", "1.5", "0.6", "initial")]
    for then in permutations([gpus(T2, "A100", "2", "6", "2"), host(T2, "a2-highgpu-2g", "1", "0.5")]):
        reading = changes(*first, *then)
        assert facts(reading, 5) == [
            (T2, "a2-highgpu-2g", "on_demand", "priced", "7"),
            (T2, "a2-highgpu-2g", "spot", "priced", "2.5"),
        ]
        assert rules(reading)[4] == "part_of_machine"


def test_one_instant_written_in_two_zones_is_one_moment() -> None:
    reading = changes(
        gpus("2026-04-02T10:55:58-05:00", "A100", "2", "5.8", "3", "initial"),
        host("2026-04-02T15:55:58+00:00", "a2-highgpu-2g", "1.5", "0.6", "initial"),
    )
    assert rules(reading) == {2: "part_of_machine"}


def test_a_gpu_of_several_machines_changes_all_of_them() -> None:
    hosts = [host(T1, f"g2-standard-{cores}", f"0.{cores}", "0.1", "initial") for cores in (4, 8)]
    reading = changes(*hosts, gpus(T1, "L4", "1", "0.5", "0.2", "initial"), gpus(T2, "L4", "1", "0.6", "0.2"))
    on_demand = [(at, sku, price) for at, sku, term, _, price in facts(reading) if term == "on_demand"]
    assert on_demand == [
        (UTC1, "g2-standard-4", "0.9"),
        (UTC1, "g2-standard-8", "1.3"),
        (T2, "g2-standard-4", "1"),
        (T2, "g2-standard-8", "1.4"),
    ]


def test_halves_are_added_within_their_zone_only() -> None:
    reading = changes(
        host(T1, "a2-highgpu-2g", "1.5", "0.6", "initial", zone="a"),
        gpus(T1, "A100", "2", "5.8", "3", "initial", zone="b"),
    )
    assert rules(reading) == {2: "gpu_price_missing", 3: "host_price_missing"}
    assert not reading.rows


def test_a_host_that_is_removed_takes_the_machine_with_it() -> None:
    reading = changes(
        gpus(T1, "H100", "1", "4.2", "3.4", "initial"),
        host(T1, "a3-highgpu-1g", "1.2", "0.5", "initial"),
        host(T2, "a3-highgpu-1g", "", "", "removed"),
        gpus(T3, "H100", "1", "4.3", "3.4"),
    )
    assert facts(reading, 4) == [
        (T2, "a3-highgpu-1g", "on_demand", "not_sold", None),
        (T2, "a3-highgpu-1g", "spot", "not_sold", None),
    ]
    assert {fact[3] for fact in facts(reading, 5)} == {"not_sold"}


def test_a_host_at_nothing_makes_the_machine_unknown_not_cheap() -> None:
    reading = changes(
        gpus(T1, "B200", "8", "90.2", "34.2", "initial"), host(T1, "a4-highgpu-8g", "0.0", "0.0", "initial")
    )
    assert {fact[3:] for fact in facts(reading)} == {("unknown", None)}


def test_gpus_without_a_spot_price_are_not_sold_as_spot() -> None:
    reading = changes(
        gpus(T1, "H100-MEGA", "8", "82", "", "initial"), host(T1, "a3-megagpu-8g", "9.5", "3.7", "initial")
    )
    assert [fact[2:] for fact in facts(reading)] == [
        ("on_demand", "priced", "91.5"),
        ("spot", "not_sold", None),
    ]


def test_a_host_without_a_price_leaves_the_sum_unknown() -> None:
    reading = changes(
        gpus(T1, "H100", "1", "4.2", "3.4", "initial"), host(T1, "a3-highgpu-1g", "1.2", "", "initial")
    )
    assert [fact[2:] for fact in facts(reading)] == [
        ("on_demand", "priced", "5.4"),
        ("spot", "unknown", None),
    ]


@pytest.mark.parametrize("name", ["T4", "V100", "P100", "P4", "K80"])
def test_gpus_for_a_machine_of_any_size_have_no_sum(name: str) -> None:
    assert rules(changes(gpus(T1, name, "1", "0.35", "0.1", "initial"))) == {2: "gpu_without_host"}


@given(st.data())
def test_the_sum_is_always_that_of_the_newest_halves(data: st.DataObject) -> None:
    """Follow random changes of both halves with two variables, and compare each moment's sum."""
    steps = data.draw(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 999)), max_size=12))
    lines = [
        gpus("2026-01-01T00:00:00Z", "A100", "1", "3", "2", "initial"),
        host("2026-01-01T00:00:00Z", "a2-highgpu-1g", "1", "1", "initial"),
    ]
    expected = {"2026-01-01T00:00:00+00:00": 4}
    gpu, other = 3, 1
    for hour, (is_gpu, is_host, amount) in enumerate(steps, 1):
        at = f"2026-01-01T{hour:02}:00:00Z"
        if is_gpu:
            gpu = amount
            lines.append(gpus(at, "A100", "1", str(gpu), "2"))
        if is_host:
            other = amount + 1
            lines.append(host(at, "a2-highgpu-1g", str(other), "1"))
        if is_gpu or is_host:
            expected[f"2026-01-01T{hour:02}:00:00+00:00"] = gpu + other
    stated = {at: int(price or 0) for at, _, term, _, price in facts(changes(*lines)) if term == "on_demand"}
    assert stated == expected


# --- refusals ---


@pytest.mark.parametrize(
    ("line", "column", "rule"),
    [
        (azure(T1, "0", "1.1"), "price", "zero_price"),
        (azure(T1, "3,6", "1.1").replace("3,6", '"3,6"'), "price", "not_a_number"),
        (azure(T1, "3.6", "1.1", "vanished"), "event", "word_unknown"),
        (azure(T1, "3.6", "1.1", "removed"), "price", "price_of_removed"),
        (azure(T1, "3.6", "1.1").replace("A100-80GB", ""), "accelerator", "empty"),
        (azure(T1, "3.6", "1.1").replace(",1,west", ",,west"), "accelerator_count", "empty"),
        (azure(T1, "3.6", "1.1").replace("azure", "Azure Cloud"), "cloud", "provider_wrong"),
        (azure(T1, "3.6", "1.1") + ",more", "(line)", "field_count"),
        (gpus(T1, "A100", "3", "9", "4"), "accelerator", "host_unknown"),
        (gpus(T1, "A100", "two", "9", "4"), "accelerator_count", "not_a_number"),
        (gpus(T1, "A100", "2", "0.0", "4"), "price", "zero_price"),
        (
            gpus(T1, "A100", "2", "9", "4").replace(",,A100", ",a2-highgpu-2g,A100"),
            "accelerator",
            "host_with_accelerator",
        ),
    ],
)
def test_a_wrong_line_is_refused_by_rule(line: str, column: str, rule: str) -> None:
    reading = changes(line, azure(T2, "3.6", "1.1"))
    assert [(error.column, error.rule) for error in reading.wrong.values()] == [(column, rule)]
    assert list(reading.kept) == [3]


def test_a_machine_without_gpus_is_named() -> None:
    assert rules(changes(host(T1, "n2-standard-8", "0.4", "0.1"))) == {2: "no_accelerator"}


def test_one_half_with_two_prices_at_one_moment_is_refused_and_makes_no_sum() -> None:
    reading = changes(
        gpus(T1, "A100", "2", "5.8", "3", "initial"),
        gpus(T1, "A100", "2", "5.9", "3", "initial"),
        host(T1, "a2-highgpu-2g", "1.5", "0.6", "initial"),
        host(T2, "a2-highgpu-2g", "1.6", "0.6"),
    )
    assert rules(reading) == {
        2: "two_prices_at_one_moment",
        3: "two_prices_at_one_moment",
        4: "gpu_price_missing",
        5: "gpu_price_missing",
    }


def test_an_unreadable_half_makes_no_sum() -> None:
    reading = changes(
        gpus(T1, "A100", "2", "5.8 USD", "3", "initial"), host(T1, "a2-highgpu-2g", "1.5", "0.6", "initial")
    )
    assert rules(reading) == {2: "not_a_number", 3: "not_a_number"}


def test_lines_out_of_order_spoil_the_file() -> None:
    with pytest.raises(FileError) as caught:
        changes(azure(T2, "3.6", "1.1"), azure(T1, "3.6", "1.1"))
    assert (caught.value.code, caught.value.line, caught.value.column) == ("not_in_order", 3, "observed_at")


@pytest.mark.parametrize(("at", "code"), [("2026-04-02", "time_without_zone"), ("soon", "not_a_time")])
def test_a_moment_that_cannot_be_placed_spoils_the_file(at: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        changes(azure(T1, "3.6", "1.1"), azure(at, "3.6", "1.1"))
    assert (caught.value.code, caught.value.line) == (code, 3)


def test_the_table_is_recognised_by_its_header_and_its_sample_can_be_read() -> None:
    assert price_changes.looks_like(f"{HEADER}\n", "x.csv.gz")
    assert not price_changes.looks_like("date,machine_type,region,hour\n", NAME)
    sample = read_bytes("catalogue_changes", packed(price_changes.TEMPLATE), "changes.csv.gz")
    assert len(sample.kept) == sample.lines == 2
    with pytest.raises(FileError, match="no_fetch"):
        price_changes.fetch({}, datetime(2026, 11, 30, tzinfo=UTC))

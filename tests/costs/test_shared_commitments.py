"""Compare what is kept of real files about AWS with counts worked out from the raw files alone.

Commitments held, Capacity Block rates, lists of ec2instances.info, plain price tables, price histories. The
right-hand side of every comparison uses the csv and json modules and nothing of ours.
"""

import csv
import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.ingest import ingest
from costs.models import IngestRun
from costs.rows import CommitmentRow, FileError, PriceRow
from costs.sources import SOURCES

from .conftest import Take
from .readings import Reading, read_path
from .tables import history

pytestmark = pytest.mark.shared

CHINA = "prices/aws_cn_gpu_instances_vantage_raw_cny.json"
OF_2017 = "commitments/vantage_2017-11_gpu_od_and_reserved_all_terms.json"
NOT_A_GPU = "commitments/vantage_x2iedn32xl_reserved_and_savingsplan_keys.json"
CUT_DOWN = "prices/aws_gpu_instances_all_regions_2026-01-21.json"
BARE_NUMBERS = "commitments/aws_ri_effective_hourly_accelerated_2021-09.json"
DAILY = "prices/aws_p5_48xlarge_us-east-1_daily_2025-04_2026-08.csv"
AZURE_SPOT = "prices/azure_spot_vs_paygo_swedencentral_2025-11-22.csv"
TABLES = (
    "prices/aws_ondemand_us-east-1_accelerated_2026-07-20.csv",
    "prices/aws_us_gov_ondemand_accelerated_2026-07-20.csv",
    "prices/aws_cn_ondemand_cny_accelerated_2024-11-06.csv",
)
BLOCKS = tuple(
    f"commitments/aws_capacity_blocks_ml_{day}.json" for day in ("2026-01-31", "2026-03-01", "2026-07-22")
)
RESERVED = "commitments/placebo/aws_DescribeReservedInstances.json"
PLANS = "commitments/placebo/aws_DescribeSavingsPlans.json"
SOURCE_OF = {
    **dict.fromkeys((CHINA, OF_2017, NOT_A_GPU, CUT_DOWN, BARE_NUMBERS), "vantage"),
    **dict.fromkeys((*TABLES, AZURE_SPOT), "price_table"),
    **dict.fromkeys(BLOCKS, "aws_capacity_blocks"),
    **dict.fromkeys((RESERVED, PLANS), "aws_commitments"),
    DAILY: "price_history_table",
}
Offer = tuple[str, str, str, str]


def raw_json(path: Path) -> Any:
    return json.loads(path.read_text(), parse_float=Decimal)


def raw_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reading_of(shared: Path, file: str, **params: str) -> Reading:
    return read_path(SOURCE_OF[file], shared / "data" / file, params)


def prices(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


def by_offer(reading: Reading) -> dict[Offer, PriceRow]:
    found = {(row.sku, row.region, row.term, row.payment): row for row in prices(reading)}
    assert len(found) == len(reading.rows)
    return found


@pytest.mark.parametrize("file", SOURCE_OF)
def test_a_file_is_recognised_by_its_own_source_and_by_no_other(shared: Path, file: str) -> None:
    path = shared / "data" / file
    head = path.read_bytes()[: 64 << 10].decode("utf-8", "ignore")
    claimed = {
        name
        for name, module in SOURCES.items()
        if hasattr(module, "looks_like") and module.looks_like(head, path.name)
    }
    assert claimed == {SOURCE_OF[file]}


# --- commitments held ---


def test_the_recorded_reservation_is_kept_with_its_fee_and_dates(shared: Path) -> None:
    """A reservation for a whole region does not name it, so the person who loads it does."""
    assert reading_of(shared, RESERVED).by_rule == {"region_unknown": 1}
    reading = reading_of(shared, RESERVED, region="us-east-1", account="012345678901")
    (row,) = reading.rows
    assert isinstance(row, CommitmentRow)
    (record,) = raw_json(shared / "data" / RESERVED)["data"]["ReservedInstances"]
    assert row.commitment == record["ReservedInstancesId"]
    assert (row.sku, row.count, row.state) == ("t2.micro", record["InstanceCount"], "active")
    assert (row.upfront, row.recurring_per_hour) == (30, Decimal("0.0034"))
    assert row.term_hours == Decimal(record["Duration"]) / 3600
    assert row.starts_at == datetime(2019, 2, 23, 11, 25, 3, 340000, tzinfo=UTC)
    assert row.ends_at == datetime(2020, 2, 23, 11, 25, 2, tzinfo=UTC)
    assert reading.info.as_of == datetime(2019, 2, 23, 11, 45, 27, tzinfo=UTC)  # of the answer's headers
    assert row.account == "012345678901"


def test_recorded_plans_are_kept_without_the_payments_that_contradict_them(shared: Path) -> None:
    """2.08 per hour for a commitment of 25.00: the file was edited by hand."""
    reading = reading_of(shared, PLANS)
    records = raw_json(shared / "data" / PLANS)["data"]["SavingsPlans"]
    assert not reading.by_rule
    found = {row.commitment: row for row in reading.rows if isinstance(row, CommitmentRow)}
    assert len(found) == len(records) == 3
    for record in records:
        row = found[record["SavingsPlanId"]]
        assert row.spend_per_hour == Decimal(record["Commitment"])
        hours = Decimal(record["TermDurationInSeconds"]) / 3600
        paid = Decimal(record["UpfrontPaymentAmount"]) + Decimal(record["RecurringPaymentAmount"]) * hours
        assert abs(paid - Decimal(record["Commitment"]) * hours) > paid  # not even half of it
        assert (row.upfront, row.recurring_per_hour) == (None, None)
        assert "do not make" in row.reference
        assert row.region == (record["Region"] if record["SavingsPlanType"] == "EC2Instance" else "")
        assert row.account == "123456789012"
    assert found["sp-34567890123456789"].family == "m5"


# --- Capacity Blocks ---


@pytest.mark.parametrize("file", BLOCKS)
def test_capacity_block_rates_are_kept_where_both_rates_and_the_place_agree(shared: Path, file: str) -> None:
    raw = raw_json(shared / "data" / file)
    expected: dict[tuple[str, str], Decimal] = {}
    refused: Counter[str] = Counter()
    for name, machine in raw["instance_types"].items():
        for rate in machine["pricing"]:
            hourly, each = Decimal(rate["hourly_rate_usd"]), Decimal(rate["accelerator_hourly_rate_usd"])
            if abs(hourly / machine["accelerator_count"] - each) > Decimal("0.001"):
                refused["rate_contradicts_accelerator_rate"] += 1
            elif rate["region_code"] == "unknown":
                refused["region_unknown"] += 1
            else:
                expected[name, rate["region_code"]] = hourly
    reading = reading_of(shared, file)
    assert {(row.sku, row.zone or row.region): row.price_per_hour for row in prices(reading)} == expected
    assert reading.by_rule == dict(refused)
    assert reading.lines == len(expected) + refused.total()
    assert reading.info.as_of == datetime.fromisoformat(raw["metadata"]["last_updated"])


def test_no_capacity_block_of_any_edition_costs_a_seventieth(shared: Path) -> None:
    """Two editions give an UltraServer of 72 accelerators 10.582; the third 72 times that, 761.904."""
    per_gpu = [
        row.price_per_hour / row.gpu_count
        for file in BLOCKS
        for row in prices(reading_of(shared, file))
        if row.accelerator_name == "GB200" and row.price_per_hour is not None
    ]
    assert per_gpu == [Decimal("10.582")] * 2
    assert [reading_of(shared, file).by_rule for file in BLOCKS] == [
        {"rate_contradicts_accelerator_rate": 2},
        {"rate_contradicts_accelerator_rate": 2, "region_unknown": 2},
        {},
    ]


# --- ec2instances.info ---


def platform_rule(platform: str) -> str:
    if platform.startswith("mswin"):
        return "windows"
    return {"dedicated": "dedicated_tenancy"}.get(platform, "other_operating_system")


@pytest.mark.parametrize("file", [CHINA, OF_2017])
def test_every_platform_of_every_machine_and_region_is_accounted_for(shared: Path, file: str) -> None:
    kept, refused = 0, Counter[str]()
    for machine in raw_json(shared / "data" / file):
        if not machine["pricing"]:
            refused["no_region"] += 1
        for platforms in machine["pricing"].values():
            kept += not platforms  # a region that is named without prices is unknown there
            for platform in platforms:
                if platform == "linux":
                    kept += 1
                else:
                    refused[platform_rule(platform)] += 1
    reading = reading_of(shared, file)
    assert (len(reading.kept), reading.by_rule) == (kept, dict(refused))
    assert reading.lines == kept + refused.total()


@pytest.mark.parametrize(("file", "currency"), [(CHINA, "CNY"), (OF_2017, "USD")])
def test_every_reservation_of_a_list_has_its_price_and_every_other_is_not_sold(
    shared: Path, file: str, currency: str
) -> None:
    terms = {"Standard": "reserved", "Convertible": "convertible"}
    payments = {"no": "no_upfront", "partial": "partial_upfront", "all": "all_upfront"}
    found = by_offer(reading_of(shared, file))
    assert {row.currency for row in found.values()} == {currency}
    priced = 0
    for machine in raw_json(shared / "data" / file):
        for region, platforms in machine["pricing"].items():
            if not platforms:
                continue
            linux = platforms["linux"]
            name = machine["instance_type"]
            assert found[name, region, "on_demand", ""].price_per_hour == Decimal(linux["ondemand"])
            for kind, term in terms.items():
                for years in "13":
                    for upfront, payment in payments.items():
                        row = found[name, region, f"{term}_{years}y", payment]
                        text = linux["reserved"].get(f"yrTerm{years}{kind}.{upfront}Upfront")
                        priced += text is not None
                        assert row.price_per_hour == (None if text is None else Decimal(text))
                        assert row.state == ("not_sold" if text is None else "priced")
    assert priced == {CHINA: 37 * 12, OF_2017: 1046}[file]


def test_plan_rates_of_china_are_of_either_plan_and_so_of_neither(shared: Path) -> None:
    """Some equal the standard reservation, as EC2 Instance plans do, and the others are a tenth dearer."""
    ratios = Counter[str]()
    rates = 0
    for machine in raw_json(shared / "data" / CHINA):
        for platforms in machine["pricing"].values():
            reserved = platforms["linux"]["reserved"]
            rates += sum("Savings." in key for key in reserved)
            if "yrTerm1Savings.noUpfront" in reserved and "yrTerm1Standard.noUpfront" in reserved:
                ratio = Decimal(reserved["yrTerm1Savings.noUpfront"]) / Decimal(
                    reserved["yrTerm1Standard.noUpfront"]
                )
                ratios["equal" if ratio == 1 else "dearer" if ratio > Decimal("1.08") else "other"] += 1
    assert set(ratios) == {"equal", "dearer"}
    plans = [row for row in prices(reading_of(shared, CHINA)) if "_plan_" in row.term]
    assert len(plans) == 2 * rates == 540
    assert {(row.state, row.price_per_hour) for row in plans} == {("unknown", None)}


def test_the_g2_of_2017_has_gpus_although_the_list_gives_it_none(shared: Path) -> None:
    counts = {row.sku: row.gpu_count for row in prices(reading_of(shared, OF_2017))}
    raw = {machine["instance_type"]: machine["GPU"] for machine in raw_json(shared / "data" / OF_2017)}
    assert {name for name, count in raw.items() if count == 0} == {"g2.2xlarge", "g2.8xlarge"}
    assert (counts["g2.2xlarge"], counts["g2.8xlarge"]) == (1, 4)
    assert all(counts[name] == count for name, count in raw.items() if count)


def test_a_list_is_dated_by_its_name_or_not_at_all(shared: Path) -> None:
    assert reading_of(shared, CUT_DOWN).info.as_of == datetime(2026, 1, 21, tzinfo=UTC)
    assert reading_of(shared, OF_2017).info.as_of == datetime(2017, 11, 1, tzinfo=UTC)  # the month alone
    assert reading_of(shared, CHINA).info.as_of is None
    assert reading_of(shared, CHINA, as_of="2026-01-21").info.as_of == datetime(2026, 1, 21, tzinfo=UTC)


def test_the_cut_down_list_is_kept_whole(shared: Path) -> None:
    found = by_offer(reading_of(shared, CUT_DOWN))
    on_demand = reserved = 0
    without: list[str] = []
    for machine in raw_json(shared / "data" / CUT_DOWN):
        if not machine["pricing"]:
            without.append(machine["name"])
            continue
        for region, stated in machine["pricing"].items():
            on_demand += 1
            assert found[machine["name"], region, "on_demand", ""].price_per_hour == stated["onDemand"]
            row = found[machine["name"], region, "reserved_1y", "no_upfront"]
            reserved += "reserved" in stated
            assert row.price_per_hour == stated.get("reserved")
            assert row.state == ("priced" if "reserved" in stated else "not_sold")
    assert (on_demand, reserved) == (1157, 803)
    assert sorted(without) == [
        "p5e.48xlarge", "p6e-gb200.36xlarge", "trn2.48xlarge", "u-p6e-gb200x36", "u-p6e-gb200x72",
    ]  # fmt: skip
    elsewhere = {row.sku: row.state for row in found.values() if row.region == "global"}
    assert elsewhere == dict.fromkeys(set(without) - {"trn2.48xlarge"}, "reservation_only")
    reading = reading_of(shared, CUT_DOWN)
    assert reading.by_rule == {"no_region": 1}
    assert reading.lines == on_demand + len(without)


def test_names_that_the_cut_down_list_has_wrong_are_ours(shared: Path) -> None:
    theirs = {machine["name"]: machine["gpu"] for machine in raw_json(shared / "data" / CUT_DOWN)}
    ours = {row.sku: row.accelerator_name for row in prices(reading_of(shared, CUT_DOWN))}
    wrong = {
        "g5g.xlarge": "T4G",
        "g6f.large": "L4",
        "p4de.24xlarge": "A100-80GB",
        "p3dn.24xlarge": "V100-32GB",
    }
    assert theirs["g5g.xlarge"] == "ARM Mali-G78MP12"
    assert {name: ours[name] for name in wrong} == wrong


def test_local_and_wavelength_zones_are_regions_of_their_own(shared: Path) -> None:
    regions = {row.region for row in prices(reading_of(shared, CUT_DOWN))}
    assert {"us-east-1-atl-1", "us-west-2-lax-1", "eu-central-1-wl1-ber1"} <= regions


def test_a_machine_without_gpu_is_none_of_ours(shared: Path) -> None:
    machine = raw_json(shared / "data" / NOT_A_GPU)
    reading = reading_of(shared, NOT_A_GPU)
    lines = sum(len(platforms) for platforms in machine["pricing"].values())
    assert (reading.lines, reading.by_rule) == (lines, {"no_accelerator": lines})


def test_one_number_per_type_and_region_does_not_say_what_it_is_for(shared: Path) -> None:
    numbers = raw_json(shared / "data" / BARE_NUMBERS)
    assert len(numbers) == 295
    assert all(isinstance(number, Decimal | int) for number in numbers.values())
    with pytest.raises(FileError, match="term_unknown"):
        reading_of(shared, BARE_NUMBERS)


# --- plain tables ---


@pytest.mark.parametrize("file", TABLES)
def test_a_plain_table_is_kept_but_for_its_video_chips(shared: Path, file: str) -> None:
    lines = raw_csv(shared / "data" / file)
    expected = {
        (line["region"], line["instance_type"]): (Decimal(line["price_per_hour"]), line["currency"])
        for line in lines
        if not line["instance_type"].startswith("vt1.")
    }
    reading = reading_of(shared, file)
    assert {(row.region, row.sku): (row.price_per_hour, row.currency) for row in prices(reading)} == expected
    video = len(lines) - len(expected)
    assert reading.by_rule == ({"no_accelerator": video} if video else {})
    assert reading.lines == len(lines)
    assert {row.provider for row in prices(reading)} == {"aws"}


def test_of_azures_comparison_the_linux_lines_with_gpus_are_kept(shared: Path) -> None:
    lines = raw_csv(shared / "data" / AZURE_SPOT)
    with_gpu = [line for line in lines if line["armSkuName"].startswith("Standard_N")]
    linux = [line for line in with_gpu if not line["Product Name"].endswith("Windows")]
    reading = reading_of(shared, AZURE_SPOT)
    assert {(row.sku, row.term, row.price_per_hour) for row in prices(reading)} == {
        (line["armSkuName"], term, Decimal(line[column]))
        for line in linux
        for term, column in (("spot", "Spot Unit Price"), ("on_demand", "PayGo Unit Price"))
    }
    assert reading.by_rule == {
        "windows": len(with_gpu) - len(linux),
        "no_accelerator": len(lines) - len(with_gpu),
    }
    assert (len(lines), len(with_gpu), len(linux)) == (14, 8, 4)


def test_the_same_pay_as_you_go_price_stands_on_the_windows_lines(shared: Path) -> None:
    by_system: dict[str, dict[str, str]] = {}
    for line in raw_csv(shared / "data" / AZURE_SPOT):
        system = "windows" if line["Product Name"].endswith("Windows") else "linux"
        by_system.setdefault(system, {})[line["armSkuName"]] = line["PayGo Unit Price"]
    assert by_system["windows"] == by_system["linux"]


# --- day by day ---


def test_every_day_with_a_price_is_an_observation(shared: Path) -> None:
    lines = raw_csv(shared / "data" / DAILY)
    blank = sum(not line["price_usd"] for line in lines)
    assert (len(lines), blank) == (500, 13)
    reading = reading_of(shared, DAILY)
    assert (len(reading.kept), reading.by_rule) == (487, {"no_observation": 13})
    assert Counter(row.price_per_hour for row in prices(reading)) == {
        Decimal("98.32"): 44,
        Decimal("55.04"): 443,
    }
    stamps = [line["timestamp"] for line in lines]
    assert stamps != sorted(stamps)
    assert {len(stamp) for stamp in stamps} == {10, 19}  # dates and moments, none with a zone


def test_no_day_contradicts_itself_and_the_cut_is_of_5_june_2025(shared: Path) -> None:
    by_day: dict[str, set[str]] = {}
    for line in raw_csv(shared / "data" / DAILY):
        if line["price_usd"]:
            by_day.setdefault(line["timestamp"][:10], set()).add(line["price_usd"])
    assert all(len(found) == 1 for found in by_day.values())
    assert max(day for day, found in by_day.items() if found == {"98.32"}) == "2025-06-04"
    assert min(day for day, found in by_day.items() if found == {"55.04"}) == "2025-06-05"


def test_the_daily_file_shows_the_cut_as_one_change(shared: Path, take: Take) -> None:
    path = shared / "data" / DAILY
    run = ingest(
        "price_history_table", file=path, name=path.name, params={}, requested_by="shell",
        now=datetime(2026, 11, 30, 12, tzinfo=UTC),
    )  # fmt: skip
    assert run.status == IngestRun.Status.DONE
    assert history("p5.48xlarge") == [
        ("98.32", "2025-04-23", "2025-06-05"),
        ("55.04", "2025-06-05", None),
    ]

"""State what is kept of the lists of ec2instances.info, whole and cut down."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import vantage

from .readings import Reading, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAYMENTS = ("no_upfront", "partial_upfront", "all_upfront")
KEYS = {
    f"yrTerm{years}{kind}.{upfront}Upfront": (f"{term}_{years}y", payment)
    for kind, term in (("Standard", "reserved"), ("Convertible", "convertible"))
    for years in "13"
    for upfront, payment in zip(("no", "partial", "all"), PAYMENTS, strict=True)
}
Offer = tuple[str, str]


def linux(ondemand: Any = "55.04", **reserved: Any) -> dict[str, Any]:
    """Return the prices of one platform; _ stands for the point in a key."""
    return {
        "ondemand": ondemand,
        "spot_avg": "21.5",
        "pct_interrupt": "5-10%",
        "reserved": {key.replace("_", "."): value for key, value in reserved.items()},
    }


def machine(name: str = "p5.48xlarge", gpus: Any = 8, **pricing: Any) -> dict[str, Any]:
    """Return a machine of the whole list; _ stands for the hyphen in a region's code."""
    return {
        "instance_type": name,
        "pretty_name": "P5",
        "family": "GPU instance",
        "vCPU": 192,
        "memory": 2048,
        "GPU": gpus,
        "GPU_model": "NVIDIA H100",
        "pricing": {region.replace("_", "-"): platforms for region, platforms in pricing.items()},
    }


def cut_down(name: str = "g6.xlarge", gpus: Any = 1, **pricing: Any) -> dict[str, Any]:
    return {
        "name": name,
        "apiName": name,
        "gpu": "NVIDIA L4",
        "gpuCount": gpus,
        "vcpu": 4,
        "memory": "16 GB",
        "pricing": {region.replace("_", "-"): prices for region, prices in pricing.items()},
        "availability": [],
    }


def reading_of(*machines: Any, name: str = "instances.json", **params: str) -> Reading:
    return read_text("vantage", json.dumps(list(machines)), name, params)


def rows(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


def by_offer(reading: Reading) -> dict[Offer, PriceRow]:
    found = {(row.term, row.payment): row for row in rows(reading)}
    assert len(found) == len(reading.rows)
    return found


# --- the whole list ---


def test_each_term_has_its_price_and_a_term_without_key_is_not_sold() -> None:
    prices = {key: f"{20 + number}.000001" for number, key in enumerate(KEYS)}
    missing = "yrTerm3Standard.noUpfront"
    reserved = {key.replace(".", "_"): price for key, price in prices.items() if key != missing}
    found = by_offer(reading_of(machine(us_east_1={"linux": linux(**reserved)})))
    assert found["on_demand", ""].price_per_hour == Decimal("55.04")
    assert len(found) == 1 + len(KEYS)
    for key, offer in KEYS.items():
        if key == missing:
            assert (found[offer].state, found[offer].price_per_hour) == ("not_sold", None)
            assert found[offer].state_reason
        else:
            assert found[offer].price_per_hour == Decimal(prices[key])


def test_a_machine_is_described_by_our_table_and_the_lists_counts() -> None:
    (row, *_) = rows(reading_of(machine(us_east_1={"linux": linux()})))
    assert (row.sku, row.accelerator_name, row.gpu_count) == ("p5.48xlarge", "H100", 8)
    assert (row.vcpus, row.memory_gib, row.currency) == (192, 2048, "USD")


def test_only_plain_linux_is_ours_and_the_rest_is_counted_by_name() -> None:
    platforms = {
        "linux": linux(),
        "mswin": linux("90"),
        "mswinSQL": linux("99"),
        "rhel": linux("56"),
        "ubuntu": linux("57"),
        "dedicated": linux("58"),
        "linuxSQLWeb": linux("70"),
        "emr": {"emr": "0.27"},
        "ebs": "0.1",
    }
    reading = reading_of(machine(us_east_1=platforms))
    assert reading.lines == len(platforms)
    assert set(reading.kept) == {1}
    assert reading.by_rule == {
        "windows": 2,
        "other_operating_system": 2,
        "dedicated_tenancy": 1,
        "preinstalled_software": 1,
        "surcharge": 2,
    }


def test_prices_may_be_numbers_or_text_and_keep_every_digit() -> None:
    text = json.dumps([machine(us_east_1={"linux": linux(ondemand="@")})]).replace('"@"', "21.9576420001")
    assert rows(read_text("vantage", text, "a.json"))[0].price_per_hour == Decimal("21.957642000")
    (row, *_) = rows(reading_of(machine(us_east_1={"linux": linux(ondemand="21.957642")})))
    assert row.price_per_hour == Decimal("21.957642")


def test_china_is_priced_in_yuan_although_the_list_has_no_currency() -> None:
    reading = reading_of(
        machine("p4d.24xlarge", cn_northwest_1={"linux": linux()}, cn_north_1_pkx_1={"linux": linux()}),
        machine(us_gov_west_1={"linux": linux()}),
    )
    currencies = {row.region: row.currency for row in rows(reading)}
    assert currencies == {"cn-northwest-1": "CNY", "cn-north-1-pkx-1": "CNY", "us-gov-west-1": "USD"}
    assert reading.scopes == {"full:cn-northwest-1", "full:cn-north-1-pkx-1", "full:us-gov-west-1"}


def test_0_gpus_in_a_list_of_2017_are_an_unknown_number() -> None:
    (row, *_) = rows(reading_of(machine("g2.8xlarge", gpus=0, us_east_1={"linux": linux()})))
    assert (row.accelerator_name, row.gpu_count) == ("GRID K520", 4)


def test_a_count_that_contradicts_our_table_is_handed_on_to_be_seen() -> None:
    (row, *_) = rows(reading_of(machine("p2.16xlarge", gpus=8, us_east_1={"linux": linux()})))
    assert row.gpu_count == 8  # it holds 16; newer lists count its boards


def test_a_new_machine_is_named_as_the_list_names_it() -> None:
    new = {**machine("p9.48xlarge", us_east_1={"linux": linux()}), "GPU_model": "NVIDIA R100"}
    (row, *_) = rows(reading_of(new))
    assert (row.accelerator_name, row.gpu_count) == ("NVIDIA R100", 8)


def test_a_new_machine_without_a_name_or_count_of_its_gpus_is_refused() -> None:
    unnamed = {**machine("p9.48xlarge", us_east_1={"linux": linux()}), "GPU_model": None}
    uncounted = machine("p9.48xlarge", gpus=None, us_east_1={"linux": linux()})
    assert reading_of(unnamed, uncounted).by_rule == {"machine_unknown": 2}


def test_machines_without_accelerator_are_none_of_ours_on_any_platform() -> None:
    plain = machine(
        "x2iedn.32xlarge", gpus=0, us_east_1={"linux": linux(), "mswin": linux(), "emr": {"emr": "1"}}
    )
    assert reading_of(plain).by_rule == {"no_accelerator": 3}


def test_a_region_without_prices_is_unknown_and_a_machine_without_region_is_nowhere() -> None:
    """In the list of 2017 the g2 of Seoul has no prices; later lists have it again."""
    reading = reading_of(machine("g2.2xlarge", ap_northeast_2={}), machine("g2.2xlarge"))
    (row,) = rows(reading)
    assert (row.region, row.term, row.state) == ("ap-northeast-2", "on_demand", "unknown")
    assert reading.by_rule == {"no_region": 1}
    assert reading.lines == 2


@pytest.mark.parametrize("price", ["0", 0, 0.0, None, "N/A", ""])
def test_an_on_demand_price_that_is_not_known_has_a_state_and_no_zero(price: Any) -> None:
    """The list writes 0 where it knows a commitment only."""
    reading = reading_of(
        machine("p5e.48xlarge", us_east_2={"linux": linux(price)}), machine(us_east_2={"linux": linux(price)})
    )
    states = [(row.sku, row.state) for row in rows(reading) if row.term == "on_demand"]
    assert states == [("p5e.48xlarge", "reservation_only"), ("p5.48xlarge", "unknown")]
    assert all(row.state_reason for row in rows(reading) if row.state != "priced")


# --- savings plans ---


def test_until_july_2026_a_plans_key_may_mean_either_plan_so_neither_price_is_known() -> None:
    """The list kept Compute and EC2 Instance rates under one key, and whichever came last stayed."""
    found = by_offer(reading_of(machine(us_east_1={"linux": linux(yrTerm1Savings_noUpfront="40.1")})))
    for term in ("compute_plan_1y", "instance_plan_1y"):
        row = found[term, "no_upfront"]
        assert (row.state, row.price_per_hour) == ("unknown", None)
        assert "40.1" in row.state_reason
    assert ("compute_plan_3y", "no_upfront") not in found


def test_a_list_with_keys_for_both_plans_prices_both() -> None:
    plans = linux(
        yrTerm1Savings_noUpfront="40.1", yrTerm1InstanceSavings_noUpfront="36.2",
        yrTerm3InstanceSavings_allUpfront="20.3",
    )  # fmt: skip
    other = linux(yrTerm3Savings_partialUpfront="25.5")
    found = by_offer(reading_of(machine(us_east_1={"linux": plans})))
    assert found["compute_plan_1y", "no_upfront"].price_per_hour == Decimal("40.1")
    assert found["instance_plan_1y", "no_upfront"].price_per_hour == Decimal("36.2")
    assert found["instance_plan_3y", "all_upfront"].price_per_hour == Decimal("20.3")
    # the whole list is of one kind, whether or not this machine has both
    both = reading_of(machine(us_east_1={"linux": plans}), machine(us_east_2={"linux": other}))
    assert not [row for row in rows(both) if row.state == "unknown"]


# --- cut down by others ---


def test_a_cut_down_list_has_the_price_of_a_year_without_upfront_fee() -> None:
    """Its `reserved` is yrTerm1Standard.noUpfront of Linux."""
    reading = reading_of(
        cut_down(us_east_1={"onDemand": 0.8048, "reserved": 0.52312}, us_east_1_wl1_atl1={"onDemand": 1.0})
    )
    found = [(row.region, row.term, row.payment, row.state, row.price_per_hour) for row in rows(reading)]
    assert found == [
        ("us-east-1", "on_demand", "", "priced", Decimal("0.8048")),
        ("us-east-1", "reserved_1y", "no_upfront", "priced", Decimal("0.52312")),
        ("us-east-1-wl1-atl1", "on_demand", "", "priced", Decimal("1.0")),
        ("us-east-1-wl1-atl1", "reserved_1y", "no_upfront", "not_sold", None),
    ]
    assert reading.scopes == {"reduced:us-east-1", "reduced:us-east-1-wl1-atl1"}


@pytest.mark.parametrize(
    ("name", "gpus", "theirs", "ours"),
    [
        ("g5g.xlarge", 1, "ARM Mali-G78MP12", "T4G"),
        ("g6f.large", 0.125, "NVIDIA L40", "L4"),
        ("p4de.24xlarge", 8, "NVIDIA A100", "A100-80GB"),
    ],
)
def test_names_that_the_list_has_wrong_are_those_of_our_table(
    name: str, gpus: float, theirs: str, ours: str
) -> None:
    wrong = {**cut_down(name, gpus, us_east_1={"onDemand": 1.5}), "gpu": theirs}
    (row, _) = rows(reading_of(wrong))
    assert (row.accelerator_name, row.gpu_count) == (ours, Decimal(str(gpus)))


def test_what_only_capacity_blocks_sell_is_reserved_everywhere_and_other_gaps_are_nowhere() -> None:
    ultraserver = cut_down("u-p6e-gb200x72", 72)
    del ultraserver["apiName"]  # as the list has it
    ultraserver["pricing"] = 0
    reading = reading_of(
        cut_down(us_east_1={"onDemand": 1}),
        cut_down("p5e.48xlarge", 8),
        ultraserver,
        cut_down("trn2.48xlarge", 16),
    )
    states = [(row.sku, row.region, row.state) for row in rows(reading) if row.sku != "g6.xlarge"]
    assert states == [
        ("p5e.48xlarge", "global", "reservation_only"),
        ("u-p6e-gb200x72", "global", "reservation_only"),
    ]
    assert reading.by_rule == {"no_region": 1}


# --- whole files ---


@pytest.mark.parametrize(
    ("name", "params", "day"),
    [
        ("instances_2026-01-21.json", {}, datetime(2026, 1, 21, tzinfo=UTC)),
        ("instances_2017-11_all.json", {}, datetime(2017, 11, 1, tzinfo=UTC)),
        ("instances.json", {"as_of": "2026-01-21"}, datetime(2026, 1, 21, tzinfo=UTC)),
        ("instances_2026-01-21.json", {"as_of": "2026-01-20"}, datetime(2026, 1, 20, tzinfo=UTC)),
        ("instances.json", {}, None),
        ("instances_2026-13.json", {}, None),
    ],
)  # fmt: skip
def test_the_date_is_a_parameter_or_in_the_name(name: str, params: dict[str, str], day: Any) -> None:
    assert reading_of(machine(us_east_1={"linux": linux()}), name=name, **params).info.as_of == day


def test_a_file_with_one_machine_replaces_that_machine_only() -> None:
    text = json.dumps(machine(us_east_1={"linux": linux()}))
    assert read_text("vantage", text, "p5.json").scopes == {"full:us-east-1:p5.48xlarge"}


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (machine(us_east_1={"linux": linux("fifty")}), "not_a_number"),
        (machine(us_east_1={"linux": linux(yrTerm1Standard_noUpfront="0")}), "zero_price"),
        (machine(us_east_1={"linux": linux("-1")}), "negative_price"),
        (machine(us_east_1={"linux": linux(yrTerm2Standard_noUpfront="1")}), "term_unknown"),
        (machine(us_east_1={"linux": {"ondemand": "1", "reserved": []}}), "record_unreadable"),
        (machine(us_east_1="none"), "record_unreadable"),
        ({**machine(), "pricing": []}, "record_unreadable"),
        (machine("", us_east_1={"linux": linux()}), "empty"),
        (machine(us_east_1={"linux": "55.04"}), "record_unreadable"),
        ("p5.48xlarge", "record_unreadable"),
    ],
)
def test_a_price_that_is_wrong_is_refused_and_the_others_stay(bad: Any, rule: str) -> None:
    reading = reading_of(bad, machine(us_east_2={"linux": linux()}))
    assert reading.by_rule == {rule: 1}
    assert set(reading.kept) == {2}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", "json_wrong"),
        ('[{"name": "x"}]', "json_wrong"),
        ('{"prices": {}}', "json_wrong"),
        ("7", "json_wrong"),
        ('{"p4d.24xlarge/us-east-2": 10.88, "g2.2xlarge/us-west-1": 0.305}', "term_unknown"),
    ],
)
def test_a_file_that_is_no_such_list_is_refused(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("vantage", text, "a.json")
    assert caught.value.code == code


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(FileError, match="not_a_date"):
        reading_of(machine(us_east_1={"linux": linux()}), as_of="January")


def test_the_list_is_not_fetched() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        list(vantage.fetch({}, NOW))


def test_only_such_lists_look_like_it() -> None:
    for text in (
        json.dumps([machine(us_east_1={"linux": linux()})], indent=1),
        json.dumps([cut_down(us_east_1={"onDemand": 1})]),
        '{\n"g2.2xlarge/us-west-1": 0.3050228310502283,\n',
    ):
        assert vantage.looks_like(text, "a.json")
    for text in (
        '{"instance_types": {}}',
        '{"products": {}, "terms": {"OnDemand": {}}}',
        "instance_type,pricing\n",
        "{}",
    ):
        assert not vantage.looks_like(text, "a.json")

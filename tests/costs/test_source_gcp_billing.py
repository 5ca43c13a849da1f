"""State how Google's SKUs become prices of machines. SKUs are ours, in the Catalog's real words."""

import io
import json
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.rows import FileError, PriceRow
from costs.sources import gcp_billing
from costs.sources.byte_stream import Limits
from costs.sources.gcp_billing_machines import machines_with

from .gcp_skus import Dumped, a2, document, page, sku, tiers
from .readings import Reading, packed, read_bytes, read_text

NAME = "gcp_billing_skus_2026-11-30.json"
SSD = "SSD backed Local Storage"


def reading(*skus: Dumped, token: str = "", name: str = NAME) -> Reading:
    return read_text("gcp_billing", document(*skus, token=token), name)


def prices(found: Reading, term: str = "on_demand", region: str = "us-central1") -> dict[str, str | None]:
    """Return what each machine costs, None where that is unknown."""
    amounts = {}
    for row in found.rows:
        assert isinstance(row, PriceRow)
        if (row.term, row.region) == (term, region):
            amounts[row.sku] = None if row.price_per_hour is None else f"{row.price_per_hour.normalize():f}"
    return amounts


def only_rule(found: Reading) -> str:
    ((rule, count),) = found.by_rule.items()
    assert count == 1
    return rule


# --- a machine is the sum of its parts ---


def test_a_machine_costs_its_gpus_cores_and_memory() -> None:
    """Oddity 9: no SKU is a machine. 1 x 2.9 + 12 x 0.03 + 85 x 0.004 = 3.6; 16 of 2.9 with 96 and 1,360."""
    found = reading(*a2())
    assert prices(found) == {
        "a2-highgpu-1g": "3.6",
        "a2-highgpu-2g": "7.2",
        "a2-highgpu-4g": "14.4",
        "a2-highgpu-8g": "28.8",
        "a2-megagpu-16g": "54.72",
    }
    row = found.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.provider, row.accelerator_name, row.gpu_count) == ("gcp", "a100-sxm-40gb", 1)
    assert (row.vcpus, row.memory_gib, row.currency, row.payment) == (12, 85, "USD", "")
    assert row.effective_from is not None
    assert row.effective_from.isoformat() == "2026-11-02T09:30:00.123456+00:00"
    assert row.reference.endswith(
        "SKUs ID Nvidia Tesla A100 GPU running in Americas, ID A2 Instance Core running in Americas, "
        "ID A2 Instance Ram running in Americas"
    )


def test_the_gpu_line_is_kept_and_the_lines_of_the_other_parts_are_named() -> None:
    found = reading(*a2(), sku("E2 Instance Core running in Americas", "0.02"))
    assert found.lines == 4
    assert list(found.kept) == [1]
    assert found.by_rule == {"part_of_machine": 2, "not_gpu_machine": 1}
    assert found.scopes == {"gcp"}


def test_one_sku_serves_every_region_that_it_names() -> None:
    found = reading(*a2(regions=("us-central1", "europe-west4", "asia-east1")))
    assert {row.region for row in found.rows if isinstance(row, PriceRow)} == {
        "us-central1",
        "europe-west4",
        "asia-east1",
    }


def test_bundled_local_ssd_is_part_of_the_sum() -> None:
    """A2 Ultra: 3.9 + 12 x 0.03 + 170 x 0.004 + 375 GiB at 0.073 a month, that is 375 x 0.0001."""
    found = reading(
        *a2()[1:],
        sku("Nvidia Tesla A100 80GB GPU running in Americas", "3.9"),
        sku(SSD, "0.073", unit="GiBy.mo"),
    )
    assert prices(found)["a2-ultragpu-1g"] == "4.9775"
    assert prices(found)["a2-ultragpu-8g"] == "39.82"


def test_the_memory_of_a_name_does_not_make_an_80gb_card_of_a_40gb_one() -> None:
    found = reading(*a2(), sku("Nvidia Tesla A100 80GB GPU running in Americas", "3.9"))
    assert prices(found)["a2-highgpu-1g"] == "3.6"
    assert "a2-ultragpu-1g" not in prices(found), "its local SSD has no price here"


def test_the_mega_gpu_is_called_plus_on_demand_and_runs_on_cores_of_its_own() -> None:
    found = reading(
        sku("Nvidia H100 80GB GPU running in Americas", "9.8"),
        sku("Nvidia H100 80GB Plus GPU running in Americas", "10.3"),
        sku("A3 Instance Core running in Americas", "0.03"),
        sku("A3 Instance Ram running in Americas", "0.0025", unit="GiBy.h"),
        sku("A3Plus Instance Core running in Americas", "0.02"),
        sku("A3Plus Instance Ram running in Americas", "0.002", unit="GiBy.h"),
        sku(SSD, "0.073", unit="GiBy.mo"),
    )
    # 8 x 10.3 + 208 x 0.02 + 1872 x 0.002 + 6000 x 0.0001 and 9.8 + 26 x 0.03 + 234 x 0.0025 + 750 x 0.0001
    assert prices(found)["a3-megagpu-8g"] == "90.904"
    assert prices(found)["a3-highgpu-1g"] == "11.24"


def test_a_slice_of_an_a4_covers_the_whole_machine() -> None:
    found = reading(sku("A4 Nvidia B200 (1 gpu slice) running in Americas", "11.3"))
    assert prices(found) == {"a4-highgpu-8g": "90.4"}


# --- terms ---


def test_spot_and_commitments_have_skus_of_their_own_per_resource() -> None:
    """Oddity 10: "Commitment v1:" SKUs are per GPU, core and GiB."""
    found = reading(
        *a2(),
        sku(
            "Nvidia Tesla A100 GPU attached to Spot Preemptible VMs running in Americas",
            "1",
            usage="Preemptible",
        ),
        sku("Spot Preemptible A2 Instance Core running in Americas", "0.01", usage="Preemptible"),
        sku(
            "Spot Preemptible A2 Instance Ram running in Americas",
            "0.001",
            unit="GiBy.h",
            usage="Preemptible",
        ),
        sku("Commitment v1: Nvidia Tesla A100 GPU running in Americas for 1 Year", "1.8", usage="Commit1Yr"),
        sku("Commitment v1: A2 Cpu in Americas for 1 Year", "0.02", usage="Commit1Yr"),
        sku("Commitment v1: A2 Ram in Americas for 1 Year", "0.002", unit="GiBy.h", usage="Commit1Yr"),
        sku("Commitment v1: Nvidia Tesla A100 GPU running in Americas for 3 Years", "1", usage="Commit3Yr"),
        sku("Commitment v1: A2 Cpu in Americas for 3 Year", "0.01", usage="Commit3Yr"),
        sku("Commitment v1: A2 Ram in Americas for 3 Years", "0.001", unit="GiBy.h", usage="Commit3Yr"),
    )
    assert prices(found, "on_demand")["a2-highgpu-1g"] == "3.6"
    assert prices(found, "spot")["a2-highgpu-1g"] == "1.205"  # 1 + 0.12 + 0.085
    assert prices(found, "reserved_1y")["a2-highgpu-1g"] == "2.21"  # 1.8 + 0.24 + 0.17
    assert prices(found, "reserved_3y")["a2-highgpu-1g"] == "1.205"
    payments = {row.term: row.payment for row in found.rows if isinstance(row, PriceRow)}
    assert payments["reserved_1y"] == payments["reserved_3y"] == "no_upfront"
    assert payments["spot"] == ""


def test_a_gpu_without_a_commitment_gives_no_committed_price() -> None:
    """Oddity 10: no 1y or 3y SKU for every GPU."""
    found = reading(*a2(), sku("Commitment v1: A2 Cpu in Americas for 1 Year", "0.02", usage="Commit1Yr"))
    assert prices(found, "reserved_1y") == {}
    assert found.out_of_scope[4].rule == "part_missing"


def test_a_spot_price_that_stands_under_ondemand_is_a_spot_price() -> None:
    spot = "Spot Preemptible A4 Nvidia B200 (1 gpu slice) running in Americas"
    found = reading(sku(spot, "5"), sku("A4 Nvidia B200 (1 gpu slice) running in Americas", "16"))
    assert prices(found, "spot") == {"a4-highgpu-8g": "40"}
    assert prices(found, "on_demand") == {"a4-highgpu-8g": "128"}


@pytest.mark.parametrize("place", ["", " in Paris", " running in Paris"])
def test_local_ssd_is_written_with_and_without_a_place(place: str) -> None:
    found = reading(
        *a2()[1:],
        sku("Nvidia Tesla A100 80GB GPU running in Americas", "3.9"),
        sku(f"{SSD}{place}", "0.073", unit="GiBy.mo"),
        sku(f"{SSD} attached to Spot Preemptible VMs{place}", "0.0292", unit="GiBy.mo"),
    )
    assert prices(found)["a2-ultragpu-1g"] == "4.9775"
    assert found.out_of_scope[5].rule == "part_missing", "the spot SSD: no spot GPU here"


# --- SKUs that look like one of ours ---


@pytest.mark.parametrize(
    ("description", "rule"),
    [
        ("Nvidia H100 80GB GPU attached to DWS Defined Duration VMs running in Americas", "dws_flex_start"),
        ("DWS Defined Duration A3 Core running in Americas", "dws_flex_start"),
        (f"DWS Defined Duration {SSD} running in Americas", "dws_flex_start"),
        ("Reserved Nvidia H100 80GB Mega GPU in Americas in Calendar Mode", "calendar_mode"),
        ("DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) running in Americas", "calendar_mode"),
        ("Reserved Nvidia Tesla A100 80GB GPU in Virginia", "reserved_capacity"),
        ("Reserved A2 Ram in Netherlands", "reserved_capacity"),
        ("Nvidia Tesla A100 GPU attached to Sole Tenancy VMs running in Americas", "sole_tenancy"),
        ("A2 Sole Tenancy Instance Core running in Americas", "sole_tenancy"),
        ("G2 Custom Instance Core running in Americas", "custom_machine"),
        ("Capacity Optimized Nvidia L4 GPU running in Americas", "capacity_optimized"),
        ("Commitment v1: Nvidia L4 GPU running in Americas for 5 Years", "commitment_of_5_years"),
        ("Committed Use Discount Premium for G2 Instance Core running in Americas", "surcharge"),
        ("Nvidia Tesla T4 GPU running in Americas", "gpu_for_n1"),
        ("1/8 vGPU no lssd running in Iowa", "part_of_gpu"),
        ("Nvidia L4 Virtual Workstation GPU running in Americas", "part_of_gpu"),
        ("Nvidia C900 GPU running in Americas", "gpu_sku_unknown"),
        ("Nvidia L4 GPU", "gpu_sku_unknown"),
        ("N2 Instance Core running in Americas", "not_gpu_machine"),
        ("C4 Instance Local SSD running in Americas", "not_gpu_machine"),
        ("Network Internet Egress from Americas to EMEA", "not_gpu_machine"),
    ],
)
def test_a_description_that_looks_like_one_of_ours_is_refused_by_name(description: str, rule: str) -> None:
    assert only_rule(reading(sku(description))) == rule


def test_flex_start_and_calendar_mode_never_pass_for_on_demand() -> None:
    """Oddity 9: naive patterns pick 4.20 for an H100 of 9.80, whichever stands first."""
    h100 = [
        sku("Nvidia H100 80GB GPU running in Americas", "9.8"),
        sku("Nvidia H100 80GB GPU attached to DWS Defined Duration VMs running in Americas", "4.2"),
        sku("Reserved Nvidia H100 80GB GPU in Americas in Calendar Mode", "5.1"),
        sku("Reserved Nvidia H100 80GB GPU in Americas", "0"),
    ]
    others = [
        sku("A3 Instance Core running in Americas", "0.03"),
        sku("A3 Instance Ram running in Americas", "0.0025", unit="GiBy.h"),
        sku(SSD, "0.073", unit="GiBy.mo"),
    ]
    for order in permutations(h100):
        assert prices(reading(*order, *others))["a3-highgpu-1g"] == "11.24"


def test_skus_of_other_services_are_named() -> None:
    assert only_rule(reading(sku("Autopilot NVIDIA L4", service="Kubernetes Engine"))) == "not_compute_engine"


# --- a part that is missing, or priced twice ---


def test_a_machine_without_the_price_of_one_part_has_no_price_in_that_region() -> None:
    gpu, core, _ = a2()
    here = sku("A2 Instance Ram running in Iowa", "0.004", unit="GiBy.h", regions=("us-central1",))
    found = reading(gpu, core, here)
    assert prices(found)["a2-highgpu-1g"] == "3.6"
    assert set(prices(found, region="us-east1").values()) == {None}
    unknown = [row for row in found.rows if isinstance(row, PriceRow) and row.region == "us-east1"]
    assert {(row.state, row.state_reason) for row in unknown} == {("unknown", "no price of RAM A2")}


def test_a_gpu_of_which_no_machine_is_whole_is_refused_by_name() -> None:
    found = reading(a2()[0], a2()[1])
    assert {line: error.rule for line, error in found.out_of_scope.items()} == {
        1: "part_missing",
        2: "part_of_machine",
    }
    assert "no price of RAM A2" in found.out_of_scope[1].expected


def test_cores_and_memory_without_a_gpu_are_refused_by_name() -> None:
    assert reading(*a2()[1:]).by_rule == {"part_missing": 2}


def test_two_prices_for_one_resource_and_region_are_both_refused_and_nothing_is_guessed() -> None:
    gpu, core, memory = a2()
    other = sku("A2 Instance Core running in Iowa", "0.04", name="OTHER", regions=("us-central1",))
    found = reading(gpu, core, memory, other)
    assert {line: error.rule for line, error in found.wrong.items()} == {
        2: "two_prices_for_one_resource",
        4: "two_prices_for_one_resource",
    }
    assert "OTHER" in found.wrong[2].expected
    assert core["skuId"] in found.wrong[4].expected
    assert prices(found) == {}
    assert "no price of core A2" in found.out_of_scope[1].expected


def test_two_gpu_skus_with_one_price_state_their_machines_once() -> None:
    again = sku("Nvidia Tesla A100 GPU running in Iowa", "2.9", regions=("us-central1",))
    found = reading(*a2(), again)
    assert prices(found)["a2-highgpu-1g"] == "3.6"
    assert found.out_of_scope[4].rule == "repeated_sku"
    assert len(found.rows) == 2 * len(machines_with("GPU A100"))


def test_parts_in_two_currencies_have_no_sum() -> None:
    gpu, core, memory = a2()
    found = reading(
        gpu, core, sku("A2 Instance Ram running in Americas", "60", unit="GiBy.h", currency="IDR")
    )
    assert only_rule_of_line(found, 1) == "part_missing"
    assert "parts in IDR and USD" in found.out_of_scope[1].expected
    assert prices(reading(gpu, core, memory))["a2-highgpu-1g"] == "3.6"


def only_rule_of_line(found: Reading, line: int) -> str:
    return (found.wrong | found.out_of_scope)[line].rule


@given(st.permutations(a2(gpu="2.933908", core="0.031611", ram="0.004237")))
def test_the_order_of_the_skus_does_not_matter(skus: list[Dumped]) -> None:
    assert prices(reading(*skus))["a2-highgpu-1g"] == "3.673385"


# --- amounts ---


def test_units_are_text_and_nanos_a_number_and_no_digit_is_lost() -> None:
    """Oddity 10."""
    b200 = sku("A4 Nvidia B200 (1 gpu slice) running in Americas")
    rate = b200["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]
    rate["unitPrice"] = {"currencyCode": "USD", "units": "11", "nanos": 123456789}
    assert prices(reading(b200)) == {"a4-highgpu-8g": "88.987654312"}
    rate["unitPrice"] = {"currencyCode": "USD", "nanos": 500000000}
    assert prices(reading(b200)) == {"a4-highgpu-8g": "4"}
    rate["unitPrice"] = {"currencyCode": "USD", "units": 11}
    assert prices(reading(b200)) == {"a4-highgpu-8g": "88"}


@given(st.decimals(min_value="0.01", max_value="99", places=9))
def test_any_amount_survives_units_and_nanos(amount: Decimal) -> None:
    found = reading(sku("A4 Nvidia B200 (1 gpu slice) running in Americas", str(amount)))
    row = found.rows[0]
    assert isinstance(row, PriceRow)
    assert row.price_per_hour == amount * 8


def test_a_first_tier_of_nothing_is_a_free_amount() -> None:
    """Oddity 10: tieredRates may start with a zero tier."""
    found = reading(sku("A4 Nvidia B200 (1 gpu slice) running in Americas", rates=tiers("0", "11")))
    assert prices(found) == {"a4-highgpu-8g": "88"}


def test_the_newest_price_counts() -> None:
    b200 = sku("A4 Nvidia B200 (1 gpu slice) running in Americas", "11", effective="2026-11-02T00:00:00Z")
    older = sku("-", "12", effective="2026-10-02T00:00:00Z")["pricingInfo"]
    b200["pricingInfo"] += older
    assert prices(reading(b200)) == {"a4-highgpu-8g": "88"}


def test_a_price_by_the_month_is_spread_over_730_hours() -> None:
    found = reading(sku("A4 Nvidia B200 (1 gpu slice) running in Americas", "7300", unit="mo"))
    assert prices(found) == {"a4-highgpu-8g": "80"}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"rates": tiers("0")}, "zero_price"),
        ({"rates": tiers("1", "2")}, "many_tiers"),
        ({"rates": []}, "many_tiers"),
        ({"rates": tiers("-1")}, "money_unreadable"),
        ({"rates": [{"unitPrice": {"units": "1,5", "nanos": 0}}]}, "money_unreadable"),
        ({"rates": [{"unitPrice": {"units": "1", "nanos": 10**9}}]}, "money_unreadable"),
        ({"rates": [{"unitPrice": {"units": "1", "nanos": 0.5}}]}, "sku_unreadable"),
        ({"amount": "100001"}, "price_out_of_bounds"),
        ({"unit": "GiBy.h"}, "unit_wrong"),
        ({"unit": "count"}, "unit_wrong"),
        ({"usage": "Preemptible"}, "usage_type_contradicts"),
        ({"usage": "Commit1Yr"}, "usage_type_contradicts"),
        ({"regions": ()}, "empty"),
        ({"effective": "yesterday"}, "not_a_time"),
    ],
)
def test_a_wrong_sku_is_refused_by_rule(changes: dict[str, object], rule: str) -> None:
    wrong = sku("A4 Nvidia B200 (1 gpu slice) running in Americas", **changes)  # type: ignore[arg-type]
    found = reading(wrong)
    assert [error.rule for error in found.wrong.values()] == [rule]


def test_memory_is_not_billed_by_the_hour_alone() -> None:
    found = reading(sku("A2 Instance Ram running in Americas", "0.004", unit="h"))
    assert [error.rule for error in found.wrong.values()] == ["unit_wrong"]


def test_a_commitment_of_the_other_length_contradicts_its_words() -> None:
    found = reading(sku("Commitment v1: A2 Cpu in Americas for 3 Years", usage="Commit1Yr"))
    assert [error.rule for error in found.wrong.values()] == ["usage_type_contradicts"]


def test_a_sku_without_a_price_is_refused() -> None:
    bare = sku("A4 Nvidia B200 (1 gpu slice) running in Americas") | {"pricingInfo": []}
    assert [error.rule for error in reading(bare).wrong.values()] == ["price_missing"]


def test_one_broken_sku_does_not_take_the_others_with_it() -> None:
    found = read_text("gcp_billing", json.dumps({"skus": [*a2(), {"skuId": 7}, "text"]}), NAME)
    assert prices(found)["a2-highgpu-1g"] == "3.6"
    assert {line: error.rule for line, error in found.wrong.items()} == {
        4: "sku_unreadable",
        5: "sku_unreadable",
    }


# --- files ---


def test_the_file_is_of_the_day_in_its_name_or_of_its_newest_price() -> None:
    named = reading(*a2()).info.as_of
    assert named is not None
    assert named.isoformat() == "2026-11-30T00:00:00+00:00"
    unnamed = reading(*a2(), name="skus.json").info.as_of
    assert unnamed is not None
    assert unnamed.isoformat() == "2026-11-02T09:30:00.123456+00:00"


def test_several_pages_are_one_list() -> None:
    gpu, core, memory = a2()
    text = json.dumps([page(gpu, token="next"), page(core, memory)])
    found = read_text("gcp_billing", text, NAME)
    assert prices(found)["a2-highgpu-1g"] == "3.6"
    assert found.lines == 3
    assert found.scopes == {"gcp"}
    assert prices(read_bytes("gcp_billing", packed(text), NAME + ".gz")) == prices(found)


def test_a_list_that_goes_on_elsewhere_replaces_nothing_but_its_like() -> None:
    assert reading(*a2(), token="there is more").scopes == {"gcp:part"}


def test_a_page_missing_in_the_middle_is_refused() -> None:
    gpu, core, memory = a2()
    with pytest.raises(FileError, match="pages_wrong"):
        read_text("gcp_billing", json.dumps([page(gpu), page(core, memory)]), NAME)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "MAPPING,SVC_DISPLAY_NAME,FAMILY,GROUP,SKU_DESCRIPTION,COMMENT\nGPU,,,,,\n",
            "patterns_without_prices",
        ),
        ("machine_type,region,hour\n", "json_wrong"),
        ('{"items": []}', "json_wrong"),
        ('{"skus": [', "json_wrong"),
        ('{"skus": {}}', "json_wrong"),
        ('{"skus": []}', "empty_file"),
        ("[]", "empty_file"),
        ("", "empty_file"),
    ],
)
def test_a_file_that_is_no_page_is_refused_with_the_reason(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("gcp_billing", text, NAME)
    assert caught.value.code == code


def test_bytes_that_are_no_text_spoil_the_file() -> None:
    broken = document(*a2()).encode().replace(b"Americas", b"Am\xffricas", 1)
    with pytest.raises(FileError, match="not_utf8"):
        read_bytes("gcp_billing", broken, NAME)


def test_more_skus_than_the_limit_are_refused() -> None:
    with pytest.raises(FileError, match="too_many_rows"):
        gcp_billing.read(io.BytesIO(document(*a2()).encode()), NAME, {}, limits=Limits(rows=2))


def test_pages_are_recognised_and_other_files_are_not() -> None:
    assert gcp_billing.looks_like(document(*a2()), "x.json")
    assert gcp_billing.looks_like(json.dumps([page(*a2())]), "x.json")
    assert not gcp_billing.looks_like('{"PriceList": []}', NAME)
    assert not gcp_billing.looks_like("machine_type,region,hour\n", NAME)

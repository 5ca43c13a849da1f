"""State what is kept of plain price tables."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import price_table

from .readings import Reading, packed, read_bytes, read_text

NAME = "aws_ondemand_us-east-1_2026-07-20.csv"
HEADER = "region,instance_type,price_per_hour,currency\n"
AZURE_HEADER = (
    "Friendly Name,armSkuName,Currency,Spot Unit Price,PayGo Unit Price,Unit of Measure,Region,"
    "Meter Name,Product Name\n"
)
AZURE_NAME = "azure_spot_vs_paygo_2025-11-22.csv"


def reading_of(*lines: str, name: str = NAME, **params: str) -> Reading:
    return read_text("price_table", HEADER + "".join(f"{line}\n" for line in lines), name, params)


def azure(*lines: str) -> Reading:
    return read_text("price_table", AZURE_HEADER + "\n".join(lines), AZURE_NAME)


def rows(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


# --- one price per line ---


def test_a_line_is_the_on_demand_price_of_a_machine_that_the_product_knows() -> None:
    reading = reading_of("us-east-1,p5.48xlarge,55.040000,USD", "us-east-1,g6f.large,0.202000,USD")
    (whole, part) = rows(reading)
    assert (whole.provider, whole.sku, whole.region) == ("aws", "p5.48xlarge", "us-east-1")
    assert (whole.accelerator_name, whole.gpu_count, whole.vcpus) == ("H100", 8, 192)
    assert (whole.term, whole.state, whole.price_per_hour) == ("on_demand", "priced", Decimal("55.04"))
    assert part.gpu_count == Decimal("0.125")
    assert reading.info.as_of == datetime(2026, 7, 20, tzinfo=UTC)


def test_china_is_priced_in_yuan_whether_or_not_the_table_says_so() -> None:
    (row,) = rows(reading_of("cn-north-1,g5.xlarge,9.513890,CNY"))
    assert row.currency == "CNY"
    bare = "region,instance_type,price_per_hour\ncn-north-1,g5.xlarge,9.5\nus-east-1,g5.xlarge,1.006\n"
    assert [row.currency for row in rows(read_text("price_table", bare, NAME))] == ["CNY", "USD"]


def test_a_table_replaces_what_it_said_before_of_its_regions() -> None:
    reading = reading_of("us-gov-east-1,g4dn.xlarge,0.663,USD", "us-gov-west-1,g4dn.xlarge,0.663,USD")
    assert reading.scopes == {"plain:aws:us-gov-east-1", "plain:aws:us-gov-west-1"}


def test_the_provider_is_the_first_word_of_the_name_or_a_parameter() -> None:
    (row,) = rows(reading_of("us-east-1,p5.48xlarge,55.04,USD", name="prices.csv", provider="AWS"))
    assert row.provider == "aws"
    (row,) = rows(reading_of("eastus,Standard_ND96isr_H100_v5,98.32,USD", name="azure-list.csv"))
    assert (row.provider, row.gpu_count) == ("azure", 8)


def test_a_table_may_be_packed() -> None:
    data = packed(HEADER + "us-east-1,p5.48xlarge,55.04,USD\n")
    assert len(read_bytes("price_table", data, NAME + ".gz").rows) == 1


def test_video_and_logic_chips_are_no_accelerators_of_ours() -> None:
    reading = reading_of(
        "us-east-1,vt1.3xlarge,0.65,USD", "us-east-1,f2.6xlarge,1.98,USD", "us-east-1,m7i.large,0.1,USD"
    )
    assert reading.by_rule == {"no_accelerator": 3}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("us-east-1,p5.48xlarge,0.000000,USD", "zero_price"),
        ("us-east-1,p5.48xlarge,,USD", "not_a_number"),
        ("us-east-1,p5.48xlarge,n/a,USD", "not_a_number"),
        ("us-east-1,p5.48xlarge,55.04,dollars", "currency_unknown"),
        (",p5.48xlarge,55.04,USD", "empty"),
        ("us-east-1,p9.48xlarge,155.04,USD", "machine_unknown"),
        ("us-east-1,p5.48xlarge,55.04", "field_count"),
        ("us-east-1,p5.48xlarge,55,04,USD", "field_count"),
    ],
)
def test_a_line_that_is_wrong_is_refused_and_the_others_stay(line: str, rule: str) -> None:
    reading = reading_of(line, "us-east-1,p4d.24xlarge,21.957642,USD")
    assert reading.by_rule == {rule: 1}
    assert set(reading.kept) == {3}


@pytest.mark.parametrize(
    ("name", "params", "code"),
    [
        ("prices.csv", {}, "provider_unknown"),
        ("prices.csv", {"provider": "somecloud"}, "provider_unknown"),
        (NAME, {"provider": "a b"}, "provider_wrong"),
    ],
)
def test_a_table_of_nobody_is_refused(name: str, params: dict[str, str], code: str) -> None:
    with pytest.raises(FileError) as caught:
        reading_of("us-east-1,p5.48xlarge,55.04,USD", name=name, **params)
    assert caught.value.code == code


def test_a_table_with_other_columns_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(FileError, match="columns_missing") as caught:
        read_text("price_table", "region,type,price\n", NAME)
    assert "price_per_hour" in caught.value.expected
    assert "PayGo Unit Price" in caught.value.expected


# --- Azure's spot beside pay-as-you-go ---


def test_a_linux_line_has_a_spot_and_a_pay_as_you_go_price() -> None:
    reading = azure(
        "NC16asT4 v3,Standard_NC16as_T4_v3,USD,0.417762,1.276,1 Hour,swedencentral,NC16asT4 v3 Spot,"
        "Virtual Machines NCasT4 v3 Series",
        "NC24ads_A100_v4,Standard_NC24ads_A100_v4,USD,1.495052,4.775,1 Hour,swedencentral,"
        "NC24ads_A100_v4 Spot,NCads A100 v4 Series Linux",
    )
    found = [(row.sku, row.term, row.price_per_hour) for row in rows(reading)]
    assert found == [
        ("Standard_NC16as_T4_v3", "spot", Decimal("0.417762")),
        ("Standard_NC16as_T4_v3", "on_demand", Decimal("1.276")),
        ("Standard_NC24ads_A100_v4", "spot", Decimal("1.495052")),
        ("Standard_NC24ads_A100_v4", "on_demand", Decimal("4.775")),
    ]
    assert {row.provider for row in rows(reading)} == {"azure"}
    assert reading.scopes == {"azure_spot:azure:swedencentral"}


def test_the_linux_price_that_a_windows_line_repeats_is_not_kept_as_that_of_windows() -> None:
    reading = azure(
        "NC16asT4 v3,Standard_NC16as_T4_v3,USD,0.658729,1.276,1 Hour,swedencentral,NC16asT4 v3 Spot,"
        "Virtual Machines NCasT4 v3 Series Windows",
        "D96ads v5,Standard_D96ads_v5,USD,1.791821,5.28,1 Hour,swedencentral,D96ads v5 Spot,"
        "Virtual Machines Dadsv5 Series Windows",
    )
    assert reading.by_rule == {"windows": 1, "no_accelerator": 1}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("x,Standard_NC16as_T4_v3,USD,0,1.276,1 Hour,swedencentral,m,Series", "zero_price"),
        ("x,Standard_NC16as_T4_v3,USD,0.4,1.276,100 Hours,swedencentral,m,Series", "unit_unknown"),
        ("x,Standard_NC9_new,USD,0.4,1.276,1 Hour,swedencentral,m,Series", "machine_unknown"),
    ],
)
def test_an_azure_line_that_is_wrong_is_refused(line: str, rule: str) -> None:
    assert azure(line).by_rule == {rule: 1}


def test_only_the_two_headers_look_like_such_a_table() -> None:
    assert price_table.looks_like(HEADER + "us-east-1,p5.48xlarge,55.04,USD\n", "a.csv")
    assert price_table.looks_like("\ufeff" + AZURE_HEADER.replace("\n", "\r\n"), "a.csv")
    assert price_table.looks_like(price_table.TEMPLATE, "a.csv")
    for header in (
        "timestamp,instance,price_usd\n",
        "provider,sku,region,price\n",
        "date,region,instance_type,price_per_hour\n",
        "{}",
    ):
        assert not price_table.looks_like(header, "a.csv")

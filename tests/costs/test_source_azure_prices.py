"""State that only a Linux machine's own price is read as such, per hour, from a whole answer of Azure."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.egress import HttpError
from costs.models import Price
from costs.rows import FileError, PriceRow
from costs.sources import SOURCES, azure_prices, azure_prices_fetch

from .feeds import CLOSE, Answer, Feed, Request
from .readings import Reading, packed, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAME = "azure_retail_2026-11-30.json"

# One item as the API writes it; amounts are made up. Numbers stand as text, so that they arrive as written.
ITEM = {
    "currencyCode": "USD",
    "tierMinimumUnits": "0.0",
    "retailPrice": "96.125",
    "unitPrice": "96.125",
    "armRegionName": "eastus",
    "location": "US East",
    "effectiveStartDate": "2026-04-01T00:00:00Z",
    "meterId": "5a9d7c1e-0000-4000-8000-000000000001",
    "meterName": "ND96isr H100 v5",
    "productId": "DZH318Z00001",
    "skuId": "DZH318Z00001/0001",
    "productName": "Virtual Machines NDsr H100 v5 Series",
    "skuName": "ND96isr H100 v5",
    "serviceName": "Virtual Machines",
    "serviceId": "DZH313Z7MMC8",
    "serviceFamily": "Compute",
    "unitOfMeasure": "1 Hour",
    "type": "Consumption",
    "isPrimaryMeterRegion": True,
    "armSkuName": "Standard_ND96isr_H100_v5",
}
_NUMBERS = ("tierMinimumUnits", "retailPrice", "unitPrice")


def item(**changes: Any) -> str:
    """Return an item as JSON; None leaves a member out."""
    members = {name: value for name, value in {**ITEM, **changes}.items() if value is not None}
    plain = {name: value for name, value in members.items() if name not in _NUMBERS}
    numbers = "".join(f', "{name}": {members[name]}' for name in _NUMBERS if name in members)
    return json.dumps(plain)[:-1] + numbers + "}"


def answer(*items: str, **changes: Any) -> str:
    rest = {"BillingCurrency": "USD", "NextPageLink": None, "Count": len(items), **changes}
    return json.dumps(rest)[:-1] + f', "Items": [{", ".join(items)}]' + "}"


def reading(*items: str, name: str = NAME) -> Reading:
    return read_text("azure_prices", answer(*items), name)


def only(*items: str) -> PriceRow:
    (row,) = rows(*items)
    return row


def rows(*items: str) -> list[PriceRow]:
    read = reading(*items)
    assert not read.by_rule, read.by_rule
    return [row for row in read.rows if isinstance(row, PriceRow)]


def refused(**changes: Any) -> str:
    read = reading(item(**changes))
    assert not read.rows
    ((rule, _),) = read.by_rule.items()
    return rule


RESERVATION = {"type": "Reservation", "reservationTerm": "1 Year", "retailPrice": "438000.0"}


def test_a_linux_price_is_kept_with_its_machine_and_its_meter() -> None:
    assert only(item()) == PriceRow(
        provider="azure",
        sku="Standard_ND96isr_H100_v5",
        accelerator_name="H100",
        gpu_count=Decimal(8),
        region="eastus",
        term="on_demand",
        state="priced",
        price_per_hour=Decimal("96.125"),
        effective_from=datetime(2026, 4, 1, tzinfo=UTC),
        vcpus=Decimal(96),
        memory_gib=Decimal(1900),
        reference="Azure Retail Prices, meter 5a9d7c1e-0000-4000-8000-000000000001",
    )


@pytest.mark.parametrize("text", ["98.32", "0.097", "18.169536", "10.9760000000", "0.123456789", "1e1"])
def test_a_price_passes_through_no_float(text: str) -> None:
    assert only(item(retailPrice=text)).price_per_hour == Decimal(text)


@given(st.decimals(min_value=Decimal("0.000000001"), max_value=Decimal(99_999), places=9))
def test_any_price_arrives_as_it_was_written(value: Decimal) -> None:
    assert only(item(retailPrice=f"{value:f}")).price_per_hour == value


# --- oddity 11: Azure ---


@pytest.mark.parametrize("product", [" Windows", " Win"])
def test_only_the_end_of_the_products_name_tells_windows_from_linux(product: str) -> None:
    """Meter and size are the same for both."""
    windows = item(productName=f"{ITEM['productName']}{product}", retailPrice="101.3")
    read = reading(item(), windows)
    assert read.by_rule == {"windows": 1}
    assert [row.price_per_hour for row in read.rows] == [Decimal("96.125")]


@pytest.mark.parametrize("changes", [{"meterName": "ND96isr H100 v5 Windows"}, {"skuName": "NV6 Windows"}])
def test_windows_anywhere_else_is_a_doubt_and_no_linux_price(changes: dict[str, str]) -> None:
    assert refused(**changes) == "system_unclear"


@pytest.mark.parametrize(
    "changes",
    [
        {"meterName": "ND96isr H100 v5 Spot", "skuName": "ND96isr H100 v5 Spot"},
        {"meterName": "ND96isrH100v5 Spot", "skuName": None},
        {"skuName": "ND96isr H100 v5 Spot"},
    ],
)
def test_a_spot_meter_is_a_spot_price_though_its_type_says_consumption(changes: dict[str, str]) -> None:
    row = only(item(**changes, retailPrice="18.5"))
    assert (row.term, row.price_per_hour) == ("spot", Decimal("18.5"))


def test_a_low_priority_meter_is_not_a_spot_price() -> None:
    assert refused(meterName="ND96isrH100v5 Low Priority") == "low_priority"
    assert refused(skuName="ND96isr H100 v5 Low Priority") == "low_priority"


@pytest.mark.parametrize(
    ("term", "total", "per_hour", "ours"),
    [
        ("1 Year", "438000.0", Decimal(438000) / 8760, "reserved_1y"),
        ("3 Years", "919800.0", Decimal(919800) / 26280, "reserved_3y"),
        # 100000 / 8760 = 11.41552511415…
        ("1 Year", "100000", Decimal("11.415525114"), "reserved_1y"),
    ],
)
def test_a_reservations_price_is_the_total_of_its_term_though_its_unit_says_an_hour(
    term: str, total: str, per_hour: Decimal, ours: str
) -> None:
    row = only(item(type="Reservation", reservationTerm=term, retailPrice=total))
    assert (row.term, row.price_per_hour, row.upfront) == (ours, per_hour, Decimal(total))
    assert row.payment == "all_upfront"
    assert "due at once or in equal months" in row.reference


def test_savings_plans_stand_per_hour_beside_the_price() -> None:
    plans = [
        {"unitPrice": 60.5, "retailPrice": 60.5, "term": "1 Year"},
        {"unitPrice": 40.25, "retailPrice": 40.25, "term": "3 Years"},
    ]
    found = {row.term: (row.price_per_hour, row.payment) for row in rows(item(savingsPlan=plans))}
    assert found == {
        "on_demand": (Decimal("96.125"), ""),
        "compute_plan_1y": (Decimal("60.5"), "no_upfront"),
        "compute_plan_3y": (Decimal("40.25"), "no_upfront"),
    }


def test_a_plan_may_state_only_its_unit_price() -> None:
    found = rows(item(savingsPlan=[{"term": "1 Year", "unitPrice": 60.5}]))
    assert [row.price_per_hour for row in found] == [Decimal("96.125"), Decimal("60.5")]


@pytest.mark.parametrize("meter", ["ND96isr H100 v5", "ND96isrH100v5", "ND96isr_H100_v5", "whatever"])
def test_the_size_is_read_from_its_own_name_for_meters_are_spaced_at_will(meter: str) -> None:
    assert only(item(meterName=meter, skuName=meter)).sku == "Standard_ND96isr_H100_v5"


@pytest.mark.parametrize("size", ["standard_nd96isr_h100_v5", "Standard_ND96ISR_H100_V5"])
def test_a_size_is_the_same_in_any_case(size: str) -> None:
    assert only(item(armSkuName=size)).sku == "Standard_ND96isr_H100_v5"


def test_a_part_of_a_card_counts_as_a_part() -> None:
    row = only(item(armSkuName="Standard_NV6ads_A10_v5", retailPrice="0.454"))
    assert (row.accelerator_name, row.gpu_count) == ("A10", Decimal("0.167"))


def test_another_currency_is_kept() -> None:
    assert only(item(currencyCode="EUR")).currency == "EUR"


# --- what is not ours, by name ---


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"type": "DevTestConsumption"}, "dev_test"),
        ({"armSkuName": "Standard_D8_v4"}, "no_accelerator"),
        ({"armSkuName": "Standard_M8ms"}, "no_accelerator"),
        ({"armSkuName": ""}, "no_accelerator"),
        ({"armSkuName": None}, "no_accelerator"),
        ({"armSkuName": "NDasv4_TypeX"}, "no_accelerator"),
        ({"armSkuName": "Standard_NP10s"}, "fpga"),
        ({"productName": "NVasv4 Series Cloud Services"}, "cloud_services"),
        ({"productName": "NDasv4 Series Dedicated Host"}, "dedicated_host"),
        ({"meterName": "NC6 Promo"}, "promotion"),
        ({"armSkuName": "Standard_NC6_Promo"}, "promotion"),
        ({"meterName": "NV6 Expired"}, "expired"),
        ({"tierMinimumUnits": "100.0"}, "tiered"),
        # the region's price is that of another meter
        ({"isPrimaryMeterRegion": False}, "not_primary_meter"),
        # announced for later, or over
        ({"effectiveStartDate": "2026-12-01T00:00:00Z"}, "not_yet"),
        ({"effectiveEndDate": "2026-11-30T00:00:00Z"}, "ended"),
    ],
)
def test_what_is_not_ours_is_left_out_by_name(changes: dict[str, Any], rule: str) -> None:
    read = reading(item(**changes))
    assert [error.rule for error in read.out_of_scope.values()] == [rule]
    assert not read.rows


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"retailPrice": "0.0"}, "zero_price"),
        ({"retailPrice": "-1"}, "negative_price"),
        ({"retailPrice": "100000.5"}, "price_out_of_bounds"),
        ({"retailPrice": '"98,32"'}, "not_a_number"),
        ({"retailPrice": "null"}, "empty"),
        ({"retailPrice": None}, "empty"),
        ({"productName": None}, "empty"),
        ({"meterName": None}, "empty"),
        ({"unitOfMeasure": None}, "empty"),
        ({"armRegionName": ""}, "empty"),
        ({"currencyCode": None}, "empty"),
        ({"currencyCode": "usd"}, "currency_unknown"),
        ({"unitOfMeasure": "100 Hours"}, "unit_unknown"),
        ({"unitOfMeasure": "1/Month"}, "unit_unknown"),
        ({"type": "SavingsPlan"}, "type_unknown"),
        ({"armSkuName": "Standard_ND999xr_Z9000_v9"}, "machine_unknown"),
        ({"effectiveStartDate": "2026-04-01"}, "time_without_zone"),
        ({**RESERVATION, "reservationTerm": "5 Years"}, "term_unknown"),
        ({**RESERVATION, "reservationTerm": None}, "term_unknown"),
        ({**RESERVATION, "retailPrice": "0.0"}, "zero_price"),
        ({"savingsPlan": [{"term": "2 Years", "unitPrice": 1.5}]}, "term_unknown"),
        ({"savingsPlan": [{"term": "1 Year", "unitPrice": 0.0}]}, "zero_price"),
        ({"savingsPlan": [{"term": "1 Year"}]}, "not_a_number"),
        ({"savingsPlan": {"term": "1 Year"}}, "plans_unreadable"),
    ],
)
def test_what_is_wrong_is_refused_by_name(changes: dict[str, Any], rule: str) -> None:
    read = reading(item(**changes))
    assert [error.rule for error in read.wrong.values()] == [rule]
    assert not read.rows


def test_what_is_no_item_is_refused_and_the_others_are_kept() -> None:
    read = reading(item(), '"text"', "17", item(armRegionName="westus3"))
    assert read.by_rule == {"item_unreadable": 2}
    assert set(read.kept) == {1, 4}


# --- files ---


def test_a_packed_file_is_read_alike() -> None:
    text = answer(item())
    assert (
        read_bytes("azure_prices", packed(text), NAME + ".gz").rows
        == read_text("azure_prices", text, NAME).rows
    )


def test_pages_that_were_saved_as_a_list_are_one_answer() -> None:
    link = "https://prices.azure.com:443/api/retail/prices?$skip=1"
    pages = [answer(item(), NextPageLink=link), answer(item(armRegionName="westus3"))]
    read = read_text("azure_prices", f"[{', '.join(pages)}]", NAME)
    assert [row.region for row in read.rows] == ["eastus", "westus3"]
    assert set(read.kept) == {1, 2}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (answer(item(), NextPageLink="https://prices.azure.com/api/retail/prices?$skip=1"), "pages_missing"),
        (f"[{answer(item())}, {answer(item())}]", "pages_missing"),
        (answer(item(), Count=2), "count_wrong"),
        (answer(), "empty_file"),
        ("[]", "empty_file"),
        (json.dumps({"Items": [ITEM]}), "json_wrong"),  # may be a part: whether more follow is not said
        (json.dumps({"Items": {}, "NextPageLink": None, "Count": 0}), "json_wrong"),
        (answer(item())[:-40], "json_wrong"),
        ("[" * 100_000, "json_wrong"),
        (
            json.dumps({"value": [{"name": "Standard_D2s_v3", "resourceType": "virtualMachines"}]}),
            "no_prices",
        ),
        (json.dumps({"value": [{"name": "cores", "limit": 10}]}), "json_wrong"),
    ],
)
def test_a_file_that_is_no_whole_answer_is_refused(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("azure_prices", text, NAME)
    assert caught.value.code == code
    assert caught.value.expected


def test_more_items_than_a_list_may_have_are_refused() -> None:
    limits = azure_prices.LIMITS.__class__(rows=1)
    file = io.BytesIO(answer(item(), item()).encode())
    with pytest.raises(FileError, match="too_many_rows"):
        azure_prices.read(file, NAME, {}, limits=limits)


def test_its_files_are_recognised() -> None:
    link = "https://prices.azure.com:443/api/retail/prices?$skip=1"
    texts = (answer(item()), f"[{answer(item(), NextPageLink=link)}, {answer(item())}]")
    heads = [text[: 64 << 10] for text in texts]
    assert all(azure_prices.looks_like(head, NAME) for head in heads)
    for name, module in SOURCES.items():
        if name != "azure_prices" and hasattr(module, "looks_like"):
            assert not any(module.looks_like(head, NAME) for head in heads), name
    sizes = '{"value": [{"name": "Standard_D2s_v3", "resourceType": "virtualMachines", "locationInfo": []}]}'
    assert azure_prices.looks_like(sizes, NAME)  # which then says why it holds no prices
    others = ('{"value": [{"name": "Standard_D2s_v3"}]}', "armRegionName,Items\n", '{"Items": []}')
    assert not any(azure_prices.looks_like(other, NAME) for other in others)


def test_a_file_that_names_no_question_replaces_what_it_names_and_no_more() -> None:
    read = reading(item(savingsPlan=[{"term": "1 Year", "unitPrice": 60.5}]), item(**RESERVATION))
    assert read.scopes == {
        "eastus:Standard_ND96isr_H100_v5:Consumption",
        "eastus:Standard_ND96isr_H100_v5:Reservation",
    }


# --- fetch ---


@pytest.fixture
def address(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(azure_prices_fetch, "ADDRESS", f"{feed.origin}/api/retail/prices")
    return azure_prices_fetch.ADDRESS


def fetched(params: dict[str, str] | None = None) -> Iterator[tuple[str, bytes]]:
    for name, chunks in azure_prices.fetch(params or {}, NOW):
        yield name, b"".join(chunks)


def regions(*numbers: int) -> list[str]:
    return [f"region{number}" for number in numbers]


def first_question(request: Request) -> bool:
    return "$skip" in request.query or (
        "'Consumption'" in request.query["$filter"] and "'Standard_NC'" in request.query["$filter"]
    )


def play_seven_pages(feed: Feed, address: str, *third: Answer) -> None:
    """Play seven pages of two items each as the answer to the first question."""
    for number in range(1, 8):
        items = [item(armRegionName=region) for region in regions(2 * number - 1, 2 * number)]
        link = f"{address}?$skip={2 * number}" if number < 7 else None
        page = Answer(text=answer(*items, NextPageLink=link))
        before = third if number == 3 else ()
        start = urlsplit(address).path if number == 1 else f"{urlsplit(address).path}?$skip={2 * number - 2}"
        feed.play(start, *before, page, where=first_question)


def test_page_three_of_seven_answers_429_then_500_then_closes_and_the_list_is_complete(
    feed: Feed, address: str
) -> None:
    cut = Answer(text=answer(item()), cut_after=100)
    play_seven_pages(feed, address, Answer(429, headers={"Retry-After": "0"}), Answer(500), CLOSE, cut)
    name, data = next(fetched())
    read = read_bytes("azure_prices", data, name)
    assert [row.region for row in read.rows] == regions(*range(1, 15))
    assert len(feed.requests) == 7 + 4
    assert read.scopes == {"Consumption:NC"}
    assert read.info.as_of == datetime(2026, 11, 30, tzinfo=UTC)


def test_a_page_that_never_comes_publishes_nothing_and_may_be_tried_again(feed: Feed, address: str) -> None:
    play_seven_pages(feed, address, *[Answer(503)] * 6)
    with pytest.raises(HttpError):
        next(fetched())


def test_each_question_is_a_file_and_all_together_are_every_n_size(feed: Feed, address: str) -> None:
    feed.play("/api", Answer(text=answer(item())))
    names = [name for name, _ in fetched()]
    assert names == [
        f"azure_retail_prices_{kind}_{series}_2026-11-30.json"
        for kind in ("consumption", "reservation")
        for series in ("nc", "nd", "nv", "n")
    ]
    asked = [request.query for request in feed.requests]
    assert {query["api-version"] for query in asked} == {"2023-01-01-preview"}
    assert {query["meterRegion"] for query in asked} == {"'primary'"}
    assert asked[-1]["$filter"] == (
        "serviceName eq 'Virtual Machines' and priceType eq 'Reservation'"
        " and startswith(armSkuName, 'Standard_N')"
        " and startswith(armSkuName, 'Standard_NC') eq false"
        " and startswith(armSkuName, 'Standard_ND') eq false"
        " and startswith(armSkuName, 'Standard_NV') eq false"
        " and contains(productName, 'Windows') eq false and contains(meterName, 'Low Priority') eq false"
    )


def test_regions_may_be_asked_for_one_by_one(feed: Feed, address: str) -> None:
    feed.play("/api", Answer(text=answer(item())))
    files = list(fetched({"region": "eastus, westus3"}))
    assert len(files) == 16
    assert "armRegionName eq 'eastus'" in feed.requests[0].query["$filter"]
    assert read_bytes("azure_prices", files[0][1], files[0][0]).scopes == {"Consumption:NC:eastus"}


def test_nothing_is_asked_before_a_piece_is_read(feed: Feed, address: str) -> None:
    feed.play("/api", Answer(text=answer(item())))
    pieces = list(azure_prices.fetch({}, NOW))
    assert not feed.requests
    b"".join(pieces[5][1])
    assert len(feed.requests) == 1


def test_a_region_that_is_no_name_is_asked_for_nowhere(feed: Feed, address: str) -> None:
    with pytest.raises(FileError, match="region_wrong"):
        next(fetched({"region": "eastus' or 1 eq 1"}))
    assert not feed.requests


def linked(link: str, **changes: Any) -> str:
    return answer(item(**changes), NextPageLink=link)


@pytest.mark.parametrize(
    ("pages", "code"),
    [
        ([linked("")], "page_link_empty"),
        ([answer(NextPageLink="{here}?$skip=1")], "page_empty"),
        ([linked("{here}?$skip=1"), linked("{here}?$skip=1", armRegionName="westus3")], "page_repeated"),
        ([linked("{here}?$skip=1"), linked("{here}?$skip=2")], "page_repeated"),
        ([linked("https://example.org/api/retail/prices?$skip=1")], "page_elsewhere"),
        ([linked("{here}/other?$skip=1")], "page_elsewhere"),
        ([answer(item(), Count=1000)], "count_wrong"),
        (['{"Items": []}'], "json_wrong"),
        (["<html>502 Bad Gateway</html>"], "json_wrong"),
    ],
)
def test_a_list_that_would_be_short_or_endless_is_refused(
    feed: Feed, address: str, pages: list[str], code: str
) -> None:
    feed.play("/api", *[Answer(text=page.replace("{here}", address)) for page in pages])
    with pytest.raises(FileError) as caught:
        next(fetched())
    assert caught.value.code == code
    assert caught.value.column == f"page {len(pages)}"


def test_pages_without_end_are_refused(feed: Feed, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure_prices_fetch, "_MOST_PAGES", 3)
    pages = [
        Answer(text=answer(item(armRegionName=f"r{n}"), NextPageLink=f"{address}?$skip={n}"))
        for n in range(1, 9)
    ]
    feed.play("/api", *pages)
    with pytest.raises(FileError, match="too_many_pages"):
        next(fetched())
    assert len(feed.requests) == 3


@pytest.mark.parametrize(
    ("status", "code"), [(400, "question_refused"), (404, "question_refused"), (403, "auth_failed")]
)
def test_a_question_that_azure_refuses_is_not_asked_again(
    feed: Feed, address: str, status: int, code: str
) -> None:
    feed.play("/api", Answer(status, text="Invalid OData parameters supplied"))
    with pytest.raises(FileError) as caught:
        next(fetched())
    assert caught.value.code == code
    assert "Invalid OData parameters" in caught.value.value
    assert len(feed.requests) == 1


def test_an_address_off_the_list_is_said_so(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure_prices_fetch, "ADDRESS", "https://example.org/api/retail/prices")
    with pytest.raises(FileError, match="address_refused"):
        next(fetched())


# --- into the table ---


def test_what_left_the_answer_is_sold_no_more_and_other_answers_stay(feed: Feed, address: str, take) -> None:
    """Only the questions about ND sizes have prices; the second time one region is gone from one answer."""

    def play(kind: dict[str, str], *places: str) -> None:
        asked = f"priceType eq '{kind.get('type', 'Consumption')}'"
        none = Answer(text=answer(item(armSkuName="Standard_D8_v4")))
        found = Answer(text=answer(*(item(armRegionName=place, **kind) for place in places)))
        feed.play("/api", none, where=lambda request: asked in request.query["$filter"])
        wanted = {asked, "startswith(armSkuName, 'Standard_ND')"}
        feed.play(
            "/api/retail", found, where=lambda request: wanted <= set(request.query["$filter"].split(" and "))
        )

    def held() -> set[tuple[str, str]]:
        rows = Price.objects.filter(source="azure_prices", effective_to=None)
        return set(rows.values_list("region", "term"))

    places = ("eastus", "westus3", "swedencentral")
    play({}, *places)
    play(RESERVATION, *places)
    assert take(None, "azure_prices").job.runs.count() == 8
    everywhere = {(place, term) for place in places for term in ("on_demand", "reserved_1y")}
    assert held() == everywhere
    play({}, "eastus", "westus3")
    take(None, "azure_prices")
    assert held() == everywhere - {("swedencentral", "on_demand")}

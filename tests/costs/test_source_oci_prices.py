"""State how Oracle's price list is read: items are ours, in the format of its API."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from costs import egress
from costs.egress import patience
from costs.rows import FileError, PriceRow
from costs.sources import oci_prices

from .feeds import CLOSE, Answer, Feed
from .readings import Reading, packed, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAME = "oci_prices_2026-11-30.json"


def item(part: str, *values: str, metric: str = "GPU Per Hour", **changes: Any) -> dict[str, Any]:
    """Return one item; several values are tiers."""
    prices: list[dict[str, Any]] = [
        {"model": "PAY_AS_YOU_GO", "value": json.loads(value)} for value in values
    ]
    if len(values) > 1:
        for place, price in enumerate(prices):
            price |= {"rangeMin": 100 * place, "rangeMax": 100 * (place + 1), "rangeUnit": "GPU Hours"}
    return {
        "partNumber": part,
        "displayName": f"Compute - {part}",
        "metricName": metric,
        "serviceCategory": "Compute - GPU",
        "currencyCodeLocalizations": [{"currencyCode": "USD", "prices": prices}],
        **changes,
    }


def listed(*items: dict[str, Any], name: str = NAME, currency: str = "", **heading: Any) -> Reading:
    text = json.dumps({"items": list(items), **heading})
    return read_text("oci_prices", text, name, {"currency": currency} if currency else {})


def prices(found: Reading) -> dict[str, str]:
    rows = [row for row in found.rows if isinstance(row, PriceRow)]
    return {row.sku: f"{row.price_per_hour.normalize():f}" for row in rows if row.price_per_hour}


def only_error(found: Reading) -> tuple[str, str]:
    ((_, error),) = (found.wrong | found.out_of_scope).items()
    assert not found.rows
    return error.column, error.rule


# --- machines ---


def test_a_machine_costs_the_price_of_one_gpu_times_their_count() -> None:
    """Oddity 16: the price is per GPU while shapes are whole nodes."""
    found = listed(item("B98415", "9.75"))
    assert prices(found) == {"BM.GPU.H100.8": "78"}
    row = found.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.provider, row.accelerator_name, row.gpu_count) == ("oci", "h100-sxm-80gb", 8)
    assert (row.region, row.term, row.state, row.currency) == ("global", "on_demand", "priced", "USD")
    assert (row.vcpus, row.memory_gib) == (224, 2048)
    assert row.reference == "Oracle price list, part B98415, 9.75 USD per GPU and hour"
    assert found.scopes == {"oci"}


def test_one_part_is_billed_by_several_machines() -> None:
    found = listed(item("B89734", "2.95"))
    assert prices(found) == {
        "VM.GPU3.1": "2.95",
        "VM.GPU3.2": "5.9",
        "VM.GPU3.4": "11.8",
        "BM.GPU3.8": "23.6",
    }


def test_every_machine_of_the_parts_is_in_the_table_of_machine_types() -> None:
    parts = listed(*(item(part, "1") for part in oci_prices._SHAPES))
    assert set(prices(parts)) == {name for names in oci_prices._SHAPES.values() for name in names}


def test_the_digits_of_a_price_are_kept() -> None:
    text = json.dumps({"items": [item("B98415", "1")]}).replace('"value": 1', '"value": 0.1000000001')
    found = read_text("oci_prices", text, NAME)
    assert prices(found) == {"BM.GPU.H100.8": "0.8"}, "nine decimals are kept, and none of them is binary"


# --- units, tiers, currencies ---


@pytest.mark.parametrize("metric", ["OCPU Per Hour", "Gigabyte Per Hour", "Node Per Hour", "GPU Per Month"])
def test_the_unit_stands_in_the_metric_and_only_gpu_hours_are_ours(metric: str) -> None:
    """Oddity 16: unit in metricName."""
    assert only_error(listed(item("B98415", "10", metric=metric))) == ("metricName", "not_gpu_hour")


def test_gpus_of_machines_on_premises_are_not_public_machines() -> None:
    found = listed(item("B96999", "1", serviceCategory="Compute Cloud@Customer"))
    assert only_error(found) == ("serviceCategory", "not_gpu_machine")


def test_a_first_tier_of_nothing_is_the_free_tier() -> None:
    """Oddity 16: tiers rangeMin/rangeMax, 0 for a free tier."""
    assert prices(listed(item("B98415", "0", "10"))) == {"BM.GPU.H100.8": "80"}


def test_a_price_of_nothing_alone_is_no_free_tier() -> None:
    assert only_error(listed(item("B98415", "0"))) == ("value", "zero_price")


def test_prices_that_depend_on_use_are_not_chosen_among() -> None:
    assert only_error(listed(item("B98415", "10", "9"))) == ("prices", "many_tiers")
    assert only_error(listed(item("B98415", "0", "10", "9"))) == ("prices", "many_tiers")


def test_the_currency_is_the_dollar_unless_another_is_asked_for() -> None:
    both = item("B98415", "10")
    both["currencyCodeLocalizations"].append(
        {"currencyCode": "EUR", "prices": [{"model": "PAY_AS_YOU_GO", "value": 9.3}]}
    )
    assert prices(listed(both)) == {"BM.GPU.H100.8": "80"}
    euros = listed(both, currency="EUR")
    assert prices(euros) == {"BM.GPU.H100.8": "74.4"}
    assert {row.currency for row in euros.rows if isinstance(row, PriceRow)} == {"EUR"}
    assert only_error(listed(both, currency="JPY")) == ("currencyCode", "currency_not_listed")


def test_a_currency_that_is_none_is_refused() -> None:
    with pytest.raises(FileError, match="currency_wrong"):
        listed(item("B98415", "10"), currency="euro")


def test_prices_on_other_models_are_not_on_demand_prices() -> None:
    monthly = item("B98415", "10")
    monthly["currencyCodeLocalizations"][0]["prices"].append({"model": "MONTHLY_COMMIT", "value": 7})
    assert prices(listed(monthly)) == {"BM.GPU.H100.8": "80"}
    del monthly["currencyCodeLocalizations"][0]["prices"][0]
    assert only_error(listed(monthly)) == ("model", "model_missing")


# --- refusals ---


@pytest.mark.parametrize(
    ("changes", "column", "rule"),
    [
        ({"partNumber": "B99999"}, "partNumber", "part_unknown"),
        ({"partNumber": None}, "partNumber", "empty"),
        ({"metricName": ""}, "metricName", "empty"),
        ({"currencyCodeLocalizations": "none"}, "currencyCodeLocalizations", "record_unreadable"),
        ({"currencyCodeLocalizations": None}, "currencyCode", "currency_not_listed"),
    ],
)
def test_a_wrong_item_is_refused_by_rule(changes: dict[str, Any], column: str, rule: str) -> None:
    assert only_error(listed(item("B98415", "10") | changes)) == (column, rule)


@pytest.mark.parametrize(
    ("value", "rule"), [("null", "not_a_number"), ('"ten"', "not_a_number"), ("-1", "negative_price")]
)
def test_a_value_that_is_no_price_is_refused(value: str, rule: str) -> None:
    assert only_error(listed(item("B98415", value))) == ("value", rule)


def test_an_item_that_is_no_object_is_refused_alone() -> None:
    found = read_text("oci_prices", json.dumps({"items": [7, item("B98415", "10")]}), NAME)
    assert {line: error.rule for line, error in found.wrong.items()} == {1: "record_unreadable"}
    assert list(found.kept) == [2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"products": []}', "json_wrong"),
        ('{"items": [}', "json_wrong"),
        ("[]", "json_wrong"),
        ('{"items": []}', "empty_file"),
        ('{"items": [{}], "hasMore": true}', "pages_missing"),
        ('{"items": [{}], "lastUpdated": "soon"}', "not_a_time"),
    ],
)
def test_a_file_that_is_no_list_is_refused_with_the_reason(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("oci_prices", text, NAME)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("name", "heading", "as_of"),
    [
        ("list.json", {"lastUpdated": "2026-09-01T14:26:53.943Z"}, "2026-09-01T14:26:53.943000+00:00"),
        ("oci_2026-11-30.json", {}, "2026-11-30T00:00:00+00:00"),
        ("oci_price_list_compute_2024-01.json", {}, "2024-01-01T00:00:00+00:00"),
    ],
)
def test_the_list_is_of_its_own_date_or_of_the_one_in_its_name(
    name: str, heading: dict[str, str], as_of: str
) -> None:
    found = listed(item("B98415", "10"), name=name, **heading).info.as_of
    assert found is not None
    assert found.isoformat() == as_of


def test_a_list_without_any_date_says_so() -> None:
    assert listed(item("B98415", "10"), name="list.json").info.as_of is None


def test_the_list_is_recognised_by_its_words() -> None:
    text = json.dumps({"items": [item("B98415", "10")]})
    assert oci_prices.looks_like(text, "x.json")
    assert not oci_prices.looks_like('{"skus": [{"skuId": "X"}]}', NAME)
    assert prices(read_bytes("oci_prices", packed(text), NAME + ".gz")) == {"BM.GPU.H100.8": "80"}


# --- fetch ---


@pytest.fixture
def oracle(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Feed:
    monkeypatch.setattr(oci_prices, "ADDRESS", f"{feed.origin}/api/v1/products/")
    monkeypatch.setattr(patience, "sleep", lambda seconds: None)
    return feed


def test_the_list_is_fetched_in_one_currency_whatever_happens_on_the_way(oracle: Feed) -> None:
    answer = {"items": [item("B98415", "10")], "lastUpdated": "2026-11-29T00:00:00Z"}
    oracle.play("/api", Answer(429, headers={"Retry-After": "0"}), Answer(500), CLOSE, Answer(json=answer))
    ((name, chunks),) = oci_prices.fetch({}, NOW)
    found = read_bytes("oci_prices", b"".join(chunks), name)
    assert name == "oci_prices_USD_2026-11-30.json"
    assert oracle.paths() == ["/api/v1/products/?currencyCode=USD"] * 4
    assert prices(found) == {"BM.GPU.H100.8": "80"}


def test_a_list_that_is_cut_short_is_not_taken(oracle: Feed) -> None:
    oracle.play("/api", Answer(json={"items": [item("B98415", "10")] * 50}, cut_after=100))
    ((_, chunks),) = oci_prices.fetch({}, NOW)
    with pytest.raises(egress.HttpError):
        b"".join(chunks)


def test_nothing_is_asked_before_the_bytes_are_wanted(oracle: Feed) -> None:
    list(oci_prices.fetch({"currency": "EUR"}, NOW))
    assert oracle.requests == []


def test_oracles_own_address_may_be_reached() -> None:
    egress.check_url(oci_prices.ADDRESS)

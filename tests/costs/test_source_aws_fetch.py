"""State that a question to AWS about prices brings all pages or nothing, and reaches AWS only."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from costs.egress import EgressRefused, aws_config, check_url
from costs.rows import FileError, PriceRow
from costs.sources import aws_ec2, aws_fetch, aws_prices, aws_savings_plans, aws_savings_plans_fetch

from .ec2_answers import use_keys
from .feeds import CLOSE, Answer, Feed
from .readings import read_bytes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DATA = Path(__file__).resolve().parent.parent / "data"
ITEMS: list[str] = json.loads((DATA / "aws_get_products.json").read_text())["PriceList"]
RATES: list[Any] = json.loads((DATA / "aws_savings_plans_rates.json").read_text())["searchResults"]
ONE_TYPE = {"region": "us-east-1", "instance_types": "p5.48xlarge"}
PRODUCTS, PLANS = "/", "/DescribeSavingsPlansOfferingRates"


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    use_keys(monkeypatch, feed)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", feed.origin)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAVINGSPLANS", feed.origin)
    # the SDK waits between attempts; what it waits is its own concern
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))


def page(*products: str, **more: Any) -> Answer:
    return Answer(json={"FormatVersion": "aws_v1", "PriceList": list(products), **more})


def rates(*results: Any, **more: Any) -> Answer:
    return Answer(json={"searchResults": list(results), **more})


def error(code: str, status: int) -> Answer:
    return Answer(status, json={"__type": code, "message": "no"}, headers={"x-amzn-ErrorType": code})


def products(**params: str) -> bytes:
    """Return the bytes of the one answer about products."""
    ((name, chunks),) = aws_prices.fetch({**ONE_TYPE, **params}, NOW)
    assert name == "aws_get_products_2026-11-30.json"
    return b"".join(chunks)


def plans(**params: str) -> bytes:
    """Return the bytes of the one answer about plans."""
    ((name, chunks),) = aws_savings_plans.fetch({**ONE_TYPE, **params}, NOW)
    assert name == "aws_savings_plans_rates_2026-11-30.json"
    return b"".join(chunks)


# --- products ---


def test_all_pages_come_as_one_answer_that_the_parser_reads(feed: Feed) -> None:
    pages = (page(*ITEMS[:2], NextToken="one"), page(*ITEMS[2:3], NextToken="two"), page(*ITEMS[3:]))
    feed.play(PRODUCTS, *pages)
    data = products()
    assert json.loads(data)["PriceList"] == ITEMS
    rows = read_bytes("aws_prices", data, "a.json").rows
    assert {row.sku for row in rows if isinstance(row, PriceRow)} == {"p4d.24xlarge", "p5.48xlarge"}
    asked = [json.loads(request.body) for request in feed.requests]
    assert [each.get("NextToken") for each in asked] == [None, "one", "two"]
    assert all("AWS4-HMAC-SHA256" in request.headers["Authorization"] for request in feed.requests)


def test_each_region_and_type_is_asked_for_and_an_empty_answer_is_an_answer(feed: Feed) -> None:
    # two regions, two types: four questions, of which one has nothing
    feed.play(PRODUCTS, page(ITEMS[0]), page(), page(ITEMS[1]), page(ITEMS[2]))
    data = products(region="us-east-1, eu-west-1", instance_types="p5.48xlarge, p4d.24xlarge")
    assert json.loads(data)["PriceList"] == ITEMS[:3]
    asked = [
        {each["Field"]: each["Value"] for each in json.loads(request.body)["Filters"]}
        for request in feed.requests
    ]
    assert [(each["regionCode"], each["instanceType"]) for each in asked] == [
        ("us-east-1", "p5.48xlarge"),
        ("us-east-1", "p4d.24xlarge"),
        ("eu-west-1", "p5.48xlarge"),
        ("eu-west-1", "p4d.24xlarge"),
    ]


def test_the_question_names_the_filters_of_the_list() -> None:
    (question,) = aws_fetch.questions(ONE_TYPE)
    asked = {each["Field"]: each["Value"] for each in question}
    assert asked == {
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
        "regionCode": "us-east-1",
        "instanceType": "p5.48xlarge",
    }
    assert {each["Type"] for each in question} == {"TERM_MATCH"}


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([Answer(json={"FormatVersion": "aws_v1"})], "page_wrong"),  # no key is not an empty page
        ([page(*ITEMS[:2], NextToken="one"), Answer(json={"FormatVersion": "aws_v1"})], "page_wrong"),
        ([Answer(json={"PriceList": ITEMS})], "page_wrong"),
        ([page(*ITEMS, NextToken="")], "page_token_empty"),
        ([page(NextToken="one")], "page_empty"),  # nothing on a page that has a next one
        ([page(ITEMS[0], NextToken="one"), page(ITEMS[1], NextToken="one")], "page_repeated"),
        ([page(ITEMS[0], NextToken="one"), page(ITEMS[0], NextToken="two")], "page_repeated"),
        ([Answer(text="<html>502 Bad Gateway</html>")], "page_wrong"),
    ],
)
def test_a_list_that_would_be_short_or_endless_is_refused(
    feed: Feed, answers: list[Answer], code: str
) -> None:
    feed.play(PRODUCTS, *answers)
    with pytest.raises(FileError) as caught:
        products()
    assert caught.value.code == code
    assert caught.value.expected
    assert caught.value.column == f"page {len(answers)}"


def test_pages_without_end_are_refused(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    monkeypatch.setattr(aws_fetch, "_MOST_PAGES", 3)
    feed.play(PRODUCTS, *(page(f"{n}", NextToken=f"{n}") for n in range(3)))
    with pytest.raises(FileError, match="too_many_pages"):
        products()


# --- savings plans ---


def test_all_pages_of_rates_come_as_one_answer_that_the_parser_reads(feed: Feed) -> None:
    # a page without rates and an empty token at the end are as AWS gives them
    feed.play(
        PLANS, rates(*RATES[:2], nextToken="one"), rates(nextToken="two"), rates(*RATES[2:], nextToken="")
    )
    data = plans()
    assert json.loads(data)["searchResults"] == RATES
    kept = read_bytes("aws_savings_plans", data, "a.json").rows
    assert {row.term for row in kept if isinstance(row, PriceRow)} == {
        "compute_plan_1y",
        "compute_plan_3y",
        "instance_plan_1y",
        "instance_plan_3y",
    }
    asked = [json.loads(request.body) for request in feed.requests]
    assert [each.get("nextToken") for each in asked] == [None, "one", "two"]


def test_one_question_names_all_regions_and_types_and_what_the_parser_keeps(feed: Feed) -> None:
    feed.play(PLANS, rates(*RATES))
    plans(region="us-east-1, eu-west-1", instance_types="p5.48xlarge, p4d.24xlarge")
    (request,) = feed.requests
    asked = json.loads(request.body)
    assert asked["savingsPlanTypes"] == ["Compute", "EC2Instance"]
    assert {each["name"]: each["values"] for each in asked["filters"]} == {
        "region": ["us-east-1", "eu-west-1"],
        "instanceType": ["p5.48xlarge", "p4d.24xlarge"],
        "productDescription": ["Linux/UNIX"],
        "tenancy": ["shared"],
    }


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([Answer(json={})], "page_wrong"),  # no key is not an empty page
        ([rates(RATES[0], nextToken="one"), Answer(json={"nextToken": ""})], "page_wrong"),
        ([rates(RATES[0], nextToken="one"), rates(RATES[1], nextToken="one")], "page_repeated"),
        ([rates(RATES[0], nextToken="one"), rates(RATES[0], nextToken="two")], "page_repeated"),
    ],
)
def test_rates_that_would_be_short_or_endless_are_refused(
    feed: Feed, answers: list[Answer], code: str
) -> None:
    feed.play(PLANS, *answers)
    with pytest.raises(FileError) as caught:
        plans()
    assert (caught.value.code, caught.value.column) == (code, f"page {len(answers)}")


def test_rates_without_end_are_refused(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    monkeypatch.setattr(aws_savings_plans_fetch, "_MOST_PAGES", 3)
    feed.play(PLANS, *(rates(RATES[n], nextToken=f"{n}") for n in range(3)))
    with pytest.raises(FileError, match="too_many_pages"):
        plans()


# --- rights and trouble, of both ---


BOTH = [
    (PRODUCTS, products, "pricing:GetProducts", page(*ITEMS)),
    (PLANS, plans, "savingsplans:DescribeSavingsPlansOfferingRates", rates(*RATES)),
]


@pytest.mark.parametrize(("path", "fetch", "right", "answer"), BOTH, ids=["products", "plans"])
@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"]
)
def test_a_missing_right_is_named_with_what_it_unlocks(
    feed: Feed, path: str, fetch: Any, right: str, answer: Answer, code: str
) -> None:
    feed.play(path, error(code, 400))
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetch()
    assert right in caught.value.expected
    assert "instance types" in caught.value.expected
    assert len(feed.requests) == 1, "asking again does not help"


@pytest.mark.parametrize(("path", "fetch", "right", "answer"), BOTH, ids=["products", "plans"])
def test_no_keys_at_all_are_said_by_name(
    monkeypatch: pytest.MonkeyPatch, path: str, fetch: Any, right: str, answer: Answer
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetch()
    assert right in caught.value.expected


@pytest.mark.parametrize(("path", "fetch", "right", "answer"), BOTH, ids=["products", "plans"])
def test_the_third_page_comes_after_a_429_a_500_and_a_closed_connection(
    feed: Feed, path: str, fetch: Any, right: str, answer: Answer
) -> None:
    trouble = [error("ThrottlingException", 429), error("InternalServerException", 500), CLOSE]
    if path == PRODUCTS:
        begun = [page(ITEMS[0], NextToken="1"), page(ITEMS[1], NextToken="2")]
        feed.play(path, *begun, *trouble, page(*ITEMS[2:]))
        assert json.loads(fetch())["PriceList"] == ITEMS
    else:
        begun = [rates(RATES[0], nextToken="1"), rates(RATES[1], nextToken="2")]
        feed.play(path, *begun, *trouble, rates(*RATES[2:]))
        assert json.loads(fetch())["searchResults"] == RATES
    assert len(feed.requests) == 6


def test_nothing_is_asked_before_a_piece_is_read(feed: Feed) -> None:
    list(aws_prices.fetch(ONE_TYPE, NOW))
    list(aws_savings_plans.fetch(ONE_TYPE, NOW))
    assert feed.requests == []


def test_clients_try_a_few_times_and_never_wait_without_end() -> None:
    config = aws_config()
    assert config.retries == {"mode": "adaptive", "total_max_attempts": 8}
    assert (config.connect_timeout, config.read_timeout) == (5, 60)


# --- where to ---


@pytest.mark.parametrize(
    "url",
    [
        "https://api.pricing.us-east-1.amazonaws.com/",
        "https://api.pricing.us-east-1.amazonaws.com:443/x?y=z",
        "https://PRICING.us-east-1.AMAZONAWS.com",
        "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/region_index.json",
        "https://savingsplans.amazonaws.com/",
    ],
)
def test_aws_may_be_reached_over_tls(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.pricing.us-east-1.amazonaws.com/",
        "https://api.pricing.us-east-1.amazonaws.com:8443/",
        "https://amazonaws.com.example.org/",
        "https://notamazonaws.com/",
        "https://amazonaws.com@example.org/",
        "https://user@api.pricing.us-east-1.amazonaws.com/",
        "https://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:8000/",
        "file:///etc/passwd",
        "https://[::1",
        "https://x:99999/",
        "",
    ],
)
def test_no_other_address_may_be_reached(url: str) -> None:
    with pytest.raises(EgressRefused):
        check_url(url)


def test_an_allowed_origin_is_compared_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", "http://127.0.0.1:8999, https://mirror.example.org/")
    check_url("http://127.0.0.1:8999/path")
    check_url("https://mirror.example.org/prices")
    for url in ("http://127.0.0.1:8998/", "https://127.0.0.1:8999/", "http://127.0.0.1:8999@example.org/"):
        with pytest.raises(EgressRefused):
            check_url(url)


def test_a_client_with_another_endpoint_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", "http://127.0.0.1:9/")
    with pytest.raises(EgressRefused):
        aws_ec2.client("pricing", "us-east-1")


def test_each_request_is_checked_just_before_it_is_sent(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    client = aws_ec2.client("pricing", "us-east-1")
    monkeypatch.setattr(aws_fetch, "client", lambda service, region: client)
    monkeypatch.delenv("EGRESS_ALLOW")
    with pytest.raises(EgressRefused):
        products()

"""Fetch Google's SKUs over the real protocol from a server that plays trouble."""

import json
from datetime import UTC, datetime

import pytest

from costs import egress
from costs.egress import patience
from costs.rows import FileError, PriceRow
from costs.sources import gcp_billing, gcp_billing_fetch

from .feeds import CLOSE, Answer, Feed
from .gcp_skus import Dumped, a2, page, sku
from .readings import read_bytes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PATH = "/v1/services/6F81-5844-456A/skus"
KEY = "AIzaSy-test-key-of-nobody"
QUERY = "?currencyCode=USD&pageSize=5000"


@pytest.fixture(autouse=True)
def google(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Ask the server of this test in Google's place, with a key and without patience."""
    monkeypatch.setattr(gcp_billing_fetch, "ADDRESS", feed.origin + PATH)
    monkeypatch.setenv("GCP_BILLING_API_KEY", KEY)
    monkeypatch.setattr(patience, "sleep", lambda seconds: None)
    return feed


def fetched() -> tuple[str, bytes]:
    ((name, chunks),) = gcp_billing.fetch({}, NOW)
    return name, b"".join(chunks)


def play(feed: Feed, *pages: Dumped) -> None:
    """Play pages that name each other."""
    for number, each in enumerate(pages):
        at = f"{PATH}{QUERY}" + (f"&pageToken=t{number}" if number else "")
        feed.play(at, Answer(json=each))


def test_all_pages_become_one_document_that_reads_like_an_upload(google: Feed) -> None:
    gpu, core, memory = a2()
    play(google, page(gpu, token="t1"), page(core, token="t2"), page(memory))
    name, document = fetched()
    assert name == "gcp_billing_skus_2026-11-30.json"
    assert [request.query.get("pageToken") for request in google.requests] == [None, "t1", "t2"]
    reading = read_bytes("gcp_billing", document, name)
    assert reading.lines == 3
    assert reading.scopes == {"gcp"}
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.sku, str(row.price_per_hour)) == ("a2-highgpu-1g", "3.600000000")


def test_trouble_on_the_third_page_is_waited_out(google: Feed) -> None:
    """Too many requests, then a failure, then a closed connection, then a cut answer."""
    gpu, core, memory = a2()
    play(google, page(gpu, token="t1"), page(core, token="t2"))
    google.play(
        f"{PATH}{QUERY}&pageToken=t2",
        Answer(429, headers={"Retry-After": "0"}),
        Answer(500),
        CLOSE,
        Answer(json=page(memory), cut_after=40),
        Answer(json=page(memory)),
    )
    _, document = fetched()
    assert json.loads(document) == [page(gpu, token="t1"), page(core, token="t2"), page(memory)]
    assert len(google.requests) == 2 + 5


def test_trouble_that_stays_is_raised_and_gives_no_short_list(google: Feed) -> None:
    play(google, page(*a2(), token="t1"))
    google.play(f"{PATH}{QUERY}&pageToken=t1", Answer(503, text="try later"))
    with pytest.raises(egress.HttpError, match="503"):
        fetched()


def test_amounts_keep_their_digits_on_the_way(google: Feed) -> None:
    exact = '{"skus": [{"skuId": "X", "description": "d", "rate": 14999.999925000001}], "nextPageToken": ""}'
    google.play(PATH, Answer(text=exact))
    assert b"14999.999925000001" in fetched()[1]


def test_nothing_is_asked_before_the_bytes_are_wanted(google: Feed) -> None:
    list(gcp_billing.fetch({}, NOW))
    assert google.requests == []


# --- the key ---


def test_without_a_key_the_fetch_says_which_one_and_what_it_unlocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GCP_BILLING_API_KEY")
    with pytest.raises(FileError) as caught:
        list(gcp_billing.fetch({}, NOW))
    assert caught.value.code == "auth_failed"
    assert "GCP_BILLING_API_KEY" in caught.value.expected
    assert "price list" in caught.value.expected
    assert caught.value.expected == gcp_billing.NEEDS


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_key_that_is_refused_is_said_once_and_not_tried_again(google: Feed, status: int) -> None:
    google.play(PATH, Answer(status, json={"error": {"message": f"API key not valid: {KEY}"}}))
    with pytest.raises(FileError) as caught:
        fetched()
    assert caught.value.code == "auth_failed"
    assert "not valid" in caught.value.value
    assert KEY not in f"{caught.value} {caught.value.value} {caught.value.expected}"
    assert len(google.requests) == 1


def test_the_key_is_in_no_address_no_name_and_no_document(google: Feed) -> None:
    play(google, page(*a2()))
    name, document = fetched()
    assert google.requests[0].headers["X-Goog-Api-Key"] == KEY
    assert KEY not in name + document.decode() + "".join(google.paths())


def test_a_passing_failure_does_not_repeat_the_key(google: Feed) -> None:
    google.play(PATH, Answer(500, text=f"cannot serve {KEY}"))
    with pytest.raises(egress.HttpError) as caught:
        fetched()
    assert KEY not in f"{caught.value} {caught.value.text} {caught.value.url}"


# --- pages that are none ---


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"error": "moved"}, "page_wrong"),
        ([], "page_wrong"),
        ({"skus": "none"}, "page_wrong"),
        ({"skus": [sku("x")], "nextPageToken": 7}, "page_wrong"),
        ({"skus": []}, "page_empty"),
        ({"skus": [], "nextPageToken": "t1"}, "page_empty"),
    ],
)
def test_an_answer_that_is_no_page_is_refused(google: Feed, answer: object, code: str) -> None:
    google.play(PATH, Answer(json=answer))
    with pytest.raises(FileError) as caught:
        fetched()
    assert caught.value.code == code


def test_a_page_that_comes_again_is_refused(google: Feed) -> None:
    google.play(PATH, Answer(json=page(*a2(), token="t1")))
    with pytest.raises(FileError, match="page_repeated"):
        fetched()


def test_pages_without_end_are_refused(google: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gcp_billing_fetch, "_MOST_PAGES", 2)
    play(google, page(sku("a"), token="t1"), page(sku("b"), token="t2"), page(sku("c")))
    with pytest.raises(FileError, match="too_many_pages"):
        fetched()

"""State that a question to AWS brings all pages or nothing, and reaches AWS only."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.stub import Stubber

from costs.egress import EgressRefused, aws_config, check_url
from costs.rows import FileError, PriceRow
from costs.sources import aws_fetch

from .readings import read_bytes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DATA = Path(__file__).resolve().parent.parent / "data"
ITEMS: list[str] = json.loads((DATA / "aws_get_products.json").read_text())["PriceList"]
ONE_QUESTION = {"region": "us-east-1", "instance_types": "p5.48xlarge"}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_PRICING", "EGRESS_ALLOW"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


def page(*products: str, **more: Any) -> dict[str, Any]:
    return {"FormatVersion": "aws_v1", "PriceList": list(products), **more}


def fetched(monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]], params: dict[str, str]) -> bytes:
    """Return the bytes that are fetched while AWS gives these answers, one after the other."""
    client = aws_fetch.client()
    monkeypatch.setattr(aws_fetch, "client", lambda: client)
    with Stubber(client) as stubber:
        for answer in answers:
            stubber.add_response("get_products", answer)
        ((name, chunks),) = aws_fetch.fetch(params, NOW)
        data = b"".join(chunks)
        stubber.assert_no_pending_responses()
    assert name == "aws_get_products_2026-11-30.json"
    return data


def test_all_pages_come_as_one_answer_that_the_parser_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [page(*ITEMS[:2], NextToken="one"), page(*ITEMS[2:3], NextToken="two"), page(*ITEMS[3:])]
    data = fetched(monkeypatch, answers, ONE_QUESTION)
    assert json.loads(data)["PriceList"] == ITEMS
    rows = read_bytes("aws_prices", data, "a.json").rows
    assert {row.sku for row in rows if isinstance(row, PriceRow)} == {"p4d.24xlarge", "p5.48xlarge"}


def test_each_region_and_family_is_asked_for_and_an_empty_answer_is_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # two regions, two families of accelerators: four questions, of which one has nothing
    answers = [page(ITEMS[0]), page(), page(ITEMS[1]), page(ITEMS[2])]
    data = fetched(monkeypatch, answers, {"region": "us-east-1, eu-west-1"})
    assert json.loads(data)["PriceList"] == ITEMS[:3]


def test_the_question_names_the_filters_of_the_list() -> None:
    (question,) = aws_fetch.questions(ONE_QUESTION)
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
        ([{"FormatVersion": "aws_v1"}], "page_wrong"),  # the result key is missing: not an empty page
        ([page(*ITEMS[:2], NextToken="one"), {"FormatVersion": "aws_v1"}], "page_wrong"),
        ([{"PriceList": ITEMS}], "page_wrong"),
        ([page(*ITEMS, NextToken="")], "page_token_empty"),
        ([page(NextToken="one")], "page_empty"),  # nothing on a page that has a next one
        ([page(ITEMS[0], NextToken="one"), page(ITEMS[1], NextToken="one")], "page_repeated"),
        ([page(ITEMS[0], NextToken="one"), page(ITEMS[0], NextToken="two")], "page_repeated"),
    ],
)
def test_a_list_that_would_be_short_or_endless_is_refused(
    monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]], code: str
) -> None:
    with pytest.raises(FileError) as caught:
        fetched(monkeypatch, answers, ONE_QUESTION)
    assert caught.value.code == code
    assert caught.value.expected
    assert caught.value.column == f"page {len(answers)}"


def test_pages_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_fetch, "_MOST_PAGES", 3)
    answers = [page(f"{n}", NextToken=f"{n}") for n in range(3)]
    with pytest.raises(FileError, match="too_many_pages"):
        fetched(monkeypatch, answers, ONE_QUESTION)


@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"]
)
def test_refused_keys_are_said_once_and_not_tried_again(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    client = aws_fetch.client()
    monkeypatch.setattr(aws_fetch, "client", lambda: client)
    with Stubber(client) as stubber:
        stubber.add_client_error("get_products", code, "no")
        ((_, chunks),) = aws_fetch.fetch(ONE_QUESTION, NOW)
        with pytest.raises(FileError, match="auth_failed"):
            b"".join(chunks)


def test_no_keys_at_all_are_said_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ((_, chunks),) = aws_fetch.fetch(ONE_QUESTION, NOW)
    with pytest.raises(FileError, match="auth_failed"):
        b"".join(chunks)


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
        aws_fetch.client()


@pytest.fixture
def server() -> Iterator[Callable[[list[tuple[int, bytes]]], str]]:
    """Start a server that gives the answers in turn, the last one for ever; return its address."""
    running: list[ThreadingHTTPServer] = []

    def start(answers: list[tuple[int, bytes]]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                status, body = answers.pop(0) if len(answers) > 1 else answers[0]
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                return

        found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        running.append(found)
        Thread(target=found.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{found.server_address[1]}"

    yield start
    for each in running:
        each.shutdown()
        each.server_close()


def test_passing_trouble_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, server: Callable[[list[tuple[int, bytes]]], str]
) -> None:
    throttled = json.dumps({"__type": "ThrottlingException", "message": "slow down"}).encode()
    whole = json.dumps(page(*ITEMS)).encode()
    origin = server([(400, throttled), (500, b"<html>502</html>"), (200, whole)])
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", origin)
    monkeypatch.setenv("EGRESS_ALLOW", origin)
    ((_, chunks),) = aws_fetch.fetch(ONE_QUESTION, NOW)
    assert json.loads(b"".join(chunks))["PriceList"] == ITEMS


def test_an_html_page_with_status_200_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, server: Callable[[list[tuple[int, bytes]]], str]
) -> None:
    origin = server([(200, b"<html>502 Bad Gateway</html>")])
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", origin)
    monkeypatch.setenv("EGRESS_ALLOW", origin)
    ((_, chunks),) = aws_fetch.fetch(ONE_QUESTION, NOW)
    with pytest.raises(FileError, match="page_wrong"):
        b"".join(chunks)


def test_each_request_is_checked_just_before_it_is_sent(
    monkeypatch: pytest.MonkeyPatch, server: Callable[[list[tuple[int, bytes]]], str]
) -> None:
    origin = server([(200, json.dumps(page(*ITEMS)).encode())])
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", origin)
    monkeypatch.setenv("EGRESS_ALLOW", origin)
    client = aws_fetch.client()
    monkeypatch.setattr(aws_fetch, "client", lambda: client)
    monkeypatch.delenv("EGRESS_ALLOW")
    ((_, chunks),) = aws_fetch.fetch(ONE_QUESTION, NOW)
    with pytest.raises(EgressRefused):
        b"".join(chunks)

"""Ask AWS for prices of single types through GetProducts, page by page, and never publish a short answer."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from costs.rows import FileError

from .aws_ec2 import REGIONS, asked, client
from .aws_filters import OFFER
from .words import words

RIGHT = "pricing:GetProducts"
NEEDS = (
    f"AWS keys with the right {RIGHT}, for the prices of single instance types; whole regions need no keys"
)
_ENDPOINT_REGION = "us-east-1"  # the price list of all regions is served from a few
_MOST_PAGES = 500  # per question; the answer to the widest of them has a few dozen
Question = list[dict[str, str]]


def questions(params: Mapping[str, str]) -> list[Question]:
    """Return the filters to ask with: the same that the parser applies, so that answers stay small."""
    fixed = {
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }
    return [
        [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in {**fixed, "regionCode": region, "instanceType": wanted}.items()
        ]
        for region in words(params.get("region", "") or REGIONS)
        for wanted in words(params.get("instance_types", ""))
    ]


def _page(aws: Any, question: Question, token: str | None) -> Mapping[str, Any]:
    more = {"NextToken": token} if token else {}

    def ask() -> Mapping[str, Any]:
        answer: Mapping[str, Any] = aws.get_products(
            ServiceCode=OFFER, Filters=question, FormatVersion="aws_v1", MaxResults=100, **more
        )
        return answer

    answer: Mapping[str, Any] = asked(ask, NEEDS, _ENDPOINT_REGION)
    return answer


def _check_page(answer: Mapping[str, Any], seen: set[str], number: int) -> None:
    """Refuse an answer that would end the list early or go on for ever.

    A missing key would pass for an empty page, and an empty token for the last page; the same products
    under another token mean that the same page is served again.
    """
    place = f"page {number}"
    if answer.get("FormatVersion") != "aws_v1" or not isinstance(answer.get("PriceList"), list):
        raise FileError(
            "page_wrong", "FormatVersion aws_v1 and a PriceList", column=place, value=sorted(answer)
        )
    products = answer["PriceList"]
    token = answer.get("NextToken")
    if "NextToken" in answer and not token:
        raise FileError("page_token_empty", "a NextToken, or none on the last page", column=place)
    if token and not products:
        raise FileError("page_empty", "products on a page that has a next one", column=place)
    marks = {f"token {token}"} if token else set()
    if products:
        marks.add(f"products {hash(tuple(products))}")
    if marks & seen:
        raise FileError("page_repeated", "another page each time", column=place, value=token or "")
    seen |= marks


def _products(aws: Any, question: Question) -> Iterator[str]:
    seen: set[str] = set()
    token: str | None = None
    for number in range(1, _MOST_PAGES + 1):
        answer = _page(aws, question, token)
        _check_page(answer, seen, number)
        yield from answer["PriceList"]
        token = answer.get("NextToken")
        if not token:
            return
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages", value=json.dumps(question))


def _document(asked_for: list[Question]) -> Iterator[bytes]:
    """Yield one saved answer that holds all of them."""
    aws = client("pricing", _ENDPOINT_REGION)
    yield b'{"FormatVersion": "aws_v1", "PriceList": ['
    separator = b"\n"
    for question in asked_for:
        for product in _products(aws, question):
            yield separator + json.dumps(product).encode()
            separator = b",\n"
    yield b"\n]}\n"


def fetch_products(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the answers of all pages as one file: a type that a region lacks is an empty answer of many."""
    yield f"aws_get_products_{now:%Y-%m-%d}.json", _document(questions(params))

"""Ask AWS for its price list through GetProducts, page by page, and never publish a short answer."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import boto3
from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

from costs.egress import aws_config, guard_client
from costs.rows import FileError

from .aws_facts import ACCELERATED_FAMILIES
from .aws_filters import OFFER
from .words import words

_ENDPOINT_REGION = "us-east-1"  # the price list of all regions is served from a few
_REGIONS = "us-east-1,us-east-2,us-west-2,eu-west-1,eu-central-1,ap-northeast-1"
_MOST_PAGES = 500  # per question; the answer to the widest of them has a few dozen
# asking again does not help: keys that are missing, wrong or out of date
_NOT_ALLOWED = frozenset(
    (
        *("AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException"),
        *("InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch"),
        *("UnrecognizedClientException", "IncompleteSignature"),
    )
)
Question = list[dict[str, str]]


def client() -> Any:
    """Return a client that may reach AWS only, with the keys of this moment: sessions keep theirs."""
    found = boto3.Session().client("pricing", region_name=_ENDPOINT_REGION, config=aws_config())
    guard_client(found)
    return found


def questions(params: Mapping[str, str]) -> list[Question]:
    """Return the filters to ask with: the same that the parser applies, so that answers stay small."""
    fixed = {
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }
    types = words(params.get("instance_types", ""))
    narrowed = [("instanceType", value) for value in types] or [
        ("instanceFamily", value) for value in ACCELERATED_FAMILIES
    ]
    return [
        [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in {**fixed, "regionCode": region, narrow: wanted}.items()
        ]
        for region in words(params.get("region", "") or _REGIONS)
        for narrow, wanted in narrowed
    ]


def _page(aws: Any, question: Question, token: str | None) -> Mapping[str, Any]:
    more = {"NextToken": token} if token else {}
    try:
        answer: Mapping[str, Any] = aws.get_products(
            ServiceCode=OFFER, Filters=question, FormatVersion="aws_v1", MaxResults=100, **more
        )
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise FileError("auth_failed", "AWS keys with pricing:GetProducts", value=str(error)) from error
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _NOT_ALLOWED:
            raise FileError("auth_failed", "AWS keys with pricing:GetProducts", value=str(error)) from error
        raise
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


def _document(aws: Any, asked: list[Question]) -> Iterator[bytes]:
    """Yield one saved answer that holds all of them."""
    yield b'{"FormatVersion": "aws_v1", "PriceList": ['
    separator = b"\n"
    for question in asked:
        for product in _products(aws, question):
            yield separator + json.dumps(product).encode()
            separator = b",\n"
    yield b"\n]}\n"


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the answers of all pages as one file."""
    yield f"aws_get_products_{now:%Y-%m-%d}.json", _document(client(), questions(params))

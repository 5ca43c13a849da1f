"""Ask AWS for the rates of savings plans that it offers for single types, page by page."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from costs.rows import FileError

from .aws_ec2 import REGIONS, asked, client
from .words import words

RIGHT = "savingsplans:DescribeSavingsPlansOfferingRates"
NEEDS = (
    f"AWS keys with the right {RIGHT}, for the savings plan rates of single instance types; whole regions"
    " need no keys"
)
_ENDPOINT_REGION = "us-east-1"  # the service has one endpoint for all regions
_MOST_PAGES = 500


def question(params: Mapping[str, str]) -> dict[str, Any]:
    """Return what to ask: the filters that the parser applies, so that the answer stays small."""
    filters = {
        "region": words(params.get("region", "") or REGIONS),
        "instanceType": words(params.get("instance_types", "")),
        "productDescription": ["Linux/UNIX"],
        "tenancy": ["shared"],
    }
    return {
        "savingsPlanTypes": ["Compute", "EC2Instance"],
        "products": ["EC2"],
        "serviceCodes": ["AmazonEC2"],
        "filters": [{"name": name, "values": values} for name, values in filters.items()],
        "maxResults": 1000,
    }


def _check_page(answer: Mapping[str, Any], seen: set[str], number: int) -> str:
    """Return the token of the next page; refuse an answer that would be short or endless.

    This service closes a list with an empty token. A page without rates is no end: filters leave nothing
    of some pages.
    """
    place, results = f"page {number}", answer.get("searchResults")
    if not isinstance(results, list):
        raise FileError("page_wrong", "a list searchResults", column=place, value=sorted(answer))
    token = str(answer.get("nextToken") or "")
    marks = {f"token {token}"} if token else set()
    if results:
        marks.add(f"rates {hash(json.dumps(results))}")
    if marks & seen:
        raise FileError("page_repeated", "another page each time", column=place, value=token)
    seen |= marks
    return token


def _page(aws: Any, asked_for: Mapping[str, Any], token: str) -> Mapping[str, Any]:
    more = {"nextToken": token} if token else {}

    def ask() -> Any:
        return aws.describe_savings_plans_offering_rates(**asked_for, **more)

    answer: Mapping[str, Any] = asked(ask, NEEDS, _ENDPOINT_REGION)
    return answer


def _rates(params: Mapping[str, str]) -> Iterator[Any]:
    aws, asked_for = client("savingsplans", _ENDPOINT_REGION), question(params)
    seen: set[str] = set()
    token = ""
    for number in range(1, _MOST_PAGES + 1):
        answer = _page(aws, asked_for, token)
        token = _check_page(answer, seen, number)
        yield from answer["searchResults"]
        if not token:
            return
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages", value=json.dumps(asked_for))


def _document(params: Mapping[str, str]) -> Iterator[bytes]:
    """Yield one saved answer that holds all pages."""
    yield b'{"searchResults": ['
    separator = b"\n"
    for rate in _rates(params):
        yield separator + json.dumps(rate).encode()
        separator = b",\n"
    yield b"\n]}\n"


def fetch_rates(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the answers of all pages as one file."""
    yield f"aws_savings_plans_rates_{now:%Y-%m-%d}.json", _document(params)

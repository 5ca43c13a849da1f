"""Ask AWS for the spot prices of the last 90 days, region by region, page by page."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from costs.rows import FileError, RowError

from .aws_ec2 import REGIONS, account_of, asked, client, zones_in
from .aws_facts import ACCELERATOR_BY_FAMILY
from .dates import day, midnight, moment
from .words import words

NEEDS = (
    "AWS keys with ec2:DescribeSpotPriceHistory, ec2:DescribeAvailabilityZones and sts:GetCallerIdentity;"
    " they unlock spot prices per zone for the last 90 days in every region that the account has switched on"
)
RIGHTS = ("ec2:DescribeSpotPriceHistory", "ec2:DescribeAvailabilityZones", "sts:GetCallerIdentity")
_KEPT_BY_AWS = timedelta(days=90)
_PAGE_ROWS = 1000
_MOST_PAGES = 2000  # 90 days of every accelerated type in the widest region take about a hundred


def _day(text: str) -> datetime:
    try:
        return midnight(day("starts_on", text))
    except RowError as error:
        raise FileError(error.rule, error.expected, column="starts_on", value=text) from error


def question(region: str, params: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """Return what to ask of one region: since the newest price that is stored, which is given again.

    AWS also returns the last price before the start: the one that held there. So the new window touches what
    is known, and no gap opens between them. A day that is given counts more than what is stored: where one
    machine type was loaded alone, the others are asked for further back with it.
    """
    start = now - _KEPT_BY_AWS
    if given := params.get("starts_on", "").strip():
        start = max(start, _day(given))
    elif since := params.get(f"since.{region}"):
        start = max(start, moment("since", since))
    asking: dict[str, Any] = {"StartTime": start, "EndTime": now, "MaxResults": _PAGE_ROWS}
    if types := words(params.get("instance_types", "")):
        asking["InstanceTypes"] = types
    else:  # by family, so that a new size of a known one comes by itself
        families = [f"{family}.*" for family in ACCELERATOR_BY_FAMILY]
        asking["Filters"] = [{"Name": "instance-type", "Values": families}]
    if products := words(params.get("products", "")):
        asking["ProductDescriptions"] = products
    return asking


def _json(value: Any) -> str:
    return json.dumps(value, default=datetime.isoformat)


def _check_page(answer: Mapping[str, Any], seen: set[str], place: str) -> None:
    """Refuse an answer without its list, and one that was given before: it would go on for ever.

    Pages may be short or even empty and still have a next one; an empty token means the last page here.
    """
    rows = answer.get("SpotPriceHistory")
    if not isinstance(rows, list):
        raise FileError("page_wrong", "a SpotPriceHistory", column=place, value=sorted(answer))
    token = answer.get("NextToken") or ""
    marks = {f"token {token}"} if token else set()
    if rows:
        marks.add(f"rows {hash(_json(rows))}")
    if marks & seen:
        raise FileError("page_repeated", "another page each time", column=place, value=token)
    seen |= marks


def _rows(region: str, asking: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    aws, seen = client("ec2", region), set[str]()
    more: dict[str, str] = {}
    for number in range(1, _MOST_PAGES + 1):
        answer = asked(lambda: aws.describe_spot_price_history(**asking, **more), NEEDS, region)  # noqa: B023
        _check_page(answer, seen, f"{region} page {number}")
        yield from answer["SpotPriceHistory"]
        if not answer.get("NextToken"):
            return
        more = {"NextToken": answer["NextToken"]}
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages", column=region)


def _document(region: str, asking: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield one answer of all pages, with the list of zones that the same keys see."""
    heading = {"Region": region, "Account": account_of(region, NEEDS)}
    yield json.dumps(heading)[:-1].encode()
    yield f', "AvailabilityZones": {json.dumps(zones_in(region, NEEDS))}'.encode()
    yield b', "SpotPriceHistory": ['
    separator = b"\n"
    for row in _rows(region, asking):
        yield separator + _json(row).encode()
        separator = b",\n"
    yield b"\n]}\n"


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the history of each region as one file."""
    for region in words(params.get("region", "") or REGIONS):
        name = f"aws_spot_history_{region}_{now:%Y-%m-%d}.json"
        yield name, _document(region, question(region, params, now))

"""The JSON layouts of AWS's limits: an answer or a list of answers, as recorded by placebo, or joined ones.

Joined answers are what `fetch` writes: applied limits, defaults and use of one region in one document.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO

from costs.rows import FileError, FileInfo, RawLine, RowError

from .byte_stream import Limits
from .csv_file import RESERVED
from .dates import moment
from .quota_json import document, inner, listed, record_lines
from .quota_params import file_date, given_account, given_region

DEFAULT = RESERVED + "default"  # what a new account gets, where the file says it beside the limit
USED = RESERVED + "used"
NOTE = RESERVED + "note"
REGION, ACCOUNT = RESERVED + "region", RESERVED + "account"
EXPECTED = 'an answer of list-service-quotas or list-aws-default-service-quotas: an object with "Quotas"'
_ARN = re.compile(r"arn:[a-z-]+:servicequotas:([a-z0-9-]*):([0-9]*):.+")
# what other answers of AWS hold, and where they belong
_OTHER = {
    "Datapoints": (
        "quota_not_named",
        "limits: this is the use of one metric, and does not say which quota it counts against",
    ),
    "RequestedQuotas": (
        "quota_requests",
        "limits: requests to raise them are for the source aws_quota_requests",
    ),
}


def place_of(record: Any) -> tuple[str, str]:
    """Return region and account of a record's ARN; the ARN of a default names no account."""
    arn = record.get("QuotaArn", "") if isinstance(record, Mapping) else ""
    match = _ARN.fullmatch(str(arn))
    return (match[1], match[2]) if match else ("", "")


def answered_at(data: Mapping[str, Any]) -> datetime | None:
    """Return when a recorded answer was given, None where it does not say."""
    headers = inner(inner(data, "ResponseMetadata"), "HTTPHeaders")
    try:
        found = parsedate_to_datetime(str(headers["date"]))
    except (KeyError, ValueError):
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def answers_of(value: Any, key: str, expected: str) -> list[Mapping[str, Any]]:
    """Return the answers in order, each an object with a list under `key`; refuse a list cut short.

    Recorders such as placebo put the answer into an envelope with its status.
    """
    pages = [inner(page, "data") or page if isinstance(page, dict) else {} for page in _as_list(value)]
    for number, page in enumerate(pages, 1):
        for name, (code, wanted) in _OTHER.items():
            if name in page and name != key:
                raise FileError(code, wanted, column=name)
        listed(page.get(key), expected, key)
        # the command line writes a token for its own paging where --max-items cut the list
        has_next = bool(page.get("NextToken"))
        if has_next != (number < len(pages)):
            raise FileError(
                "pages_missing",
                "every page of the answer in order: each but the last has a NextToken",
                column="NextToken",
                value=str(page.get("NextToken") or ""),
            )
    if not pages:
        raise FileError("json_wrong", expected)
    return pages


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def read_json(
    file: BinaryIO, name: str, params: Mapping[str, str], limits: Limits
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return what the answers say of themselves, and their quotas."""
    pages = answers_of(document(file, name, limits, EXPECTED), "Quotas", EXPECTED)
    quotas = [quota for page in pages for quota in page["Quotas"]]
    first, places = pages[0], [place_of(quota) for quota in quotas]
    account = next((account for _, account in places if account), given_account(params))
    region = str(first.get("Region") or given_region(params))
    dated: datetime | None
    if "Defaults" in first:
        dated, layout, records = fetched_at(first), "applied", _joined(first, quotas)
    else:
        dated = answered_at(first) or file_date(name, params)
        layout = "defaults" if _are_defaults(places) else "applied"
        records = [(quota, {}) for quota in quotas]
    placed = ((quota, {**more, **place_in(quota, region, account)}) for quota, more in records)
    return FileInfo(dated, {"layout": layout}), record_lines(placed, limits)


def _are_defaults(places: list[tuple[str, str]]) -> bool:
    """Return whether the ARNs name regions and not one of them an account."""
    return any(region for region, _ in places) and not any(account for _, account in places)


def fetched_at(document: Mapping[str, Any]) -> datetime:
    """Return when joined answers were fetched."""
    text = str(document.get("FetchedAt", ""))
    try:
        return moment("FetchedAt", text)
    except RowError as error:
        raise FileError(error.rule, error.expected, column="FetchedAt", value=text) from error


def place_in(record: Any, region: str, account: str) -> dict[str, str]:
    """Return where a record's limit holds: as its ARN says, else as the file or a parameter does."""
    own_region, own_account = place_of(record)
    return {REGION: own_region or region, ACCOUNT: own_account or account}


def _joined(first: Mapping[str, Any], quotas: list[Any]) -> list[tuple[Any, dict[str, str]]]:
    """Return each quota with what else is said of it; then those of which only a default is known."""
    found = [each for each in listed(first["Defaults"], EXPECTED, "Defaults") if isinstance(each, dict)]
    defaults = {str(each.get("QuotaCode", "")): each for each in found}
    use, note = inner(first, "Use"), str(first.get("UseNote", ""))
    records: list[tuple[Any, dict[str, str]]] = []
    for quota in quotas:
        code = str(quota.get("QuotaCode", "")) if isinstance(quota, dict) else ""
        default = defaults.pop(code, {})
        said = {DEFAULT: str(default.get("Value", "")), USED: str(use.get(code, "")), NOTE: note}
        records.append((quota, said))
    for default in defaults.values():
        said = {DEFAULT: str(default.get("Value", "")), NOTE: "AWS publishes no applied limit"}
        records.append(({name: value for name, value in default.items() if name != "Value"}, said))
    return records

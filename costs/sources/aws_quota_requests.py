"""Requests to raise EC2 limits of machines with accelerators: what was asked, when, and what became of it.

AWS keeps them for a year, so a saved history only ever adds: nothing is closed because it is not listed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, BinaryIO

from costs.rows import (
    FileInfo,
    OutOfScope,
    QuotaRequestRow,
    RawLine,
    RequestStatus,
    Row,
    RowError,
)

from .aws_quotas_fetch import REGIONS, all_pages, client
from .aws_quotas_json import ACCOUNT, REGION, answered_at, answers_of, fetched_at, place_in
from .aws_quotas_names import bucket_of
from .byte_stream import Limits
from .csv_file import RESERVED
from .dates import moment
from .decimals import number
from .json_records import readable
from .quota_json import LIMITS, document, record_lines
from .quota_params import file_date, given_account, given_region
from .words import words

NAME = "aws_quota_requests"
TITLE = "AWS quota requests (EC2)"
KIND = "quota_requests"
MODE = "amend"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("region", "account", "as_of")
HAS_NETWORK = True
TEMPLATE = ""
WHOLE = False
INCREMENTAL = False
RIGHTS = ("servicequotas:ListRequestedServiceQuotaChangeHistory",)
NEEDS = (
    "AWS keys with servicequotas:ListRequestedServiceQuotaChangeHistory, without which no request is known "
    "and waiting times stay assumptions"
)

_EXPECTED = 'an answer of list-requested-service-quota-change-history: an object with "RequestedQuotas"'
_SERVICE = "ec2"
_NONE = RESERVED + "none"  # an answer without a request is an answer, and no file without a line
# what AWS says -> what it means here, and what must be said of it
_STATUS: dict[str, tuple[RequestStatus, str]] = {
    "PENDING": ("open", ""),
    "CASE_OPENED": ("open", "AWS opened a support case"),
    "APPROVED": ("granted", "AWS states no granted value: taken as what was asked"),
    "DENIED": ("denied", ""),
    "NOT_APPROVED": ("denied", "not approved by Service Quotas, no support case"),
    "CASE_CLOSED": ("cancelled", "the support case is closed: its letters say whether anything was granted"),
    "INVALID_REQUEST": ("cancelled", "AWS could not process the request"),
}
_EPOCH = re.compile(r"[0-9]{9,11}(\.[0-9]{1,9})?")
_PLACEBO_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")

__all__ = ["LIMITS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that starts so holds requests to raise AWS limits."""
    return head.lstrip()[:1] in ("{", "[") and '"RequestedQuotas"' in head


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return what the answers say of themselves, and one line per request."""
    pages = answers_of(document(file, name, limits, _EXPECTED), "RequestedQuotas", _EXPECTED)
    first = pages[0]
    dated = fetched_at(first) if "FetchedAt" in first else answered_at(first) or file_date(name, params)
    region, account = str(first.get("Region") or given_region(params)), given_account(params)
    records = [record for page in pages for record in page["RequestedQuotas"]]
    if not records:
        return FileInfo(dated, {}), iter([RawLine(1, {_NONE: "1"})])
    placed = ((record, place_in(record, region, account)) for record in records)
    return FileInfo(dated, {}), record_lines(placed, limits)


def _moment(column: str, text: str) -> datetime:
    """Return a moment as the command line writes it, as seconds since 1970, or as placebo records it."""
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(0, UTC) + timedelta(seconds=float(Decimal(text)))
    if text.startswith("{"):
        try:
            parts = json.loads(text)
            year, month, day, hour, minute, second, micro = (int(parts[part]) for part in _PLACEBO_PARTS)
            return datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC)
        except (ValueError, TypeError, KeyError) as error:
            raise RowError(column, text, "not_a_time", "a recorded datetime with all its parts") from error
    return moment(column, text)


def _status(text: str) -> tuple[RequestStatus, str]:
    if text not in _STATUS:
        raise RowError("Status", text, "status_unknown", f"one of {', '.join(_STATUS)}")
    return _STATUS[text]


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one request, as it stands."""
    fields = readable(raw)
    if _NONE in fields:
        raise OutOfScope("no_requests", expected="requests: this account made none in the last year")
    if fields.get("ServiceCode") != _SERVICE:
        raise OutOfScope("not_ec2", "ServiceCode", fields.get("ServiceCode", ""), _SERVICE)
    if fields.get("QuotaRequestedAtLevel") == "RESOURCE":
        raise OutOfScope("per_resource", "QuotaRequestedAtLevel", "RESOURCE", "a request for the account")
    code, name = fields.get("QuotaCode", ""), fields.get("QuotaName", "")
    bucket_of(code, name)
    status, said = _status(fields.get("Status", ""))
    asked = number("DesiredValue", fields.get("DesiredValue", ""))
    # the last change of a request that is over is its answer
    ended = fields.get("LastUpdated", "") if status != "open" else ""
    automatic = "asked for by AWS's automatic management" if fields.get("RequestType") else ""
    return [
        QuotaRequestRow(
            provider="aws",
            account=fields[ACCOUNT],
            region="global" if fields.get("GlobalQuota") == "true" else fields[REGION],
            code=code,
            request=fields.get("Id", ""),
            name=name,
            asked=asked,
            status=status,
            requested_at=_moment("Created", fields.get("Created", "")),
            decided_at=_moment("LastUpdated", ended) if ended else None,
            granted=asked if status == "granted" else None,
            case=fields.get("CaseId", ""),
            note="; ".join(part for part in (said, automatic) if part),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return account and region."""
    if not isinstance(row, QuotaRequestRow):
        raise TypeError(f"{NAME} yields requests, not {type(row).__name__}")
    return f"{row.account or '-'}:{row.region}"


def _document(region: str, now: datetime) -> Iterator[bytes]:
    asked = {"ServiceCode": _SERVICE, "MaxResults": 100}
    ask = client("service-quotas", region).list_requested_service_quota_change_history
    found = all_pages(ask, "RequestedQuotas", RIGHTS[0], NEEDS, **asked)
    # who asked is no fact of ours, and names a person
    kept = [{name: value for name, value in each.items() if name != "Requester"} for each in found]
    answer: dict[str, Any] = {"FetchedAt": now.isoformat(), "Region": region, "RequestedQuotas": kept}
    yield json.dumps(answer, indent=1, default=lambda value: value.isoformat()).encode()


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield one document per region, each asked for when it is read."""
    for region in words(params.get("region", "") or REGIONS):
        yield f"aws_quota_requests_{region}_{now:%Y-%m-%d}.json", _document(region, now)

"""Azure's compute limits of a subscription and region: vCPUs per family of GPU machines, and regional totals.

A machine counts against its family and against the regional total, a spot machine against the one limit of
all spot machines of the region. `az vm list-usage` and the REST answer hold the same records; the first
writes numbers in quotes.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from costs import egress
from costs.rows import FileError, FileInfo, OutOfScope, Purchase, QuotaRow, RawLine, Row, RowError

from .azure_quota_families import NESTED, REGIONS, family_of
from .byte_stream import Limits
from .decimals import number
from .json_records import readable
from .quota_json import LIMITS, document, listed, record_lines
from .quota_params import file_date, given_account, given_region
from .words import words

NAME = "azure_usage"
TITLE = "Azure quotas (compute usage)"
KIND = "quotas"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("region", "account", "as_of")
HAS_NETWORK = True
TEMPLATE = ""
WHOLE = False
INCREMENTAL = False
RIGHTS = ("Microsoft.Compute/locations/usages/read",)
NEEDS = (
    "a bearer token in AZURE_ACCESS_TOKEN and the subscription in AZURE_SUBSCRIPTION_ID, with the role "
    "Reader (Microsoft.Compute/locations/usages/read), without which no Azure limit and no use of it is known"
)

ADDRESS = "https://management.azure.com"
_VERSION = "2024-07-01"
_FETCHED = "eastus,eastus2,southcentralus,westus2,westus3,westeurope,swedencentral,francecentral"
_MOST_PAGES = 50
_EXPECTED = 'the list of az vm list-usage, or the REST answer with "value"'
_SUBSCRIPTION = re.compile(r"[0-9a-fA-F-]{36}")

__all__ = ["LIMITS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that starts so holds compute usage of Azure."""
    return head.lstrip()[:1] in ("{", "[") and '"currentValue"' in head and '"limit"' in head


def _region_in(name: str) -> str:
    """Return the region that a file's name holds as a word of its own, "" without one."""
    found = [word for word in re.split(r"[^a-z0-9]+", PurePosixPath(name).name.lower()) if word in REGIONS]
    return found[0] if len(set(found)) == 1 else ""


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the records. Neither layout says its region: the file's name or the parameter does."""
    found = document(file, name, limits, _EXPECTED)
    top: Mapping[str, Any] = found if isinstance(found, dict) else {"value": found}
    if top.get("nextLink"):
        raise FileError("pages_missing", "the whole answer: this one has a nextLink", column="nextLink")
    records = listed(top.get("value"), _EXPECTED, "value")
    region = given_region(params) or _region_in(name)
    if not region:
        raise FileError(
            "region_missing", "the parameter region, or a file name that holds it, such as usage_eastus.json"
        )
    account = given_account(params) or _account_in(name)
    info = FileInfo(file_date(name, params), {"region": region, "account": account})
    return info, record_lines(((record, {}) for record in records), limits)


def _account_in(name: str) -> str:
    """Return the subscription that the name of a fetched file holds, "" without one."""
    match = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name.lower())
    return match[0] if match else ""


def _names(fields: Mapping[str, str]) -> tuple[str, str]:
    """Return the name that machines are counted by, and the one for the eye."""
    text = fields.get("name", "")
    shown = fields.get("localName", "")
    if not text.startswith("{"):
        return text, shown or text
    try:
        parts = json.loads(text)
        return str(parts["value"]), str(parts.get("localizedValue") or shown or parts["value"])
    except (ValueError, TypeError, KeyError) as error:
        raise RowError("name", text, "name_unreadable", "an object with a value") from error


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the limit of one family of GPU machines, or one that all machines of the region share."""
    fields = readable(raw)
    name, shown = _names(fields)
    if not name:
        raise RowError("name", "", "empty", "which limit this is")
    purchase: Purchase
    if name in NESTED:
        code, bucket, purchase = name, *NESTED[name]
    else:
        (code, bucket), purchase = family_of(name), "on_demand"
    if fields.get("unit", "Count") not in ("Count", ""):
        raise OutOfScope("not_counted", "unit", fields["unit"], "Count")
    return [
        QuotaRow(
            provider="azure",
            account=info.params["account"],
            region=info.params["region"],
            code=code,
            name=shown,
            bucket=bucket,
            purchase=purchase,
            unit="vcpu",
            limit=number("limit", fields.get("limit", "")),
            is_unlimited=False,
            used=number("currentValue", fields.get("currentValue", "")),
            default_limit=None,
            is_adjustable=None,
            reference="Azure Microsoft.Compute usages",
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return subscription and region."""
    if not isinstance(row, QuotaRow):
        raise TypeError(f"{NAME} yields limits, not {type(row).__name__}")
    return f"{row.account or '-'}:{row.region}"


def _keys() -> tuple[str, str]:
    token = os.environ.get("AZURE_ACCESS_TOKEN", "").strip()
    subscription = os.environ.get("AZURE_SUBSCRIPTION_ID", "").strip().lower()
    missing = [
        name
        for name, value in (("AZURE_ACCESS_TOKEN", token), ("AZURE_SUBSCRIPTION_ID", subscription))
        if not value
    ]
    if missing:
        raise FileError("auth_failed", NEEDS, column=missing[0], value=f"{' and '.join(missing)} not set")
    if not _SUBSCRIPTION.fullmatch(subscription):
        raise FileError(
            "auth_failed", "a subscription's id", column="AZURE_SUBSCRIPTION_ID", value=subscription
        )
    return token, subscription


def _page(url: str, token: str) -> Mapping[str, Any]:
    try:
        found = egress.get_json(url, headers={"Authorization": f"Bearer {token}"})
    except egress.HttpError as error:
        if error.status in (401, 403):
            raise FileError("auth_failed", NEEDS, value=str(error)) from error
        raise
    if not isinstance(found, dict) or not isinstance(found.get("value"), list):
        raise FileError("page_wrong", "an answer with a list in value", value=str(found)[:200])
    return found


def _document(region: str, token: str, subscription: str) -> Iterator[bytes]:
    place = f"/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{region}/usages"
    url, seen, records = f"{ADDRESS}{place}?api-version={_VERSION}", set[str](), list[Any]()
    while url:
        if url in seen or len(seen) == _MOST_PAGES:
            raise FileError("page_repeated", f"another page each time, at most {_MOST_PAGES}", value=url)
        if urlsplit(url)[:2] != urlsplit(ADDRESS)[:2]:
            raise FileError(
                "page_elsewhere", f"a next page at {ADDRESS}: the token is for no one else", value=url
            )
        seen.add(url)
        page = _page(url, token)
        records += page["value"]
        url = str(page.get("nextLink") or "")
    if not records:
        raise FileError("page_empty", f"at least one limit in {region}")
    yield json.dumps({"value": records}, default=str).encode()


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield one answer per region, each asked for when it is read."""
    token, subscription = _keys()
    for region in words(params.get("region", "") or _FETCHED):
        yield (
            f"azure_usage_{subscription}_{region}_{now:%Y-%m-%d}.json",
            _document(region, token, subscription),
        )

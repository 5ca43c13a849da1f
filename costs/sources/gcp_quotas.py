"""Google's limits of GPUs and TPUs per project and region, and the one of all GPUs of a project.

A GPU counts against its type's limit in its region and against GPUS_ALL_REGIONS. 9.22e18, the largest whole
number of 64 bits, means that there is no limit; the Cloud Quotas API writes -1 for it.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, QuotaRow, RawLine, Row, RowError

from .byte_stream import Limits, blocks_of_text
from .decimals import number, optional_number
from .gcp_quota_metrics import what_counts
from .gcp_quotas_fetch import NEEDS, RIGHTS, fetch
from .gcp_quotas_json import ACCOUNT, EXPECTED, PLACES, REFUSED, read_json
from .json_records import readable
from .quota_json import LIMITS, starts_like_json

NAME = "gcp_quotas"
TITLE = "Google Cloud quotas (Compute Engine)"
KIND = "quotas"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("account", "as_of")
HAS_NETWORK = True
TEMPLATE = ""
WHOLE = False
INCREMENTAL = False

_UNLIMITED = Decimal(2**63 - 1)
_COMPUTE = "compute.googleapis.com"
# tables that name quotas or machine types and hold no limit
_OTHER = {
    "Accelerator,OnDemandInstanceCode,SpotInstanceCode": (
        "limits: this file says which metric a GPU counts against, not how much of it is allowed"
    ),
    "NAME;CPUS;SHARED_CPU;MEMORY_GB;DEPRECATED;ZONE": (
        "limits: this file says in which zones a machine type exists, not how many an account may run"
    ),
}

__all__ = ["LIMITS", "NEEDS", "RIGHTS", "fetch", "looks_like", "parse", "read", "scope"]


def _other(head: str) -> str:
    return _OTHER.get(head.partition("\n")[0].strip(), "")


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that starts so holds Google's limits, or is one that is refused here by name."""
    if head.lstrip()[:1] not in ("{", "["):
        return bool(_other(head))
    return ('"quotas"' in head and '"metric"' in head) or '"dimensionsInfo' in head


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return one line per limit."""
    if not starts_like_json(file, name, limits):
        head = next(blocks_of_text(file, name, limits)).decode("utf-8", "replace")
        wanted = _other(head)
        raise FileError("no_limits", wanted, line=1) if wanted else FileError("json_wrong", EXPECTED)
    return read_json(file, name, params, limits)


def _inside(fields: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the texts of an object inside a record."""
    try:
        return {key: str(value) for key, value in json.loads(fields[name]).items()}
    except (KeyError, ValueError, AttributeError) as error:
        raise RowError(
            name, fields.get(name, ""), "record_unreadable", "an object as Google writes it"
        ) from error


def _by_dimensions(fields: Mapping[str, str]) -> tuple[str, str, str]:
    """Return code, limit and name of a value of the Cloud Quotas API."""
    metric, dimensions, details = (
        fields.get("metric", ""),
        _inside(fields, "dimensions"),
        _inside(fields, "details"),
    )
    service, _, plain = metric.rpartition("/")
    if service and service != _COMPUTE:
        raise OutOfScope("not_compute", "metric", metric, _COMPUTE)
    if "zone" in dimensions:
        raise OutOfScope("per_zone", "dimensions", fields["dimensions"], "a limit of a region or a project")
    code, shown = plain.upper(), fields.get("quotaDisplayName") or plain
    if family := dimensions.get("gpu_family", ""):
        code, shown = f"{code}/{family}", f"{shown}: {family}"
    # older documents say quotaValue
    return code, details.get("value", details.get("quotaValue", "")), shown


def _limit(text: str, *, is_api: bool) -> tuple[Decimal | None, bool]:
    value = number("limit", text)
    if value >= _UNLIMITED or (is_api and value == -1):
        return None, True
    return value, False


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return a limit of GPUs or TPUs, once for each place where it holds."""
    fields = readable(raw)
    if REFUSED in fields:
        raise OutOfScope(
            "right_missing", "metric", fields["metric"], fields[REFUSED] or "the right to read it"
        )
    is_api = "details" in fields
    if is_api:
        code, text, shown = _by_dimensions(fields)
    else:
        code = shown = fields.get("metric", "")
        text = fields.get("limit", "")
    if not code:
        raise RowError("metric", "", "empty", "which limit this is")
    bucket, purchase, unit = what_counts(code)
    limit, is_unlimited = _limit(text, is_api=is_api)
    places = [place for place in fields.get(PLACES, "").split(",") if place]
    if not places:
        raise OutOfScope(
            "overridden", "dimensions", fields.get("dimensions", ""), "a value that holds somewhere"
        )
    return [
        QuotaRow(
            provider="gcp",
            account=fields[ACCOUNT],
            region=place,
            code=code,
            name=shown,
            bucket=bucket,
            purchase=purchase,
            unit=unit,
            limit=limit,
            is_unlimited=is_unlimited,
            used=optional_number("usage", fields.get("usage", "")),
            default_limit=None,
            is_adjustable=None,
            usage_metric="",
            reference="Cloud Quotas API, which states no use" if is_api else "Compute Engine quotas",
        )
        for place in places
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return project and place; what the Cloud Quotas API lists stands apart and replaces its own alone."""
    if not isinstance(row, QuotaRow):
        raise TypeError(f"{NAME} yields limits, not {type(row).__name__}")
    place = f"{row.account or '-'}:{row.region}"
    return f"{place}:api" if row.reference.startswith("Cloud Quotas") else place

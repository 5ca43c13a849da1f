"""EC2 limits of running machines with accelerators: vCPUs per account, region and way to buy.

One parser for what AWS answers and what people save of it: list-service-quotas and the defaults as JSON
(also as recorded by placebo), the command line's text table, a CSV of defaults, and the joined answers that
`fetch` writes. A quota is permission, not capacity.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, BinaryIO

from costs.rows import FileInfo, OutOfScope, QuotaRow, RawLine, Row, RowError

from .aws_quotas_fetch import NEEDS, RIGHTS, fetch
from .aws_quotas_json import ACCOUNT, DEFAULT, NOTE, REGION, USED, read_json
from .aws_quotas_names import bucket_of
from .aws_quotas_text import DEFAULTS_COLUMNS, MAPPING_COLUMNS, TABLE, read_csv, read_table
from .byte_stream import Limits, blocks_of_text
from .csv_file import complete
from .decimals import number, optional_number
from .json_records import readable
from .quota_json import LIMITS, starts_like_json

NAME = "aws_quotas"
TITLE = "AWS quotas (EC2)"
KIND = "quotas"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz", ".txt")
PARAMS: tuple[str, ...] = ("region", "account", "as_of")
HAS_NETWORK = True
TEMPLATE = ""
WHOLE = False
INCREMENTAL = False

_SERVICE = "ec2"
_ADJUSTABLE = {"true": True, "false": False}
# AWS's own list of defaults says more than many a new account gets
_DEFAULT_ONLY = "a default as one account sees it: new accounts often get 0 for P; applied limit unknown"

__all__ = ["LIMITS", "NEEDS", "RIGHTS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that starts so holds limits of AWS, or is one that is refused here by name."""
    first = head.lstrip()[:200]
    if first.startswith(("{", "[")):
        return ('"QuotaCode"' in head and '"RequestedQuotas"' not in head) or '"Datapoints"' in head
    header = head.partition("\n")[0].split(",")
    names = {cell.strip() for cell in header}
    return set(DEFAULTS_COLUMNS) <= names or set(MAPPING_COLUMNS) <= names or bool(TABLE.search(head))


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return what the file says of itself, and one line per quota."""
    if starts_like_json(file, name, limits):
        return read_json(file, name, params, limits)
    head = next(blocks_of_text(file, name, limits)).decode("utf-8", "replace")
    return (read_table if TABLE.search(head) else read_csv)(file, name, params, limits)


def _limits(fields: Mapping[str, str], layout: str) -> tuple[Decimal | None, Decimal | None, str]:
    """Return the applied limit, the default, and why the limit is not known."""
    if "DefaultValue" in fields:
        return None, number("DefaultValue", fields["DefaultValue"]), _DEFAULT_ONLY
    default = optional_number("default", fields.get(DEFAULT, ""))
    value = fields.get("Value", "")
    if layout == "defaults":
        return None, number("Value", value), _DEFAULT_ONLY
    if value:
        return number("Value", value), default, ""
    error = fields.get("ErrorReason", "")
    if not error and default is None:
        raise RowError("Value", "", "empty", "the limit, or why AWS does not say it")
    return None, default, f"limit unknown: {_error(error)}" if error else "limit unknown"


def _error(text: str) -> str:
    """Return the code of the reason that AWS gives beside a limit that it does not state."""
    try:
        return str(json.loads(text)["ErrorCode"])
    except (ValueError, TypeError, KeyError):
        return text[:80]


def _metric(text: str) -> str:
    """Return where AWS publishes the use of a quota, on one line; "" where it does not."""
    try:
        found: dict[str, Any] = json.loads(text) if text else {}
        dimensions = dict(found.get("MetricDimensions", {}))
    except (ValueError, TypeError, AttributeError) as error:
        raise RowError("UsageMetric", text, "metric_unreadable", "an object as AWS writes it") from error
    if not found:
        return ""
    where = ", ".join(f"{name} {dimensions[name]}" for name in sorted(dimensions))
    how = found.get("MetricStatisticRecommendation", "Maximum")
    return f"{found.get('MetricNamespace')} {found.get('MetricName')} ({where}), {how}"


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the limit of one family of machines with accelerators; other limits are out of scope."""
    fields = complete(RawLine(raw.line, readable(raw)))
    service = fields.get("ServiceCode", _SERVICE)
    if service != _SERVICE:
        raise OutOfScope("not_ec2", "ServiceCode", service, _SERVICE)
    if fields.get("QuotaAppliedAtLevel") == "RESOURCE":
        raise OutOfScope("per_resource", "QuotaAppliedAtLevel", "RESOURCE", "a limit of the account")
    bucket, purchase = bucket_of(fields.get("QuotaCode", ""), fields.get("QuotaName", ""))
    limit, default, why = _limits(fields, info.params["layout"])
    notes = ("AWS Service Quotas", why, fields.get(NOTE, ""))
    return [
        QuotaRow(
            provider="aws",
            account=fields[ACCOUNT],
            region="global" if fields.get("GlobalQuota") == "true" else fields[REGION],
            code=fields["QuotaCode"],
            name=fields.get("QuotaName") or fields["QuotaCode"],
            bucket=bucket,
            purchase=purchase,
            unit="vcpu",
            limit=limit,
            is_unlimited=False,
            used=optional_number("use", fields.get(USED, "")),
            default_limit=default,
            is_adjustable=_ADJUSTABLE.get(fields.get("Adjustable", "").lower()),
            usage_metric=_metric(fields.get("UsageMetric", "")),
            reference="; ".join(note for note in notes if note),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return account and region; a list of defaults stands beside what is applied and replaces none of it."""
    if not isinstance(row, QuotaRow):
        raise TypeError(f"{NAME} yields limits, not {type(row).__name__}")
    place = f"{row.account or '-'}:{row.region}"
    return f"{place}:defaults" if info.params["layout"] == "defaults" else place

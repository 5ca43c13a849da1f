"""The JSON layouts of Google's limits, each taken apart to one record per limit.

Regions and projects hold lists of metric, limit and usage. The Cloud Quotas API holds, per quota, a value
for each set of dimensions with the places where it applies; newer GPUs have their limits only there.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from costs.rows import FileError, FileInfo, RawLine, RowError

from .byte_stream import Limits
from .csv_file import RESERVED
from .dates import moment
from .quota_json import document, inner, listed, record_lines
from .quota_params import file_date, given_account

PLACES = RESERVED + "places"  # where a limit holds, between commas
ACCOUNT = RESERVED + "account"
REFUSED = RESERVED + "refused"  # what a fetch was not allowed to read
EXPECTED = (
    "regions with quotas (gcloud compute regions list), a project with quotas, or Cloud Quotas' quotaInfos"
)
_PROJECT = re.compile(r"projects/([^/]+)")
Record = tuple[Any, Mapping[str, str]]


def read_json(
    file: BinaryIO, name: str, params: Mapping[str, str], limits: Limits
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return one line per limit."""
    found = document(file, name, limits, EXPECTED)
    top: Mapping[str, Any] = found if isinstance(found, dict) else {"items": found}
    if top.get("nextPageToken"):
        raise FileError(
            "pages_missing", "the whole answer: this one has a nextPageToken", column="nextPageToken"
        )
    dated = _fetched_at(top) if "FetchedAt" in top else file_date(name, params)
    account = str(top.get("Project") or given_account(params) or _project_of(top))
    return FileInfo(dated, {}), record_lines(_records(top, account), limits)


def _fetched_at(top: Mapping[str, Any]) -> datetime:
    try:
        return moment("FetchedAt", str(top["FetchedAt"]))
    except RowError as error:
        raise FileError(error.rule, error.expected, column="FetchedAt", value=error.value) from error


def _project_of(record: Mapping[str, Any]) -> str:
    """Return the project that an object's own addresses name, "" without one."""
    for name in ("selfLink", "id", "name"):
        if match := _PROJECT.search(str(record.get(name, ""))):
            return match[1]
    return ""


def _records(top: Mapping[str, Any], account: str) -> Iterator[Record]:
    """Yield each limit with where it holds and whose it is."""
    if "FetchedAt" in top:
        yield from _all_of(listed(top.get("Regions"), EXPECTED, "Regions"), account)
        yield from _one(inner(top, "ProjectInfo"), account)
        if "FamilyRefused" in top:
            yield {"metric": "GPUS_PER_GPU_FAMILY"}, {REFUSED: str(top["FamilyRefused"])}
        else:
            yield from _one(inner(top, "FamilyQuota"), account)
        return
    name = next((each for each in ("items", "quotaInfos") if each in top), "")
    yield from _all_of(listed(top[name], EXPECTED, name), account) if name else _one(top, account)


def _all_of(items: list[Any], account: str) -> Iterator[Record]:
    for item in items:
        if isinstance(item, dict):
            yield from _one(item, account)
        else:
            yield item, {}


def _one(item: Mapping[str, Any], account: str) -> Iterator[Record]:
    if "dimensionsInfos" in item or "dimensionsInfo" in item:
        yield from _by_dimensions(item, account)
        return
    if not isinstance(item.get("quotas"), list):
        raise FileError("json_wrong", EXPECTED, column="quotas", value=", ".join(item)[:200])
    kind = str(item.get("kind", ""))
    is_project = kind.endswith("#project") if kind else "zones" not in item and "status" not in item
    place = "global" if is_project else str(item.get("name", ""))
    own = str(item.get("name", "")) if is_project else _project_of(item)
    said = {PLACES: place, ACCOUNT: account or own}
    for quota in item["quotas"]:
        yield quota, said


def _by_dimensions(item: Mapping[str, Any], account: str) -> Iterator[Record]:
    """Yield the values of one quota; where several hold for a place, the one with more dimensions does."""
    named = "dimensionsInfos" if "dimensionsInfos" in item else "dimensionsInfo"
    values = listed(item[named], EXPECTED, named)
    whole = {name: value for name, value in item.items() if name != named}
    said = {ACCOUNT: account or _project_of(item)}
    best: dict[tuple[str, str], int] = {}
    for value in values:
        for key in _keys(value):
            best[key] = max(best.get(key, 0), _many(value))
    for value in values:
        if not isinstance(value, dict):
            yield value, {}
            continue
        places = [place for family, place in _keys(value) if best[family, place] == _many(value)]
        record = {**whole, "dimensions": inner(value, "dimensions"), "details": inner(value, "details")}
        yield record, {**said, PLACES: ",".join(places)}


def _many(value: Any) -> int:
    return len(inner(value, "dimensions"))


def _keys(value: Any) -> list[tuple[str, str]]:
    """Return GPU family and place of each place where a value holds."""
    if not isinstance(value, dict):
        return []
    family = str(inner(value, "dimensions").get("gpu_family", ""))
    places = value.get("applicableLocations")
    return [(family, str(place)) for place in places] if isinstance(places, list) else []

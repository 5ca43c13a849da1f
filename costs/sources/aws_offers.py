"""Fetch AWS's bulk offer files: one per region, of one version each, from beginning to end.

The index of an offer names a file of a version for each region. AWS publishes new versions at any time, so a
file is taken only if it says of itself that it is of the version that the index named.
"""

import re
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from costs import egress
from costs.rows import FileError

from .aws_ec2 import REGIONS
from .words import words

ADDRESS = "https://pricing.us-east-1.amazonaws.com"
EC2 = "/offers/v1.0/aws/AmazonEC2/current/region_index.json"
COMPUTE_PLANS = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"
PAUSE_SECONDS = 3.0  # grows with each time that a file is of another version; a worker is not silent for long
_TRIES = 4
_MOST_BYTES = 16 << 30
_MOST_HEAD_BYTES = 64 << 10
_PLACE = re.compile(r"/(?:offers|savingsPlan)/v1\.0/aws/\w+/([0-9]{14})/[a-z0-9-]+/index\.(?:json|csv)")
_VERSION = re.compile(rb'^"?Version"?,"?([0-9]{14})"?\r?$', re.MULTILINE)


class _Place(NamedTuple):
    path: str  # of the CSV layout
    version: str


def _place(region: str, entry: Mapping[str, Any]) -> _Place:
    path = entry.get("currentVersionUrl") or entry.get("versionUrl")
    found = _PLACE.fullmatch(path) if isinstance(path, str) else None
    if found is None:
        expected = f"the address of a version's file for {region}"
        raise FileError("index_wrong", expected, column="versionUrl", value=path or "")
    # the same list lies beside it as CSV, which can be read line by line
    return _Place(found[0].rpartition(".")[0] + ".csv", found[1])


def _places(index: object) -> dict[str, _Place]:
    """Return the file of each region; services write them as an object, savings plans as a list."""
    regions = index.get("regions") if isinstance(index, dict) else None
    entries = list(regions.values()) if isinstance(regions, dict) else regions
    if not isinstance(entries, list) or not entries or not all(isinstance(each, dict) for each in entries):
        raise FileError("index_wrong", "an index of regions", column="regions", value=str(regions)[:200])
    return {str(each.get("regionCode")): _place(str(each.get("regionCode")), each) for each in entries}


class _Index:
    """The index of one offer, asked for when the first file is, and again when a file contradicts it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._places: dict[str, _Place] = {}

    def place_of(self, region: str, *, anew: bool) -> _Place:
        if anew or not self._places:
            self._places = _places(egress.get_json(ADDRESS + self._path))
        if region not in self._places:
            known = ", ".join(sorted(self._places))
            raise FileError("region_unknown", f"one of {known}", column="region", value=region)
        return self._places[region]


def _file(index: _Index, region: str) -> Iterator[bytes]:
    """Yield the file of a region, once one is there that is of the version which the index names."""
    said = b""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(PAUSE_SECONDS * attempt)
        place = index.place_of(region, anew=attempt > 0)
        with closing(_streamed(place.path)) as blocks:
            head = _head(blocks)
            found = _VERSION.search(head)
            said = found[1] if found else head[:200]
            if said.decode("utf-8", "replace") == place.version:
                yield head
                yield from blocks
                return
    raise FileError(
        "version_changed",
        f"a file of version {place.version}, which the index names: AWS is publishing another; nothing of"
        " this region is taken until they agree",
        column=region,
        value=said.decode("utf-8", "replace"),
    )


def _streamed(path: str) -> Generator[bytes, None, None]:
    yield from egress.get(ADDRESS + path, most_bytes=_MOST_BYTES)


def _head(blocks: Iterator[bytes]) -> bytes:
    """Return the beginning of a file, at least the lines about it if it has any."""
    head = b""
    for block in blocks:
        head += block
        if head.count(b"\n") >= 5 or len(head) > _MOST_HEAD_BYTES:
            break
    return head


def offer_files(
    index_path: str, stem: str, params: Mapping[str, str], now: datetime
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the file of each region."""
    index = _Index(index_path)
    for region in words(params.get("region", "") or REGIONS):
        yield f"{stem}_{region}_{now:%Y-%m-%d}.csv", _file(index, region)

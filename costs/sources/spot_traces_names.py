"""What a trace of spot capacity is of: said by the path of its file, or by parameters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath

from costs.rows import FileError, RowError

from .aws_spot_history_zones import place_of
from .dates import day, midnight
from .decimals import number
from .machines import machine_of

MEASURES = ("availability", "preemption")
# availability/16-node/aws-08-27-2023/us-east-2b_v100_1.json
_NODES = re.compile(r"([0-9]{1,5})-node")
_FOLDER = re.compile(r"([a-z]+)-([0-9]{2})-([0-9]{2})-([0-9]{4})")
_STEM = re.compile(r"([a-z0-9-]+)_([a-z0-9.-]+)_([0-9]{1,4})")
# aws-spot-instances-g4dn-xlarge-us-east-1c-2020-11-20-1930-to-2020-11-21-2200.csv
_WHEN = r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-([0-9]{4}))?"
_LOG = re.compile(
    r"([a-z]+)-spot-instances-([a-z0-9]+)-([a-z0-9]+?)(?:-([a-z]+-[a-z]+-[0-9][a-z]))?"
    + f"-{_WHEN}-to-{_WHEN}"
)


@dataclass(frozen=True)
class Subject:
    """What was measured, where, from when on; and how long at most, where the name says it."""

    provider: str
    trace: str
    region: str
    zone: str
    accelerator: str
    gpu_count: Decimal
    nodes_wanted: Decimal | None
    measures: str
    starts_at: datetime
    longest: timedelta | None = None

    def params(self) -> dict[str, str]:
        """Return it as text, for the parser."""
        wanted = "" if self.nodes_wanted is None else str(self.nodes_wanted)
        return {
            "provider": self.provider,
            "trace": self.trace,
            "region": self.region,
            "zone": self.zone,
            "accelerator": self.accelerator,
            "gpu_count": str(self.gpu_count),
            "nodes_wanted": wanted,
            "measures": self.measures,
            "starts_at": self.starts_at.isoformat(),
        }


def subject_of(name: str, params: Mapping[str, str]) -> Subject:
    """Return what a file is of. A parameter counts more than the path; what neither says is asked for."""
    said = {**_in_log_name(name), **_in_path(name)}
    said.update({key: value.strip() for key, value in params.items() if value.strip()})
    starts_at = _start(said)
    provider = said.get("provider", "aws")
    zone = _needed(said, "zone", "the zone that was measured, such as us-east-1a")
    measures = _needed(said, "measures", "availability or preemption")
    if measures not in MEASURES:
        raise FileError("measures_unknown", " or ".join(MEASURES), column="measures", value=measures)
    ends_on = said.get("ends_at")
    return Subject(
        provider=provider,
        trace=_needed(said, "trace", "a name for the measurement, such as aws-02-15-2023"),
        region=_region(provider, zone, said),
        zone=zone,
        accelerator=_needed(said, "accelerator", "the accelerator of the machines, such as V100"),
        gpu_count=_count(said, "gpu_count", "how many accelerators one machine holds"),
        nodes_wanted=_count(said, "nodes_wanted", "") if said.get("nodes_wanted") else None,
        measures=measures,
        starts_at=starts_at,
        longest=datetime.fromisoformat(ends_on) - starts_at if ends_on else None,
    )


def _in_path(name: str) -> dict[str, str]:
    """Return what SkyPilot's folders and file names say; the day is written with the month first."""
    path = PurePosixPath(name.replace("\\", "/").lower())
    said: dict[str, str] = {}
    folders: list[str] = []
    for part in path.parts[:-1]:
        if part in MEASURES:
            said["measures"] = part
        elif match := _NODES.fullmatch(part):
            said["nodes_wanted"] = match[1]
        elif match := _FOLDER.fullmatch(part):
            said["provider"], month, day_, year = match.groups()
            said["starts_on"] = f"{year}-{month}-{day_}"
        else:
            continue
        folders.append(part)
    if "starts_on" in said:
        said["trace"] = "/".join(folders)
    if match := _STEM.fullmatch(path.name.partition(".")[0]):
        said["zone"], accelerator, said["gpu_count"] = match.groups()
        said["accelerator"] = accelerator.upper()
    return said


def _in_log_name(name: str) -> dict[str, str]:
    """Return what the name of a cluster's log says: the machine, sometimes the zone, and its span."""
    stem = PurePosixPath(name.replace("\\", "/").lower()).name.partition(".")[0]
    match = _LOG.search(stem)
    if match is None:
        return {}
    provider, family, size, zone, start, at, end, until = match.groups()
    said = {"provider": provider, "trace": match[0], "starts_on": start, "measures": "preemption"}
    if zone:
        said["zone"] = zone
    if at:
        said["starts_at"] = _clock(start, at).isoformat()
    last = _clock(end, until) if until else midnight(_day(end)) + timedelta(days=1)
    said["ends_at"] = last.isoformat()
    if machine := machine_of(provider, f"{family}.{size}"):
        said["accelerator"], said["gpu_count"] = machine.accelerator_name, str(machine.gpu_count)
    return said


def _day(text: str) -> date:
    try:
        return day("starts_on", text)
    except RowError as error:
        raise FileError(error.rule, error.expected, column="starts_on", value=text) from error


def _clock(date_: str, clock: str) -> datetime:
    """Return a moment of "2020-11-20" and "1930", taken as UTC: no log says its zone."""
    try:
        return datetime.strptime(f"{date_} {clock}", "%Y-%m-%d %H%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise FileError("not_a_time", "a time such as 1930", column="starts_on", value=clock) from error


def _start(said: Mapping[str, str]) -> datetime:
    text = said.get("starts_on", "")
    if not text:
        expected = "the parameter starts_on: the day on which the trace begins, such as 2023-02-15"
        raise FileError("start_missing", expected, column="starts_on")
    found = midnight(_day(text))
    clocked = datetime.fromisoformat(said["starts_at"]) if "starts_at" in said else found
    return clocked if clocked.date() == found.date() else found


def _needed(said: Mapping[str, str], name: str, meaning: str) -> str:
    if not said.get(name):
        raise FileError(f"{name}_missing", f"the parameter {name}: {meaning}", column=name)
    return said[name]


def _count(said: Mapping[str, str], name: str, meaning: str) -> Decimal:
    try:
        found = number(name, _needed(said, name, meaning))
    except RowError as error:
        raise FileError(error.rule, error.expected, column=name, value=error.value) from error
    if not 0 < found <= 1024:
        raise FileError(f"{name}_out_of_bounds", "a number from 1 to 1024", column=name, value=found)
    return found


def _region(provider: str, zone: str, said: Mapping[str, str]) -> str:
    if provider != "aws":
        return said.get("region", "")
    try:
        return place_of("zone", zone)[0]
    except RowError as error:
        raise FileError(error.rule, error.expected, column="zone", value=zone) from error

"""Catalogues in SkyPilot's layout: one CSV per cloud with on-demand and spot prices per region and zone.

The files come from many hands. Columns are found by name, since their order differs per cloud. GpuInfo is
read only where AcceleratorName is empty: it is a Python dict, a dict with null, JSON, JSON with small
letters or a bare name, and its memory is 0, or GB under a MiB name, on some clouds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, PriceState, RawLine, Row, RowError, Term

from .byte_stream import Limits
from .csv_file import complete, names_all, open_table
from .dates import day_in_name
from .decimals import number, optional_number, price
from .skypilot_gcp import gpu_rows, is_host, refuse_host
from .skypilot_survey import obey, survey_of, surveyed

NAME = "skypilot"
TITLE = "SkyPilot catalogue"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("provider",)
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

# of the memory that the survey of a catalogue may take; see skypilot_survey.py
LIMITS = Limits(rows=500_000)
COLUMNS = (
    *("InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB"),
    *("Price", "SpotPrice", "Region"),
)
TEMPLATE = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n"
    "gpu-8x-h100,H100,8,192,2048,,23.60,10.00,eu-north1\n"
)
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]")
# clouds that publish a file under their bare name, such as gcp.csv; any other name needs the parameter
_CLOUDS = frozenset(
    (
        *("aws", "azure", "cloudrift", "cudo", "datacrunch", "do", "fluidstack", "gcp", "hyperbolic"),
        *("hyperstack", "ibm", "lambda", "latitude", "lium", "mithril", "modal", "nebius", "novita", "oci"),
        *("paperspace", "ppio", "primeintellect", "runpod", "scp", "seeweb", "shadeform", "spheron"),
        *("vast", "verda", "vsphere"),
    )
)
# Vast's types name the card in full, "2x-A100_SXM4-32-65536"; the name beside it is cut to "A100"
_VAST_CARD = re.compile(r"\d+x-(.+)-\d+-\d+")
# the catalogue's short names, where one cloud would stand twice in the list under two names
_OUR_NAMES = {"do": "digitalocean"}
# blank on-demand price, but not for want of machines: (provider, start of the instance type) -> reason
_RESERVATION_ONLY = {
    ("aws", "p5e."): "p5e is sold through Capacity Blocks only: it has no on-demand price",
    ("aws", "p6e-gb200."): "P6e-GB200 is sold through Capacity Blocks only: it has no on-demand price",
}
# clouds that write 0.00 for a spot price they do not know; anywhere else 0 is an error
_ZERO_SPOT_IS_UNKNOWN = {"vast": "Vast.ai states 0.00 for every spot price: it is not known"}
# partitioned cards that the catalogue counts as whole ones, https://learn.microsoft.com/azure/virtual-machines
_WRONG_COUNTS = {
    ("azure", "Standard_NV4as_v4"): "0.125",
    ("azure", "Standard_NV8as_v4"): "0.25",
    ("azure", "Standard_NV16as_v4"): "0.5",
}
_INFO_NAME = re.compile(r"""["']name["']\s*:\s*["']([^"']{1,80})["']""", re.IGNORECASE)
_INFO_COUNT = re.compile(r"""["']count["']\s*:\s*([0-9.]{1,10})""", re.IGNORECASE)
_GENERATION = re.compile(r"V[0-9]+")


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that begins so is for this source."""
    return names_all(head, ("AcceleratorName", "GpuInfo", "SpotPrice", "Region"))


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the catalogues carry no licence, so they come from the user as files."""
    raise FileError("no_fetch", "a catalogue file: upload it, or name it with --file")


def provider_of(name: str, params: Mapping[str, str]) -> str:
    """Return the provider from the parameter or the file's name.

    >>> provider_of("skypilot_vast_2026-05-20.csv", {})
    'vast'
    >>> provider_of("catalogs/v8/verda/vms.csv", {})
    'verda'
    """
    given = params.get("provider", "").strip().lower()
    if given:
        if not _PROVIDER.fullmatch(given):
            raise FileError("provider_wrong", "small letters, digits and hyphens, such as aws", value=given)
        return _OUR_NAMES.get(given, given)
    path = PurePosixPath(name.replace("\\", "/").lower())
    stem = path.name.removesuffix(".gz").removesuffix(".csv")
    words = stem.split("_")
    found = words[1] if words[0] == "skypilot" and len(words) > 1 else stem
    if stem == "vms" and len(path.parts) > 1:
        found = path.parts[-2]
    if found not in _CLOUDS:
        raise FileError(
            "provider_unknown",
            "a name such as skypilot_aws_2026-05-20.csv, aws/vms.csv or aws.csv, or the parameter provider",
            value=name,
        )
    return _OUR_NAMES.get(found, found)


def _mend_generation(header: Sequence[str], record: Sequence[str]) -> Sequence[str] | None:
    """Join what Azure's catalogue writes as two fields: an unquoted `V1,V2` in its last column."""
    extra = record[len(header) - 1 :]
    if header[-1] == "Generation" and len(extra) == 2 and all(_GENERATION.fullmatch(part) for part in extra):
        return [*record[: len(header) - 1], ",".join(extra)]
    return None


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines, each with what the rest of the file says about it. Reads the file twice."""
    provider = provider_of(name, params)
    first = open_table(file, name, COLUMNS, limits=limits, mend=_mend_generation)

    def lines() -> Iterator[RawLine]:
        survey = survey_of(first.lines, provider)
        again = open_table(file, name, COLUMNS, limits=limits, mend=_mend_generation)
        yield from surveyed(again.lines, survey, provider)

    return FileInfo(day_in_name(name), {"provider": provider}), lines()


def _accelerator(fields: Mapping[str, str]) -> tuple[str, Decimal]:
    """Return the accelerator's name and count; a line without either is a CPU machine."""
    name, info = fields["AcceleratorName"], fields.get("GpuInfo", "")
    found = _INFO_NAME.search(info)
    name = name or (found[1] if found else "")
    if not name and not info:
        raise OutOfScope(
            "no_accelerator", "InstanceType", fields["InstanceType"], "a line with an accelerator"
        )
    if not name:
        raise RowError("GpuInfo", info, "accelerator_unreadable", "AcceleratorName and AcceleratorCount")
    counted = _INFO_COUNT.search(info)
    text = fields["AcceleratorCount"] or (counted[1] if counted else "")
    if not text:
        raise RowError("AcceleratorCount", "", "empty", "how many accelerators the machine holds")
    return name, number("AcceleratorCount", text)


def _on_demand(provider: str, fields: Mapping[str, str]) -> tuple[PriceState, Decimal | None, str]:
    if fields["Price"]:
        return "priced", price("Price", fields["Price"]), ""
    for (cloud, start), reason in _RESERVATION_ONLY.items():
        if provider == cloud and fields["InstanceType"].startswith(start):
            return "reservation_only", None, reason
    return "not_sold", None, "the catalogue gives no on-demand price"


def _spot(provider: str, fields: Mapping[str, str]) -> tuple[PriceState, Decimal | None, str]:
    text = fields["SpotPrice"]
    if not text:
        return "not_sold", None, "the catalogue gives no spot price: spot is not offered"
    if provider in _ZERO_SPOT_IS_UNKNOWN and number("SpotPrice", text) == 0:
        return "unknown", None, _ZERO_SPOT_IS_UNKNOWN[provider]
    return "priced", price("SpotPrice", text), ""


def _region(text: str) -> str:
    """Return a region without the empty parts of marketplace places such as ", CA, NA"."""
    return ", ".join(part.strip() for part in text.split(",") if part.strip())


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the on-demand and the spot price of one line, or of the machines that a GCP line makes."""
    fields, provider = complete(raw), info.params["provider"]
    if provider == "gcp" and is_host(fields):
        refuse_host(fields)
    name, count = _accelerator(fields)
    if provider == "vast" and (card := _VAST_CARD.fullmatch(fields["InstanceType"])):
        name = card[1]
    obey(raw)
    if provider == "gcp" and not fields["InstanceType"]:
        return list(gpu_rows(fields))
    true_count = _WRONG_COUNTS.get((provider, fields["InstanceType"]))
    if true_count and count != Decimal(true_count):
        raise OutOfScope(
            "gpu_count_wrong",
            "AcceleratorCount",
            fields["AcceleratorCount"],
            f"{true_count}: {fields['InstanceType']} holds a part of a card",
        )
    terms: tuple[tuple[Term, tuple[PriceState, Decimal | None, str]], ...] = (
        ("on_demand", _on_demand(provider, fields)),
        ("spot", _spot(provider, fields)),
    )
    return [
        PriceRow(
            provider=provider,
            sku=fields["InstanceType"],
            accelerator_name=name,
            gpu_count=count,
            region=_region(fields["Region"]),
            zone=fields.get("AvailabilityZone", ""),
            term=term,
            state=state,
            price_per_hour=amount,
            state_reason=reason,
            vcpus=optional_number("vCPUs", fields["vCPUs"]),
            memory_gib=optional_number("MemoryGiB", fields["MemoryGiB"]),
        )
        for term, (state, amount, reason) in terms
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider: a new catalogue replaces that provider's prices from this source."""
    return info.params["provider"]

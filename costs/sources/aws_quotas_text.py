"""The text layouts of AWS's limits: a CSV of defaults, and the table that the command line draws.

A saved table often holds one region after the other, each under a line such as "region us-west-2".
"""

import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from costs.rows import FileError, FileInfo, RawLine

from .aws_quotas_json import ACCOUNT, REGION
from .byte_stream import Limits, blocks_of_text
from .csv_file import FIELD_COUNT, Table, check_header, decode, open_table, text_lines
from .quota_params import file_date, given_account, given_region

DEFAULTS_COLUMNS = ("ServiceCode", "QuotaName", "QuotaCode", "DefaultValue")
MAPPING_COLUMNS = ("InstanceType", "OnDemandInstanceCode", "SpotInstanceCode")
# a title over a header over a frame: enough to know the command line's table by
TABLE = re.compile(r"^\|\s*List(AWSDefault)?ServiceQuotas\s*\|", re.MULTILINE)
_REGION_LINE = re.compile(r"region[ :=]+([a-z0-9-]+)")
_NAMES = {"Code": "QuotaCode", "Name": "QuotaName"}
_WANTED = ("QuotaCode", "QuotaName", "Value")


def read_csv(
    file: BinaryIO, name: str, params: Mapping[str, str], limits: Limits
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines of a CSV of defaults. It does not say its region: the parameter does."""
    table = open_table(file, name, (), limits=limits)
    if set(MAPPING_COLUMNS) <= set(table.header):
        _refuse_mapping(table)
    check_header(table.header, DEFAULTS_COLUMNS, 1)
    place = {REGION: _region_of(params, 1), ACCOUNT: given_account(params)}
    lines = (RawLine(line.line, {**line.fields, **place}) for line in table.lines)
    return FileInfo(file_date(name, params), {"layout": "defaults"}), lines


def _refuse_mapping(table: Table) -> None:
    """Refuse SkyPilot's table of quota codes, and say the one line that is known to be wrong in it."""
    wrong = ""
    for line in table.lines:
        code = line.fields.get("OnDemandInstanceCode", "")
        if line.fields.get("InstanceType") == "p3.2xlarge" and code != "L-417A185B":
            wrong = f"line {line.line}: p3.2xlarge counts against P (L-417A185B), not against {code}"
    raise FileError(
        "no_limits",
        "limits: this file says which quota a machine type counts against, not how much of it is allowed; "
        "the machine type table says that",
        column="OnDemandInstanceCode",
        value=wrong,
    )


def _region_of(params: Mapping[str, str], line: int) -> str:
    region = given_region(params)
    if not region:
        raise FileError(
            "region_missing", "the parameter region: the file does not say where its limits hold", line=line
        )
    return region


def read_table(
    file: BinaryIO, name: str, params: Mapping[str, str], limits: Limits
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the rows of the tables, each with the region that stands above its table."""
    is_default = "ListAWSDefaultServiceQuotas" in next(blocks_of_text(file, name, limits)).decode(
        "utf-8", "replace"
    )
    layout = "defaults" if is_default else "applied"
    return FileInfo(file_date(name, params), {"layout": layout}), _rows(file, name, params, limits)


def _rows(file: BinaryIO, name: str, params: Mapping[str, str], limits: Limits) -> Iterator[RawLine]:
    region, account, count = given_region(params), given_account(params), 0
    header: tuple[str, ...] = ()
    for number, raw in enumerate(text_lines(blocks_of_text(file, name, limits), limits), 1):
        text = decode(raw, number).strip()
        if not text or set(text) <= set("+-"):
            continue
        if found := _REGION_LINE.fullmatch(text):
            region, header = found[1], ()
        elif TABLE.match(text):
            header = ()
        elif not text.startswith("|"):
            raise FileError(
                "table_broken",
                "a line of the table, or one such as: region us-west-2",
                line=number,
                value=text[:80],
            )
        elif not header:
            header = _header(text, number)
        else:
            count += 1
            if count > limits.rows:
                raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=number)
            place = {REGION: region or _region_of(params, number), ACCOUNT: account}
            yield RawLine(number, {**_row(text, header), **place})


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip("|").split("|")]


def _header(text: str, number: int) -> tuple[str, ...]:
    return check_header([_NAMES.get(cell, cell) for cell in _cells(text)], _WANTED, number)


def _row(text: str, header: tuple[str, ...]) -> Mapping[str, str]:
    cells = _cells(text)
    fields = dict(zip(header, cells, strict=False))
    if len(cells) != len(header):
        fields[FIELD_COUNT] = f"{len(cells)}, header {len(header)}"
    return fields

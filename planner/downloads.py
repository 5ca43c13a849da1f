"""Stream the rows of a list page as CSV or JSON: the same rows, columns and order as on screen."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.text import slugify

from planner.csv_cells import Column, csv_lines, file_number
from planner.exports import FORMATS, read_style

LINES_PER_CHUNK = 200
LONGEST_NAME = 80
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True)
class Download:
    """What a file holds. `address` reproduces it (path and query, no host)."""

    name: str
    address: str
    as_of: datetime
    columns: Sequence[Column]
    rows: Iterable[Sequence[Any]]


def known_format(fmt: str) -> str:
    """Return the format, or answer 404 where the address names one that does not exist."""
    if fmt not in FORMATS:
        raise Http404(f"no format {fmt!r}: csv or json")
    return fmt


def file_name(*parts: str) -> str:
    """Return a name that says what the file holds, safe for every system."""
    words = "_".join(slug for slug in (slugify(part) for part in parts) if slug)
    return words[:LONGEST_NAME].rstrip("_-") or "download"


def download(request: HttpRequest, fmt: str, content: Download) -> StreamingHttpResponse:
    """Answer with the file, a few hundred lines at a time."""
    lines = _json_lines(content) if fmt == "json" else _csv_lines(request, content)
    response = StreamingHttpResponse(_in_chunks(lines), content_type=FORMATS[fmt])
    response["Content-Disposition"] = f'attachment; filename="{content.name}.{fmt}"'
    return response


def _csv_lines(request: HttpRequest, content: Download) -> Iterator[str]:
    """Yield the lines; each says which address shows the same rows."""
    style = read_style(request.GET.get)
    columns = [*content.columns, Column("address")]
    rows = ([*row, content.address] for row in content.rows)
    return csv_lines(columns, rows, style.sep, style.dec, style.bom)


def _json_lines(content: Download) -> Iterator[str]:
    names = [column.name for column in content.columns]
    head = {"address": content.address, "as_of": content.as_of, "columns": names}
    yield _encoder.encode(head).decode()[:-1] + ',"rows":['
    for number, row in enumerate(content.rows):
        record = dict(zip(names, map(file_number, row), strict=True))
        yield (",\n" if number else "\n") + _encoder.encode(record).decode()
    yield "\n]}\n"


def _in_chunks(lines: Iterator[str]) -> Iterator[bytes]:
    while chunk := "".join(islice(lines, LINES_PER_CHUNK)):
        yield chunk.encode("utf-8", "backslashreplace")

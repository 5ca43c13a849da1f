"""Read a file through a source the way ingest does, and say what became of each line."""

import gzip
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from costs.rows import FileInfo, OutOfScope, Row, RowError
from costs.sources import SOURCES


@dataclass
class Reading:
    info: FileInfo
    rows: list[Row] = field(default_factory=list)
    scopes: set[str] = field(default_factory=set)
    lines: int = 0
    kept: dict[int, list[Row]] = field(default_factory=dict)
    wrong: dict[int, RowError] = field(default_factory=dict)
    out_of_scope: dict[int, OutOfScope] = field(default_factory=dict)

    @property
    def by_rule(self) -> dict[str, int]:
        refused = [*self.wrong.values(), *self.out_of_scope.values()]
        return dict(Counter(error.rule for error in refused))


def read(source: str, file: BinaryIO, name: str, params: Mapping[str, str] | None = None) -> Reading:
    module = SOURCES[source]
    info, lines = module.read(file, name, params or {})
    reading = Reading(info)
    for raw in lines:
        reading.lines += raw.lines
        try:
            rows = module.parse(raw, info)
        except RowError as error:
            reading.wrong[raw.line] = error
        except OutOfScope as error:
            reading.out_of_scope |= dict.fromkeys(range(raw.line, raw.line + raw.lines), error)
        else:
            assert rows, f"line {raw.line} was kept without a fact"
            reading.kept[raw.line] = rows
            reading.rows += rows
            reading.scopes |= {module.scope(row, info) for row in rows}
    return reading


def read_text(source: str, text: str, name: str, params: Mapping[str, str] | None = None) -> Reading:
    return read(source, io.BytesIO(text.encode()), name, params)


def read_bytes(source: str, data: bytes, name: str, params: Mapping[str, str] | None = None) -> Reading:
    return read(source, io.BytesIO(data), name, params)


def read_path(source: str, path: Path, params: Mapping[str, str] | None = None) -> Reading:
    with path.open("rb") as file:
        return read(source, file, path.name, params)


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)  # the same bytes each time

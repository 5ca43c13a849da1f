"""Real price lists as ingest would take them: read, judged line by line, split into scopes. No database."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from costs.gate import Known
from costs.judge import Judge
from costs.names import accelerator_key
from costs.quarantine_rules import MachineFacts
from costs.rows import (
    AcceleratorRow,
    FileError,
    FileInfo,
    MachineTypeRow,
    OutOfScope,
    PriceRow,
    RawLine,
    Row,
    RowError,
)
from costs.rowtext import Payload, key_of
from costs.sources import SOURCES

from .dirt import known_wrong, moment_of
from .payloads import price_of

HEAD_BYTES = 65_536  # what a source is shown of a file to recognise it by
PACKAGED = ("list_prices",)  # price lists that come with the product

Note = Callable[[str], None]


@dataclass(frozen=True)
class Stated:
    """One fact and the line that states it."""

    raw: RawLine
    payload: Payload


@dataclass(frozen=True)
class Catalogue:
    """What one file says of one scope: what the gate judges at a time."""

    source: str
    file: str
    scope: str
    mode: str  # of the source: snapshot, amend or history
    as_of: datetime
    info: FileInfo
    stated: tuple[Stated, ...]
    wrong: frozenset[int] = frozenset()  # what the history itself shows to be wrong

    @property
    def name(self) -> str:
        return f"{self.source} {self.file} [{self.scope}]"

    @cached_property
    def facts(self) -> list[Payload]:
        return [each.payload for each in self.stated]

    @cached_property
    def price_before(self) -> dict[int, Decimal | None]:
        """Return what each observation of a history was preceded by; a first one is not in it."""
        if self.mode != "history":
            return {}
        last: dict[tuple[str, ...], Decimal | None] = {}
        found = {}
        for at in sorted(range(len(self.facts)), key=lambda at: moment_of(self.facts[at])):
            key = key_of(PriceRow, self.facts[at])
            if key in last:
                found[at] = last[key]
            last[key] = price_of(self.facts[at])
        return found


@dataclass(frozen=True)
class Reference:
    """What the gate may know besides the price lists: the packaged tables."""

    known: Known
    machines: dict[tuple[str, str], MachineFacts]


def reference(now: datetime) -> Reference:
    """Return the packaged tables of accelerators and machine types."""
    slugs: dict[str, str] = {}
    for row in packaged_rows("accelerators", now):
        if isinstance(row, AcceleratorRow):
            slugs |= {accelerator_key(name): row.slug for name in (row.slug, row.name, *row.aliases)}
    machines = {
        (row.provider, row.name): MachineFacts(row.gpu_count, row.vcpus, row.accelerator)
        for row in packaged_rows("machine_types", now)
        if isinstance(row, MachineTypeRow)
    }
    return Reference(Known(slugs), machines)


def catalogues(folder: Path, ref: Reference, now: datetime, note: Note) -> Iterator[Catalogue]:
    """Yield every price list of a folder and of the product, one scope after the other.

    A file that no price source recognises is not a price list and is passed over.
    """
    prices = [source for source in SOURCES.values() if source.KIND == "prices"]
    for source in prices:
        if source.NAME in PACKAGED:
            for name, chunks in source.fetch({}, now):
                yield from _split(source, name, io.BytesIO(b"".join(chunks)), ref, now, note)
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = str(path.relative_to(folder))
        head = _head(path)
        for source in prices:
            if path.name.endswith(source.SUFFIXES) and source.looks_like(head, path.name):
                with path.open("rb") as file:
                    yield from _split(source, name, file, ref, now, note)


def packaged_rows(name: str, now: datetime) -> Iterator[Row]:
    """Yield what the packaged table of a source says."""
    source = SOURCES[name]
    for file, chunks in source.fetch({}, now):
        info, lines = source.read(io.BytesIO(b"".join(chunks)), file, {})
        for raw in lines:
            yield from source.parse(raw, info)


def _head(path: Path) -> str:
    """Return the beginning of a file as text, "" where it is none."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error):
        return ""


def _split(
    source: ModuleType, name: str, file: BinaryIO, ref: Reference, now: datetime, note: Note
) -> list[Catalogue]:
    try:
        info, by_scope = _judged(source, name, file, ref.known, now)
    except FileError as error:
        note(f"{source.NAME} {name}: refused as a whole, {error.code}")
        return []
    found = [
        Catalogue(
            source.NAME,
            name,
            scope,
            source.MODE,
            info.as_of or now,
            info,
            tuple(stated),
            _wrong(source, stated, ref),
        )
        for scope, stated in sorted(by_scope.items())
    ]
    note(f"{source.NAME} {name}: {sum(len(each.stated) for each in found):,} prices in {len(found)} scopes")
    return found


def _wrong(source: ModuleType, stated: Sequence[Stated], ref: Reference) -> frozenset[int]:
    if source.MODE != "history":
        return frozenset()
    return known_wrong([each.payload for each in stated], ref.machines)


def _judged(
    source: ModuleType, name: str, file: BinaryIO, known: Known, now: datetime
) -> tuple[FileInfo, dict[str, list[Stated]]]:
    info, lines = source.read(file, name, {})
    judge = Judge(source, info, {}, known, now)
    by_scope: dict[str, list[Stated]] = {}
    for raw in lines:
        try:
            rows, facts = judge.read(raw)
            fresh = judge.check(rows, facts)
        except (RowError, OutOfScope):
            continue
        for scope, _, payload in fresh:
            by_scope.setdefault(scope, []).append(Stated(raw, payload))
    contradicted = set(judge.contradicted)
    return info, {
        scope: [each for each in stated if each.raw.line not in contradicted]
        for scope, stated in by_scope.items()
    }

"""What becomes of every real price, commitment, spot and quota file on its way into the tables.

The table is tests/data/every_file.csv, a row per file: its source, what the parser is told besides, how the
run ends, and how many lines were read, kept, refused and held in quarantine. What the counts are made of is
asserted from the raw files in the tests of each area; here they meet the gate, on empty tables.
"""

import csv
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

TABLE = Path(__file__).resolve().parent.parent / "data" / "every_file.csv"


class Taken(NamedTuple):
    """The end of one file."""

    file: str
    source: str
    params: dict[str, str]
    status: str
    error_code: str
    read: int
    kept: int
    refused: int
    held: int


def _taken(row: dict[str, str]) -> Taken:
    counts = (int(row[name]) for name in ("read", "kept", "refused", "held"))
    params = dict(parse_qsl(row["params"]))
    return Taken(row["file"], row["source"], params, row["status"], row["error_code"], *counts)


with TABLE.open(newline="") as table:
    FILES = tuple(_taken(row) for row in csv.DictReader(table))

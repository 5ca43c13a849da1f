"""By which words the lines about accelerators are found in a bulk CSV.

The list labels each machine with a family, such as "GPU instance". Searching for these words is what makes
reading fast, but AWS may rename them, and then a list would seem to have no accelerators at all. So a part
of the file is looked through first by machine type, and labels that it gives to types we know are searched
for as well.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from costs.rows import FileError

from .aws_facts import ACCELERATED_FAMILIES, ACCELERATOR_BY_FAMILY
from .byte_stream import BLOCK_BYTES, Limits, blocks_of_text

_USED = re.compile(rb"Usage:([a-z0-9-]+)\.")
_FAMILIES = frozenset(family.encode() for family in ACCELERATOR_BY_FAMILY)
_WHOLE_BYTES = 8 << 20  # a file up to this size is looked through from end to end
_BLOCKS = 256  # of a larger one, evenly: each type has a hundred SKUs in it, all over the file
_ONE_IN = 8  # of the blocks of a packed one, which has to be unpacked anyway


def _blocks(file: BinaryIO, name: str, limits: Limits) -> Iterator[bytes]:
    """Yield blocks from all over the file."""
    if name.lower().endswith(".gz"):
        for number, block in enumerate(blocks_of_text(file, name, limits)):
            if number < _WHOLE_BYTES // BLOCK_BYTES or not number % _ONE_IN:
                yield block
        return
    size = file.seek(0, io.SEEK_END)
    step = BLOCK_BYTES if size <= _WHOLE_BYTES else max(BLOCK_BYTES, size // _BLOCKS)
    for at in range(0, size, step):
        file.seek(at)
        yield file.read(BLOCK_BYTES)


def _unlabelled(block: bytes, labels: set[bytes]) -> Iterator[bytes]:
    """Yield the lines with a type that holds accelerators and with none of the labels."""
    if _FAMILIES.isdisjoint(_USED.findall(block)):
        return
    for line in block.split(b"\n"):
        if not any(label in line for label in labels):
            used = _USED.search(line)
            if used and used[1] in _FAMILIES:
                yield line


def _label_of(line: bytes, header: tuple[str, ...]) -> str | None:
    """Return the label of a line; None where the line was cut where the block begins or ends."""
    record = next(csv.reader([line.decode("utf-8", "replace")]), [])
    if len(record) != len(header):
        return None
    label = record[header.index("Instance Family")]
    if not label:
        machine = record[header.index("Instance Type")]
        raise FileError(
            "family_label_missing", 'a label such as "GPU instance" for each machine', value=machine
        )
    return label


def labels_in(file: BinaryIO, name: str, header: tuple[str, ...], limits: Limits) -> tuple[bytes, ...]:
    """Return the labels of machines with accelerators, those known and those that this file uses."""
    labels = {label.encode() for label in ACCELERATED_FAMILIES}
    for block in _blocks(file, name, limits):
        for line in _unlabelled(block, labels):
            if label := _label_of(line, header):
                labels.add(label.encode())
    return tuple(sorted(labels))

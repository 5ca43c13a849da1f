"""Answers of the Azure Retail Prices API: one, several in order, or one put together of all pages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import msgspec

from costs.rows import FileError, RawLine, RowError

from .byte_stream import Limits, blocks_of_text
from .csv_file import RESERVED

# the answers to one question have some tens of megabytes
LIMITS = Limits(total_bytes=256 << 20, rows=500_000)
_UNREADABLE = RESERVED + "unreadable"  # what stands where an item should
_EXPECTED = "an answer of the Azure Retail Prices API: Items, NextPageLink and Count"


class Answer(msgspec.Struct):
    """One page. Whether more follow is stated on each, so an answer that does not say may be a part."""

    Items: list[msgspec.Raw]
    NextPageLink: str | None
    Count: int
    BillingCurrency: str = ""
    Question: str = ""  # what it answers; ours, where it is put together of all pages


class _Value(msgspec.Struct):
    """Azure's lists of other things stand under this name."""

    value: list[msgspec.Raw]


class _Resource(msgspec.Struct):
    resourceType: str


_BROKEN = (msgspec.MsgspecError, RecursionError, UnicodeError)


def _refuse_other_lists(text: bytes) -> None:
    try:
        first = msgspec.json.decode(text, type=_Value).value[0]
        msgspec.json.decode(first, type=_Resource)
    except (*_BROKEN, IndexError):
        return
    raise FileError("no_prices", f"{_EXPECTED}. This is a list of machine sizes, which states no price")


def decode_page(text: bytes, place: str = "") -> Answer:
    """Return one page, or refuse what is none."""
    try:
        return msgspec.json.decode(text, type=Answer)
    except _BROKEN as error:
        raise FileError("json_wrong", _EXPECTED, column=place, value=str(error)) from error


def _pages(text: bytes) -> list[Answer]:
    if text.lstrip()[:1] == b"[":
        try:
            return msgspec.json.decode(text, type=list[Answer])
        except _BROKEN as error:
            raise FileError("json_wrong", f"a list, each {_EXPECTED}", value=str(error)) from error
    _refuse_other_lists(text)
    return [decode_page(text)]


def check_count(page: Answer, number: int) -> None:
    """Refuse a page that does not hold as many items as it says."""
    if page.Count != len(page.Items):
        raise FileError(
            "count_wrong",
            f"{page.Count:,} items, as Count says",
            column=f"page {number}",
            value=len(page.Items),
        )


def _check(pages: Sequence[Answer]) -> None:
    """Refuse answers of which some pages are missing: what they list would seem to be sold no more."""
    for number, page in enumerate(pages, 1):
        check_count(page, number)
        if bool(page.NextPageLink) != (number < len(pages)):
            raise FileError(
                "pages_missing",
                "every page of the answer, as a list in order: each but the last has a NextPageLink",
                column=f"NextPageLink of page {number}",
                value=page.NextPageLink or "",
            )
    if not any(page.Items for page in pages):
        raise FileError("empty_file", "an answer with at least one item", column="Items")


def read_answers(file: BinaryIO, name: str, limits: Limits) -> tuple[str, Iterator[RawLine]]:
    """Return the question that the file says it answers, "" where it does not, and its items."""
    pages = _pages(b"".join(blocks_of_text(file, name, limits)))
    _check(pages)
    if sum(len(page.Items) for page in pages) > limits.rows:
        raise FileError("too_many_rows", f"at most {limits.rows:,} items")
    items = (item for page in pages for item in page.Items)
    return pages[0].Question, (_line(number, item) for number, item in enumerate(items, 1))


def _line(number: int, item: msgspec.Raw) -> RawLine:
    try:
        members = msgspec.json.decode(item, type=dict[str, msgspec.Raw])
        return RawLine(number, {name: _text(bytes(value)) for name, value in members.items()})
    except _BROKEN as error:
        shown = bytes(item)[:200].decode("utf-8", "replace")
        return RawLine(number, {_UNREADABLE: f"{error}: {shown}"})


def check_item(fields: Mapping[str, str]) -> None:
    """Refuse what stands where an item should."""
    if _UNREADABLE in fields:
        raise RowError(
            "(item)", fields[_UNREADABLE], "item_unreadable", "an item with armSkuName and retailPrice"
        )


def _text(value: bytes) -> str:
    """Return a member as text: a number as it is written, a list as its JSON, null as nothing."""
    if value[:1] == b'"':
        return msgspec.json.decode(value, type=str)
    return "" if value == b"null" else value.decode()

"""The pages of the Cloud Billing Catalog in one file: one answer of the API, or a list of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from costs.rows import FileError

from .byte_stream import Limits
from .json_records import decode, whole_text

_EXPECTED = 'answers of the Cloud Billing Catalog: {"skus": […]}, or a list of such pages'
_PATTERNS = b"SKU_DESCRIPTION"


class _Page(msgspec.Struct):
    skus: list[msgspec.Raw]
    nextPageToken: str = ""


@dataclass(frozen=True)
class Document:
    """The SKUs of a file, each as the text that stands there."""

    pages: list[_Page]

    @property
    def is_whole(self) -> bool:
        """Return whether the last page says that no other follows it."""
        return not self.pages[-1].nextPageToken

    def skus(self) -> Iterator[tuple[int, bytes]]:
        """Yield the SKUs in the file's order, numbered from 1."""
        texts = (bytes(sku) for page in self.pages for sku in page.skus)
        yield from enumerate(texts, 1)


def _check_text(text: bytes) -> None:
    """Refuse bytes that are no text, before a SKU is cut out of them."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = text[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace")
        line = text.count(b"\n", 0, error.start) + 1
        raise FileError("not_utf8", "UTF-8 text", line=line, value=shown) from error


def _check_kind(text: bytes) -> None:
    start = text[:4096].lstrip()
    if start[:1] in (b"{", b"["):
        return
    if _PATTERNS in start.partition(b"\n")[0]:
        expected = "SKUs with prices; this table says which words mean which meter, and no price"
        raise FileError("patterns_without_prices", expected, line=1)
    raise FileError("json_wrong", _EXPECTED, line=1, value=start[:80].decode("utf-8", "replace"))


def document_of(file: BinaryIO, name: str, limits: Limits) -> Document:
    """Return the pages of a file; refuse pages of which one in the middle is missing."""
    text = whole_text(file, name, limits)
    _check_text(text)
    _check_kind(text)
    if text.lstrip()[:1] == b"[":
        pages = decode(text, list[_Page], _EXPECTED)
    else:
        pages = [decode(text, _Page, _EXPECTED)]
    for page in pages[:-1]:
        if not page.nextPageToken:
            raise FileError(
                "pages_wrong", "pages in order: each but the last has a nextPageToken", column="nextPageToken"
            )
    count = sum(len(page.skus) for page in pages)
    if not count:
        raise FileError("empty_file", "at least one SKU", column="skus")
    if count > limits.rows:
        raise FileError("too_many_rows", f"at most {limits.rows:,} SKUs")
    return Document(pages)

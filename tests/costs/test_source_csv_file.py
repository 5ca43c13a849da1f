"""State what happens to a file that is not what it says, and that a sound one is read line by line."""

import gzip
import io
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest

from costs.rows import FileError, RawLine, RowError
from costs.sources.byte_stream import Limits, blocks_of_text
from costs.sources.csv_file import complete, open_table

from .readings import packed

GOOD = 'name,price\nplain,1.5\n"with, comma",2\n'


def table(data: bytes | str, name: str = "file.csv", **options: object) -> list[RawLine]:
    content = data.encode() if isinstance(data, str) else data
    return list(open_table(io.BytesIO(content), name, ("name", "price"), **options).lines)


def refused(data: bytes | str, name: str = "file.csv", **options: object) -> FileError:
    with pytest.raises(FileError) as caught:
        table(data, name, **options)
    assert caught.value.expected, "says what would be right"
    return caught.value


def values(lines: list[RawLine]) -> list[tuple[int, str, str]]:
    return [(raw.line, raw.fields["name"], raw.fields["price"]) for raw in lines]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (GOOD.encode(), "file.csv"),
        (b"\xef\xbb\xbf" + GOOD.encode(), "file.csv"),  # UTF-8 mark, as spreadsheets write
        (GOOD.replace("\n", "\r\n").encode(), "file.csv"),
        (GOOD.removesuffix("\n").encode(), "file.csv"),  # no line end on the last line
        (packed(GOOD), "file.csv.gz"),
        (packed(GOOD) + b"\0" * 512, "FILE.CSV.GZ"),  # padded to a block
        (packed("name,price\nplain,1.5\n") + packed('"with, comma",2\n'), "file.csv.gz"),  # two members
    ],
)
def test_one_table_in_many_dresses_reads_the_same(data: bytes, name: str) -> None:
    assert values(table(data, name)) == [(2, "plain", "1.5"), (3, "with, comma", "2")]


def test_columns_are_found_by_name_and_blanks_around_names_are_dropped() -> None:
    lines = table("extra, price ,name\nx,3,a\n")
    assert values(lines) == [(2, "a", "3")]
    assert lines[0].fields["extra"] == "x"


def test_a_record_bears_the_number_of_the_line_it_starts_on() -> None:
    text = 'name,price\n"two\nlines",1\n\nafter a blank line,2\n'
    assert values(table(text)) == [(2, "two\nlines", "1"), (5, "after a blank line", "2")]


def test_a_quoted_field_keeps_its_line_ends() -> None:
    assert table('name,price\n"a\r\nb",1\r\n')[0].fields["name"] == "a\r\nb"


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"", "file.csv", "empty_file"),
        (GOOD.encode("utf-16"), "file.csv", "utf16"),  # with its mark
        (GOOD.encode("utf-16-le"), "file.csv", "utf16"),
        (GOOD.encode("utf-16-be"), "file.csv", "utf16"),
        (b"<!DOCTYPE html><html><title>502</title></html>", "file.csv", "html_instead_of_data"),
        (b"\n  <html>", "file.csv", "html_instead_of_data"),
        (b"PK\x03\x04" + bytes(30), "file.csv", "zip_instead_of_text"),
        (b"PAR1" + bytes(30), "file.csv", "parquet_instead_of_text"),
        (packed(GOOD), "file.csv", "gzip_without_suffix"),
        (GOOD.encode(), "file.csv.gz", "not_gzip"),
        (packed(GOOD)[:-9], "file.csv.gz", "gzip_truncated"),
        (packed(GOOD)[:12], "file.csv.gz", "gzip_truncated"),
        (packed(GOOD)[:-8] + bytes(8), "file.csv.gz", "gzip_broken"),  # wrong checksum
        (packed(GOOD) + b"rubbish", "file.csv.gz", "gzip_broken"),
        (b"name,price\na,1\nb\0,2\n", "file.csv", "nul_byte"),
        (b"name,price\na,1\n\xff\xfe,2\n", "file.csv", "not_utf8"),
        (b"name;price\na;1\n", "file.csv", "columns_missing"),
        (b"name,name,price\na,b,1\n", "file.csv", "column_repeated"),
        (b"name,,price\na,b,1\n", "file.csv", "column_unnamed"),
        (b'name,price\na,1\n"cut in a quo', "file.csv", "csv_broken"),
        (b'name,price\n"a" b,1\n', "file.csv", "csv_broken"),
        (b"name,price\ra,1\r", "file.csv", "csv_broken"),  # line ends of a forgotten machine
        (b"name,price\n" + b"x" * 70_000 + b",1\n", "file.csv", "field_too_long"),
        (b"name,price" + b"".join(b",c%d" % n for n in range(600)) + b"\n", "file.csv", "too_many_columns"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused_by_name(data: bytes, name: str, code: str) -> None:
    assert refused(data, name).code == code


@pytest.mark.parametrize(
    ("data", "line", "word"),
    [
        (b"name,price\na,1\nb\0,2\n", 3, "NUL"),
        (b"name,price\na,1\nb,2\n\xff,2\n", 4, "UTF-8"),
        (b'name,price\na,1\n"open,2\nb,3\n', 3, "quotes"),
        (GOOD.encode("utf-16"), 1, "CSV UTF-8"),
    ],
)
def test_the_error_names_the_line_and_what_would_be_right(data: bytes, line: int, word: str) -> None:
    error = refused(data)
    assert error.line == line
    assert word in error.expected


def test_a_missing_column_is_named_with_the_header_that_was_found() -> None:
    error = refused("name,cost\na,1\n")
    assert error.column == "price"
    assert error.value == "name, cost"
    assert "price not found" in error.expected


def test_a_line_of_the_wrong_length_is_refused_alone() -> None:
    lines = table("name,price\na,1\nb,2,3\nc\nd,4\n")
    assert [complete(lines[0])["name"], complete(lines[3])["name"]] == ["a", "d"]
    for raw in lines[1:3]:
        with pytest.raises(RowError, match="field_count"):
            complete(raw)


@pytest.mark.parametrize("rows", [3, 4])
def test_rows_are_capped(rows: int) -> None:
    data = "name,price\n" + "a,1\n" * rows
    if rows == 3:
        assert len(table(data, limits=Limits(rows=3))) == 3
    else:
        assert refused(data, limits=Limits(rows=3)).code == "too_many_rows"


def test_bytes_are_capped_packed_or_not() -> None:
    data = "name,price\n" + "a,1\n" * 1000
    limits = Limits(total_bytes=2000)
    assert refused(data, limits=limits).code == "file_too_large"
    assert refused(packed(data), "file.csv.gz", limits=limits).code == "file_too_large"


def test_a_gzip_bomb_is_stopped_by_its_ratio() -> None:
    bomb = gzip.compress(b"name,price\n" + (b"a" * 60_000 + b",1\n") * 300)  # 18 MB out of less than 40 KB
    assert len(bomb) * 200 < 300 * 60_000
    assert refused(bomb, "file.csv.gz").code == "gzip_ratio"


class _OneLine(io.RawIOBase):
    """A file of `size` letters without a line end, made as it is read."""

    def __init__(self, size: int) -> None:
        self.size, self.at = size, 0

    def readinto(self, buffer: memoryview) -> int:
        count = min(len(buffer), self.size - self.at)
        buffer[:count] = b"a" * count
        self.at += count
        return count

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = offset
        return offset

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def test_200_megabytes_in_one_line_fail_early_and_in_little_memory() -> None:
    file = _OneLine(200_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(FileError) as caught:
            open_table(file, "file.csv", ("name",))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (caught.value.code, caught.value.line) == ("line_too_long", 1)
    assert file.at < 2_000_000, "stopped soon after the limit of 1 MiB"
    assert peak_bytes < 8_000_000


def test_a_quote_that_never_closes_does_not_gather_the_file() -> None:
    def endless() -> Iterator[bytes]:
        yield b'name,price\n"open,1\n'
        while True:
            yield b"a,1\n" * 1000

    class Endless(io.RawIOBase):
        def __init__(self) -> None:
            self.blocks, self.given = endless(), 0

        def read(self, size: int = -1) -> bytes:
            if size == 2:  # the look at the first bytes
                return b"na"
            self.given += 1
            return next(self.blocks)

        def seek(self, offset: int, whence: int = 0) -> int:
            return offset

    file = Endless()
    with pytest.raises(FileError) as caught:
        list(open_table(file, "file.csv", ("name",)).lines)
    assert (caught.value.code, caught.value.line) == ("csv_broken", 2)
    assert file.given < 20


def test_packed_blocks_come_in_bounded_pieces() -> None:
    packer = zlib.compressobj(wbits=31)
    data = packer.compress(b"x" * 1_000_000) + packer.flush()
    pieces = list(blocks_of_text(io.BytesIO(data), "a.gz", Limits(ratio=10_000)))
    assert b"".join(pieces) == b"x" * 1_000_000
    assert max(map(len, pieces)) <= 64 << 10


@pytest.mark.parametrize("data", [b"\n\n\n", b"\xef\xbb\xbf", b"   ", b" \n\t\n", b",,\n1,2,3\n"])
def test_a_file_of_blanks_has_no_header(data: bytes) -> None:
    assert refused(data).code == "empty_file"


def test_blank_lines_without_end_are_not_waded_through() -> None:
    assert values(table("name,price\n" + "\n" * 10_000 + "a,1\n")) == [(10_002, "a", "1")]
    error = refused("name,price\n" + "\n" * 10_001 + "a,1\n")
    assert (error.code, error.line) == ("blank_lines", 10_002)

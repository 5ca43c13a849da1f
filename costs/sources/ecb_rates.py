"""Euro reference rates of the European Central Bank: how many units of a currency one euro bought on a day.

Three layouts, told apart by their header: the history (one line per date, newest first, a comma behind the
last column), the file of the day (blanks after its commas, the date in words), and the data portal's CSV
(one line per currency and date). The bank publishes on working days only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import BinaryIO

from costs.rows import FileError, FileInfo, FxRateRow, OutOfScope, RawLine, Row, RowError

from .byte_stream import LIMITS, Limits, blocks_of_text
from .csv_file import FIELD_COUNT, complete, open_table, records, text_lines
from .dates import day_in_name
from .decimals import number
from .web_answers import answer
from .words import words

NAME = "ecb_rates"
TITLE = "Exchange rates (European Central Bank)"
KIND = "fx_rates"
MODE = "series"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("start", "currency")  # since when; which, between commas
HAS_NETWORK = True
TEMPLATE = "Date,USD,JPY,CNY,\n2026-11-30,1.0500,160.00,7.6000,\n2026-11-27,1.0490,159.80,N/A,\n"
NEEDS = ""  # the data portal asks for no key
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

ADDRESS = "https://data-api.ecb.europa.eu/service/data/EXR"
_SERIES = "EUR.SP00.A"  # against the euro, spot, average of the day
_DAYS_ASKED = 400  # a year and what a late start may want; `start` asks for more
_DOLLAR = "USD"
_CURRENCY = re.compile(r"[A-Z]{3}")
_HEADER = re.compile(r'\ufeff?"?Date"?\s*(,\s*"?[A-Z]{3}"?\s*){2}')
_OBSERVATIONS = ("FREQ", "CURRENCY", "CURRENCY_DENOM", "EXR_TYPE", "EXR_SUFFIX", "TIME_PERIOD", "OBS_VALUE")
_WANTED = {"FREQ": "D", "CURRENCY_DENOM": "EUR", "EXR_TYPE": "SP00", "EXR_SUFFIX": "A"}
_NONE = frozenset({"", "N/A", "NaN"})  # no rate that day, in one layout or another
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_IN_WORDS = re.compile(r"([0-9]{1,2}) ([A-Z][a-z]+) ([0-9]{4})")
_FIRST, _LAST = date(1999, 1, 1), date(2100, 1, 1)  # since there is a euro


def looks_like(head: str, name: str) -> bool:
    """Return whether the first line is the header of one of the three layouts."""
    first = head.partition("\n")[0]
    columns = {column.strip().strip('"') for column in first.split(",")}
    return bool(_HEADER.match(first)) or columns.issuperset(_OBSERVATIONS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the rates of the last year, or since `start`, as one file."""
    start = params.get("start", "").strip() or f"{now.date() - timedelta(days=_DAYS_ASKED)}"
    try:
        _day("start", start)
    except RowError as error:
        raise FileError(error.rule, error.expected, column="start", value=start) from error
    wanted = words(params.get("currency", ""))
    for currency in wanted:
        if not _CURRENCY.fullmatch(currency):
            raise FileError(
                "currency_unknown", "three capitals such as CNY", column="currency", value=currency
            )
    # every other rate is turned into dollars through the dollar's own
    currencies = "+".join(dict.fromkeys([_DOLLAR, *wanted])) if wanted else ""
    url = f"{ADDRESS}/D.{currencies}.{_SERIES}?startPeriod={start}&detail=dataonly&format=csvdata"

    def chunks() -> Iterator[bytes]:
        yield answer(url)

    yield f"ecb_rates_{start}_to_{now:%Y-%m-%d}.csv", chunks()


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines, with the header's names; the date of the file is the last that its name states."""
    found = records(text_lines(blocks_of_text(file, name, limits), limits), limits)
    line, names = next(found, (1, []))
    if "TIME_PERIOD" in names:
        lines = open_table(file, name, _OBSERVATIONS, limits=limits).lines
        return FileInfo(None, {"layout": "observations"}), lines
    header = _header(names, line)
    return FileInfo(day_in_name(name), {"layout": "dates"}), _lines(found, header, limits)


def _header(names: Sequence[str], line: int) -> list[str]:
    header = _without_last_comma(names)
    shown = ", ".join(header)
    if header[:1] != ["Date"] or _DOLLAR not in header:
        expected = f"a header line with Date, {_DOLLAR} and other currencies, or the data portal's columns"
        raise FileError("columns_missing", expected, line=line, value=shown)
    for currency in header[1:]:
        if not _CURRENCY.fullmatch(currency) or header.count(currency) > 1:
            expected = "three capitals such as CNY, each once"
            raise FileError("column_unknown", expected, line=line, column=currency, value=shown)
    return header


def _without_last_comma(fields: Sequence[str]) -> list[str]:
    stripped = [field.strip(" ") for field in fields]
    return stripped[:-1] if len(stripped) > 1 and not stripped[-1] else stripped


def _lines(
    found: Iterator[tuple[int, list[str]]], header: Sequence[str], limits: Limits
) -> Iterator[RawLine]:
    for count, (line, record) in enumerate(found, 1):
        if count > limits.rows:
            raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=line)
        # a last currency without a rate that day is blank too, and no end of the line
        values = [field.strip(" ") for field in record]
        if len(values) == len(header) + 1:
            values = _without_last_comma(record)
        fields = dict(zip(header, values, strict=False))
        if len(values) != len(header):
            fields[FIELD_COUNT] = f"{len(values)}, header {len(header)}"
        yield RawLine(line, fields)


def _day(column: str, text: str) -> date:
    """Return a date written as 2026-11-30 or as 30 November 2026."""
    found, in_words = None, _IN_WORDS.fullmatch(text)
    try:
        if in_words and in_words[2] in _MONTHS:
            found = date(int(in_words[3]), _MONTHS.index(in_words[2]) + 1, int(in_words[1]))
        elif len(text) == 10:
            found = date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or not _FIRST <= found < _LAST:
        raise RowError(column, text, "not_a_date", "a date since 1999 such as 2026-11-30 or 30 November 2026")
    return found


def _rates(fields: Mapping[str, str]) -> Iterator[Row]:
    on = _day("Date", fields["Date"])
    for currency, text in fields.items():
        if currency != "Date" and text not in _NONE:
            yield FxRateRow(currency, on, number(currency, text))


def _observation(fields: Mapping[str, str]) -> Iterator[Row]:
    for column, wanted in _WANTED.items():
        if fields[column] != wanted:
            raise OutOfScope("another_series", column, fields[column], wanted)
    on = _day("TIME_PERIOD", fields["TIME_PERIOD"])
    if fields["OBS_VALUE"] not in _NONE:
        yield FxRateRow(fields["CURRENCY"], on, number("OBS_VALUE", fields["OBS_VALUE"]))


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the rates of one date, or the one rate of a line of the data portal."""
    fields = complete(raw)
    rows = list(_rates(fields) if info.params["layout"] == "dates" else _observation(fields))
    if not rows:
        raise OutOfScope("no_rate", expected="a rate: none was published for that day")
    return rows


def scope(row: Row, info: FileInfo) -> str:
    """Return one scope for all: a file adds to what is known, and closes nothing."""
    if not isinstance(row, FxRateRow):
        raise TypeError(f"{NAME} yields exchange rates, not {type(row).__name__}")
    return "reference_rates"

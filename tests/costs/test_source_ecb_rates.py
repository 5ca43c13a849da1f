"""State that reference rates are read in each layout of the European Central Bank, and none is made up.

Amounts are made up; headers, blanks and commas are as in the bank's files.
"""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.models import FxRate, IngestRun
from costs.rows import FileError, FxRateRow
from costs.sources import SOURCES, ecb_rates

from .feeds import CLOSE, Answer, Feed
from .readings import Reading, packed, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MONDAY, FRIDAY = date(2026, 11, 30), date(2026, 11, 27)

# newest first; a comma behind the last column; N/A for a currency that is no more
HISTORY = (
    "Date,USD,JPY,CYP,CNY,\n"
    "2026-11-30,1.0563,158.94,N/A,7.6425,\n"
    "2026-11-27,1.0551,158.22,N/A,7.6310,\n"
    "1999-01-04,1.1789,133.73,0.58231,N/A,\n"
)
# blanks after commas, the date in words, a blank behind the last comma
DAILY = "Date, USD, JPY, BGN, CNY, \n30 November 2026, 1.0563, 158.94, 1.9558, 7.6425, \n"
# the data portal: one line per currency and date
OBSERVED = (
    "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\n"
    "EXR.D.CNY.EUR.SP00.A,D,CNY,EUR,SP00,A,2026-11-27,7.6310\n"
    "EXR.D.CNY.EUR.SP00.A,D,CNY,EUR,SP00,A,2026-11-30,7.6425\n"
    "EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-30,1.0563\n"
)
# with detail=full there are more columns, and titles with commas in quotes
OBSERVED_IN_FULL = (
    "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,TITLE_COMPL\n"
    'EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-30,1.0563,A,"ECB rate, US dollar/Euro, 2.15 pm"\n'
)


def reading(text: str, name: str = "eurofxref-hist.csv") -> Reading:
    return read_text("ecb_rates", text, name)


def rates(read: Reading) -> dict[tuple[str, date], Decimal]:
    return {(row.currency, row.on): row.per_euro for row in read.rows if isinstance(row, FxRateRow)}


def test_the_history_gives_every_rate_of_every_date() -> None:
    read = reading(HISTORY)
    assert not read.by_rule
    assert rates(read) == {
        ("USD", MONDAY): Decimal("1.0563"),
        ("JPY", MONDAY): Decimal("158.94"),
        ("CNY", MONDAY): Decimal("7.6425"),
        ("USD", FRIDAY): Decimal("1.0551"),
        ("JPY", FRIDAY): Decimal("158.22"),
        ("CNY", FRIDAY): Decimal("7.6310"),
        ("USD", date(1999, 1, 4)): Decimal("1.1789"),
        ("JPY", date(1999, 1, 4)): Decimal("133.73"),
        ("CYP", date(1999, 1, 4)): Decimal("0.58231"),
    }
    assert set(read.kept) == {2, 3, 4}
    assert read.scopes == {"reference_rates"}


def test_the_file_of_the_day_gives_the_same_rates() -> None:
    read = reading(DAILY, "eurofxref.csv")
    assert not read.by_rule
    assert rates(read) == {
        ("USD", MONDAY): Decimal("1.0563"),
        ("JPY", MONDAY): Decimal("158.94"),
        ("BGN", MONDAY): Decimal("1.9558"),
        ("CNY", MONDAY): Decimal("7.6425"),
    }


@pytest.mark.parametrize("text", [OBSERVED, OBSERVED_IN_FULL])
def test_the_data_portal_gives_the_same_rates(text: str) -> None:
    read = reading(text, "ecb_rates.csv")
    assert not read.by_rule
    known = rates(reading(HISTORY))
    assert rates(read).items() <= known.items()
    assert rates(read)["USD", MONDAY] == Decimal("1.0563")


def test_a_packed_file_is_read_alike() -> None:
    assert read_bytes("ecb_rates", packed(HISTORY), "hist.csv.gz").rows == reading(HISTORY).rows


def test_the_template_is_read() -> None:
    read = reading(ecb_rates.TEMPLATE)
    assert not read.by_rule
    assert ("CNY", FRIDAY) not in rates(read)


@given(
    st.dates(date(1999, 1, 1), date(2099, 12, 31)),
    st.decimals(Decimal("0.000001"), Decimal(99_999), places=6),
)
def test_every_date_reads_the_same_in_words_and_in_figures(on: date, per_euro: Decimal) -> None:
    in_words = f"{on:%d %B %Y}"
    for text in (f"{on}", in_words, in_words.lstrip("0")):
        read = reading(f"Date,USD,\n{text},{per_euro:f},\n")
        assert rates(read) == {("USD", on): per_euro}


def test_a_day_without_rates_is_left_out_by_name() -> None:
    read = reading("Date,USD,CNY,\n2026-11-29,N/A,N/A,\n2026-11-30,1.05,,\n")
    assert read.by_rule == {"no_rate": 1}
    assert rates(read) == {("USD", MONDAY): Decimal("1.05")}


def test_a_last_currency_without_a_rate_is_no_short_line() -> None:
    read = reading("Date,USD,CNY\n2026-11-30,1.05,\n")
    assert rates(read) == {("USD", MONDAY): Decimal("1.05")}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("2026-11-30,1.05", "field_count"),
        ("2026-11-30,1.05,7.6,8.1,9", "field_count"),
        ("30/11/2026,1.05,7.6,", "not_a_date"),
        ("30 Brumaire 2026,1.05,7.6,", "not_a_date"),
        ("31 November 2026,1.05,7.6,", "not_a_date"),
        ("1998-12-31,1.05,7.6,", "not_a_date"),
        (",1.05,7.6,", "not_a_date"),
        ('2026-11-30,"1,05",7.6,', "not_a_number"),
        ("2026-11-30,1.05,n/a,", "not_a_number"),
        ("2026-11-30,0,7.6,", "rate_out_of_bounds"),
        ("2026-11-30,-1.05,7.6,", "rate_out_of_bounds"),
        ("2026-11-30,1e12,7.6,", "rate_out_of_bounds"),
    ],
)
def test_a_line_with_one_wrong_value_is_refused_whole(line: str, rule: str) -> None:
    read = reading(f"Date,USD,CNY,\n{line}\n2026-11-27,1.05,7.6,\n")
    assert [error.rule for error in read.wrong.values()] == [rule]
    assert {on for _, on in rates(read)} == {FRIDAY}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (("D,CNY", "M,CNY"), "another_series"),
        (("CNY,EUR", "CNY,USD"), "another_series"),
        (("SP00,A,2026-11-27", "EN00,A,2026-11-27"), "another_series"),
        (("SP00,A,2026-11-27", "SP00,E,2026-11-27"), "another_series"),
        (("7.6310", ""), "no_rate"),
        (("7.6310", "NaN"), "no_rate"),
        (("2026-11-27", "2026-11"), "not_a_date"),
        (("7.6310", "0"), "rate_out_of_bounds"),
        ((",CNY,", ",yuan,"), "currency_unknown"),
    ],
)
def test_a_line_of_the_data_portal_is_checked_by_name(change: tuple[str, str], rule: str) -> None:
    first, changed, rest = OBSERVED.split("\n", 2)
    assert change[0] in changed
    read = reading("\n".join((first, changed.replace(*change), rest)), "ecb.csv")
    assert read.by_rule == {rule: 1}
    assert set(read.kept) == {3, 4}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_file"),
        ("\n\n", "columns_missing"),
        ("Date,CNY,JPY,\n", "columns_missing"),  # without dollars nothing can be turned into dollars
        ("Day,USD,\n", "columns_missing"),
        ("USD,Date,\n", "columns_missing"),
        ("Date,USD,Yuan,\n", "column_unknown"),
        ("Date,USD,CNY,USD,\n", "column_unknown"),
        ("Date,USD,,CNY\n", "column_unknown"),
        ("TIME_PERIOD,OBS_VALUE\n", "columns_missing"),
        ("<html>maintenance</html>", "html_instead_of_data"),
    ],
)
def test_a_file_of_another_kind_is_refused(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        reading(text)
    assert caught.value.code == code


def test_its_files_are_recognised() -> None:
    heads = [HISTORY, DAILY, OBSERVED, OBSERVED_IN_FULL, ecb_rates.TEMPLATE, "\ufeff" + HISTORY]
    assert all(ecb_rates.looks_like(head, "x.csv") for head in heads)
    for name, module in SOURCES.items():
        if name != "ecb_rates" and hasattr(module, "looks_like"):
            assert not any(module.looks_like(head, "x.csv") for head in heads), name
            template = getattr(module, "TEMPLATE", "")
            assert not ecb_rates.looks_like(template, "x.csv"), name
    others = ("Date,USD\n", "Date,price,usd\n", '{"Date": "USD, JPY, CNY"}', "")
    assert not any(ecb_rates.looks_like(head, "x.csv") for head in others)


# --- fetch ---


@pytest.fixture
def address(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(ecb_rates, "ADDRESS", f"{feed.origin}/service/data/EXR")
    return ecb_rates.ADDRESS


def fetched(**params: str) -> tuple[str, bytes]:
    ((name, chunks),) = ecb_rates.fetch(params, NOW)
    return name, b"".join(chunks)


def test_all_currencies_of_the_last_year_are_asked_for(feed: Feed, address: str) -> None:
    feed.play("/service/data/EXR/D..EUR.SP00.A?", Answer(text=OBSERVED))
    name, data = fetched()
    assert name == "ecb_rates_2025-10-26_to_2026-11-30.csv"
    assert feed.requests[0].query == {
        "startPeriod": "2025-10-26",  # 400 days before
        "detail": "dataonly",
        "format": "csvdata",
    }
    assert len(read_bytes("ecb_rates", data, name).kept) == 3


def test_dollars_are_asked_for_whatever_else_is(feed: Feed, address: str) -> None:
    feed.play("/service/data/EXR/D.USD+CNY+GBP.EUR.SP00.A?startPeriod=1999-01-04&", Answer(text=OBSERVED))
    assert fetched(currency="CNY, GBP, USD", start="1999-01-04")[1] == OBSERVED.encode()


def test_passing_trouble_is_tried_again(feed: Feed, address: str) -> None:
    trouble = (
        Answer(429, headers={"Retry-After": "0"}),
        Answer(500),
        CLOSE,
        Answer(text=OBSERVED, cut_after=90),
    )
    feed.play("/service", *trouble, Answer(text=OBSERVED))
    assert fetched()[1] == OBSERVED.encode()
    assert len(feed.requests) == 5


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"start": "last year"}, "not_a_date"),
        ({"start": "1998-12-31"}, "not_a_date"),
        ({"currency": "yuan"}, "currency_unknown"),
        ({"currency": "CNY/../.."}, "currency_unknown"),
    ],
)
def test_a_wrong_question_is_not_asked(feed: Feed, address: str, params: dict[str, str], code: str) -> None:
    with pytest.raises(FileError, match=code):
        fetched(**params)
    assert not feed.requests


def test_a_question_without_an_answer_is_said_so(feed: Feed, address: str) -> None:
    feed.play("/service", Answer(404, text="No results found."))
    with pytest.raises(FileError, match="question_refused") as caught:
        fetched()
    assert "No results found" in caught.value.value


# --- into the table ---


def test_rates_are_stored_once_and_a_corrected_one_counts(take) -> None:
    assert take(HISTORY, "ecb_rates", "eurofxref-hist.csv").status == IngestRun.Status.DONE
    assert FxRate.objects.count() == 9
    again = take(HISTORY.replace("7.6425", "7.6430"), "ecb_rates", "eurofxref-hist.csv")
    assert (again.added, again.changed) == (0, 1)
    assert FxRate.objects.get(currency="CNY", on=MONDAY).per_euro == Decimal("7.6430")
    assert FxRate.objects.count() == 9

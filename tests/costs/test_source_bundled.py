"""State that both bundled tables are read whole, and how a hand-made mistake in one of them is refused."""

import io
from datetime import UTC, date, datetime
from decimal import Decimal
from types import ModuleType

import pytest

from costs.kinds import BY_NAME
from costs.names import accelerator_key
from costs.rows import AcceleratorRow, FileError, PriceRow
from costs.sources import SOURCES, accelerators, list_prices

from .readings import Reading, read_bytes, read_text

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PARTS_HEADER, PART, *_ = accelerators.TEMPLATE.splitlines()
PRICES_HEADER, PRICE, *_ = list_prices.TEMPLATE.splitlines()


def with_fields(header: str, line: str, **changes: str) -> str:
    fields = dict(zip(header.split(","), line.split(","), strict=True))
    return ",".join((fields | changes).values())


def parts(*lines: str) -> Reading:
    return read_text("accelerators", "\n".join([PARTS_HEADER, *lines, ""]), "a.csv")


def offers(*lines: str) -> Reading:
    return read_text("list_prices", "\n".join([PRICES_HEADER, *lines, ""]), "a.csv")


@pytest.mark.parametrize("module", [accelerators, list_prices])
def test_every_line_of_a_bundled_table_is_kept(module: ModuleType) -> None:
    ((name, chunks),) = module.fetch({}, NOW)
    data = b"".join(chunks)
    reading = read_bytes(module.NAME, data, name)
    assert reading.by_rule == {}
    assert reading.lines == len(reading.rows) == data.decode().strip().count("\n")
    assert reading.lines >= 40


def test_every_list_price_names_an_accelerator_of_the_other_table() -> None:
    tables = {}
    for module in (accelerators, list_prices):
        ((name, chunks),) = module.fetch({}, NOW)
        tables[module.NAME] = read_bytes(module.NAME, b"".join(chunks), name).rows
    slugs = {row.slug for row in tables["accelerators"] if isinstance(row, AcceleratorRow)}
    named = {row.accelerator_name for row in tables["list_prices"] if isinstance(row, PriceRow)}
    assert named <= slugs


def test_a_part_is_read_as_it_is_written() -> None:
    row = parts(PART).rows[0]
    assert isinstance(row, AcceleratorRow)
    assert (row.slug, row.memory_gb, row.fp32_tflops) == ("example-80gb", 80, Decimal("19.5"))
    assert (row.fp8_tflops, row.fp4_tflops) == (None, None), "empty is unknown"
    assert (row.launch_date, row.reference_date) == (date(2020, 5, 14), date(2026, 11, 30))
    assert row.aliases == ("EX80", "Example-80GB")


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("slug", "", "empty"),
        ("slug", "Example 80", "slug_wrong"),
        ("name", "", "empty"),
        ("vendor", "", "empty"),
        ("reference", "", "empty"),
        ("reference_date", "", "not_a_date"),
        ("launch_date", "2020", "not_a_date"),
        ("memory_gb", "80 GB", "not_a_number"),
        ("memory_gb", "0", "rate_out_of_bounds"),
        ("power_w", "-400", "rate_out_of_bounds"),
        ("fp8_tflops", "1e9", "rate_out_of_bounds"),
    ],
)
def test_a_wrong_part_is_refused_by_column(column: str, value: str, rule: str) -> None:
    error = parts(with_fields(PARTS_HEADER, PART, **{column: value})).wrong[2]
    assert (error.column, error.rule) == (column, rule)
    assert error.expected


def test_a_name_that_an_earlier_part_has_is_refused() -> None:
    other = with_fields(PARTS_HEADER, PART, slug="other", name="Other", aliases="ex-80|Fresh")
    reading = parts(PART, other)
    assert (len(reading.kept), reading.wrong[3].rule) == (1, "repeated")
    assert "line 2" in reading.wrong[3].value


def test_an_offer_is_read_as_it_is_written() -> None:
    reading = offers(PRICE)
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.provider, row.sku, row.gpu_count, row.term) == ("example-cloud", "gpu-8x", 8, "on_demand")
    assert row.price_per_hour == Decimal("23.60")
    assert row.effective_from == datetime(2026, 11, 1, tzinfo=UTC)
    assert row.reference == "https://example.com/pricing (2026-11-30)"
    assert reading.scopes == {"example-cloud"}


@pytest.mark.parametrize(
    ("changes", "column", "rule"),
    [
        ({"provider": ""}, "provider", "empty"),
        ({"accelerator": ""}, "accelerator", "empty"),
        ({"source": ""}, "source", "empty"),
        ({"source_date": ""}, "source_date", "not_a_date"),
        ({"effective_from": "soon"}, "effective_from", "not_a_date"),
        ({"term": "forever"}, "term", "word_unknown"),
        ({"payment": "later"}, "payment", "word_unknown"),
        ({"payment": "all_upfront"}, "payment", "payment_without_term"),
        ({"price_state": "free"}, "price_state", "word_unknown"),
        ({"price_state": "unknown"}, "usd_per_hour", "price_without_state"),
        ({"usd_per_hour": ""}, "usd_per_hour", "price_without_state"),
        ({"usd_per_hour": "0"}, "usd_per_hour", "zero_price"),
        ({"usd_per_hour": "$5"}, "usd_per_hour", "not_a_number"),
        ({"usd_per_hour": "", "price_state": "unknown", "notes": ""}, "notes", "empty"),
        ({"gpu_count": "0"}, "gpu_count", "gpu_count_out_of_bounds"),
        ({"region": ""}, "region", "empty"),
    ],
)
def test_a_wrong_offer_is_refused_by_column(changes: dict[str, str], column: str, rule: str) -> None:
    error = offers(with_fields(PRICES_HEADER, PRICE, **changes)).wrong[2]
    assert (error.column, error.rule) == (column, rule)
    assert error.expected


def test_an_offer_without_price_says_why() -> None:
    line = with_fields(
        PRICES_HEADER, PRICE, usd_per_hour="", price_state="not_sold", notes="not in this region"
    )
    row = offers(line).rows[0]
    assert isinstance(row, PriceRow)
    assert (row.state, row.price_per_hour, row.state_reason) == ("not_sold", None, "not in this region")


def test_an_offer_that_is_priced_twice_is_refused() -> None:
    reading = offers(PRICE, with_fields(PRICES_HEADER, PRICE, usd_per_hour="24"))
    assert (len(reading.kept), reading.wrong[3].rule) == (1, "repeated")


@pytest.mark.parametrize(
    ("one", "other"),
    [("A100-80GB", "a100 80gb"), ("RTX_PRO_6000", "rtx pro-6000"), ("STRASSE", "straße")],
)
def test_spellings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert accelerator_key(one) == accelerator_key(other)
    assert accelerator_key("A100") != accelerator_key("A100-80GB")


# --- what every source promises ---


@pytest.mark.parametrize("module", SOURCES.values(), ids=SOURCES)
def test_every_source_says_what_pages_and_schedule_need(module: ModuleType) -> None:
    assert SOURCES[module.NAME] is module
    assert module.TITLE
    assert module.KIND in BY_NAME
    assert module.MODE in ("snapshot", "amend", "history", "steps", "series")
    assert module.CADENCE is None or module.CADENCE.total_seconds() > 0
    assert module.PARSER_VERSION >= 1
    endings = {".csv", ".json", ".jsonl", ".tsv", ".txt"}
    assert set(module.SUFFIXES) <= endings | {f"{ending}.gz" for ending in endings}
    assert isinstance(module.PARAMS, tuple)
    assert isinstance(module.HAS_NETWORK, bool)


@pytest.mark.parametrize("name", ["skypilot", "utilization_csv"])
def test_a_source_that_only_takes_files_says_so_when_asked_to_fetch(name: str) -> None:
    with pytest.raises(FileError) as caught:
        list(SOURCES[name].fetch({}, NOW))
    assert caught.value.code == "no_fetch"


@pytest.mark.parametrize("module", SOURCES.values(), ids=SOURCES)
def test_every_source_refuses_a_web_page(module: ModuleType) -> None:
    page = io.BytesIO(b"<!DOCTYPE html><title>Sign in</title>")
    with pytest.raises(FileError, match="html_instead_of_data"):
        module.read(page, "skypilot_aws.csv", {})


def test_a_listed_price_is_as_of_the_day_its_page_was_read_and_the_table_of_the_newest() -> None:
    reading = offers(
        with_fields(PRICES_HEADER, PRICE, source_date="2024-01-19"),
        with_fields(PRICES_HEADER, PRICE, sku="other", source_date="2026-05-24"),
        with_fields(PRICES_HEADER, PRICE, sku="third", source_date="yesterday"),
    )
    assert [row.observed_on for row in reading.rows] == [date(2024, 1, 19), date(2026, 5, 24)]
    assert reading.info.as_of == datetime(2026, 5, 24, tzinfo=UTC)
    assert [error.column for error in reading.wrong.values()] == ["source_date"]

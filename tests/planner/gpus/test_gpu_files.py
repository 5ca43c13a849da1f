"""Claims about the addresses of a GPU's page, about its files, and about what it says where things lack."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.models import FxRate
from planner.gpus.filters import months_before
from planner.gpus.history_tables import MOST_ON_SCREEN
from tests.fact_builders import make_accelerator, make_batch, make_price, make_sku

from .reading import NOW, PAGE, body_of, figure_of, file_of, make_limit, rows_of, text_of, watched

pytestmark = pytest.mark.django_db
HOSTILE = '=HYPERLINK("x")<script>alert(1)</script>\u202e' + "é" * 40
PROVENANCE = ["price_state", "source", "source_run", "fetched_at", "content_sha256", "line"]
TABLES = {
    "terms": (PAGE, "Terms by cloud"),
    "changes": (PAGE, "Changes of on demand prices"),
    "regions": (f"{PAGE}regions/", "Regions"),
    "alternatives": (f"{PAGE}alternatives/", "Accelerators"),
}


# ---- the address is the state ----


def test_a_form_with_empty_fields_leads_to_an_address_without_them(visit, offers):
    response = visit(f"{PAGE}?term=on_demand&cloud=&cloud=aws&region=&line=&window=24m")
    assert (response.status_code, response["Location"]) == (302, f"{PAGE}?cloud=aws")


def test_the_print_view_stays_one_when_the_address_is_tidied(visit, offers):
    assert visit(f"{PAGE}?region=&view=print")["Location"] == f"{PAGE}?view=print"


def test_filters_narrow_answer_picture_and_terms(visit, offers):
    response = visit(f"{PAGE}?cloud=aws&region=US-EAST")
    assert "lowest $6.88/GPU-h at aws us-east-1, median $6.88 over 1 offer." in text_of(response)
    assert {row[0] for row in rows_of(response, "Terms by cloud")} == {"aws"}
    chips = re.findall(r'aria-label="Remove ([^"]*)"', body_of(response))
    assert chips == ["Cloud: aws", "Region: US-EAST"]


def test_the_term_is_that_of_the_picture_and_the_answer(visit, offers):
    response = visit(f"{PAGE}?term=reserved_1y")
    assert "H100 SXM 80 GB, 1 year: lowest $4.13/GPU-h at aws us-east-1" in text_of(response)
    assert figure_of(response)["data"][0]["y"][-1] == 4.128


def test_the_window_is_the_length_of_the_picture(visit, offers):
    starts = {
        window: figure_of(visit(f"{PAGE}?window={window}"))["layout"]["xaxis"]["range"][0]
        for window in ("6m", "12m", "all")
    }
    first = (NOW - timedelta(days=300)).date().isoformat()
    assert starts == {"6m": "2026-05-30", "12m": "2025-11-30", "all": first}


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [("2026-08-31", 6, "2026-02-28"), ("2024-02-29", 12, "2023-02-28"), ("2026-01-15", 24, "2024-01-15")],
)
def test_months_before_a_day_end_with_their_month(day, months, expected):
    assert months_before(datetime.fromisoformat(day).date(), months).isoformat() == expected


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("colour=red", "The address names parameter “colour”, which this page does not know: ignored."),
        ("term=tomorrow", "Term: “tomorrow” is not among the choices: ignored."),
        ("window=9y", "Window: “9y” is not among the choices: ignored."),
        ("cloud=nobody", "Cloud: “nobody” does not sell this GPU as far as is on file: ignored."),
        ("line=aws/nothing/here", "Line: no offer “aws/nothing/here” has a price here: ignored."),
        ("region=" + "x" * 81, "is not the start of a region's name: ignored."),
        ("region=%00", "is not the start of a region's name: ignored."),
        ("cloud=%00", "does not sell this GPU"),
    ],
)
def test_what_the_page_does_not_know_is_named_and_changes_nothing_else(visit, offers, query, notice):
    response = visit(f"{PAGE}?{query}")
    assert response.status_code == 200
    assert notice in text_of(response)
    assert "median $4.94 over 2 offers" in text_of(response)


NAMES = ["term", "cloud", "region", "window", "line", "odd"]
VALUES = [
    "on_demand",
    "spot",
    "aws",
    "vast",
    "us",
    "6m",
    "24m",
    "all",
    "",
    " ",
    "=x",
    "é",
    "aws/p5.48xlarge/us-east-1",
]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=5))
def test_any_address_settles_after_one_step(visit, offers, pairs):
    data = {}
    for name, value in pairs:
        data.setdefault(name, []).append(value)
    response = visit(PAGE, data)
    if response.status_code == 302:
        response = visit(response["Location"])
    assert response.status_code == 200


def test_links_of_the_page_lead_to_pages_that_do_not_redirect(visit, offers):
    body = body_of(visit(f"{PAGE}?term=spot&cloud=aws&window=6m"))
    links = {unescape(href) for href in re.findall(r'(?:href|hx-get)="(/gpus/[^"]*)"', body)}
    assert len(links) > 12
    assert {visit(link).status_code for link in links} == {200}


def test_a_swap_gets_the_part_alone(client, visit, offers):
    part = client.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "lowest" in part


def test_cards_that_come_later_are_links_without_scripts(visit, offers):
    body = body_of(visit(f"{PAGE}?cloud=aws"))
    assert '<a class="btn small" href="/gpus/h100-sxm-80gb/regions/?cloud=aws">Open the regions</a>' in body
    assert 'href="/gpus/h100-sxm-80gb/alternatives/">Open the alternatives</a>' in body


# ---- files ----


@pytest.mark.parametrize("table", TABLES)
def test_a_file_has_the_rows_and_the_order_of_the_screen(visit, offers, table):
    watched(offers, "16", NOW - timedelta(hours=2))
    make_limit(offers, 800, 200)
    page, title = TABLES[table]
    shown, rows = rows_of(visit(page), title), file_of(visit(f"{PAGE}{table}.csv"))
    assert len(rows) == len(shown) > 0
    for row, cells in zip(rows, shown, strict=True):
        for name in {"cloud", "region", "regions"} & set(row):
            assert any(row[name] in cell for cell in cells) or row.get("state_reason"), name
        for name, cell in _rates(table, row, cells):
            rounded = f"${Decimal(row[name]).quantize(Decimal('0.01'))}" if row[name] else None
            assert cell == rounded or (rounded is None and not cell.startswith("$")), name


def _rates(table, row, cells):
    """Pair the columns of money in the file with their cells on screen."""
    places = {
        "terms": {"usd_per_gpu_h": 2},
        "changes": {"old_usd_per_gpu_h": 1, "new_usd_per_gpu_h": 2},
        "regions": {"spot_usd_per_gpu_h": 3},
        "alternatives": {"usd_per_gpu_h": 3, "usd_per_bf16_pflop_h": 4},
    }
    return [(name, cells[place]) for name, place in places[table].items() if row[name] or cells[place]]


@pytest.mark.parametrize("table", ["history", "changes", "lines", "terms", "regions", "alternatives"])
def test_every_file_says_state_source_run_content_and_line_of_its_rows(visit, offers, table):
    rows = file_of(visit(f"{PAGE}{table}.csv?cloud=aws"))
    assert rows
    for row in rows:
        assert list(row)[-7:] == [*PROVENANCE, "address"]
        if row["source_run"]:
            assert re.fullmatch("[0-9a-f]{64}", row["content_sha256"])
            assert datetime.fromisoformat(row["fetched_at"]).tzinfo == UTC
            assert row["line"].isdigit()
            assert row["price_state"] in {"priced", "not_sold", "unknown"}
    part = table if table in {"regions", "alternatives"} else ""
    assert rows[0]["address"].startswith(f"{PAGE}{part}")


def test_the_history_holds_every_price_of_the_term_with_full_precision(visit, h100):
    sku = make_sku(accelerator=h100, gpu_count=Decimal(3))
    make_price(
        sku=sku, price_per_hour=Decimal(10), as_of=NOW, effective_from=NOW - timedelta(days=9), line=41
    )
    make_price(sku=sku, price_per_hour=Decimal(10), term="spot", as_of=NOW)
    (row,) = file_of(visit(f"{PAGE}history.csv"))
    assert (row["usd_per_gpu_h"], row["price_per_h"], row["gpus"]) == ("3.333333333", "10", "3")
    assert (row["holds_from"], row["holds_until"], row["line"]) == ("2026-11-21T12:00:00Z", "", "41")


def test_the_lines_are_the_days_of_the_picture(visit, offers):
    rows = file_of(visit(f"{PAGE}lines.csv"))
    assert (rows[-1]["lowest_usd_per_gpu_h"], rows[-1]["median_usd_per_gpu_h"]) == ("2.99", "4.935")
    assert (rows[-1]["lowest_cloud"], rows[-1]["offers"], rows[-1]["to_day"]) == ("lambda", "2", "2026-11-30")
    assert rows[0]["lowest_usd_per_gpu_h"] == "", "before anything was sold nothing is known"


def test_json_holds_the_same_rows(visit, offers):
    rows = file_of(visit(f"{PAGE}terms.csv"))
    answer = json.loads(b"".join(visit(f"{PAGE}terms.json").streaming_content))
    assert [row["usd_per_gpu_h"] for row in answer["rows"]][:2] == [2.99, 6.88]
    assert [row["sku"] for row in answer["rows"]] == [row["sku"] for row in rows]
    assert [*answer["columns"], "address"] == list(rows[0])


@pytest.mark.parametrize("name", ["terms.xlsx", "nothing.csv"])
def test_other_files_do_not_exist(visit, offers, name):
    assert visit(f"{PAGE}{name}").status_code == 404


def test_a_change_of_many_regions_is_one_row_and_the_screen_shows_the_newest(visit, h100):
    sku, batch, cut = make_sku(accelerator=h100), make_batch(as_of=NOW), NOW - timedelta(days=20)
    for number in range(3):
        changes = {"sku": sku, "batch": batch, "region": f"region-{number}"}
        start = cut - timedelta(days=30)
        make_price(**changes, effective_from=start, effective_to=cut, as_of=cut, price_per_hour=Decimal(80))
        make_price(**changes, effective_from=cut, price_per_hour=Decimal(40))
    response = visit(PAGE)
    (row,) = rows_of(response, "Changes of on demand prices")
    assert row[6] == "3 regions"
    assert "fell from $10.00 to $5.00 per GPU-hour on 10 November 2026 in 3 regions." in text_of(response)
    assert file_of(visit(f"{PAGE}changes.csv"))[0]["regions"] == "region-0 region-1 region-2"


def test_of_very_many_changes_the_newest_are_on_screen_and_all_in_the_file(visit, h100):
    sku, batch = make_sku(accelerator=h100), make_batch(as_of=NOW)
    for number in range(MOST_ON_SCREEN + 6):
        start = NOW - timedelta(days=number)
        end = start + timedelta(days=1) if number else None
        make_price(
            sku=sku, batch=batch, effective_from=start, effective_to=end, as_of=end or NOW,
            price_per_hour=Decimal(40 + number % 2),
        )  # fmt: skip
    response = visit(PAGE)
    assert len(rows_of(response, "Changes of on demand prices")) == MOST_ON_SCREEN
    assert f"The newest {MOST_ON_SCREEN} of {MOST_ON_SCREEN + 5} changes; the file holds all." in text_of(
        response
    )
    assert len(file_of(visit(f"{PAGE}changes.csv"))) == MOST_ON_SCREEN + 5


# ---- what lacks, what is foreign, what is hostile ----


def test_a_gpu_that_nobody_sells_shows_its_facts_and_the_nearest_that_are_sold(visit, offers):
    make_accelerator(slug="h100-nvl", name="H100 NVL", memory_gb=Decimal(94), reference="a page")
    text = text_of(visit("/gpus/h100-nvl/"))
    assert "No offer of this GPU" in text
    assert "94 GB" in text
    assert "H100 SXM 80 GB , 80 GB, on demand from $2.99/GPU-h at lambda" in text


def test_a_slug_that_is_not_known_is_not_found_and_offers_to_look_for_it(visit, offers):
    response = visit("/gpus/h900-sxm/")
    assert response.status_code == 404
    assert 'name="q" value="h900 sxm"' in body_of(response)


def test_a_term_that_is_not_on_file_says_so(visit, offers):
    text = text_of(visit(f"{PAGE}?term=convertible_3y"))
    assert "3 years, convertible: no price is on file for this window." in text
    assert "No price of this term is on file in this window." in text
    assert "No price changed in this window" in text


def test_filters_that_nothing_fits_say_so(visit, offers):
    text = text_of(visit(f"{PAGE}?region=mars"))
    assert "No offer matches" in text
    assert "No region" in text_of(visit(f"{PAGE}regions/?region=mars"))


def test_a_price_in_another_currency_counts_at_todays_rate_and_without_one_it_is_unknown(visit, h100):
    make_price(sku=make_sku(accelerator=h100), currency="EUR", price_per_hour=Decimal(16), as_of=NOW)
    response = visit(PAGE)
    assert "1 price in another currency has no exchange rate on file." in text_of(response)
    assert rows_of(response, "Terms by cloud")[0][2:4] == [
        "unknown",
        "the price is in EUR and no exchange rate is on file",
    ]
    batch, day = make_batch(source="ecb_rates"), NOW.date() - timedelta(days=3)
    FxRate.objects.create(currency="USD", on=day, per_euro=Decimal("1.5"), batch=batch)
    response = visit(PAGE)
    assert "lowest $3.00/GPU-h" in text_of(response)
    assert "Exchange rate 1.5 · of 27 Nov" in text_of(response)


def test_hostile_names_are_shown_as_text_and_disarmed_in_files(visit, h100):
    sku = make_sku(accelerator=h100, provider=HOSTILE[:40], name=HOSTILE)
    make_price(sku=sku, region="@SUM(1)", as_of=NOW)
    make_price(
        sku=sku, region="<b>x</b>", as_of=NOW, state="unknown", state_reason="-1+1", price_per_hour=None
    )
    make_price(sku=sku, region="@SUM(1)", as_of=NOW, term="reserved_1y", price_per_hour=Decimal(9))
    for page in (PAGE, f"{PAGE}regions/", f"{PAGE}alternatives/", "/gpus/"):
        body = body_of(visit(page))
        assert "<script>alert" not in body
        assert "<b>x</b>" not in body
    row = file_of(visit(f"{PAGE}terms.csv"))[0]
    assert (row["sku"], row["region"]) == ("'" + HOSTILE, "'@SUM(1)")
    assert visit(PAGE, {"cloud": HOSTILE[:40], "region": "@SUM"}).status_code == 200
    assert visit(PAGE, {"line": HOSTILE}).status_code == 200


# ---- what it costs ----


@pytest.mark.parametrize("page", [PAGE, f"{PAGE}alternatives/", "/gpus/"])
def test_the_count_of_queries_is_small_and_does_not_grow(visit, offers, page):
    before = _queries(visit, page)
    sku, batch = make_sku(name="more"), make_batch(as_of=NOW)
    for number in range(10):
        make_price(sku=sku, batch=batch, region=f"region-{number}")
        watched(offers, "16", NOW - timedelta(hours=number), zone=f"zone-{number}")
    assert _queries(visit, page) == before <= 12


def test_the_card_of_regions_takes_nine_queries_however_many_there_are(visit, offers):
    def card(address: str):
        return visit(address, headers={"HX-Request": "true"})

    make_limit(offers, 800, 200)
    watched(offers, "16", NOW)
    before = _queries(card, f"{PAGE}regions/")
    sku, batch = make_sku(name="more"), make_batch(as_of=NOW)
    for number in range(10):
        make_price(sku=sku, batch=batch, region=f"region-{number}")
    assert _queries(card, f"{PAGE}regions/") == before <= 9


def _queries(visit, address: str) -> int:
    assert visit(address).status_code == 200
    with CaptureQueriesContext(connection) as captured:
        visit(address)
    return len(captured)

"""Claims about the page of one GPU: its answer, its picture and its terms."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest

from costs.ingest import ingest
from tests.fact_builders import make_batch, make_hours, make_price, make_sku

from .reading import NOW, PAGE, body_of, figure_of, file_of, make_contract, rows_of, text_of, watched

pytestmark = pytest.mark.django_db


# ---- the answer and the head ----


def test_the_answer_names_the_lowest_the_median_and_the_cut(visit, offers):
    text = text_of(visit(PAGE))
    assert (
        "H100 SXM 80 GB, on demand: lowest $2.99/GPU-h at lambda us-west-1, median $4.94 over 2 offers."
        in text
    ), "between 2.99 and 6.88"
    assert "aws p5.48xlarge fell from $12.29 to $6.88 per GPU-hour on 22 August 2026." in text


def test_each_fact_opens_to_its_reference_and_what_is_not_known_says_so(visit, offers, h100):
    h100.power_w = None
    h100.save()
    response = visit(PAGE)
    text = text_of(response)
    for fact in ("80 GB", "SXM", "3,350 GB/s", "450 GB/s a direction", "989.4 TFLOPS bf16 dense"):
        assert fact in text
    assert "power unknown" in text
    assert "launched Oct 2022" in text
    keys = re.findall(r'popovertarget="why-(fact-\w+)"', body_of(response))
    assert len(keys) == 7
    for key in keys:
        assert f'id="why-{key}"' in body_of(response)
    assert text.count("the maker's sheet · read 1 Nov") == 7


def test_the_lowest_opens_to_its_formula_and_its_run(visit, offers):
    why = re.search(r'id="why-lowest".*?</div>', body_of(visit(PAGE)), re.S)[0]
    assert "2.99 / 1 = $2.99 a GPU-hour" in why
    assert f"run {offers.run_id}, line 2" in why


def test_a_stale_price_is_named_and_is_neither_lowest_nor_in_the_median(visit, offers):
    response = visit(PAGE)
    assert "1 offer is too old to count now: SkyPilot" in text_of(response)
    stale = [row for row in rows_of(response, "Terms by cloud") if row[0] == "vast"]
    assert [row[2] for row in stale] == ["$1.10"]
    assert "stale" in stale[0][7]


def test_where_every_price_is_stale_the_answer_says_what_was_last_seen(visit, h100):
    make_price(source="skypilot", sku=make_sku(accelerator=h100), as_of=NOW - timedelta(days=40),
               effective_from=NOW - timedelta(days=60))  # fmt: skip
    text = text_of(visit(PAGE))
    assert "no price on file is fresh enough to name one. The lowest was $3.93 at aws" in text
    assert "40 d old" in text


# ---- the picture ----


def test_the_picture_draws_lowest_median_and_the_offer_that_moved_and_names_the_cut(visit, offers):
    response = visit(PAGE)
    figure = figure_of(response)
    assert [trace["name"] for trace in figure["data"]] == ["lowest", "median", "aws p5.48xlarge"]
    marks = [note["text"] for note in figure["layout"]["annotations"] if note["name"].startswith("mark")]
    assert marks == ["aws p5.48xlarge from $12.29 to $6.88, 22\u00a0Aug"]
    label = re.search(r'id="chart-history"[^>]*aria-label="([^"]*)"', body_of(response))[1]
    assert "aws p5.48xlarge −44.0" in unescape(label)


def test_the_hover_says_price_place_change_source_and_run(visit, offers):
    own = figure_of(visit(PAGE))["data"][2]
    texts = {day: text for day, (text, _) in zip(own["x"], own["customdata"], strict=True)}
    assert texts["2026-08-22"] == (
        "$6.88 · aws p5.48xlarge, us-east-1 · −44.0\u00a0% on 22\u00a0Aug"
        f" · Public list prices (bundled table), run {offers.run_id}"
    )
    assert own["customdata"][-1][1] == f"/data/runs/{offers.run_id}/"


def test_lines_stop_at_the_last_sight_and_the_rest_is_shaded(visit, h100):
    make_price(sku=make_sku(accelerator=h100), as_of=NOW - timedelta(days=30),
               effective_from=NOW - timedelta(days=60))  # fmt: skip
    figure = figure_of(visit(PAGE))
    last = [day for day, value in zip(figure["data"][0]["x"], figure["data"][0]["y"], strict=True) if value]
    assert last[-1] == "2026-10-31"
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == ["2026-10-31"]


def test_another_offer_may_have_the_line(visit, offers):
    response = visit(f"{PAGE}?line=lambda/gpu_1x_h100/us-west-1")
    assert figure_of(response)["data"][2]["name"] == "lambda gpu_1x_h100"
    assert '<option value="lambda/gpu_1x_h100/us-west-1" selected>' in body_of(response)


def test_own_contracts_have_a_line(visit, offers):
    make_contract(offers)
    line = figure_of(visit(PAGE))["data"][3]
    assert (line["name"], line["y"][-1]) == ("your contracts", 4.0)


def test_the_data_of_the_picture_is_one_press_away(visit, offers):
    response = visit(PAGE)
    (change,) = rows_of(response, "Changes of on demand prices")
    assert change == [
        "22 Aug", "$12.29", "$6.88", "−44.0 %", "aws", "p5.48xlarge", "us-east-1",
        f"list_prices run {offers.run_id}",
    ]  # fmt: skip
    assert rows_of(response, "$/GPU-h from the day named")[0][1:] == ["$2.99", "$4.94", "$6.88", "2"]


DAILY = (
    "timestamp,instance,price_usd\n2025-04-23T18:52:57,p5.48xlarge,98.32\n2025-04-01,p5.48xlarge,\n"
    "2025-06-06T07:23:15,p5.48xlarge,55.04\n2025-06-04T07:23:25,p5.48xlarge,98.32\n"
    "2025-06-05T07:22:36,p5.48xlarge,55.04\n2026-08-22T07:34:47,p5.48xlarge,55.04\n"
)


def take_daily(settings, tmp_path, text: str, name: str) -> None:
    settings.RAW_DIR = tmp_path / "raw"
    path = tmp_path / name
    path.write_text(text)
    ingest("accelerators", file=None, name="", params={}, requested_by="shell", now=NOW)
    ingest("price_history_table", file=path, name=name, params={}, requested_by="shell", now=NOW)


def assert_the_cut_is_one_change(visit) -> None:
    """State that page, picture, table and file show 98.32 to 55.04 on 2025-06-05 as one change."""
    response = visit(PAGE)
    assert "aws p5.48xlarge fell from $12.29 to $6.88 per GPU-hour on 5 June 2025." in text_of(response)
    marks = [
        note["text"]
        for note in figure_of(response)["layout"]["annotations"]
        if note["name"].startswith("mark")
    ]
    assert marks == ["aws p5.48xlarge from $12.29 to $6.88, 5\u00a0Jun\u00a02025"]
    (change,) = rows_of(response, "Changes of on demand prices")
    assert change[:6] == ["5 Jun 2025", "$12.29", "$6.88", "−44.0 %", "aws", "p5.48xlarge"]
    (row,) = file_of(visit(f"{PAGE}changes.csv"))
    assert (row["changed_at"], row["old_price_per_h"], row["new_price_per_h"]) == (
        "2025-06-05T07:22:36Z", "98.32", "55.04",
    )  # fmt: skip


def test_the_daily_file_of_p5_shows_its_cut_as_one_change(visit, settings, tmp_path):
    take_daily(settings, tmp_path, DAILY, "aws_us-east-1_daily.csv")
    assert_the_cut_is_one_change(visit)


@pytest.mark.shared
def test_the_real_daily_file_of_p5_shows_its_cut_as_one_change(visit, settings, tmp_path, shared):
    path = shared / "data/prices/aws_p5_48xlarge_us-east-1_daily_2025-04_2026-08.csv"
    take_daily(settings, tmp_path, path.read_text(), path.name)
    assert_the_cut_is_one_change(visit)


# ---- terms ----


def test_terms_have_their_discount_and_the_use_above_which_they_pay(visit, offers):
    """33.024 / 55.04 = 0.6; 41.28 / 55.04 = 0.75; 19.264 / 55.04 = 0.35."""
    rows = [row for row in rows_of(visit(PAGE), "Terms by cloud") if row[0] == "aws"]
    assert [row[1:7] for row in rows] == [
        ["on demand", "$6.88", "p5.48xlarge us-east-1", "—", "—", "—"],
        ["spot", "$2.41", "p5.48xlarge us-east-1, use1-az1", "—", "65 %", "—"],
        ["1 year", "$4.13", "p5.48xlarge us-east-1", "no upfront", "40 %", "60 %"],
        ["capacity block", "$5.16", "p5.48xlarge us-east-1", "—", "25 %", "75 %"],
    ]


def test_the_break_even_stands_beside_the_fleets_own_use_and_opens_to_its_formula(visit, offers):
    """6 of 10 available GPUs are allocated: 62 % would pay, and so do 60 %; 75 % do not."""
    make_hours(168, datetime(2026, 11, 23, tzinfo=UTC), gpus_allocated=Decimal("6.2"))
    response = visit(PAGE)
    assert "You run at 62 %." in text_of(response)
    uses = [row[6] for row in rows_of(response, "Terms by cloud") if row[6] != "—"]
    assert uses == ["60 % pays", "75 % does not pay"]
    why = re.search(r'id="why-term-aws-reserved_1y".*?</div>', body_of(response), re.S)[0]
    assert "u* = c / p = $4.13 / $6.88 = 60\u00a0%" in why
    assert "62\u00a0%" in why


def test_a_term_that_costs_more_than_on_demand_never_pays(visit, h100):
    sku, batch = make_sku(accelerator=h100), make_batch(as_of=NOW)
    make_price(sku=sku, batch=batch)
    make_price(sku=sku, batch=batch, term="reserved_1y", price_per_hour=Decimal(40))
    assert [row[6] for row in rows_of(visit(PAGE), "Terms by cloud")] == ["—", "127 % never"]


def test_a_term_without_an_on_demand_price_of_its_sku_and_region_has_no_break_even(visit, h100):
    make_price(sku=make_sku(accelerator=h100), term="reserved_3y", as_of=NOW)
    demand, term = rows_of(visit(PAGE), "Terms by cloud")
    assert demand[1:4] == ["on demand", "unknown", "no price on file"]
    assert term[6] == "unknown: no on-demand price of this SKU and region is on file"


def test_a_term_without_a_price_says_its_state_and_why(visit, offers):
    rows = {(row[0], row[1]): row[2:4] for row in rows_of(visit(PAGE), "Terms by cloud")}
    assert rows["gcp", "spot"] == ["unknown", "the catalogue states 0.00"]
    assert rows["gcp", "on demand"] == ["unknown", "no price on file"]


def test_reservation_only_is_a_word_of_its_own(visit, h100):
    make_price(sku=make_sku(accelerator=h100), state="reservation_only", price_per_hour=None, as_of=NOW,
               state_reason="sold in blocks only")  # fmt: skip
    assert rows_of(visit(PAGE), "Terms by cloud")[0][2:4] == ["reservation only", "sold in blocks only"]


def test_a_watched_spot_price_counts_while_it_is_fresh_and_cheaper(visit, offers):
    def spot():
        return next(row for row in rows_of(visit(PAGE), "Terms by cloud") if row[:2] == ["aws", "spot"])

    watched(offers, "8", NOW - timedelta(days=9))
    assert spot()[2:4] == ["$2.41", "p5.48xlarge us-east-1, use1-az1"]
    watched(offers, "16", NOW - timedelta(hours=2))
    assert spot()[2:4] == ["$2.00", "p5.48xlarge us-east-1, use1-az6"]


def test_on_paper_the_picture_is_low(visit, offers):
    heights = [figure_of(visit(f"{PAGE}{query}"))["layout"]["height"] for query in ("", "?view=print")]
    assert heights == [420, 220]

"""Claims about the prices page: what it shows, that its address is its state, and that its file equals it."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.models import FxRate
from planner.models import Person
from tests.fact_builders import make_accelerator, make_batch, make_price, make_sku
from tests.planner.price_reading import file_of, rows_of, text_of

pytestmark = pytest.mark.django_db
HOSTILE = '=HYPERLINK("x")<script>alert(1)</script>\u202e' + "é" * 40


@pytest.fixture
def visit(client):
    """Return a function that opens an address as a viewer."""
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


@pytest.fixture
def offers():
    """Two GPUs on three clouds, with one offer of each state."""
    now = timezone.now()
    h100 = make_accelerator(link_gb_s_per_direction=Decimal(450), bf16_tflops=Decimal(1000))
    a100 = make_accelerator(slug="a100-80gb", name="A100 80 GB", memory_gb=None)
    batch = make_batch(as_of=now, published_at=now)
    aws = make_sku(accelerator=h100)
    make_price(batch=batch, sku=aws, price_per_hour=Decimal("31.44"))
    make_price(
        batch=batch, sku=aws, price_per_hour=Decimal("17.52"), term="reserved_3y", payment="no_upfront"
    )
    make_price(batch=batch, sku=aws, region="eu-west-1", state="not_sold", price_per_hour=None)
    make_price(
        batch=batch, provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), accelerator=h100,
        region="us-east-1", price_per_hour=Decimal("2.99"),
    )  # fmt: skip
    make_price(
        batch=batch, provider="gcp", name="a2-ultragpu-8g", accelerator=a100, region="us-central1",
        state="unknown", state_reason="the catalogue states 0.00", price_per_hour=None, term="spot",
    )  # fmt: skip


def test_the_answer_comes_first(visit, offers):
    text = text_of(visit("/prices/?gpu=h100-sxm-80gb"))
    assert (
        "H100 SXM 80 GB on demand starts at $2.99/GPU-h (lambda us-east-1); for 3 years from $2.19/GPU-h"
        in text
    )


def test_rows_are_sorted_by_the_price_of_one_gpu_and_rows_without_a_price_come_last(visit, offers):
    rows = rows_of(visit("/prices/"))
    assert [row[7] for row in rows] == ["$2.19", "$2.99", "$3.93", "—", "unknown"]
    assert rows[0][:7] == ["H100 SXM 80 GB", "aws", "us-east-1", "p5.48xlarge", "8", "80", "3 years"]


def test_a_row_without_a_price_says_why(visit, offers):
    rows = rows_of(visit("/prices/?state=unknown"))
    assert [row[10] for row in rows] == ["unknown the catalogue states 0.00"]
    assert [row[10] for row in rows_of(visit("/prices/?state=not_sold"))] == ["not sold here"]


@pytest.mark.parametrize(
    ("query", "skus"),
    [
        ("gpu=a100-80gb", ["a2-ultragpu-8g"]),
        ("cloud=lambda&cloud=gcp", ["gpu_1x_h100", "a2-ultragpu-8g"]),
        ("region=eu", ["p5.48xlarge"]),
        ("term=reserved_3y", ["p5.48xlarge"]),
        ("term=on_demand&state=priced&min_gpus=2", ["p5.48xlarge"]),
        ("q=lambda", ["gpu_1x_h100"]),
        ("link=450", ["p5.48xlarge", "gpu_1x_h100", "p5.48xlarge", "p5.48xlarge"]),
    ],
)
def test_filters_narrow_the_rows(visit, offers, query, skus):
    assert [row[3] for row in rows_of(visit(f"/prices/?{query}"))] == skus


def test_the_columns_are_those_asked_for_in_their_order(visit, offers):
    response = visit("/prices/?q=lambda&cols=sku,zone,currency,gpu")
    assert rows_of(response) == [["gpu_1x_h100", "—", "USD", "H100 SXM 80 GB"]]


def test_a_form_with_empty_fields_leads_to_an_address_without_them(visit, offers):
    response = visit("/prices/?gpu=&cloud=aws&region=&term=&q=&min_gpus=8.0&sort=usd_per_gpu_h&page=1&per=50")
    assert (response.status_code, response["Location"]) == (302, "/prices/?cloud=aws&min_gpus=8")


def test_boxes_of_the_column_picker_become_one_parameter(visit, offers):
    response = visit("/prices/?cols=gpu&cols=sku")
    assert response["Location"] == "/prices/?cols=gpu%2Csku"


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("colour=red", "The address names parameter “colour”, which this page does not know: ignored."),
        ("a=1&b=2", "parameters “a”, “b”"),
        ("gpu=h900", "GPU: “h900” is not among the choices of the list and was ignored."),
        ("min_gpus=many", "GPUs, at least: “many” was ignored. Enter a number."),
        ("min_gpus=-1", "“-1” was ignored."),
        ("sort=beauty", "No order by “beauty”"),
        ("sort=change_12m", "No order by “change_12m”"),
        ("link=fast", "Link GB/s, at least: “fast” was ignored. Enter a number."),
        ("scale=square", "No scale “square”: log or linear."),
        ("cols=beauty", "No column “beauty”"),
        ("page=99", "There is no page 99: this is the last one, 1."),
        ("q=" + "x" * 101, "at most 100 characters"),
        ("q=%00", "Null characters are not allowed."),
        ("term=%FF%FE", "is not among the choices"),
    ],
)
def test_what_the_page_does_not_know_is_named_and_changes_nothing_else(visit, offers, query, notice):
    response = visit(f"/prices/?{query}")
    assert response.status_code == 200
    assert notice in text_of(response)
    assert len(rows_of(response)) == 5


VALUES = ["aws", "lambda", "h100-sxm-80gb", "a100-80gb", "on_demand", "spot", "priced", "us", "8", "0", "2"]
VALUES += ["2026-11-01", "linear", "age", "-usd_per_h", "gpu", "gpu,sku", "200", "", " ", "=x", "é", "zz"]
NAMES = ["gpu", "cloud", "region", "term", "state", "min_gpus", "link", "q", "as_of", "cols", "sort", "page"]
NAMES += ["per", "scale", "odd"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=5))
def test_any_address_settles_after_one_step(visit, offers, pairs):
    """The address is a fixed point: what a page redirects to shows a page, with the same rows."""
    data = {}
    for name, value in pairs:
        data.setdefault(name, []).append(value)
    response = visit("/prices/", data)
    if response.status_code == 302:
        response = visit(response["Location"])
    assert response.status_code == 200


def test_links_of_the_page_lead_to_pages_that_do_not_redirect(visit, offers):
    body = visit("/prices/?gpu=h100-sxm-80gb&cols=gpu%2Csku&sort=-gpus&per=25").content.decode()
    links = {unescape(href) for href in re.findall(r'href="(/prices/[^"]*)"', body)}
    assert len(links) > 4
    assert {visit(link).status_code for link in links} == {200}


@pytest.mark.parametrize(
    "query", ["", "?term=on_demand&sort=-gpus", "?cols=region%2Cusd_per_h%2Cgpu%2Cstate"]
)
def test_the_file_has_the_rows_columns_and_order_of_the_screen(visit, offers, query):
    screen = visit(f"/prices/{query}")
    headers = re.findall(r'<th scope="col"[^>]*>.*?</th>', screen.content.decode(), re.S)
    rows = file_of(visit(f"/prices.csv{query}"))
    shown = rows_of(screen)
    assert len(rows) == len(shown) > 0
    keys = list(rows[0])[: len(headers)]
    for row, cells in zip(rows, shown, strict=True):
        for key, cell in zip(keys, cells, strict=True):
            if key in {"gpu", "cloud", "region", "sku"}:
                assert row[key] == cell
            elif key.startswith("usd_"):
                rounded = f"${Decimal(row[key]).quantize(Decimal('0.01'))}" if row[key] else None
                assert rounded == cell or (rounded is None and cell in {"—", "unknown"})


def test_a_price_in_another_currency_is_shown_in_dollars_with_the_date_of_its_rate(visit):
    """A euro bought 1.05 dollars and 7.5 yuan three days ago: 56 yuan for 8 GPUs are 0.98 dollars each."""
    earlier = (timezone.now() - timedelta(days=3)).date()
    batch = make_batch(source="ecb_rates")
    for currency, per_euro in (("USD", "1.05"), ("CNY", "7.5")):
        FxRate.objects.create(currency=currency, on=earlier, per_euro=Decimal(per_euro), batch=batch)
    make_price(currency="CNY", price_per_hour=Decimal(56))
    screen = visit("/prices/?cols=usd_per_gpu_h&cols=fx_rate&cols=fx_date", follow=True)
    ((dollars, rate, on),) = rows_of(screen)
    assert dollars.startswith("$0.98")
    assert "from CNY, rate of" in dollars
    assert rate == "0.14"
    assert str(earlier.day) in on
    (row,) = file_of(visit("/prices.csv?cols=usd_per_gpu_h%2Cprice_per_h"))
    assert (row["usd_per_gpu_h"], row["price_per_h"], row["currency"]) == ("0.98", "56", "CNY")
    assert (row["fx_rate"], row["fx_date"]) == ("0.14", f"{earlier}")


def test_the_file_holds_the_whole_set_and_full_precision(visit):
    sku, batch = make_sku(gpu_count=Decimal(3)), make_batch()
    for number in range(60):
        make_price(sku=sku, batch=batch, region=f"region-{number:02d}", price_per_hour=Decimal(10))
    assert len(rows_of(visit("/prices/"))) == 50
    rows = file_of(visit("/prices.csv"))
    assert len(rows) == 60
    assert {row["usd_per_gpu_h"] for row in rows} == {"3.333333333"}


def test_json_holds_the_same_rows(visit, offers):
    rows = file_of(visit("/prices.csv?cloud=aws"))
    answer = json.loads(b"".join(visit("/prices.json?cloud=aws").streaming_content))
    assert answer["address"] == "/prices/?cloud=aws"
    assert [row["sku"] for row in answer["rows"]] == [row["sku"] for row in rows]
    assert [row["usd_per_gpu_h"] for row in answer["rows"]] == [2.19, 3.93, None]
    assert [*answer["columns"], "address"] == list(rows[0])


def test_a_reader_may_choose_separator_and_decimal_mark(visit, offers):
    lines = b"".join(visit("/prices.csv?q=lambda&cols=gpu,usd_per_gpu_h&sep=;&dec=,&bom=1").streaming_content)
    first, second = lines.decode().splitlines()[:2]
    assert first.startswith("\ufeffgpu;usd_per_gpu_h;")
    assert second.startswith("H100 SXM 80 GB;2,99;")


@pytest.mark.parametrize("fmt", ["xml", "xlsx", "csv.gz"])
def test_other_formats_do_not_exist(visit, fmt):
    assert visit(f"/prices.{fmt}").status_code == 404


def test_hostile_names_are_shown_as_text_and_disarmed_in_files(visit):
    make_price(name=HOSTILE, region="@SUM(1)", state="unknown", state_reason="-1+1", price_per_hour=None)
    response = visit("/prices/?cols=sku%2Cregion%2Cstate")
    assert "<script>alert(1)" not in response.content.decode()
    assert rows_of(response)[0][0] == HOSTILE
    (row,) = file_of(visit("/prices.csv?cols=sku%2Cregion%2Cstate"))
    assert (row["sku"], row["region"], row["state_reason"]) == ("'" + HOSTILE, "'@SUM(1)", "'-1+1")
    assert visit("/prices/", {"q": HOSTILE}).status_code == 200


def test_a_reference_is_a_link_only_where_it_is_an_address_of_the_web(visit):
    make_price(reference="javascript:alert(1)")
    make_price(name="other", reference="https://example.com/p")
    body = visit("/prices/?cols=reference").content.decode()
    assert 'href="javascript:' not in body
    assert 'href="https://example.com/p"' in body


def test_prices_in_another_currency_are_not_shown_as_dollars(visit):
    make_price(currency="CNY", price_per_hour=Decimal(200))
    rows = rows_of(visit("/prices/?cols=usd_per_gpu_h%2Cprice_per_h%2Ccurrency"))
    assert rows == [["in CNY", "200", "CNY"]]
    (row,) = file_of(visit("/prices.csv?cols=usd_per_gpu_h%2Cprice_per_h%2Ccurrency"))
    assert (row["usd_per_gpu_h"], row["price_per_h"], row["currency"]) == ("", "200", "CNY")


def test_without_prices_the_page_says_how_to_get_them(visit):
    text = text_of(visit("/prices/"))
    assert "No prices yet" in text
    assert "planner or administrator can load them" in text


def test_a_planner_is_given_the_two_ways_to_fill_an_empty_page(client):
    client.force_login(Person.objects.create_user("planner@example.com", role="planner"))
    body = client.get("/prices/").content.decode()
    assert 'action="/data/load-price-lists/"' in body
    assert "Load price lists (no key needed)" in body
    assert 'href="/data/upload/">Upload' in body


def test_filters_without_a_match_say_so(visit, offers):
    assert "No offer matches" in text_of(visit("/prices/?q=nothing"))


def test_the_count_of_queries_is_small_and_does_not_grow(visit, offers):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert visit("/prices/").status_code == 200
        return len(captured)

    visit("/prices/")
    before = queries()
    sku, batch = make_sku(name="more"), make_batch()
    for number in range(10):
        make_price(sku=sku, batch=batch, region=f"region-{number}")
    assert queries() == before <= 12


def test_a_swap_gets_the_part_alone(client, visit, offers):
    part = client.get("/prices/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "starts at" in part


def test_a_print_view_stays_one_when_the_address_is_tidied(visit, offers):
    assert visit("/prices/?q=&cloud=aws&view=print")["Location"] == "/prices/?cloud=aws&view=print"

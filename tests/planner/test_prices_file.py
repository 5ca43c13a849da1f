"""Claims about the columns of prices and their file: derived figures, provenance, the order of the screen."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.utils import timezone

from costs.models import MachineType
from planner.models import Person
from planner.prices import tables
from planner.prices.listing import FIRST_READ, ROWS_PER_READ
from tests.fact_builders import make_accelerator, make_batch, make_price, make_raw, make_run, make_sku
from tests.planner.price_reading import file_of, rows_of

pytestmark = pytest.mark.django_db
FETCHED = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
PROVENANCE = [
    "zone", "payment", "price_state", "state_reason", "age_state", "price_per_h", "currency", "fx_rate",
    "fx_date", "as_of", "source", "source_run", "fetched_at", "content_sha256", "line", "reference",
    "prices_on", "address",
]  # fmt: skip


@pytest.fixture
def visit(client):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def shown(visit, *columns: str) -> list[list[str]]:
    return rows_of(visit(f"/prices/?cols={'%2C'.join(columns)}"))


def in_file(visit, *columns: str) -> list[dict[str, str]]:
    return file_of(visit(f"/prices.csv?cols={'%2C'.join(columns)}"))


def test_every_row_says_where_it_comes_from_down_to_the_line_and_the_content_of_the_file(visit):
    raw = make_raw(sha256="ab" * 32, fetched_at=FETCHED)
    run = make_run(source="skypilot", raw=raw)
    batch = make_batch(source="skypilot", run=run, as_of=FETCHED)
    make_price(
        batch=batch, source="skypilot", line=812, reference="https://example.com/p", zone="use1-az1",
        term="reserved_1y", payment="no_upfront",
    )  # fmt: skip
    (row,) = in_file(visit, "gpu")
    assert list(row) == ["gpu", *PROVENANCE]
    assert (row["source"], row["source_run"], row["line"]) == ("skypilot", str(run.pk), "812")
    assert (row["content_sha256"], row["fetched_at"]) == ("ab" * 32, "2026-11-02T03:04:05Z")
    assert (row["reference"], row["zone"]) == ("https://example.com/p", "use1-az1")
    assert row["payment"] == "no_upfront"
    assert (row["price_state"], row["state_reason"]) == ("priced", "")
    assert (row["price_per_h"], row["currency"], row["fx_rate"], row["fx_date"]) == ("31.44", "USD", "", "")
    assert (row["as_of"], row["address"]) == ("2026-11-02T03:04:05Z", "/prices/?cols=gpu")
    assert datetime.fromisoformat(row["prices_on"]) <= timezone.now()


def test_a_row_without_a_price_says_its_state_and_why_in_the_file_too(visit):
    make_price(state="reservation_only", state_reason="sold in blocks", price_per_hour=None)
    (row,) = in_file(visit, "usd_per_gpu_h")
    assert (row["usd_per_gpu_h"], row["price_state"], row["state_reason"]) == (
        "", "reservation_only", "sold in blocks",
    )  # fmt: skip


def test_derived_figures_are_worked_out_from_the_price_of_one_gpu(visit):
    """24 $/h for 8 GPUs: 3 each, 3 / 80 GB = 0.0375, 3 / 1000 TFLOP/s = 0.003; 8 x 80 = 640 GB."""
    make_accelerator(link_gb_s_per_direction=Decimal(450), bf16_tflops=Decimal(1000))
    make_price(price_per_hour=Decimal(24))
    columns = ("memory_gb_per_gpu", "memory_gb_per_node", "link_gb_s", "usd_per_gb_h", "usd_per_bf16_tflop_h")
    assert shown(visit, *columns) == [["80", "640", "450", "$0.0375", "$0.00300"]]
    (row,) = in_file(visit, *columns)
    assert [row[name] for name in columns] == ["80", "640", "450", "0.0375", "0.003"]


def test_what_the_table_of_gpus_does_not_know_is_unknown_and_empty_in_the_file(visit):
    make_accelerator(memory_gb=None)
    make_price()
    columns = ("memory_gb_per_node", "link_gb_s", "usd_per_gb_h", "usd_per_bf16_tflop_h", "vcpus")
    assert shown(visit, *columns) == [["unknown"] * 5]
    (row,) = in_file(visit, *columns)
    assert [row[name] for name in columns] == [""] * 5


def test_vcpus_and_memory_come_from_the_table_of_machine_types_where_the_list_states_none(visit):
    MachineType.objects.create(
        provider="aws", name="p5.48xlarge", accelerator="h100-sxm-80gb", gpu_count=8, vcpus=192,
        memory_gib=2048, reference="x", batch=make_batch(),
    )  # fmt: skip
    make_price()
    make_price(sku=make_sku(name="other", vcpus=Decimal(96)), region="z")
    assert shown(visit, "vcpus", "memory_gib") == [["192*", "2,048*"], ["96", "unknown"]]
    found = [(row["vcpus"], row["memory_gib"]) for row in in_file(visit, "vcpus", "memory_gib")]
    assert found == [("192", "2048"), ("96", "")]


def test_an_upfront_payment_is_in_its_currency_and_unknown_where_the_list_does_not_say(visit):
    sku = make_sku()
    for region, payment, amount in (("a", "all_upfront", 1000), ("b", "all_upfront", None), ("c", "", None)):
        make_price(sku=sku, region=region, payment=payment, upfront=amount, term="reserved_1y")
    assert shown(visit, "upfront") == [["1,000 USD"], ["unknown"], ["—"]]


@pytest.mark.parametrize("column", [column for column in tables.OFFER_COLUMNS if column.order])
def test_every_column_that_can_be_sorted_sorts_both_ways_with_the_empty_ones_last(visit, column):
    for number, memory in enumerate((80, 141, None)):
        gpu = make_accelerator(
            slug=f"gpu-{number}", name=f"GPU {number}", memory_gb=memory, bf16_tflops=memory,
            link_gb_s_per_direction=memory,
        )  # fmt: skip
        make_price(
            name=f"sku-{number}", accelerator=gpu, gpu_count=Decimal(number + 1), region=f"r{number}",
            price_per_hour=Decimal(5 - number), as_of=FETCHED.replace(day=number + 3),
        )  # fmt: skip
    found = []
    for sign in ("", "-"):
        rows = file_of(visit(f"/prices.csv?sort={sign}{column.key}&cols={column.key}%2Csku"))
        found.append([row[column.header or column.key] for row in rows])
        assert len(rows) == 3
    known = [[value for value in values if value] for values in found]
    if column.kind == "number":
        known = [[Decimal(value) for value in values] for values in known]
    assert known[0] == sorted(known[0])
    assert known[1] == sorted(known[1], reverse=True)
    assert all("" not in values[: len(numbers)] for values, numbers in zip(found, known, strict=True))


def test_a_long_file_has_every_row_once_in_the_order_of_the_screen(visit, django_assert_max_num_queries):
    rows = FIRST_READ + ROWS_PER_READ + 50
    sku, batch = make_sku(), make_batch()
    first = make_price(sku=sku, batch=batch)
    first.delete()
    type(first).objects.bulk_create(
        type(first)(
            source="list_prices", scope=batch.scope, sku=sku, region=f"r{number}", term="on_demand",
            state="priced", price_per_hour=Decimal(number % 977 + 1), effective_from=first.effective_from,
            as_of=batch.as_of, batch=batch, line=number,
        )
        for number in range(rows)
    )  # fmt: skip
    with django_assert_max_num_queries(14):
        body = b"".join(visit("/prices.csv?sort=-usd_per_gpu_h").streaming_content).decode()
    found = list(csv.DictReader(io.StringIO(body)))
    assert {row["region"] for row in found} == {f"r{number}" for number in range(rows)}
    assert len(found) == rows
    amounts = [Decimal(row["usd_per_h"]) for row in found]
    assert amounts == sorted(amounts, reverse=True)
    for page, first in ((2, 100), (12, 1100), (13, 1200)):
        shown_rows = rows_of(visit(f"/prices/?cols=region&sort=-usd_per_gpu_h&page={page}&per=100"))
        assert [row[0] for row in shown_rows] == [row["region"] for row in found[first : first + 100]]

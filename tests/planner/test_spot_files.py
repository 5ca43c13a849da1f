"""Claims about the files of the spot page: they equal the screen, and every row says where it is from."""

import json

import pytest

from planner.models import Person
from tests.planner.spot_facts import (
    file_of,
    kappa,
    make_band,
    make_history,
    make_machine,
    make_spot_price,
    rows_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def visit(client):
    """Return a function that opens an address as a viewer."""
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def test_the_file_has_the_rows_and_figures_of_the_screen_with_where_they_are_from(visit):
    make_history()
    make_band()
    make_spot_price("9", 200, 0, zone="us-east-1a", zone_kind="name", account="123456789012")
    screen, rows = rows_of(visit("/spot/")), file_of(visit("/spot.csv"))
    assert [row["zone"] for row in rows] == [cells[0].split()[0] for cells in screen]
    first = rows[0]
    assert (first["usd_per_gpu_h"], first["p50_usd_per_gpu_h"], first["p95_usd_per_gpu_h"]) == (
        "1",
        "1",
        "1.5",
    )
    assert (first["price_per_machine_h"], first["gpus_per_machine"], first["currency"]) == ("8", "8", "USD")
    assert (first["on_demand_usd_per_gpu_h"], first["on_demand_source"]) == ("4", "list_prices")
    assert (first["band"], first["effective_is"], first["share_late_is"]) == (
        "5-10%", "bound", "no interruption data",
    )  # fmt: skip
    assert (first["source"], first["state"], first["address"]) == ("aws_spot_history", "fresh", "/spot/")
    assert first["source_run"].isdigit() and first["band_run"].isdigit()  # noqa: PT018
    assert rows[1]["zone_account"] == "123456789012"


def test_every_change_of_price_is_in_a_file_with_its_run_file_and_line(visit):
    make_history()
    rows = file_of(visit("/spot/changes.csv"))
    assert [(row["usd_per_gpu_h"], row["follows_gap"]) for row in rows] == [
        ("1", "yes"), ("1.5", "no"), ("1", "no"),
    ]  # fmt: skip
    assert {row["line"] for row in rows} == {"7"}
    assert all(len(row["file_sha256"]) == 64 and row["source_run"].isdigit() for row in rows)


def test_the_file_of_changes_begins_with_the_price_that_held_at_the_start_of_the_window(visit):
    make_machine()
    for price, starts, seen in (("8", 24 * 60, 24 * 55), ("9", 24 * 50, 24 * 45), ("10", 24 * 20, 0)):
        make_spot_price(price, starts, seen)
    rows = file_of(visit("/spot/changes.csv?window=30d"))
    assert [row["price_per_machine_h"] for row in rows] == ["9", "10"]


def test_text_in_files_cannot_start_a_formula(visit):
    make_history(zone="=1+1", zone_kind="name", account="@SUM(1)")
    (row,) = file_of(visit("/spot.csv"))
    assert (row["zone"], row["zone_account"]) == ("'=1+1", "'@SUM(1)")
    assert {row["zone"] for row in file_of(visit("/spot/changes.csv"))} == {"'=1+1"}


def test_json_holds_the_same(visit):
    make_history()
    answer = visit("/spot.json?mtbf=24")
    assert answer["Content-Disposition"].startswith('attachment; filename="spot_p5-48xlarge_linux-unix')
    content = json.loads(b"".join(answer.streaming_content))
    assert content["rows"][0]["effective_usd_per_useful_gpu_h"] == pytest.approx(kappa(24))
    assert visit("/spot.xml").status_code == 404


def test_files_of_an_empty_history_hold_their_head(visit):
    for address in ("/spot.csv", "/spot/changes.csv"):
        lines = b"".join(visit(address).streaming_content).decode().splitlines()
        assert len(lines) == 1

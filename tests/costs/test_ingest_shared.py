"""Every real file goes through the shell's path into the tables: all lines accounted for, twice the same.

The number of lines of a file is worked out with csv and json alone; which of them are kept and why is
the matter of test_counts_shared.py.
"""

import csv
import json
from io import StringIO
from itertools import islice
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import Sum

from costs.ledger import verify
from costs.models import IngestRun, Price, RejectedRow, Utilization

from .tables import dump

pytestmark = [pytest.mark.shared, pytest.mark.django_db]
AWS = (
    "aws_offer_file_layout_ec2_gpu_2026-09-10.json",
    "aws_pricing_get_products_ec2_gpu_2026-09-10.json",
    "aws_price_list_bulk_csv_comprehend_ap-south-1.csv",
)


def records_of(path: Path) -> int:
    """Return how many records a file holds."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        return len(content["PriceList"] if "PriceList" in content else content["products"])
    preamble = 5 if path.name.startswith("aws_price_list_bulk_csv") else 0
    with path.open(newline="") as file:
        return sum(1 for record in csv.reader(islice(file, preamble, None)) if record) - 1


def real_files(shared: Path) -> list[tuple[str, Path]]:
    prices, hours = shared / "data" / "prices", shared / "data" / "utilization" / "derived"
    return [
        *(("skypilot", path) for path in sorted(prices.glob("skypilot_*"))),
        *(("aws_prices", prices / name) for name in AWS),
        *(("utilization_csv", path) for path in sorted(hours.glob("*.csv"))),
    ]


def take_all(files: list[tuple[str, Path]]) -> None:
    for source in ("accelerators", "list_prices"):
        call_command("ingest", source, stdout=StringIO())
    for source, path in files:
        call_command("ingest", source, file=[path], stdout=StringIO())


def test_every_real_file_is_taken_every_line_is_accounted_for_and_twice_is_once(shared: Path) -> None:
    files = real_files(shared)
    assert len(files) >= 10 + 3 + 8
    take_all(files)

    for source, path in files:
        run = IngestRun.objects.get(source=source, origin=path.name)
        assert run.status in (IngestRun.Status.DONE, IngestRun.Status.PARTIAL), run.message
        assert run.lines_read == records_of(path), path.name
        assert run.lines_kept + run.lines_rejected == records_of(path), path.name
        assert sum(run.rejected_by_rule.values()) == run.lines_rejected == run.rejected.count()
    assert not RejectedRow.objects.filter(rule="").exists()
    assert not RejectedRow.objects.filter(expected="").exists(), "each refused row says what would be right"
    assert not Price.objects.filter(price_per_hour=0).exists()
    vast_spot = Price.objects.filter(sku__provider="vast", source="skypilot", term="spot")
    assert set(vast_spot.values_list("state", "price_per_hour")) == {("unknown", None)}
    assert (
        Utilization.objects.count()
        == IngestRun.objects.filter(source="utilization_csv").aggregate(facts=Sum("facts"))["facts"]
    )

    before = dump()
    take_all(files)
    assert dump() == before
    again = IngestRun.objects.order_by("-pk")[: len(files) + 2]
    published_nothing = {run.origin for run in again if run.status != IngestRun.Status.DUPLICATE}
    # two files hold nothing for these tables: no EC2 offer, no figure about GPUs
    assert published_nothing == {AWS[2], "philly_nodes_hourly_2017-10_2017-12.csv"}
    assert verify().problems == []

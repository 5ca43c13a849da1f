"""The recorded history of AWS, from its dumps to the page: figures worked out from the raw JSON alone."""

import gzip
import json
import math
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from django.utils import timezone

from costs.ingest import ingest
from costs.models import IngestRun, SpotPrice
from planner.models import Person
from tests.planner.spot_facts import answer_in, facts_of, file_of, rows_of, text_of, why

pytestmark = [pytest.mark.shared, pytest.mark.django_db]
DUMPS = "aws_describe_spot_price_history_us-east-1_2021-03_2021-05"
AS_OF = "2021-05-31T23%3A59%3A59Z"
END = datetime(2021, 5, 31, 23, 59, 59, tzinfo=UTC)
Seen = list[tuple[datetime, Decimal]]


@pytest.fixture
def visit(client, settings, tmp_path):
    """Return a function that opens an address as a viewer."""
    settings.RAW_DIR = tmp_path / "raw"
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def take(source: str, *paths: Path, **params: str) -> None:
    for path in paths or (None,):
        name = path.name if path else ""
        run = ingest(source, file=path, name=name, params=params, requested_by="shell", now=timezone.now())
        assert run.status == IngestRun.Status.DONE, run.message


def observed(path: Path, product: str = "Linux/UNIX") -> dict[str, Seen]:
    """Return what a dump saw of each zone, oldest first."""
    found: dict[str, Seen] = defaultdict(list)
    for row in json.loads(gzip.decompress(path.read_bytes()))["SpotPriceHistory"]:
        if row["ProductDescription"] == product:
            at = datetime.fromisoformat(row["Timestamp"])
            found[row["AvailabilityZone"]].append((at, Decimal(row["SpotPrice"])))
    return {zone: sorted(seen) for zone, seen in found.items()}


def held(seen: Seen, start: datetime) -> list[tuple[Decimal, float]]:
    """Return each price with the seconds it held after `start`: until the next sight, the last for none."""
    spans = []
    for (at, price), (following, _) in pairwise(seen):
        spans.append((price, max(0.0, (following - max(at, start)).total_seconds())))
    return spans


def quantile(spans: list[tuple[Decimal, float]], share: float) -> Decimal:
    """Return the lowest price at or below which it was for a share of the time."""
    whole, passed = sum(seconds for _, seconds in spans), 0.0
    for price, seconds in sorted(spans):
        passed += seconds
        if seconds and passed / whole >= share - 1e-12:
            return price
    raise AssertionError("nothing held")


def test_the_dumps_become_a_page_whose_figures_are_those_of_the_raw_rows(visit, shared):
    dumps = shared / "data" / "spot" / DUMPS
    take("accelerators")
    take("machine_types")
    take("aws_spot_history", *sorted(dumps.iterdir()))
    advisor = shared / "data" / "spot" / "aws_spot_advisor_accelerated_2021-02-10.json"
    take("spot_advisor", advisor)
    assert SpotPrice.objects.values("sku").distinct().count() == 20
    check_zones(visit, dumps / "g4dn.8xlarge.json.gz", 1)
    check_zones(visit, dumps / "p3.16xlarge.json.gz", 8)
    check_changes(visit, dumps / "g4dn.8xlarge.json.gz")
    check_by_hand(visit)
    check_live(visit)
    check_band(visit, advisor)


def check_zones(visit, path: Path, gpus: int) -> None:
    """Hold every zone's newest price, median, p95 and volatility against the raw rows."""
    sku = path.name.removesuffix(".json.gz")
    by_zone = observed(path)
    newest = max(seen[-1][0] for product in by_zone.values() for seen in [product])
    rows = file_of(visit(f"/spot.csv?gpu=aws/{sku}&as_of={AS_OF}"))
    assert {row["zone"] for row in rows} == set(by_zone)
    assert {row["zone_kind"] for row in rows} == {"name"}
    start = newest + timedelta(seconds=1) - timedelta(days=90)
    for row in rows:
        seen = by_zone[row["zone"]]
        spans = held(seen, start)
        seconds = [held_for for _, held_for in spans]
        mean = sum(float(price) * each for price, each in spans) / sum(seconds)
        variance = sum((float(price) - mean) ** 2 * each for price, each in spans) / sum(seconds)
        assert Decimal(row["usd_per_gpu_h"]) == seen[-1][1] / gpus
        for share in (5, 25, 50, 75, 95):
            expected = (quantile(spans, share / 100) / gpus).quantize(Decimal("1e-9"))
            assert Decimal(row[f"p{share}_usd_per_gpu_h"]) == expected, (row["zone"], share)
        assert float(row["volatility"]) == pytest.approx(math.sqrt(variance) / mean, abs=2e-6)
        assert datetime.fromisoformat(row["last_seen_at"]) == seen[-1][0]
        assert row["effective_usd_per_useful_gpu_h"] == "" or row["effective_is"] == "bound"


def check_changes(visit, path: Path) -> None:
    """The file of changes is the step function of the raw rows: each sight lies on the price it says."""
    by_zone = observed(path)
    rows = file_of(visit(f"/spot/changes.csv?gpu=aws/g4dn.8xlarge&window=all&as_of={AS_OF}"))
    points: dict[str, list[tuple[datetime, Decimal]]] = defaultdict(list)
    for row in rows:
        at = datetime.fromisoformat(row["starts_at"])
        points[row["zone"]].append((at, Decimal(row["price_per_machine_h"])))
    assert set(points) == set(by_zone)
    for zone, seen in by_zone.items():
        assert len(points[zone]) == 1 + sum(a[1] != b[1] for a, b in pairwise(seen))
        for at, price in seen:
            assert [said for since, said in points[zone] if since <= at][-1] == price


def check_live(visit) -> None:
    """Years later the page says where the history ends, and gives no advice."""
    response = visit("/spot/?gpu=aws/g4dn.8xlarge")
    assert answer_in(response) == "Prices end 31 May 2021: whether spot is worth it today is unknown."
    assert "History ends 31 May 2021" in text_of(response)
    assert {row[7] for row in rows_of(response)} == {"withheld: the price is older than twice its cadence"}


def check_band(visit, advisor: Path) -> None:
    """The band of that February is shown as AWS wrote it, and bounds the effective price from below."""
    published = json.loads(advisor.read_text())
    place = published["spot_advisor"]["us-east-1"]["Linux"]["p3.16xlarge"]
    label = published["ranges"][place["r"]]["label"]
    (first, *_) = file_of(visit(f"/spot.csv?gpu=aws/p3.16xlarge&as_of={AS_OF}"))
    assert (first["band"], first["band_as_of"][:10]) == (label, "2021-02-10")
    assert label == ">20%"
    mtbf = -730 / math.log(1 - 0.20)
    kappa = mtbf * math.exp(0.1 / mtbf) * (math.exp((22 / 60) / mtbf) - 1) / (20 / 60)
    effective = float(first["usd_per_gpu_h"]) * kappa
    assert float(first["effective_usd_per_useful_gpu_h"]) == pytest.approx(effective, rel=1e-9)


def check_by_hand(visit) -> None:
    """The newest row of p3.2xlarge in us-east-1a says 0.918000, and so does every other row of its zone."""
    response = visit(f"/spot/?gpu=aws/p3.2xlarge&as_of={AS_OF}")
    by_zone = {row[0].split()[0]: row for row in rows_of(response)}
    assert by_zone["us-east-1a"][1].startswith("$0.92")
    assert by_zone["us-east-1a"][2:5] == ["$0.92", "$0.92", "0 %"]
    assert facts_of(response)["Price now"] == "$0.92/GPU\u2011h"
    (row,) = file_of(visit(f"/spot.csv?gpu=aws/p3.2xlarge&zone=us-east-1a&as_of={AS_OF}"))
    assert (row["usd_per_gpu_h"], row["p95_usd_per_gpu_h"]) == ("0.918", "0.918")


def test_measured_traces_give_the_chance_to_miss_a_deadline(visit, shared):
    """A job of 72 hours within 96, on the measured traces of single V100 machines in one region."""
    folder = shared / "data" / "spot"
    take("accelerators")
    take("machine_types")
    take("aws_spot_history", folder / DUMPS / "p3.2xlarge.json.gz")
    traces = folder / "skypilot_spot_traces" / "availability" / "1-node" / "aws-02-15-2023"
    of_region = sorted(traces.glob("us-east-1*"))
    for path in of_region:
        take(
            "spot_traces", path, starts_on="2023-02-15", trace="availability/1-node/aws-02-15-2023",
            measures="availability", nodes_wanted="1",
        )  # fmt: skip
    rows = file_of(visit(f"/spot.csv?gpu=aws/p3.2xlarge&as_of={AS_OF}"))
    available = losses = 0
    for path in of_region:
        trace = json.loads(gzip.decompress(path.read_bytes()))
        ticks = [count >= 1 for count in trace["data"]]
        # a loss lies between an up tick and a down one; between two sights the first one holds
        losses += sum(a and not b for a, b in pairwise(ticks))
        available += sum(ticks[:-1]) * trace["metadata"]["gap_seconds"] / 3600
    assert float(rows[0]["h_between_losses"]) == pytest.approx(available / losses, rel=1e-3)
    assert rows[0]["h_between_losses_from"] == "measured"
    assert 0 < float(rows[0]["share_late"]) < 1
    said = why(visit(f"/spot/?gpu=aws/p3.2xlarge&as_of={AS_OF}", follow=True), "missed-0")
    assert f"losses in {len(of_region)} traces of the region" in said
    assert "15 Feb 2023" in said

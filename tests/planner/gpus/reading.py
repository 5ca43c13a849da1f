"""What a test sees of a GPU's page: its text, its tables, its picture, its files; and facts beside prices."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

from costs.models import Batch, Commitment, Interruption, MachineType, Quota, SpotPrice

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAGE = "/gpus/h100-sxm-80gb/"
FACTS = {
    "form_factor": "SXM",
    "memory_bandwidth_gb_s": Decimal(3350),
    "power_w": Decimal(700),
    "link_gb_s_per_direction": Decimal(450),
    "bf16_tflops": Decimal("989.4"),
    "launch_date": datetime(2022, 10, 1, tzinfo=UTC).date(),
    "reference_date": datetime(2026, 11, 1, tzinfo=UTC).date(),
}


def text_of(response) -> str:
    """Return the page as a reader sees it: tags gone, blanks joined."""
    body = re.sub(r"<(script|svg)[^>]*>.*?</\1>", " ", response.content.decode(), flags=re.S)
    body = re.sub(r"<[^>]+>", " ", body)
    return re.sub(r"\s+", " ", unescape(body)).replace("\u2011", "-").replace("( ", "(")


def rows_of(response, title: str) -> list[list[str]]:
    """Return the cells of the table with this name, row by row."""
    table = re.search(
        rf'aria-label="{re.escape(title)}[^"]*"><table.*?<tbody>(.*?)</tbody>', body_of(response), re.S
    )
    assert table, title
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table[1], re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [
        [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", cell))).strip() for cell in row] for row in cells
    ]


def body_of(response) -> str:
    return response.content.decode()


def heads_of(response, title: str) -> list[str]:
    table = re.search(
        rf'aria-label="{re.escape(title)}[^"]*"><table.*?<thead>(.*?)</thead>', body_of(response), re.S
    )
    return re.findall(r"<th[^>]*>(.*?)</th>", table[1])


def file_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))


def figure_of(response) -> dict:
    return json.loads(
        re.search(r'<script id="figure-history"[^>]*>(.*?)</script>', body_of(response), re.S)[1]
    )


def make_machine(offers: Batch) -> None:
    """Make the row of the table of machine types that joins p5.48xlarge to the H100."""
    stated = {"accelerator": "h100-sxm-80gb", "gpu_count": 8, "vcpus": 192, "quota_on_demand": "L-417A185B"}
    defaults = stated | {"reference": "a page", "batch": offers}
    MachineType.objects.get_or_create(provider="aws", name="p5.48xlarge", defaults=defaults)


def dated(offers: Batch, as_of: datetime = NOW, **says: Any) -> dict[str, Any]:
    """Return the columns of a dated fact of three days ago."""
    own = {"source": "a source", "scope": "x", "effective_from": NOW - timedelta(days=3), "as_of": as_of}
    return own | {"batch": offers, "line": 1, "provider": "aws", "region": "us-east-1"} | says


def watched(offers: Batch, price: str, seen: datetime, zone: str = "use1-az6") -> None:
    """Make a spot price of p5.48xlarge that was seen once."""
    make_machine(offers)
    says = {"sku": "p5.48xlarge", "zone": zone, "zone_kind": "id", "product": "Linux/UNIX"}
    row = dated(offers, **says, source="aws_spot_history", price_per_hour=Decimal(price))
    del row["effective_from"], row["as_of"]
    SpotPrice.objects.create(**row, starts_at=seen, last_seen_at=seen, follows_gap=False)


def make_band(offers: Batch, label: str) -> None:
    """Make what was published three days ago about interruptions of p5.48xlarge."""
    says = {"sku": "p5.48xlarge", "product": "Linux", "band": 1, "band_label": label}
    as_of = NOW - timedelta(days=3)
    Interruption.objects.create(**dated(offers, as_of, **says, share_low=Decimal("0.05")))


def make_limit(offers: Batch, vcpus: int, used: int | None = None) -> None:
    """Make the limit of P instances."""
    says = {"account": "1", "code": "L-417A185B", "name": "P instances", "purchase": "on_demand"}
    amounts = {"limit": Decimal(vcpus), "used": None if used is None else Decimal(used)}
    Quota.objects.create(**dated(offers, **says, **amounts, unit="vcpu", is_unlimited=False))


def make_contract(offers: Batch) -> None:
    """Make a contract for one p5.48xlarge at 32 an hour, 4 a GPU-hour, that began 90 days ago."""
    make_machine(offers)
    says = {
        "commitment": "r-1",
        "kind": "reserved_instance",
        "sku": "p5.48xlarge",
        "count": 1,
        "currency": "USD",
    }
    times = {"starts_at": NOW - timedelta(days=90), "ends_at": None, "state": "active"}
    Commitment.objects.create(**dated(offers, **says, **times, recurring_per_hour=Decimal(32)))

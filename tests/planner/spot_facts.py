"""Spot prices, bands and traces for the tests of the spot page, counted in hours before the test began."""

import csv
import io
import math
import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any

from django.utils import timezone

from costs.models import Accelerator, Interruption, MachineType, SpotCapacity, SpotPrice
from tests.fact_builders import make_accelerator, make_batch, make_price

HOUR = 1 / 60  # of a minute
NOW = timezone.now().replace(microsecond=0)


def ago(hours: float) -> Any:
    return NOW - timedelta(hours=hours)


def make_machine(sku: str = "p5.48xlarge", **changes: Any) -> MachineType:
    """Make a machine with 8 H100 that may also be called H100 in a trace."""
    if not Accelerator.objects.filter(slug="h100-sxm-80gb").exists():
        make_accelerator(aliases=["H100"])
    fields = {
        "provider": "aws",
        "name": sku,
        "accelerator": "h100-sxm-80gb",
        "gpu_count": Decimal(8),
        "reference": "a page",
    } | changes
    return MachineType.objects.create(**fields, batch=make_batch(source="machine_types"))


def make_spot_price(price: str, starts: float, seen: float, **changes: Any) -> SpotPrice:
    """Make one change point: a price from so many hours ago on, last seen so many hours ago."""
    batch = changes.pop("batch", None) or make_batch(source="aws_spot_history")
    fields = {
        "source": "aws_spot_history",
        "scope": "us-east-1",
        "provider": "aws",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "zone": "use1-az6",
        "zone_kind": "id",
        "account": "",
        "product": "Linux/UNIX",
        "follows_gap": False,
        "line": 7,
    } | changes
    return SpotPrice.objects.create(
        **fields,
        batch=batch,
        starts_at=ago(starts),
        last_seen_at=ago(seen),
        price_per_hour=Decimal(price),
    )


def make_band(label: str = "5-10%", low: str = "0.05", high: str | None = "0.10", **changes: Any) -> Any:
    fields = {
        "source": "spot_advisor",
        "scope": "us-east-1",
        "provider": "aws",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "product": "Linux",
        "band": 1,
        "band_label": label,
        "share_low": Decimal(low),
        "share_high": None if high is None else Decimal(high),
        "effective_from": ago(5000),
        "as_of": ago(72),
        "line": 1,
    } | changes
    return Interruption.objects.create(**fields, batch=make_batch(source="spot_advisor"))


def make_trace(spans: Sequence[tuple[float, float]], **changes: Any) -> None:
    """Make a trace of (hours, machines up) one after the other, the last of which is seen to its end."""
    fields = {
        "source": "spot_traces",
        "scope": "a trace",
        "provider": "aws",
        "trace": "aws-11-01-2026",
        "region": "us-east-1",
        "zone": "us-east-1a",
        "accelerator_name": "H100",
        "gpu_count": Decimal(8),
        "nodes_wanted": Decimal(1),
        "measures": "availability",
        "line": 1,
    } | changes
    batch, passed = make_batch(source="spot_traces"), 0.0
    for place, (hours, nodes) in enumerate(spans):
        SpotCapacity.objects.create(
            **fields,
            batch=batch,
            starts_at=ago(2000 - passed),
            last_seen_at=ago(2000 - passed - hours),
            follows_gap=place == 0,
            nodes=Decimal(str(nodes)),
        )
        passed += hours


def make_on_demand(price: str = "32", days: float = 400, **changes: Any) -> None:
    """Make an on-demand price that held from so many days ago on."""
    make_price(
        price_per_hour=Decimal(price),
        effective_from=ago(24 * days),
        batch=make_batch(source="list_prices", as_of=NOW),
        **changes,
    )


def make_history(**changes: Any) -> None:
    """Make a machine at 32 on demand whose spot price was 8.00 for 6 days, 12.00 for 3, 8.00 for a day."""
    make_machine()
    make_on_demand()
    for number, (price, starts, seen) in enumerate((("8", 240, 96), ("12", 96, 24), ("8", 24, 0))):
        make_spot_price(price, starts, seen, follows_gap=number == 0, **changes)


def kappa(
    mtbf: float, interval: float = 20 * HOUR, write: float = 2 * HOUR, restart: float = 6 * HOUR
) -> float:
    """Return paid hours per useful hour: Daly, FGCS 22 (2006) 303."""
    return mtbf * math.exp(restart / mtbf) * (math.exp((interval + write) / mtbf) - 1) / interval


# --- reading pages ---


def text_of(response: Any) -> str:
    """Return the page as a reader sees it: tags gone, blanks joined, no hyphen that does not break."""
    body = re.sub(r"<(script|template).*?</\1>", " ", response.content.decode(), flags=re.S)
    body = re.sub(r"<[^>]+>", " ", body)
    return re.sub(r"\s+", " ", unescape(body)).replace("\u2011", "-").replace(" .", ".").replace(" ,", ",")


def answer_in(response: Any) -> str:
    """Return the sentence that opens the page."""
    (found,) = re.findall(r'<p class="answer-main">(.*?)</p>', response.content.decode(), re.S)
    return unescape(re.sub(r"<[^>]+>", "", found)).replace("\u00a0", " ").replace("\u2011", "-")


def rows_of(response: Any) -> list[list[str]]:
    """Return the cells of the table of zones, row by row; what only readers are told comes after a colon."""
    (table,) = re.findall(
        r'<table class="tight stick-first zones">.*?</table>', response.content.decode(), re.S
    )
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table.split("<tbody>")[1], re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[_clean(cell) for cell in row] for row in cells]


def _clean(cell: str) -> str:
    spaced = re.sub(r"<small", " <small", cell)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", spaced))).strip()


def facts_of(response: Any) -> dict[str, str]:
    """Return the figures of the job: by name without its note."""
    (facts,) = re.findall(r'<dl class="facts halves">(.*?)</dl>', response.content.decode(), re.S)
    names = [_clean(name.split("<small")[0]) for name in re.findall(r"<dt>(.*?)</dt>", facts, re.S)]
    values = [_clean(value) for value in re.findall(r"<dd>(.*?)</dd>", facts, re.S)]
    return dict(zip(names, values, strict=True))


def why(response: Any, key: str) -> str:
    """Return the text of an explanation."""
    found = re.search(rf'<div class="popover" id="why-{key}".*?</div>', response.content.decode(), re.S)
    assert found is not None, key
    return _clean(re.sub(r"</(dt|dd|p|code|h3)>", " ", found[0]))


def file_of(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))

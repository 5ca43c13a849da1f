"""Rows of the fact tables for tests: keyword defaults, no hidden rows beyond those a foreign key needs."""

import itertools
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from costs.models import Accelerator, Batch, IngestRun, Job, Price, RawObject, Sku, Utilization

_numbers = itertools.count(1)
A_DAY = datetime(2026, 11, 1, tzinfo=UTC)


def make_job(**changes: Any) -> Job:
    number = next(_numbers)
    fields = {
        "key": f"test:{number}",
        "kind": "ingest",
        "run_after": A_DAY,
        "created_at": A_DAY,
        "status": "done",
    }
    return Job.objects.create(**fields | changes)


def make_raw(**changes: Any) -> RawObject:
    number = next(_numbers)
    fields = {"sha256": f"{number:064x}", "size_bytes": 100, "name": "prices.csv", "fetched_at": A_DAY}
    return RawObject.objects.create(**fields | changes)


def make_run(**changes: Any) -> IngestRun:
    fields = {"source": "list_prices", "origin": "prices.csv", "status": "done", "started_at": A_DAY}
    fields |= changes
    if "job" not in fields:
        fields["job"] = make_job()
    if "raw" not in fields:
        fields["raw"] = make_raw()
    return IngestRun.objects.create(**fields)


def make_batch(**changes: Any) -> Batch:
    """Make the batch of a run; `scope` is new each time, since a scope has one current batch."""
    fields = {
        "source": "list_prices",
        "scope": f"scope {next(_numbers)}",
        "parser_version": 1,
        "as_of": A_DAY,
        "published_at": A_DAY,
        "rows": 1,
        "rows_sha256": "0" * 64,
        "total": Decimal(0),
    } | changes
    if "run" not in fields:
        fields["run"] = make_run(source=fields["source"])
    fields.setdefault("raw", fields["run"].raw)
    return Batch.objects.create(**fields)


def make_accelerator(**changes: Any) -> Accelerator:
    fields = {
        "slug": "h100-sxm-80gb",
        "name": "H100 SXM 80 GB",
        "vendor": "NVIDIA",
        "memory_gb": Decimal(80),
        "reference": "https://example.com/h100",
    } | changes
    if "batch" not in fields:
        fields["batch"] = make_batch(source="accelerators")
    return Accelerator.objects.create(**fields)


def make_sku(**changes: Any) -> Sku:
    fields = {
        "provider": "aws",
        "name": "p5.48xlarge",
        "accelerator_name": "H100",
        "gpu_count": Decimal(8),
    } | changes
    if "accelerator" not in fields:
        fields["accelerator"] = Accelerator.objects.filter(slug="h100-sxm-80gb").first() or make_accelerator()
    return Sku.objects.create(**fields)


def make_price(**changes: Any) -> Price:
    """Make one price; give `sku=` or the fields of a SKU as `provider=`, `name=`, `gpu_count=`."""
    sku_fields = {
        key: changes.pop(key) for key in ("provider", "name", "gpu_count", "accelerator") if key in changes
    }
    fields = {
        "source": "list_prices",
        "region": "us-east-1",
        "term": "on_demand",
        "state": "priced",
        "price_per_hour": Decimal("31.44"),
        "effective_from": A_DAY,
        "line": 2,
    } | changes
    if "sku" not in fields:
        fields["sku"] = make_sku(**sku_fields)
    if "batch" not in fields:
        fields["batch"] = make_batch(source=fields["source"])
    fields.setdefault("scope", fields["batch"].scope)
    fields.setdefault("as_of", fields["batch"].as_of)
    return Price.objects.create(**fields)


def make_hours(count: int, start: datetime, batch: Batch | None = None, **changes: Any) -> list[Utilization]:
    """Make `count` hours of one pool. A change may be a function of the hour's number."""
    batch = batch or make_batch(source="utilization_csv")
    fields = {
        "cluster": "main",
        "pool": "training",
        "gpu_type": "H100",
        "gpus_installed": Decimal(10),
        "gpus_available": Decimal(10),
        "gpus_allocated": Decimal(6),
        "line": 2,
    } | changes
    return Utilization.objects.bulk_create(
        Utilization(
            source="utilization_csv",
            scope=batch.scope,
            batch=batch,
            starts_at=start + timedelta(hours=hour),
            **{name: value(hour) if callable(value) else value for name, value in fields.items()},
        )
        for hour in range(count)
    )

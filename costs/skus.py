"""The SKU of each price: made where it is new, its size noted where it becomes known."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from . import bulk
from .gate import Known
from .models import Accelerator, Sku

Key = tuple[str, ...]
SKU_KEY = ("provider", "name", "accelerator_name", "gpu_count")


def key_of_values(values: Iterable[Any]) -> Key:
    """Return a key as texts, its numbers written as payloads write them."""
    return tuple(f"{value:.3f}" if isinstance(value, Decimal) else value for value in values)


def skus_of(rows: Sequence[dict[str, Any]], known: Known) -> dict[Key, int]:
    """Return the SKU of every row by its key, made or brought up to date where needed."""
    accelerators = dict(Accelerator.objects.values_list("slug", "pk"))
    wanted: dict[Key, tuple[Any, ...]] = {}
    for row in rows:
        key = (row["provider"], row["sku"], row["accelerator_name"], row["gpu_count"])
        accelerator = accelerators[known.slug_of(row["sku"], row["accelerator_name"]) or ""]
        wanted[key_of_values(key)] = (*key, accelerator, row["vcpus"], row["memory_gib"])
    rows_by_key = [wanted[key] for key in sorted(wanted)]
    columns = (*SKU_KEY, "accelerator_id", "vcpus", "memory_gib")
    extra = columns[4:]
    # a source that does not state the machine's size does not wipe what another one stated
    sized = [row for row in rows_by_key if None not in row]
    bulk.insert(Sku, columns, sized, on_key=SKU_KEY, update=extra)
    bulk.insert(Sku, columns, rows_by_key, on_key=SKU_KEY)
    found = Sku.objects.filter(provider__in={row[0] for row in rows_by_key})
    return {key_of_values(row[:4]): row[4] for row in found.values_list(*SKU_KEY, "pk")}

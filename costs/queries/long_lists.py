"""Read long lists of prices: what thousands of them share is read once, and not once for each."""

from collections.abc import Iterable

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from costs.models import Batch, MachineType, Price, Sku


def bare(rows: QuerySet[Price]) -> QuerySet[Price]:
    """Return the same offers without what stands beside them; `Beside` adds it."""
    return rows.select_related(None).order_by()


class Beside:
    """SKUs, accelerators, batches and files that were read so far."""

    def __init__(self) -> None:
        self._skus: dict[int, Sku] = {}
        self._batches: dict[int, Batch] = {}

    def filled(self, rows: Iterable[Price]) -> list[Price]:
        """Return the prices with their SKU and batch; two queries for those not seen before."""
        found = list(rows)
        self._read({price.sku_id for price in found}, {price.batch_id for price in found})
        for price in found:
            price.sku, price.batch = self._skus[price.sku_id], self._batches[price.batch_id]
            price.vcpus = price.sku.known_vcpus  # type: ignore[attr-defined]
            price.memory_gib = price.sku.known_memory_gib  # type: ignore[attr-defined]
        return found

    def _read(self, skus: set[int], batches: set[int]) -> None:
        if skus - self._skus.keys():
            self._skus |= _skus().in_bulk(list(skus - self._skus.keys()))
        if batches - self._batches.keys():
            missing = Batch.objects.select_related("raw").in_bulk(list(batches - self._batches.keys()))
            self._batches |= missing


def _skus() -> QuerySet[Sku]:
    machine = MachineType.objects.filter(provider=OuterRef("provider"), name=OuterRef("name"))
    return Sku.objects.select_related("accelerator").annotate(
        known_vcpus=Coalesce("vcpus", Subquery(machine.values("vcpus"))),
        known_memory_gib=Coalesce("memory_gib", Subquery(machine.values("memory_gib"))),
    )

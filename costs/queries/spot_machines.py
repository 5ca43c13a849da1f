"""Read which machine types have spot prices, and which accelerators those machines hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.db.models import JSONField, OuterRef, Subquery

from costs.models import Accelerator, MachineType

from .spot import OnFile, on_file


@dataclass(frozen=True)
class SpotMachine:
    """One machine type of which spot prices are stored."""

    provider: str
    sku: str
    on_file: tuple[OnFile, ...]  # one entry a product
    accelerator: str  # slug, "" where the table of machine types lacks the machine
    accelerator_name: str
    spellings: tuple[str, ...]  # by which measurements may name the accelerator
    gpu_count: Decimal | None

    @property
    def key(self) -> str:
        """Return the machine as one text for an address: aws/p5.48xlarge."""
        return f"{self.provider}/{self.sku}"

    @property
    def last_seen_at(self) -> datetime:
        return max(each.last_seen_at for each in self.on_file)


def spot_machines() -> list[SpotMachine]:
    """Return the machines by accelerator and name; two queries whatever there is."""
    stored = on_file()
    known = _known({each.sku for each in stored})
    groups = groupby(stored, key=lambda each: (each.provider, each.sku))
    machines = [_machine(key, list(found), known.get(key)) for key, found in groups]
    return sorted(
        machines, key=lambda one: (not one.accelerator, one.accelerator_name, one.gpu_count or 0, one.key)
    )


def _known(skus: set[str]) -> dict[tuple[str, str], Any]:
    accelerator = Accelerator.objects.filter(slug=OuterRef("accelerator"))
    rows = MachineType.objects.filter(name__in=sorted(skus)).annotate(
        shown=Subquery(accelerator.values("name")),
        aliases=Subquery(accelerator.values("aliases"), output_field=JSONField()),
    )
    columns = ("provider", "name", "accelerator", "gpu_count", "shown", "aliases")
    return {(row["provider"], row["name"]): row for row in rows.values(*columns)}


def _machine(key: tuple[str, str], stored: Sequence[OnFile], known: Any) -> SpotMachine:
    provider, sku = key
    if known is None:
        return SpotMachine(provider, sku, tuple(stored), "", "", (), None)
    name = known["shown"] or known["accelerator"]
    spellings = (known["accelerator"], name, *(known["aliases"] or ()))
    return SpotMachine(
        provider, sku, tuple(stored), known["accelerator"], name, spellings, known["gpu_count"]
    )

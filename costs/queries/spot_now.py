"""Read what spot machines with one accelerator cost now, zone by zone, where their prices are watched."""

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.db.models import F, OuterRef, Subquery, Window
from django.db.models.functions import RowNumber

from costs.models import MachineType, SpotPrice

from .runs import cadence_of, state_of

# systems without a licence on top
PRODUCTS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)", "Linux")
_SERIES = ("source", "scope", "provider", "sku", "region", "zone", "zone_kind", "account", "product")


class SpotNow(NamedTuple):
    """The newest price of one machine type in one zone."""

    provider: str
    sku: str
    region: str
    zone: str
    price_per_hour: Decimal
    currency: str
    gpu_count: Decimal
    seen_at: datetime
    source: str
    run_id: int
    batch_id: int
    line: int

    @property
    def usd_per_gpu_hour(self) -> Decimal | None:
        return None if self.currency != "USD" else self.price_per_hour / self.gpu_count

    def is_stale(self, now: datetime) -> bool:
        """Return whether it was last seen longer ago than two cadences of its source."""
        return state_of(now - self.seen_at, cadence_of(self.source, "spot_prices")) == "stale"


def spot_now(accelerator: str) -> list[SpotNow]:
    """Return the newest price of every zone for the machine types of an accelerator (a slug); one query."""
    machines = MachineType.objects.filter(accelerator=accelerator)
    machine = machines.filter(provider=OuterRef("provider"), name=OuterRef("sku"))
    newest = Window(RowNumber(), partition_by=[F(name) for name in _SERIES], order_by=F("starts_at").desc())
    rows = (
        SpotPrice.objects.filter(sku__in=machines.values("name"), product__in=PRODUCTS)
        .annotate(place=newest, gpus=Subquery(machine.values("gpu_count")))
        .filter(place=1, gpus__isnull=False)
    )
    columns = (
        "provider", "sku", "region", "zone", "price_per_hour", "currency", "gpus", "last_seen_at", "source",
        "batch__run_id", "batch_id", "line",
    )  # fmt: skip
    return [SpotNow(*row) for row in rows.order_by(*_SERIES).values_list(*columns)]

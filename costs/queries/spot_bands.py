"""Read what providers publish about interruptions of the machines with one accelerator."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from costs.models import Interruption, MachineType


def spot_bands(accelerator: str, now: datetime) -> list[Interruption]:
    """Return the bands that hold now for Linux machines with an accelerator (a slug); one query."""
    still_open = Q(effective_to__isnull=True) | Q(effective_to__gt=now)
    machine = MachineType.objects.filter(
        accelerator=accelerator, provider=OuterRef("provider"), name=OuterRef("sku")
    )
    rows = Interruption.objects.filter(still_open, Exists(machine), product="Linux", effective_from__lte=now)
    newest = {(row.provider, row.sku, row.region): row for row in rows.order_by("as_of", "pk")}
    return sorted(newest.values(), key=lambda row: (row.provider, row.region, row.sku))

"""Read what was agreed for GPUs of one accelerator: the rate of each commitment that is on file."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from costs.models import Commitment, MachineType

from .fx import PLANNING_CURRENCY

SECONDS_PER_HOUR = 3600
RATE_STEP = Decimal("0.000000001")


class Contract(NamedTuple):
    """One commitment to machines with the accelerator. An upfront amount is spread over its hours."""

    provider: str
    commitment: str
    sku: str
    region: str
    gpus: Decimal
    usd_per_gpu_hour: Decimal
    starts_at: datetime
    ends_at: datetime | None
    run_id: int


class AgreedDays(NamedTuple):
    """Days on which the same contracts ran, with their mean rate by GPUs."""

    first: date
    last: date
    usd_per_gpu_hour: Decimal
    gpus: Decimal
    contracts: tuple[Contract, ...]


def contracts(accelerator: str) -> list[Contract]:
    """Return the commitments to a quantity of machines whose rate in dollars is known; one query.

    A commitment to spend is tied to no machine, and one without its count or its money has no rate.
    """
    machine = MachineType.objects.filter(
        provider=OuterRef("provider"), name=OuterRef("sku"), accelerator=accelerator
    )
    rows = (
        Commitment.objects.filter(effective_to__isnull=True, currency=PLANNING_CURRENCY, count__gt=0)
        .exclude(sku="")
        .exclude(starts_at__isnull=True)
        .annotate(gpus_each=Subquery(machine.values("gpu_count")))
        .filter(gpus_each__isnull=False)
    )
    found = [_contract(row) for row in rows.select_related("batch").order_by("starts_at", "pk")]
    return [contract for contract in found if contract is not None]


def agreed_days(found: Sequence[Contract], first: date, last: date) -> list[AgreedDays]:
    """Return the days of a window on which any contract ran; days without one are left out."""
    spans = [(contract, _day(contract.starts_at), _end(contract, last)) for contract in found]
    edges = {first, *(edge for _, start, end in spans for edge in (start, end))}
    starts = sorted(edge for edge in edges if first <= edge <= last)
    answer = []
    for start, following in zip(starts, [*starts[1:], last + timedelta(days=1)], strict=True):
        running = tuple(contract for contract, since, end in spans if since <= start < end)
        if running:
            gpus = sum((contract.gpus for contract in running), Decimal(0))
            paid = sum((contract.gpus * contract.usd_per_gpu_hour for contract in running), Decimal(0))
            rate = (paid / gpus).quantize(RATE_STEP)
            answer.append(AgreedDays(start, following - timedelta(days=1), rate, gpus, running))
    return answer


def _contract(row: Commitment) -> Contract | None:
    gpus = (row.count or Decimal(0)) * row.gpus_each  # type: ignore[attr-defined] # annotated above
    hours = row.term_hours
    if hours is None and row.starts_at and row.ends_at:
        hours = Decimal(int((row.ends_at - row.starts_at).total_seconds())) / SECONDS_PER_HOUR
    if row.upfront and not hours:
        return None
    if (row.recurring_per_hour is None and not row.upfront) or row.starts_at is None:
        return None
    per_hour = (row.recurring_per_hour or Decimal(0)) + (row.upfront / hours if row.upfront and hours else 0)
    return Contract(
        row.provider,
        row.commitment,
        row.sku,
        row.region,
        gpus,
        (per_hour / gpus).quantize(RATE_STEP),
        row.starts_at,
        row.ends_at,
        row.batch.run_id,
    )


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _end(contract: Contract, last: date) -> date:
    """Return the day on which a contract does not run any more."""
    return last + timedelta(days=1) if contract.ends_at is None else _day(contract.ends_at)

"""Read requests to raise limits: what is open, and how long those that were decided took."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Q

from costs.models import QuotaRequest

DECIDED = frozenset({"granted", "partly_granted", "denied"})


@dataclass(frozen=True)
class Asked:
    """One request as it stood on a date."""

    provider: str
    account: str
    region: str
    code: str
    request: str
    name: str
    asked: Decimal
    status: str
    requested_at: datetime
    decided_at: datetime | None
    granted: Decimal | None
    case: str
    note: str
    source: str
    as_of: datetime

    @property
    def took(self) -> timedelta | None:
        """Return how long the answer took, None while there is none or where its date is not known."""
        return self.decided_at - self.requested_at if self.decided_at and self.status in DECIDED else None


@dataclass(frozen=True)
class Waits:
    """How long one provider's answers took, for planner/core/quota.py to learn from."""

    provider: str
    days: tuple[float, ...]  # of each decided request whose dates are known, refusals included
    granted: int  # of those, how many got all that was asked
    open: int  # not decided yet: not in `days`, so what is learned is early where many are


def requests_on(as_of: datetime, *, provider: str = "") -> list[Asked]:
    """Return the requests as they stood at a moment, newest first; of several statements the newest."""
    held = Q(effective_to__isnull=True) | Q(effective_to__gt=as_of)
    rows = QuotaRequest.objects.filter(held, effective_from__lte=as_of)
    if provider:
        rows = rows.filter(provider=provider)
    newest: dict[tuple[str, ...], QuotaRequest] = {}
    for row in rows.order_by("as_of", "effective_from", "pk"):
        newest[row.provider, row.account, row.region, row.request] = row
    return sorted(
        map(_asked, newest.values()), key=lambda each: (each.requested_at, each.request), reverse=True
    )


def _asked(row: QuotaRequest) -> Asked:
    return Asked(
        provider=row.provider,
        account=row.account,
        region=row.region,
        code=row.code,
        request=row.request,
        name=row.name,
        asked=row.asked,
        status=row.status,
        requested_at=row.requested_at,
        decided_at=row.decided_at,
        granted=row.granted,
        case=row.case,
        note=row.note,
        source=row.source,
        as_of=row.as_of,
    )


def waits_on(as_of: datetime) -> dict[str, Waits]:
    """Return what each provider's requests say about waiting, by provider.

    Requests that were withdrawn, invalid or closed without an outcome teach nothing and are left out.
    """
    grouped: dict[str, list[Asked]] = {}
    for each in requests_on(as_of):
        grouped.setdefault(each.provider, []).append(each)
    found = {}
    for provider, asked in sorted(grouped.items()):
        decided = [(each, took) for each in asked if (took := each.took) is not None]
        found[provider] = Waits(
            provider=provider,
            days=tuple(took / timedelta(days=1) for _, took in decided),
            granted=sum(each.status == "granted" for each, _ in decided),
            open=sum(each.status == "open" for each in asked),
        )
    return found

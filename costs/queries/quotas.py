"""Read limits: what an account may run, how much of it is used, and how that changed.

A quota is permission, not capacity: with room under every limit a launch can still fail for want of
machines. costs/queries/quota_allowances.py turns limits into whole machines and GPUs.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q

from costs.models import Quota

GLOBAL = "global"
_SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True)
class Limit:
    """One limit as it held on a date. Unknown numbers are None, never 0."""

    provider: str
    account: str
    region: str
    code: str
    name: str
    bucket: str
    purchase: str
    unit: str
    limit: Decimal | None  # None where there is none, or where it is unknown
    is_unlimited: bool
    used: Decimal | None
    used_as_of: datetime | None
    default_limit: Decimal | None
    is_adjustable: bool | None
    usage_metric: str
    reference: str
    source: str
    effective_from: datetime
    as_of: datetime

    @property
    def state(self) -> str:
        """Return unlimited, limited or unknown."""
        if self.is_unlimited:
            return "unlimited"
        return "unknown" if self.limit is None else "limited"

    @property
    def headroom(self) -> Decimal | None:
        """Return limit - used: below 0 when more runs than is allowed, None where either is unknown."""
        return None if self.limit is None or self.used is None else self.limit - self.used


def code_key(code: str) -> str:
    """Return the form in which two spellings of one code are equal: Azure writes families in several ways.

    >>> code_key("Standard NDASv4_A100 Family") == code_key("standardNDASv4_A100Family")
    True
    """
    return _SEPARATORS.sub("", code.casefold())


def limits_on(
    as_of: datetime, *, provider: str = "", account: str | None = None, region: str = ""
) -> list[Limit]:
    """Return the limits that held at a moment, by provider, account, region and code.

    Where several sources state one limit, the newest that states a number counts; use and default are those
    of the newest that state them.
    """
    rows = Quota.objects.filter(
        Q(effective_to__isnull=True) | Q(effective_to__gt=as_of), effective_from__lte=as_of
    )
    if provider:
        rows = rows.filter(provider=provider)
    if account is not None:
        rows = rows.filter(account=account)
    if region:
        rows = rows.filter(region__in=(region, GLOBAL))
    found: dict[tuple[str, ...], list[Quota]] = {}
    for row in rows.order_by("provider", "account", "region", "code", "-as_of", "-effective_from", "-pk"):
        found.setdefault((row.provider, row.account, row.region, code_key(row.code)), []).append(row)
    return [_limit(sorted(same, key=_age, reverse=True)) for same in found.values()]


def history(provider: str, account: str, region: str, code: str) -> list[Limit]:
    """Return every state that one limit had, oldest first, as each source stated it."""
    rows = Quota.objects.filter(provider=provider, account=account, region=region)
    same = [row for row in rows.order_by("effective_from", "pk") if code_key(row.code) == code_key(code)]
    return [_limit([row]) for row in same]


def _age(row: Quota) -> tuple[datetime, datetime, int]:
    return row.as_of, row.effective_from, row.pk


def _limit(newest_first: list[Quota]) -> Limit:
    stated = (row for row in newest_first if row.is_unlimited or row.limit is not None)
    row = next(stated, newest_first[0])
    used = next((each for each in newest_first if each.used is not None), None)
    default = next((each for each in newest_first if each.default_limit is not None), None)
    return Limit(
        provider=row.provider,
        account=row.account,
        region=row.region,
        code=row.code,
        name=row.name,
        bucket=row.bucket,
        purchase=row.purchase,
        unit=row.unit,
        limit=row.limit,
        is_unlimited=row.is_unlimited,
        used=used.used if used else None,
        used_as_of=used.as_of if used else None,
        default_limit=default.default_limit if default else None,
        is_adjustable=row.is_adjustable,
        usage_metric=row.usage_metric,
        reference=row.reference,
        source=row.source,
        effective_from=row.effective_from,
        as_of=row.as_of,
    )

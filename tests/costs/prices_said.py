"""Prices as a file states them and as they stand, for tests of the gate: one machine, keyword changes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from costs.gate import Known
from costs.names import accelerator_key
from costs.quarantine_rules import (
    Before,
    Key,
    MachineFacts,
    ScopeBefore,
    Verdict,
    check_history,
    check_scope,
)
from costs.rows import PriceRow
from costs.rowtext import Payload, key_of, to_payload

A_DAY = datetime(2026, 11, 1, tzinfo=UTC)
KNOWN = Known(
    {
        accelerator_key(name): slug
        for name, slug in (
            ("H100", "h100-sxm-80gb"),
            ("A100", "a100-sxm-40gb"),
            ("RTX 4090", "rtx-4090-24gb"),
        )
    }
)
MACHINES = {
    ("azure", "Standard_NC24"): MachineFacts(Decimal(1), Decimal(24), "a100-sxm-40gb"),
    ("aws", "p5.48xlarge"): MachineFacts(Decimal(8), Decimal(192), "h100-sxm-80gb"),
}


def row(price: str | None, **changes: Any) -> PriceRow:
    """Return a price row; a price of None is not sold."""
    fields = {
        "provider": "acme",
        "sku": "gpu8",
        "accelerator_name": "H100",
        "gpu_count": Decimal(8),
        "region": "east",
        "term": "on_demand",
        "state": "not_sold" if price is None else "priced",
        "price_per_hour": None if price is None else Decimal(price),
    }
    return PriceRow(**fields | changes)


def said(price: str | None, **changes: Any) -> Payload:
    """Return a fact as it is staged."""
    return to_payload(row(price, **changes))


def seen(day: str, price: str | None, **changes: Any) -> Payload:
    """Return one observation of a history: a day of 2026, or a whole moment."""
    moment = datetime.fromisoformat(day if "T" in day else f"2026-{day}T00:00").replace(tzinfo=UTC)
    return said(price, effective_from=moment, **changes)


def stands(facts: Sequence[Payload], rows: int | None = None, **prior: str) -> ScopeBefore:
    """Return what stands once a file with these facts was published; `prior` by machine type."""
    prices: dict[Key, Before] = {}
    for fact in facts:
        price = fact["price_per_hour"]
        before = prior.get(fact["sku"])
        prices[key_of(PriceRow, fact)] = Before(
            None if price is None else Decimal(price),
            fact["state"],
            fact["currency"],
            A_DAY,
            None if before is None else Decimal(before),
        )
    return ScopeBefore(len(facts) if rows is None else rows, prices)


def judged(facts: Sequence[Payload], before: ScopeBefore | None, **options: Any) -> Verdict:
    """Return the verdict on one scope of a file."""
    return check_scope(facts, before, A_DAY, MACHINES, KNOWN, **options)


def judged_history(facts: Sequence[Payload], **options: Any) -> Verdict:
    """Return the verdict on a history."""
    return check_history(facts, MACHINES, KNOWN, **options)


def rules(verdict: Verdict) -> Mapping[int, str]:
    """Return the rule by which each held fact is held; of nothing else held."""
    assert verdict.whole is None, verdict.whole
    return {at: suspicion.rule for at, suspicion in verdict.facts.items()}

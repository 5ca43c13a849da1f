"""What the quarantine rules are told, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

Key = tuple[str, ...]  # provider, sku, accelerator_name, gpu_count, region, zone, term, payment


@dataclass(frozen=True)
class MachineFacts:
    """What the table of machine types knows of one type."""

    gpu_count: Decimal
    vcpus: Decimal | None = None
    accelerator: str = ""  # slug


@dataclass(frozen=True)
class Before:
    """What stands for one price now."""

    price_per_hour: Decimal | None
    state: str
    currency: str
    since: datetime
    prior: Decimal | None  # the last other price that stood before it; None: there was none


@dataclass(frozen=True)
class ScopeBefore:
    """What stands in one scope now."""

    rows: int  # facts of the last run that was published
    prices: Mapping[Key, Before]


@dataclass(frozen=True)
class Suspicion:
    """Why something is held back."""

    rule: str
    column: str
    value: str
    evidence: str  # one sentence with the figures that were compared


@dataclass(frozen=True)
class Verdict:
    """What is held back of one scope: all of it, or single facts by their place in the sequence given."""

    whole: Suspicion | None = None
    facts: Mapping[int, Suspicion] = field(default_factory=dict)

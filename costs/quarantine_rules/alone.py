"""What can be said of a fact by itself: its price per GPU, and its GPUs against its machine type."""

from datetime import date, datetime
from decimal import Decimal

from costs.gate import SCALE

from .bounds import bounds_of
from .rules import ABSURD, COUNT
from .standing import SKU, Context, Fact, shown
from .verdict import Suspicion

COUNT_STEP = Decimal("0.01")  # a third of a card is written 0.333, 0.33 and 0.3333


def absurd(fact: Fact, context: Context, as_of: datetime) -> Suspicion | None:
    """Suspect a price per GPU-hour outside the bounds of its accelerator on that day."""
    if fact.price is None:
        return None
    on = date.fromisoformat(fact.moment[:10]) if fact.moment else as_of.date()
    slug = context.slug(fact.key)
    bounds = bounds_of(slug, on)
    scale = SCALE.get(fact.currency, 1)
    per_gpu = fact.price / fact.count
    low, high = bounds.low * scale, bounds.high * scale
    if low <= per_gpu <= high:
        return None
    each = f"{shown(Decimal(f'{per_gpu:.4g}'))} {fact.currency} per GPU-hour"
    return Suspicion(
        ABSURD,
        "price_per_hour",
        shown(fact.price),
        f"{each} ({shown(fact.price)} for {shown(fact.count)}) is outside {shown(low)} to {shown(high)} "
        f"for {slug} on {on}",
    )


def miscounted(fact: Fact, context: Context) -> Suspicion | None:
    """Suspect a number of GPUs that the table of machine types has otherwise."""
    machine = context.machine(fact.key)
    if machine is None or abs(machine.gpu_count - fact.count) <= COUNT_STEP:
        return None
    return Suspicion(
        COUNT,
        "gpu_count",
        shown(fact.count),
        f"{shown(fact.count)} GPUs in {fact.key[SKU]}; the table of machine types has "
        f"{shown(machine.gpu_count)}",
    )

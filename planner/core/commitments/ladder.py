"""Ladders: commitments that expire a part at a time, and what expires when.

A ladder keeps some of the commitment always about to expire, so that the level can follow demand and prices.
Source of the practice: FinOps Foundation, guidance on managing commitment discounts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import IntArray
from planner.core.commitments.overlapping import WHOLE_GPUS, Purchase, active_gpus
from planner.core.commitments.terms import MONTHS
from planner.core.ranges import COUNT, COUNT_FROM_1, Range, refuse, takes

RUNGS = Range(1, 120, whole=True)


@takes(
    gpus=WHOLE_GPUS,
    term_months=MONTHS,
    months=MONTHS,
    rungs=RUNGS,
    gpus_per_instance=COUNT_FROM_1,
    first_month=COUNT,
)
def ladder_purchases(
    gpus: int,
    term_months: int,
    months: int,
    rungs: int = 4,
    gpus_per_instance: int = 1,
    first_month: int = 0,
    held: Sequence[Purchase] = (),
) -> tuple[Purchase, ...]:
    """Return purchases that reach and keep a level, one rung each term / rungs months.

    A rung is the level / rungs, or what is missing beside what is `held` and bought so far, if that is less.
    With 12 months and 4 rungs a quarter of the level expires in each quarter once the ladder stands (a rule
    of planning, no published figure); until then, and after a cliff of what is held, the rest is on demand.
    Instances that do not divide evenly go to the first rungs. Raises ValueError where the rungs do not divide
    the term or the level is no whole number of instances.

    >>> [(buy.start_month, buy.gpus) for buy in ladder_purchases(8, 12, 15)]
    [(0, 2), (3, 2), (6, 2), (9, 2), (12, 2)]
    >>> [(buy.start_month, buy.gpus) for buy in ladder_purchases(8, 12, 12, held=[Purchase(-7, 12, 8)])]
    [(6, 2), (9, 2)]
    """
    if term_months % rungs:
        refuse("rungs", rungs, f"a divisor of term_months, {term_months}")
    if gpus % gpus_per_instance:
        refuse("gpus", gpus, f"a multiple of gpus_per_instance, {gpus_per_instance}")
    instances, rest = divmod(gpus // gpus_per_instance, rungs)
    bought: list[Purchase] = []
    for place, start in enumerate(range(first_month, months, term_months // rungs)):
        rung = (instances + (place % rungs < rest)) * gpus_per_instance
        # what is agreed to start later counts too: the level is not passed during the rung's own term
        active = active_gpus([*held, *bought], min(start + term_months, int(MONTHS.high)))[start:]
        missing = max(gpus - int(active.max()), 0) // gpus_per_instance * gpus_per_instance
        if min(rung, missing):
            bought.append(Purchase(start, term_months, min(rung, missing), f"rung {place % rungs + 1}"))
    return tuple(bought)


@dataclass(frozen=True)
class Standing:
    """What is committed today (month 0) and how it runs off if nothing is bought.

    `cliff` is the largest drop from one month to the next as a share of what is active today; `expiring_gpus`
    (months,) ends before each month begins; the last two are None where nothing is active.
    """

    active_gpus: IntArray
    expiring_gpus: IntArray
    cliff: float | None
    cliff_month: int | None
    weighted_remaining_months: float | None


@takes(months=MONTHS)
def standing_of(purchases: Sequence[Purchase], months: int) -> Standing:
    """Return active GPUs by month, what expires, the cliff and the mean remaining term, weighted by GPUs.

    Purchases that begin later than today count in the active GPUs and so can fill a cliff. The drop into
    the month after the last one is seen too.

    >>> found = standing_of([Purchase(-6, 12, 8), Purchase(0, 12, 8)], 24)
    >>> found.cliff, found.cliff_month, found.weighted_remaining_months
    (0.5, 6, 9.0)
    """
    active = active_gpus(purchases, months + 1)
    today = [each for each in purchases if each.start_month <= 0 < each.end_month and each.gpus]
    expiring = np.zeros(months + 1, dtype=np.int64)
    for each in purchases:
        if 0 < each.end_month <= months:
            expiring[each.end_month] += each.gpus
    if not today:
        return Standing(active[:months], expiring[:months], None, None, None)
    drops = active[:-1] - active[1:]
    largest = int(np.argmax(drops))
    remaining = sum(each.gpus * each.end_month for each in today) / int(active[0])
    has_cliff = bool(drops[largest] > 0)
    return Standing(
        active_gpus=active[:months],
        expiring_gpus=expiring[:months],
        cliff=float(max(drops[largest], 0) / active[0]),
        cliff_month=largest + 1 if has_cliff else None,
        weighted_remaining_months=remaining,
    )

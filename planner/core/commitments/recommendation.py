"""A recommendation to commit money, and what must follow from its parts.

It commits C, leaves R on demand and saves G per hour: baseline = C + R + G, percent = G / baseline, month =
G * 730. A printed number that does not follow was worked out on another base, or another period.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.core.commitments.usage import share_of
from planner.core.ranges import ANY, AT_LEAST_0, SHARE, Range, optional, require_fields, takes
from planner.core.units import HOURS_PER_MONTH

MAYBE_MONEY = optional(AT_LEAST_0)


@dataclass(frozen=True)
class Recommendation:
    """Commit `usd_per_hour`; what then stays on demand and what is saved, per hour; None where unknown.

    The last three are as the provider prints them, None where it prints none.
    """

    source: str
    usd_per_hour: float | None
    usd_on_demand_per_hour: float | None
    usd_saved_per_hour: float | None
    printed_baseline_per_hour: float | None = None
    printed_saved_share: float | None = None
    printed_saved_per_month: float | None = None

    def __post_init__(self) -> None:
        require_fields(
            self,
            self.source,
            usd_per_hour=MAYBE_MONEY,
            usd_on_demand_per_hour=MAYBE_MONEY,
            usd_saved_per_hour=optional(ANY),
            printed_baseline_per_hour=MAYBE_MONEY,
            printed_saved_share=optional(Range(-1e3, 1.0)),
            printed_saved_per_month=optional(ANY),
        )


@dataclass(frozen=True)
class RecommendationCheck:
    """What must follow from C, R and G, and how far the printed numbers are from it (printed - followed).

    None where a part is unknown or nothing is printed; `is_consistent` is None where nothing was checked.
    """

    baseline_per_hour: float | None
    saved_share: float | None
    saved_per_month: float | None
    baseline_off: float | None
    saved_share_off: float | None
    saved_per_month_off: float | None
    is_consistent: bool | None


@takes(relative_tolerance=SHARE)
def check_recommendation(
    recommendation: Recommendation, relative_tolerance: float = 0.005
) -> RecommendationCheck:
    """Return baseline = C + R + G, percent = G / baseline, month = G * 730, and how far printed ones are off.

    Printed numbers are rounded, so they agree within `relative_tolerance` of the number that follows.

    >>> given = Recommendation("console", 10.0, 2.0, 3.0, printed_saved_per_month=2160.0)
    >>> check = check_recommendation(given)
    >>> check.baseline_per_hour, check.saved_share, check.saved_per_month_off, check.is_consistent
    (15.0, 0.2, -30.0, False)
    """
    parts = (
        recommendation.usd_per_hour,
        recommendation.usd_on_demand_per_hour,
        recommendation.usd_saved_per_hour,
    )
    baseline = _sum(parts)
    saved = recommendation.usd_saved_per_hour
    share = None if baseline is None or saved is None else share_of(saved, baseline)
    month = None if saved is None else saved * HOURS_PER_MONTH
    followed = (baseline, share, month)
    printed = (
        recommendation.printed_baseline_per_hour,
        recommendation.printed_saved_share,
        recommendation.printed_saved_per_month,
    )
    off = [None if p is None or f is None else p - f for p, f in zip(printed, followed, strict=True)]
    pairs = zip(off, followed, strict=True)
    agree = [abs(o) <= relative_tolerance * abs(f) for o, f in pairs if o is not None and f is not None]
    return RecommendationCheck(
        baseline_per_hour=baseline,
        saved_share=share,
        saved_per_month=month,
        baseline_off=off[0],
        saved_share_off=off[1],
        saved_per_month_off=off[2],
        is_consistent=all(agree) if agree else None,
    )


def _sum(parts: Sequence[float | None]) -> float | None:
    return None if any(part is None for part in parts) else sum(part for part in parts if part is not None)

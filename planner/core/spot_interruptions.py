"""How often one spot machine is taken back, what says so, and what may not be said.

Nobody publishes hazards. Traces measure the spells of a few machines; a provider's band gives the share of
machines interrupted in a month, which bounds the hazard from below; mostly there is nothing. Nothing known is
a value of its own here, with a text and no number: it is never 0 %.
"""

import math
from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import (
    AT_LEAST_0,
    COUNT,
    PROBABILITY_INSIDE,
    SHARE_BELOW_1,
    Range,
    optional,
    refuse,
    require_fields,
    require_one_of,
    takes,
)
from planner.core.units import HOURS_PER_MONTH

Evidence = Literal["measured", "at least", "at most", "none"]
EVIDENCE: tuple[Evidence, ...] = ("measured", "at least", "at most", "none")
_HAZARD = Range(0.0, math.inf, above=True, endless=True)  # a moment may have been watched
NO_INTERRUPTION_DATA = "no interruption data"


@dataclass(frozen=True)
class InterruptionRate:
    """The hazard of one machine per hour, and what says so.

    `hazard_per_hour` is None exactly where `evidence` is "none". "at least" and "at most" are bounds: neither
    is a rate to plan on. `text` says in words what is known.
    """

    evidence: Evidence
    hazard_per_hour: float | None
    text: str

    def __post_init__(self) -> None:
        require_one_of(EVIDENCE, evidence=self.evidence)
        require_fields(self, hazard_per_hour=optional(_HAZARD))
        if (self.hazard_per_hour is None) != (self.evidence == "none"):
            refuse(
                "hazard_per_hour", self.hazard_per_hour, f"none just where nothing is known: {self.evidence}"
            )

    @property
    def mtbf_hours(self) -> float | None:
        """Return 1 / hazard, to plan on: None where it is not measured."""
        return 1.0 / self.hazard_per_hour if self.evidence == "measured" and self.hazard_per_hour else None


NOT_KNOWN = InterruptionRate("none", None, NO_INTERRUPTION_DATA)


@takes(available_hours=AT_LEAST_0, losses=COUNT, confidence=PROBABILITY_INSIDE)
def measured_rate(available_hours: float, losses: int, confidence: float = 0.95) -> InterruptionRate:
    """Return losses / available hours of a trace, the hazard of exponential spells.

    Without a loss the hazard is not 0: it is at most -ln(1 - confidence) / hours, the rate at which so long a
    time without a loss would have a chance of 1 - confidence ("rule of three"). Without an hour watched
    nothing is known. Source of the bound: Hanley and Lippman-Hand, JAMA 249 (1983) 1743.

    >>> measured_rate(21.0, 2).mtbf_hours
    10.5
    >>> measured_rate(100.0, 0).text
    'no loss in 100 h: at most 2.996 % an hour (95 % sure)'
    """
    if available_hours == 0.0:
        return NOT_KNOWN
    if losses:
        hazard = losses / available_hours
        return InterruptionRate("measured", hazard, f"{losses} losses in {available_hours:,g} h")
    bound = -math.log1p(-confidence) / available_hours
    hourly, sure = f"{100 * bound:.4g} % an hour", f"{100 * confidence:g} % sure"
    words = f"no loss in {available_hours:,g} h: at most {hourly} ({sure})"
    return InterruptionRate("at most", bound, words)


@takes(share_low=SHARE_BELOW_1, share_high=optional(SHARE_BELOW_1))
def rate_of_band(share_low: float, share_high: float | None) -> InterruptionRate:
    """Return what a published monthly band says of the hazard: a lower bound, from its lower end.

    The band that begins at 0 % bounds nothing from below and its upper end bounds nothing from above, so
    nothing is known. `share_high` None: the highest band, which is open.

    >>> rate_of_band(0.0, 0.05).text
    'no interruption data: a band of 0 to 5 % bounds nothing'
    """
    hazard, _ = band_hazards_per_hour(share_low, share_high)
    band = f"{100 * share_low:g} % and more" if share_high is None else _band_text(share_low, share_high)
    if hazard == 0.0:
        return InterruptionRate("none", None, f"{NO_INTERRUPTION_DATA}: a band of {band} bounds nothing")
    return InterruptionRate(
        "at least", hazard, f"{band} interrupted in a month: at least {hazard:.3g} an hour"
    )


def _band_text(share_low: float, share_high: float) -> str:
    return f"{100 * share_low:g} to {100 * share_high:g} %"


@takes(share_interrupted=SHARE_BELOW_1)
def lowest_hazard_per_hour(share_interrupted: float) -> float:
    """Return the least hazard that a published monthly share allows: lambda >= -ln(1 - f) / 730.

    The formula takes every machine to have run the whole month. Most spot machines live shorter, so the real
    hazard is higher, often by far: a lower bound to show, never one to plan on. Source: the survival of
    exponential spells; bands of the AWS Spot Instance Advisor.

    >>> round(1 / lowest_hazard_per_hour(0.20))
    3271
    """
    return -math.log1p(-share_interrupted) / HOURS_PER_MONTH


@takes(share_low=SHARE_BELOW_1, share_high=optional(SHARE_BELOW_1))
def band_hazards_per_hour(share_low: float, share_high: float | None) -> tuple[float, float | None]:
    """Return the lower bounds at both ends of a band; None for the end of the highest, which is open.

    Raises ValueError where the upper end is below the lower.

    >>> band_hazards_per_hour(0.0, None)
    (0.0, None)
    """
    if share_high is not None and share_high < share_low:
        refuse("share_high", share_high, f"at least share_low, {share_low:g}")
    high = None if share_high is None else lowest_hazard_per_hour(share_high)
    return lowest_hazard_per_hour(share_low), high

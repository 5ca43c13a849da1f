"""How explanations write amounts, prices and months. Unknown is written as such, never as 0."""

import math
from dataclasses import dataclass
from datetime import date

from planner.core.plan import (
    Block,
    BreakEven,
    Contract,
    Gap,
    OnDemand,
    Owned,
    Reserved,
    SavingsPlan,
    Spot,
    Supply,
)

UNKNOWN = "unknown"


def line_words(line: str) -> str:
    """Return the name of a cost line in words: hardware_deposit is "hardware deposit"."""
    return line.replace("_", " ")


def month_words(month: date) -> str:
    """Return the month of a date: Jun 2029."""
    return f"{month:%b %Y}"


@dataclass(frozen=True)
class Words:
    """Amounts in a plan's currency; `gaps` are its missing inputs."""

    currency: str
    months: int
    gaps: tuple[Gap, ...] = ()

    @staticmethod
    def known(value: float | None) -> float | None:
        """Return a number, or None for NaN: the unknown has one form in explanations."""
        return None if value is None or math.isnan(value) else float(value)

    @staticmethod
    def percent(value: float | None) -> str:
        """Return a share with one decimal: 65.0%."""
        return UNKNOWN if value is None else f"{value:.1%}"

    def usd(self, value: float | None) -> str:
        """Return whole units: 11,904 USD."""
        number = self.known(value)
        return UNKNOWN if number is None else _minus(f"{number:,.0f} {self.currency}")

    def usd_fine(self, value: float | None) -> str:
        """Return four decimals, for prices: 2.0000 USD."""
        number = self.known(value)
        return UNKNOWN if number is None else _minus(f"{number:,.4f} {self.currency}")

    def usd_or_gap(self, value: float | None) -> str:
        """Return an amount, or what is missing for it."""
        return self.usd(value) if self.known(value) is not None else f"{UNKNOWN} ({self.missing})"

    @property
    def missing(self) -> str:
        """Return the missing inputs in words."""
        return "; ".join(gap.text for gap in self.gaps)

    def break_even(self, found: BreakEven | None) -> str:
        """Return a break-even month in words."""
        if found is None:
            return UNKNOWN
        if found.same_as_baseline:
            return "none, the plan is staying on demand"
        if found.month is None or found.date is None:
            return f"not within {self.months} months"
        until = "" if found.until is None else f", until month {found.until}"
        return f"month {found.month} ({month_words(found.date)}){until}"

    def price(self, supply: Supply) -> str:
        """Return what a supply costs, as it was stated."""
        match supply:
            case Owned(usd_capex_per_server=usd):
                return UNKNOWN if usd is None else f"{self.usd(usd)} per server"
            case Reserved():
                return self._reserved(supply)
            case OnDemand() | Spot() | Block():
                return self._per_hour(supply.usd_per_gpu_hour)
            case Contract(steps=steps):
                return ", ".join(
                    f"{self._per_hour(step.usd_per_gpu_hour)} from {month_words(step.start)}"
                    for step in steps
                )
            case SavingsPlan(usd_per_hour=usd):
                return f"{self.usd_fine(usd)} an hour, used or not"

    def _reserved(self, reserved: Reserved) -> str:
        upfront = reserved.usd_upfront_per_gpu
        text = f"{UNKNOWN} upfront" if upfront is None else f"{upfront:,.0f} per GPU upfront"
        if reserved.payment == "all_upfront":
            return text
        rate = self._per_hour(reserved.usd_per_gpu_hour)
        return rate if reserved.payment == "no_upfront" else f"{rate} + {text}"

    def _per_hour(self, usd: float | None) -> str:
        return UNKNOWN if usd is None else f"{self.usd_fine(usd)} per GPU-hour"


def price_value(supply: Supply) -> float | None:
    """Return the price that a supply was stated at, where it is one number."""
    match supply:
        case Owned(usd_capex_per_server=usd):
            return usd
        case SavingsPlan(usd_per_hour=usd):
            return usd
        case Contract():
            return None
        case Reserved() | Block() | OnDemand() | Spot():
            return supply.usd_per_gpu_hour


def _minus(text: str) -> str:
    return text.replace("-", "\u2212")

"""Cost lines: one supply, one line name, an amount per month in each of the three views.

Money falls at the begin of a month (purchases, upfront payments) or at its end (everything that runs);
the present value follows from that. Line names are listed in docs/model.md.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.money import Factors
from planner.core.plan import SupplyKind

# Lines that credit what is left at the horizon; break-even "without residual" leaves them out.
RESIDUAL = "residual"
LineKind = SupplyKind | Literal["project"]


@dataclass(frozen=True)
class Line:
    """Amounts of one cost line by month."""

    supply: str
    kind: LineKind
    name: str
    cash_usd: FloatArray
    amortized_usd: FloatArray
    present_value_usd: FloatArray

    def is_nothing(self) -> bool:
        """Return whether every amount is a known zero, so that no row is needed."""
        return not (self.cash_usd.any() or self.amortized_usd.any() or self.present_value_usd.any())


@dataclass(frozen=True)
class Balance:
    """What the books hold of one supply: before the plan and at the end of each month. Loans are negative."""

    supply: str
    item: str
    opening_usd: float
    closing_usd: FloatArray


@dataclass(frozen=True)
class LineMaker:
    """Makes the lines of one supply with the plan's discount factors."""

    supply: str
    kind: LineKind
    factors: Factors

    def at_begin(self, name: str, usd: FloatArray) -> Line:
        """Make a payment at the begin of months; the books hold it as a balance, not as a cost."""
        return self._line(name, usd, np.zeros_like(usd), usd * self.factors.begin)

    def at_once(self, name: str, usd: FloatArray) -> Line:
        """Make a payment at the begin of months that is a cost in the books of the same month."""
        return self._line(name, usd, usd, usd * self.factors.begin)

    def at_end(self, name: str, usd: FloatArray) -> Line:
        """Make a payment at the end of months that is no cost in the books (loans, residual credit)."""
        return self._line(name, usd, np.zeros_like(usd), usd * self.factors.end)

    def running(self, name: str, usd: FloatArray) -> Line:
        """Make a cost that is paid at the end of the month in which it arises."""
        return self._line(name, usd, usd, usd * self.factors.end)

    def in_books(self, name: str, usd: FloatArray) -> Line:
        """Make a cost that exists in the books only."""
        return self._line(name, np.zeros_like(usd), usd, np.zeros_like(usd))

    def sale(self, name: str, proceeds_usd: FloatArray, book_usd: FloatArray) -> Line:
        """Make a sale at the end of a month: cash comes in, the books show book value less proceeds."""
        return self._line(name, -proceeds_usd, book_usd - proceeds_usd, -proceeds_usd * self.factors.end)

    def _line(self, name: str, cash: FloatArray, amortized: FloatArray, present: FloatArray) -> Line:
        return Line(self.supply, self.kind, name, cash, amortized, present)

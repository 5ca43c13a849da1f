"""A loan on servers: drawn at delivery, level payments at the end of each month, paid off with the servers.

The rate is nominal and compounded monthly, as banks quote it.
"""

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.lines import Balance, Line, LineMaker
from planner.core.money import level_payment, loan_balance, nominal_monthly_rate
from planner.core.plan import Loan


class LoanBooks:
    """What one loan does in each month of the horizon.

    `drawn` is the month index of the draw, `last` the index of the month at whose end the rest is
    paid off: that of the servers' retirement, or the last of the horizon.
    """

    def __init__(self, loan: Loan, capex_usd: float, month: FloatArray, drawn: int, last: int) -> None:
        rate = nominal_monthly_rate(loan.rate_per_year)
        principal = loan.share * capex_usd
        is_due = (month >= drawn) & (month <= last) & (month < drawn + loan.months)
        self.drawn_usd = principal * (month == drawn).astype(np.float64)
        self.payments_usd = level_payment(principal, rate, loan.months) * is_due.astype(np.float64)
        exists = (month >= drawn) & (month <= last)
        # Owed at the end of each month after the regular payment, before any paying off.
        self.owed_usd = self._owed(principal, rate, loan, month + 1 - drawn) * exists
        self.interest_usd = rate * self._owed(principal, rate, loan, month - drawn) * is_due
        self.paid_off_usd = self.owed_usd * (month == last)
        is_running = drawn < 0 <= last
        self.opening_usd = is_running * float(self._owed(principal, rate, loan, np.array([-float(drawn)]))[0])

    @staticmethod
    def _owed(principal: float, rate: float, loan: Loan, paid: FloatArray) -> FloatArray:
        return loan_balance(principal, rate, loan.months, np.clip(paid, 0, loan.months))

    def lines(self, make: LineMaker) -> list[Line]:
        """Return the loan's lines: cash and present value carry draw and payments, the books the interest."""
        return [
            make.at_begin("loan_draw", -self.drawn_usd),
            make.at_end("loan_payment", self.payments_usd),
            make.at_end("loan_payoff", self.paid_off_usd),
            make.in_books("loan_interest", self.interest_usd),
        ]

    def balance(self, supply: str) -> Balance:
        """Return the loan as the books hold it: negative, after paying off."""
        return Balance(supply, "loan", -self.opening_usd, self.paid_off_usd - self.owed_usd)

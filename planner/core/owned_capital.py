"""What a purchase does to cash and books: payments, depreciation, retirement, residual, loan."""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.lines import RESIDUAL, Balance, Line, LineMaker
from planner.core.loan import LoanBooks
from planner.core.money import book_value, straight_line_charge
from planner.core.owned import Life, capex_usd, residual_share
from planner.core.plan import Owned


@dataclass(frozen=True)
class Capital:
    """The capital side of one purchase. The arrays are at the end of each month.

    `resale_usd` is what the servers would fetch if sold then, `loan_owed_usd` what would have to be
    paid off; `still_to_pay_usd` is the remainder of the price that falls after the horizon.
    """

    lines: tuple[Line, ...]
    balances: tuple[Balance, ...]
    resale_usd: FloatArray
    loan_owed_usd: FloatArray
    still_to_pay_usd: float


def capital_of(owned: Owned, life: Life, month: FloatArray, make: LineMaker) -> Capital:
    """Return payments, depreciation, retirement, residual credit and loan of one purchase."""
    capex = capex_usd(owned)
    last = min(life.retired, len(month)) - 1
    resale = resale_usd(owned, life, month)
    lines = [
        make.at_begin("hardware_deposit", capex * owned.deposit_share * (month == life.ordered)),
        make.at_begin("hardware_delivery", capex * (1.0 - owned.deposit_share) * (month == life.delivered)),
        make.in_books("depreciation", _depreciation_usd(owned, life, month)),
        _retirement(owned, life, month, make),
        make.at_end(RESIDUAL, -resale * (month == len(month) - 1)),
    ]
    balances = _hardware_balances(owned, life, month)
    owed = np.zeros_like(month)
    if owned.loan is not None:
        loan = LoanBooks(owned.loan, capex, month, life.delivered, last)
        lines += loan.lines(make)
        balances.append(loan.balance(owned.name))
        owed = loan.owed_usd
    is_ordered = life.ordered < len(month)
    still_to_pay = (capex - float(_paid_usd(owned, life, month)[-1])) * is_ordered
    return Capital(tuple(lines), tuple(balances), resale, owed, still_to_pay)


def resale_usd(owned: Owned, life: Life, month: FloatArray) -> FloatArray:
    """Return what the servers would fetch at the end of each month.

    In service: residual share * all capex. Before: what has been paid. After retirement: nothing.
    """
    age = month + 1 - life.in_service
    in_service = residual_share(owned, np.maximum(age, 0.0)) * capex_usd(owned)
    value = np.where(age > 0, in_service, _paid_usd(owned, life, month))
    return value * (month + 1 < life.retired)


def _paid_usd(owned: Owned, life: Life, month: FloatArray) -> FloatArray:
    deposit = owned.deposit_share * (month >= life.ordered)
    return capex_usd(owned) * (deposit + (1.0 - owned.deposit_share) * (month >= life.delivered))


def _residual_at_accounting_end_usd(owned: Owned) -> float:
    share = residual_share(owned, np.array([float(owned.accounting_life_months)]))[0]
    return float(share) * capex_usd(owned)


def _depreciation_usd(owned: Owned, life: Life, month: FloatArray) -> FloatArray:
    charge = straight_line_charge(
        capex_usd(owned), _residual_at_accounting_end_usd(owned), owned.accounting_life_months
    )
    is_charged = month < life.in_service + owned.accounting_life_months
    return charge * life.is_serving(month) * is_charged


def _book_usd(owned: Owned, life: Life, month: FloatArray) -> FloatArray:
    """Return the book value at the end of each month, retired or not."""
    age = month + 1 - life.in_service
    residual = _residual_at_accounting_end_usd(owned)
    return book_value(capex_usd(owned), residual, owned.accounting_life_months, age)


def _retirement(owned: Owned, life: Life, month: FloatArray, make: LineMaker) -> Line:
    """Return the sale at the end of the economic life: proceeds in cash, gain or loss in the books."""
    is_last = month == life.retired - 1
    share = residual_share(owned, np.maximum(month + 1 - life.in_service, 0.0))
    proceeds = share * capex_usd(owned) * is_last
    return make.sale("retirement", proceeds, _book_usd(owned, life, month) * is_last)


def _hardware_balances(owned: Owned, life: Life, month: FloatArray) -> list[Balance]:
    """Return deposits (paid, not in service) and book value (in service, not retired)."""
    # One month before the first stands for the opening balance.
    month = np.concatenate([[-1.0], month])
    is_held = month + 1 < life.retired
    serves = month >= life.in_service
    deposits = _paid_usd(owned, life, month) * ~serves * is_held
    book = _book_usd(owned, life, month) * serves * is_held
    return [
        Balance(owned.name, "deposits", float(deposits[0]), deposits[1:]),
        Balance(owned.name, "book_value", float(book[0]), book[1:]),
    ]

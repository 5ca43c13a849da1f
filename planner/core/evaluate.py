"""Evaluate a plan: the one function the outside calls. Formulas and timing are in docs/model.md."""

import numpy as np

from planner.core.break_even import (
    PaidCapacity,
    dated_utilization,
    find_break_even,
    reference_supply,
    utilization_terms,
)
from planner.core.calendar import FloatArray
from planner.core.check import check_plan
from planner.core.cliffs import cliffs_of
from planner.core.frames import (
    balances_frame,
    by_class_frame,
    capacity_frame,
    cumulative_frame,
    monthly_frame,
)
from planner.core.gaps import gaps_of
from planner.core.gates import gates_of
from planner.core.ledger import Given, Ledger, Settled, settle
from planner.core.lines import RESIDUAL
from planner.core.notes import notes_of
from planner.core.plan import (
    VIEWS,
    BreakEven,
    OnDemand,
    Outcome,
    Owned,
    Plan,
    Spot,
    UtilizationTerms,
    View,
)
from planner.core.setting import Grid

OFF_TOTAL = ("prepaid_remainder_usd", "recurring_still_owed_usd", "hardware_still_to_pay_usd")


REAL_MONTHS = Grid()


def evaluate(plan: Plan, grid: Grid = REAL_MONTHS, served: Given | None = None) -> Outcome:
    """Return what a plan costs and serves, month by month; raise ValueError for absurd values.

    A missing price makes every total unknown (None) and stands in `gaps`; hours and the other
    supplies' lines stay known. `grid` chooses calendar and hours. `served` takes a dispatch as given, on its
    own grid, instead of working one out; its money comes from the same functions.
    """
    check_plan(plan)
    return outcome_of(settle(plan, grid, served))


def outcome_of(ledger: Ledger) -> Outcome:
    """Return the outcome of a settled plan."""
    plan = ledger.plan
    gaps = gaps_of(plan)
    totals = {view: _total_by_month(ledger, view) for view in VIEWS}
    total = {view: _known(float(totals[view].sum())) for view in VIEWS}
    reference = reference_supply(plan)
    baseline = _baseline_by_month(ledger, reference)
    useful = ledger.served.useful_hours.sum(axis=0)
    peak = _peak_month(totals["cash_usd"])
    terms = _headline_terms(ledger, reference)
    return Outcome(
        plan=plan,
        monthly=monthly_frame(ledger),
        capacity=capacity_frame(ledger),
        cumulative=cumulative_frame(ledger, totals, baseline),
        gaps=gaps,
        notes=notes_of(ledger, reference),
        total=total,
        demand_gpu_hours=float(ledger.served.demand_hours.sum()),
        useful_gpu_hours=float(useful.sum()),
        unmet_gpu_hours=float(ledger.served.unmet_hours.sum()),
        usd_per_useful_gpu_hour=_unit_cost(total, useful, ledger.factors.end),
        break_even=_break_even(ledger, totals, baseline, with_residual=False),
        break_even_with_residual=_break_even(ledger, totals, baseline, with_residual=True),
        break_even_utilization=_of_installed(terms),
        break_even_utilization_of_available=_of_available(terms),
        peak_month_cash_usd=None if peak is None else float(totals["cash_usd"][peak]),
        peak_month=None if peak is None else ledger.horizon.first_days()[peak],
        off_total={name: _off_total(ledger, name) for name in OFF_TOTAL},
        balances=balances_frame(ledger),
        break_even_utilization_by_supply={
            settled.supply.name: _of_installed(_utilization_terms(ledger, [settled], reference))
            for settled in _paid_for(ledger)
        },
        utilization_terms=terms,
        planned_utilization_of_available=_planned_utilization(ledger),
        reference=reference,
        gates=gates_of(ledger, totals["cash_usd"]),
        cliffs=cliffs_of(ledger),
        by_class=by_class_frame(ledger),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _total_by_month(ledger: Ledger, view: View) -> FloatArray:
    total = np.zeros(ledger.plan.months)
    for line in ledger.lines():
        total = total + getattr(line, view)
    return total


def _residual_by_month(ledger: Ledger, view: View) -> FloatArray:
    total = np.zeros(ledger.plan.months)
    for line in ledger.lines():
        if line.name == RESIDUAL:
            total = total + getattr(line, view)
    return total


def _baseline_by_month(ledger: Ledger, reference: OnDemand | None) -> dict[View, FloatArray]:
    """Return all demand at the reference price, paid at month ends; NaN without a reference."""
    unknown = np.full(ledger.plan.months, np.nan)
    path = unknown if reference is None else ledger.setting.prices[reference.name]
    usd = ledger.served.demand_hours.sum(axis=0) * path
    return {"cash_usd": usd, "amortized_usd": usd, "present_value_usd": usd * ledger.factors.end}


def _unit_cost(
    total: dict[View, float | None], useful: FloatArray, end_factors: FloatArray
) -> dict[View, float | None]:
    """Return total / useful GPU-hours; in present value the hours are discounted too (levelized)."""
    hours: dict[View, float] = {view: float(useful.sum()) for view in VIEWS}
    hours["present_value_usd"] = float((useful * end_factors).sum())
    return {view: _ratio(total[view], hours[view]) for view in VIEWS}


def _ratio(usd: float | None, hours: float) -> float | None:
    return None if usd is None or hours <= 0.0 else usd / hours


def _break_even(
    ledger: Ledger,
    totals: dict[View, FloatArray],
    baseline: dict[View, FloatArray],
    with_residual: bool,
) -> dict[View, BreakEven | None]:
    unmet = ledger.served.unmet_hours.sum(axis=0)
    first_days = ledger.horizon.first_days()
    answer: dict[View, BreakEven | None] = {}
    for view in VIEWS:
        own = np.cumsum(totals[view] - _residual_by_month(ledger, view))
        if with_residual:
            own = own + _if_sold(ledger, view)
        answer[view] = find_break_even(own, np.cumsum(baseline[view]), first_days, unmet)
    return answer


def _if_sold(ledger: Ledger, view: View) -> FloatArray:
    """Return what selling out at the end of each month would add to the cumulative cost of a view.

    Cash: less the proceeds, plus the loan still owed. Present value: the same, discounted. Books: the
    value they hold of servers, less the proceeds (loss or gain); prepaid terms stay as they are.
    """
    months = ledger.plan.months
    worth, owed, book = np.zeros(months), np.zeros(months), np.zeros(months)
    for settled in ledger.supplies:
        if settled.worth_usd is not None and (view != "amortized_usd" or isinstance(settled.supply, Owned)):
            worth = worth + settled.worth_usd
        owed = owed + (0.0 if settled.loan_owed_usd is None else settled.loan_owed_usd)
        for balance in settled.balances:
            if balance.item in ("deposits", "book_value"):
                book = book + balance.closing_usd
    # At the last month of a loan's life its payoff is already among the lines.
    owed = owed - _paid_off(ledger)
    if view == "amortized_usd":
        return book - worth
    return (owed - worth) * (ledger.factors.end if view == "present_value_usd" else 1.0)


def _paid_off(ledger: Ledger) -> FloatArray:
    total = np.zeros(ledger.plan.months)
    for line in ledger.lines():
        if line.name == "loan_payoff":
            total = total + line.cash_usd
    return total


def _paid_for(ledger: Ledger) -> list[Settled]:
    return [settled for settled in ledger.supplies if not isinstance(settled.supply, OnDemand | Spot)]


def _utilization_terms(
    ledger: Ledger, supplies: list[Settled], reference: OnDemand | None
) -> UtilizationTerms | None:
    if reference is None or not supplies:
        return None
    capacities = [
        PaidCapacity(
            settled.fixed_present_value_usd,
            settled.installed_gpu_hours,
            settled.available_gpu_hours,
            settled.load_usd_per_gpu_hour,
        )
        for settled in supplies
    ]
    return utilization_terms(capacities, ledger.setting.prices[reference.name], ledger.factors.end)


def _headline_terms(ledger: Ledger, reference: OnDemand | None) -> UtilizationTerms | None:
    """Return the terms of the owned servers, or of the commitments where nothing is owned."""
    return _utilization_terms(ledger, _headline_capacity(ledger), reference)


def _headline_capacity(ledger: Ledger) -> list[Settled]:
    """Return what is owned, or the commitments where nothing is."""
    paid_for = _paid_for(ledger)
    return [settled for settled in paid_for if isinstance(settled.supply, Owned)] or paid_for


def _planned_utilization(ledger: Ledger) -> float | None:
    """Return used / available hours of the headline capacity; None where there are no such hours."""
    headline = _headline_capacity(ledger)
    used = sum(float(settled.used_gpu_hours.sum()) for settled in headline)
    return _ratio(used, sum(float(settled.available_gpu_hours.sum()) for settled in headline))


def _of_installed(terms: UtilizationTerms | None) -> float | None:
    return None if terms is None else dated_utilization(terms.fixed_usd, terms.rent_of_installed_usd)


def _of_available(terms: UtilizationTerms | None) -> float | None:
    return None if terms is None else dated_utilization(terms.fixed_usd, terms.rent_of_available_usd)


def _peak_month(cash: FloatArray) -> int | None:
    return None if np.isnan(cash).any() else int(np.argmax(cash))


def _off_total(ledger: Ledger, name: str) -> float | None:
    return _known(sum(settled.off_total.get(name, 0.0) for settled in ledger.supplies))

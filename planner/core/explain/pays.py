"""When capacity that is paid for pays: the break-even month, the utilization, and what the plan uses."""

import numpy as np

from planner.core.explain.case import Case
from planner.core.explain.parts import Explanation, Input, context
from planner.core.explain.totals import VIEW_NAMES
from planner.core.explain.words import UNKNOWN, Words
from planner.core.plan import BreakEven


def break_even(case: Case) -> Explanation:
    """Return the month explained in which the plan overtakes staying on demand."""
    found = case.outcome.break_even[case.view]
    own, rent = _cumulative(case)
    credited = case.words.break_even(case.outcome.break_even_with_residual[case.view])
    return Explanation(
        f"Break-even month, {VIEW_NAMES[case.view]}",
        "The first month at whose end the plan has cost no more than all its demand on the reference "
        "price without quota, searched from the first month in which the two differ. What the servers "
        "would fetch is not counted here.",
        f"unknown: {_why_none(case)}" if found is None else _sums_at(case, found, own, rent),
        (
            own,
            rent,
            *case.reference_inputs(),
            context("With servers sold at that month's end", credited),
            *case.plan_inputs(),
        ),
        None if found is None or found.month is None else float(found.month),
        "month of the plan",
        "first_at_or_below(own, rent)",
    )


def _cumulative(case: Case) -> tuple[Input, Input]:
    """Return cumulative cost without the credit for what is left, and that of staying on demand."""
    frame = case.outcome.cumulative
    own = frame[case.view].to_numpy(dtype=float) - np.cumsum(case.residual_by_month)
    rent = frame[f"baseline_{case.view}"].to_numpy(dtype=float)
    return (
        case.series("Own, cumulative", own, "own", is_money=True),
        case.series("On demand, cumulative", rent, "rent", is_money=True),
    )


def _sums_at(case: Case, found: BreakEven, own: Input, rent: Input) -> str:
    if not isinstance(own.value, tuple) or not isinstance(rent.value, tuple):
        return UNKNOWN
    place = len(own.value) - 1 if found.month is None else found.month - 1
    mine, its = own.value[place], rent.value[place]
    sign = "≤" if mine <= its else ">"
    usd = case.words.usd
    text = f"after {place + 1} months: own {usd(mine)} {sign} on demand {usd(its)}"
    if found.unmet_gpu_hours:
        text += f", with {found.unmet_gpu_hours:,.0f} GPU-hours of the demand left unserved by then"
    return f"{text}; break-even: {case.words.break_even(found)}"


def unmet_by_break_even(case: Case) -> Explanation:
    """Return the demand explained that the plan leaves unserved up to its break-even month."""
    found = case.outcome.break_even[case.view]
    month = None if found is None else found.month
    value = None if found is None or month is None else found.unmet_gpu_hours
    unmet = case.series("Unmet GPU-hours by month", case.unmet_by_month[: month or 0], "unmet")
    return Explanation(
        "Unserved by the break-even month",
        "GPU-hours of demand that found no supply up to the month in which the plan overtakes staying on "
        "demand: by then it has done less work than what it is measured against.",
        UNKNOWN if value is None else f"sum over {month} months = {value:,.0f} GPU-hours",
        (unmet,),
        value,
        "GPU-hours",
        "sum(unmet)",
    )


def _why_none(case: Case) -> str:
    outcome = case.outcome
    if outcome.reference is None:
        return "the plan has no on-demand supply to be measured against"
    return case.words.missing or f"the price of {outcome.reference.name} is unknown"


def break_even_utilization(case: Case) -> Explanation:
    """Return the share of use explained above which capacity that is paid for beats renting its hours."""
    outcome, words = case.outcome, case.words
    terms, share = outcome.utilization_terms, outcome.break_even_utilization_of_available
    fixed = None if terms is None else Words.known(terms.fixed_usd)
    rent = None if terms is None else Words.known(terms.rent_of_available_usd)
    if terms is None or share is None:
        formula = f"unknown: {_why_no_utilization(case)}"
    else:
        formula = (
            f"fixed costs {words.usd(fixed)} / rent of all available hours {words.usd(rent)} "
            f"= {share:.1%} of available hours"
        )
    by_supply = outcome.break_even_utilization_by_supply.items()
    return Explanation(
        "Break-even utilization",
        "Above this share of use, capacity that is paid for costs less than renting each hour at the "
        "price path. Both sides in present value: all costs but the energy of the load, less what is "
        "left at the end, over the rent of the same hours less that energy.",
        formula,
        (
            Input("Fixed costs", fixed, words.usd(fixed), symbol="fixed"),
            Input("Rent of all available hours", rent, words.usd(rent), symbol="rent"),
            Input(
                "Used in the plan, of available hours",
                outcome.planned_utilization_of_available,
                Words.percent(outcome.planned_utilization_of_available),
            ),
            Input(
                "Share of installed hours",
                outcome.break_even_utilization,
                Words.percent(outcome.break_even_utilization),
            ),
            *(Input(f"{name}, of installed hours", value, Words.percent(value)) for name, value in by_supply),
            *case.reference_inputs(),
            *case.plan_inputs(),
        ),
        share,
        "share of available hours",
        "per(fixed, rent)",
    )


def _why_no_utilization(case: Case) -> str:
    if not case.headline_capacity:
        return "the plan owns and reserves nothing"
    if case.outcome.utilization_terms is not None:
        return "no hour inside the plan where renting costs more than the energy of the load"
    return _why_none(case)


def planned_use(case: Case) -> Explanation:
    """Return the share explained of available hours that the plan uses of what it owns or commits to."""
    names = {supply.name for supply in case.headline_capacity}
    frame = case.outcome.capacity
    is_counted = np.isin(frame["supply"].to_numpy().astype(str), sorted(names))
    available = float(frame["available_gpu_hours"].to_numpy(dtype=float)[is_counted].sum())
    if "used_gpu_hours" in frame:  # of a savings plan: the on-demand hours that it covers
        used = float(frame["used_gpu_hours"].to_numpy(dtype=float)[is_counted].sum())
    else:
        served = (one for one in case.lines if one.line == "served" and one.supply in names)
        used = sum(float(one.paid_gpu_hours.sum()) for one in served)
    share = case.outcome.planned_utilization_of_available
    return Explanation(
        "Planned use",
        "The hours that the plan uses of what it owns, or of what it commits to where it owns nothing, "
        "over the hours in which that is there.",
        f"{used:,.0f} used / {available:,.0f} available GPU-hours = {Words.percent(share)}",
        (
            Input("Used", used, f"{used:,.0f} GPU-hours", symbol="used"),
            Input("Available", available, f"{available:,.0f} GPU-hours", symbol="available"),
            context("Counted", ", ".join(sorted(names)) or "nothing"),
        ),
        share,
        "share of available hours",
        "per(used, available)",
    )

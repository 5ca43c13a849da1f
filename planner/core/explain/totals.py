"""What the plan costs: the total, the cost of a useful GPU-hour, the dearest month, a row of costs."""

from collections.abc import Sequence
from datetime import date

from planner.core.explain.case import Amounts, Case
from planner.core.explain.parts import Explanation, Input, context, numbered, sum_of
from planner.core.explain.words import Words, line_words, month_words
from planner.core.lines import RESIDUAL
from planner.core.plan import View

VIEW_NAMES: dict[View, str] = {
    "cash_usd": "cash",
    "amortized_usd": "amortized",
    "present_value_usd": "present value",
}
VIEW_SENTENCES: dict[View, str] = {
    "cash_usd": "Every payment in the month in which it is due, less what is left at the end of the plan.",
    "amortized_usd": "What the books show: depreciation, running costs, interest, commitments, used or not.",
    "present_value_usd": "Every payment discounted to the plan's first day, less what is left at the end.",
}
LEFT_AT_END = "what is left at the end"


def total(case: Case) -> Explanation:
    """Return the total explained: the sum over supplies, credits for what is left apart."""
    words = case.words
    parts = numbered((name, Words.known(usd), words.usd(usd)) for name, usd in _by_supply(case))
    answer = case.outcome.total[case.view]
    formula = " + ".join(f"{one.name} {one.text}" for one in parts) or "0"
    return Explanation(
        f"Total, {VIEW_NAMES[case.view]}",
        VIEW_SENTENCES[case.view],
        f"{formula} = {words.usd_or_gap(answer)}",
        (*parts, *_prices(case), *case.plan_inputs(), *_off_total(case)),
        answer,
        case.plan.currency,
        sum_of(parts),
    )


def _by_supply(case: Case) -> list[tuple[str, float]]:
    """Return what each supply costs, what is of the whole plan by line, and the credit at the end."""
    sums: dict[str, float] = {supply.name: 0.0 for supply in case.plan.supplies}
    for one in case.money_lines():
        if one.line != RESIDUAL:
            name = one.supply or line_words(one.line)
            sums[name] = sums.get(name, 0.0) + float(one.usd.sum())
    credit = float(case.residual_by_month.sum())
    return [*sums.items(), *([(LEFT_AT_END, credit)] if credit else [])]


def _prices(case: Case) -> tuple[Input, ...]:
    return tuple(Input(f"Price, {one.name}", one.value, one.text, one.source) for one in case.price_inputs())


def _off_total(case: Case) -> tuple[Input, ...]:
    return tuple(
        Input(f"{line_words(name.removesuffix('_usd'))}, in no total", value, case.words.usd_or_gap(value))
        for name, value in case.outcome.off_total.items()
        if value != 0.0
    )


def unit_cost(case: Case) -> Explanation:
    """Return the cost per useful GPU-hour explained; in present value the hours are discounted too."""
    words, is_levelized = case.words, case.view == "present_value_usd"
    unit, usd = case.outcome.usd_per_useful_gpu_hour[case.view], case.outcome.total[case.view]
    hours = case.useful_by_month
    shown = float((hours * case.end_factors).sum()) if is_levelized else case.outcome.useful_gpu_hours
    what = "discounted useful" if is_levelized else "useful"
    over = f"{words.usd_or_gap(usd)} / {shown:,.0f} {what} GPU-hours"
    served = case.series("Useful GPU-hours by month", hours, "hours")
    factors = case.series("Discount factor by month", case.end_factors, "factors")
    inputs = [Input("Total", usd, words.usd_or_gap(usd), symbol="total"), served]
    return Explanation(
        "Cost per useful GPU-hour" + (", levelized" if is_levelized else ""),
        "The total over the hours in which demand was served; idle and lost hours are paid for by them.",
        f"{over}: unknown" if unit is None else f"{over} = {words.usd_fine(unit)}",
        (
            *inputs,
            *([_factor_text(factors)] if is_levelized else []),
            context("Useful GPU-hours", f"{case.outcome.useful_gpu_hours:,.0f}"),
            context("Demand", f"{case.outcome.demand_gpu_hours:,.0f} GPU-hours"),
            *_prices(case),
        ),
        unit,
        f"{case.plan.currency} per GPU-hour",
        "per(total, dot(hours, factors))" if is_levelized else "per(total, sum(hours))",
    )


def _factor_text(factors: Input) -> Input:
    values = factors.value
    if not isinstance(values, tuple):
        return factors
    text = f"{values[0]:.4f} in month 1, {values[-1]:.4f} in month {len(values)}"
    return Input(factors.name, values, text, "discount rate of the plan, month ends", factors.symbol)


def peak_month(case: Case) -> Explanation:
    """Return the month with the highest cash need explained, payment by payment."""
    peak, usd, words = case.outcome.peak_month, case.outcome.peak_month_cash_usd, case.words
    parts = () if peak is None else numbered(_paid_in(case, peak))
    sums = " + ".join(f"{one.name.replace(', ', ' ')} {one.text}" for one in parts) or "0"
    return Explanation(
        "Dearest month in cash" + ("" if peak is None else f", {month_words(peak)}"),
        "The month in which the most money leaves the account.",
        f"unknown: {words.missing}" if peak is None else f"{sums} = {words.usd_or_gap(usd)}",
        parts or (_unknown_cash() if peak is None else ()),
        usd,
        case.plan.currency,
        "cash" if peak is None else sum_of(parts),
    )


def _unknown_cash() -> tuple[Input, ...]:
    return (Input("Cash of the month", None, "unknown", symbol="cash"),)


def _paid_in(case: Case, peak: date) -> list[tuple[str, float | None, str]]:
    start = case.plan.start
    place = (peak.year - start.year) * 12 + peak.month - start.month
    paid = [(one.label, float(one.cash_usd[place])) for one in case.money_lines()]
    return [(name, Words.known(usd), case.words.usd(usd)) for name, usd in paid if usd != 0.0]


def line_total(case: Case, title: str, lines: Sequence[Amounts]) -> Explanation:
    """Return one row of costs explained: the sums over the plan of the lines that it holds."""
    words = case.words
    parts = numbered(
        (one.label, Words.known(float(one.usd.sum())), words.usd(float(one.usd.sum()))) for one in lines
    )
    values = [one.value for one in parts]
    answer = Words.known(sum(float(one.usd.sum()) for one in lines))
    names = {one.supply for one in lines}
    prices = tuple(one for one in case.price_inputs() if one.name in names)
    return Explanation(
        f"{title}, {VIEW_NAMES[case.view]}",
        f"What its lines come to over {case.plan.months} months.",
        f"{' + '.join(one.text for one in parts) or 'no such cost'} = {words.usd_or_gap(answer)}",
        (*parts, *(Input(f"Price, {one.name}", one.value, one.text, one.source) for one in prices)),
        None if None in values else answer,
        case.plan.currency,
        sum_of(parts),
    )

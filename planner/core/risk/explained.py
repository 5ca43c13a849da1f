"""Explain the figures of a plan's risk: a sentence, the formula with this case's numbers, the inputs."""

from datetime import date

import numpy as np

from planner.core.evaluate import REAL_MONTHS
from planner.core.explain.parts import Explanation, Input, context, numbered, sum_of
from planner.core.explain.words import month_words
from planner.core.plan import Outcome, Spot
from planner.core.risk.of_plan import Key, PlanConcentration
from planner.core.risk.plan_coverage import PlanCoverage, is_lost_with
from planner.core.risk.plan_shortfall import PlanShortfall
from planner.core.risk.reach import reach_of
from planner.core.setting import Grid


def concentration_explained(found: PlanConcentration, key: Key) -> Explanation:
    """Return what stands behind the index by one key; unknown where a value of the key is.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> from planner.core.risk.of_plan import concentration_of_plan
    >>> outcome = evaluate(plan_to_decide())
    >>> concentration_explained(concentration_of_plan(outcome, {"H100": "NVIDIA"}), "vendor").formula
    '(100.0%)² = 10,000'
    """
    one = found.by_key[key]
    shares = numbered((name, share, f"{share:.1%}") for name, share in one.shares.items())
    squares = " + ".join(f"({share.text})²" for share in shares)
    return Explanation(
        f"Concentration by {key.replace('_', ' ')}",
        "The sum of the squared shares in percent of critical GPU-hours served: 10,000 is a single one.",
        f"{squares or 'no share is known'} = {_number(one.hhi)}",
        (
            *shares,
            context("Work that counts", found.work.text),
            context("Left out", f"{one.left_out_gpu_hours:,.0f} GPU-hours to which it does not apply"),
            context("Unknown", ", ".join(one.unknown) or "nothing"),
            context("Bands", f"{one.guideline.name}, {one.guideline.year}; drawn for markets"),
        ),
        one.hhi,
        "",
        "" if one.hhi is None else "10000 * (" + " + ".join(f"{share.symbol} ** 2" for share in shares) + ")",
    )


def coverage_explained(outcome: Outcome, found: PlanCoverage, grid: Grid = REAL_MONTHS) -> Explanation | None:
    """Return what stands behind the worst coverage; None where nothing can be lost.

    `found` is the coverage of the same outcome and grid.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> from planner.core.risk.plan_coverage import coverage_of_plan
    >>> outcome = evaluate(plan_to_decide())
    >>> coverage_explained(outcome, coverage_of_plan(outcome)).value
    0.0
    """
    worst, day = found.worst, found.worst_month
    if worst is None or day is None:
        return None
    sources, demand, reached = _in_reach(outcome, found, worst.lost, day, grid)
    at_least = "at least " if worst.is_lower_bound else ""
    one_by_one = " + ".join(f"min({d.symbol}, {r.symbol})" for d, r in zip(demand, reached, strict=True))
    total = sum_of(demand)
    wanted = " + ".join(each.text for each in demand)
    left = " + ".join(source.text for source in sources) or "nothing"
    return Explanation(
        f"Worst coverage: {worst.lost} lost in {month_words(day)}",
        "The share of critical work that the others could still serve, on average over the month.",
        f"({left}) / ({wanted}), and no more than each workload can use = {at_least}{worst.share:.1%}",
        (
            *sources,
            *demand,
            *reached,
            context("Work that counts", found.work.text),
            context("Unknown", ", ".join(worst.unknown) or "nothing"),
        ),
        worst.share,
        "share",
        f"min(per({sum_of(sources)}, {total}), per({one_by_one}, {total}), 1)",
    )


def _in_reach(
    outcome: Outcome, found: PlanCoverage, lost: str, day: date, grid: Grid
) -> tuple[tuple[Input, ...], ...]:
    """Return what each other source covers, and what each workload wants and could have, in GPUs."""
    reach = reach_of(outcome, grid)
    month = reach.need.months.index(day)
    wanted, ported = reach.need.gpus[:, month], reach.portability[:, :, month]
    kept = [
        s
        for s, supply in enumerate(reach.supplies)
        if not is_lost_with(supply, lost, found.by) and not isinstance(supply, Spot)
    ]
    capacity = np.nan_to_num(reach.capacity_gpus[:, month])
    sources = numbered(
        (reach.supplies[s].name, gpus, f"{gpus:,.1f} GPUs of critical work")
        for s, gpus in ((s, float(capacity[s] * (wanted @ ported[:, s]) / wanted.sum())) for s in kept)
    )
    names = reach.need.work.names
    demand = numbered(
        ((f"{name}, wanted", float(d), f"{d:,.1f} GPUs") for name, d in zip(names, wanted, strict=True)), "d"
    )
    alone = [float(ported[w, kept] @ capacity[kept]) for w in range(len(names))]
    reached = numbered(
        ((f"{name}, in reach", g, f"{g:,.1f} GPUs") for name, g in zip(names, alone, strict=True)), "r"
    )
    return sources, demand, reached


def shortfall_explained(found: PlanShortfall) -> Explanation:
    """Return what stands behind the expected shortfall: its months.

    >>> from planner.core.risk.of_plan import CriticalWork
    >>> shortfall_explained(PlanShortfall(CriticalWork((), (), True), 0.0, 0.0, (), ())).value
    0.0
    """
    months = tuple(each.gpu_hours for each in found.months)
    series = None if any(each is None for each in months) else tuple(each or 0.0 for each in months)
    answer = f"unknown, at most {found.most_gpu_hours:,.0f}"
    if found.gpu_hours is not None:
        answer = f"{found.gpu_hours:,.0f}"
    return Explanation(
        "Expected shortfall",
        "GPU-hours of critical work that supplies are expected to lack. For each month: over every state of "
        "which of them are out, its probability times what is lacking.",
        f"sum over {len(months)} months = {answer} GPU-hours",
        (
            Input("Expected shortfall by month", series, f"{len(months)} months", symbol="s"),
            context("Unknown", ", ".join(found.unknown) or "nothing"),
        ),
        found.gpu_hours,
        "GPU-hours",
        "sum(s)",
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"

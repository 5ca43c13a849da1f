"""A plan with choices becomes a problem, with coefficients from its own cost functions (probe.py)."""

import math
from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.check import check_plan
from planner.core.check_supplies import check_supply
from planner.core.ledger import settle
from planner.core.load_duration import build_blocks
from planner.core.market import market_of
from planner.core.optimize.choices import Choices, OwnedChoice
from planner.core.optimize.crew_of import crew_of
from planner.core.optimize.probe import Bought, Probed, cash_by_month, present_value, probed
from planner.core.optimize.problem import DeferrableWork, Limits, Option, Problem, Purchase, Work
from planner.core.optimize.who_may import gang_lots, reasons_of, useful_by_option
from planner.core.owned import capex_usd
from planner.core.plan import Contract, OnDemand, Owned, Plan, Reserved, SavingsPlan, Spot, Supply
from planner.core.power import kw_by_month
from planner.core.ranges import COUNT_FROM_1, optional, refuse, takes
from planner.core.setting import Grid, setting_of
from planner.core.slots import Demand


@dataclass(frozen=True)
class Framed:
    """A problem and what it takes to make a plan of its solution.

    `plan` is the one given, without rented supplies whose price is unknown (`not_weighed`): they cannot be
    chosen, and a plan that holds one has no known total. `order` has the workload of each row of work.
    Options are the supplies of `plan`, then the choices.
    """

    problem: Problem
    plan: Plan
    grid: Grid
    demand: Demand
    order: tuple[int, ...]
    bought: tuple[Bought, ...]
    not_weighed: tuple[str, ...]


@takes(hours_per_month=optional(COUNT_FROM_1))
def from_plan(plan: Plan, choices: Choices, hours_per_month: int | None = None) -> Framed:
    """Return the least-cost problem of a plan: its demand and supplies, what may be bought, its limits.

    `hours_per_month` None is the real calendar, 730 the flat one. Work that may wait is pooled by month, and
    may be late where `choices` say so. Raises ValueError for savings plans and for contracts that may be
    paid for less than what they hold: both price use by what was used, which no linear coefficient can say.

    >>> from planner.core.optimize.examples import plan_to_decide, servers_and_terms
    >>> framed = from_plan(plan_to_decide(), servers_and_terms())
    >>> [option.name for option in framed.problem.options]
    ['On demand', 'Own', 'Term']
    """
    check_plan(plan)
    for owned in choices.owned:
        check_supply(owned.template)
    for reserved in choices.reserved:
        check_supply(reserved.template)
    _refuse_what_is_not_linear(plan)
    unknown = tuple(s.name for s in plan.supplies if isinstance(s, OnDemand | Spot) and _is_unknown(s))
    plan = replace(plan, supplies=tuple(s for s in plan.supplies if s.name not in unknown))
    grid = Grid(hours_per_month=hours_per_month, blocks_per_month=choices.blocks_per_month)
    setting = setting_of(plan, grid)
    demand = build_blocks(setting.horizon, plan.workloads, setting.cut_hours(), choices.blocks_per_month)
    probe = probed(plan, choices, grid, demand)
    order = _order(plan)
    return Framed(
        problem=_problem(plan, choices, grid, demand, probe, order),
        plan=plan,
        grid=grid,
        demand=demand,
        order=order,
        bought=probe.bought,
        not_weighed=unknown,
    )


def _refuse_what_is_not_linear(plan: Plan) -> None:
    for supply in plan.supplies:
        if isinstance(supply, SavingsPlan):
            refuse(f"{supply.name}: kind", "a savings plan", "a supply that is not priced by what was used")
        if isinstance(supply, Contract) and supply.take_or_pay_share < 1.0:
            refuse(f"{supply.name}: take_or_pay_share", supply.take_or_pay_share, "1 in a plan to optimize")


def _is_unknown(supply: OnDemand | Spot) -> bool:
    return supply.usd_per_gpu_hour is None


def _order(plan: Plan) -> tuple[int, ...]:
    urgent = [w for w, workload in enumerate(plan.workloads) if workload.deferrable_hours == 0]
    return (*urgent, *(w for w in range(len(plan.workloads)) if w not in urgent))


def _problem(
    plan: Plan, choices: Choices, grid: Grid, demand: Demand, probe: Probed, order: tuple[int, ...]
) -> Problem:
    ledger, crew = probe.idle, crew_of(plan, probe)
    market, open_to = market_of(setting_of(plan, grid), demand.slots)
    fixed = [line for each in ledger.supplies[: len(plan.supplies)] for line in each.lines]
    fixed += ledger.projects
    useful = useful_by_option(plan, probe, open_to)[list(order)]
    usd = _usd_per_use(plan, probe)[list(order)]
    own = _cheapest(usd)
    options = [_there(supply, own[s], market.gpus[s], choices) for s, supply in enumerate(plan.supplies)] + [
        _to_buy(plan, probe, bought, own[len(plan.supplies) + i], crew is not None)
        for i, bought in enumerate(probe.bought)
    ]
    return Problem(
        hours=demand.slots.hours,
        month=demand.slots.month,
        end_factors=ledger.factors.end,
        urgent=tuple(
            Work(plan.workloads[w].name, demand.gpus[w], plan.workloads[w].critical)
            for w in order
            if plan.workloads[w].deferrable_hours == 0
        ),
        deferrable=tuple(
            _deferrable(plan, choices, demand, w) for w in order if plan.workloads[w].deferrable_hours > 0
        ),
        options=tuple(options),
        useful_per_paid=useful,
        usd_per_paid=usd - own[None, :, :],
        limits=_limits(plan, choices, probe),
        reasons=reasons_of(plan, probe, open_to),
        usd_unmet_per_gpu_hour=_unmet(choices, ledger.factors.end),
        years=np.array([day.year for day in ledger.horizon.first_days()], dtype=np.int64),
        fixed_cash_usd=cash_by_month(fixed, plan.months),
        fixed_usd=present_value(fixed, without_staff=crew is not None),
        crew=crew,
    )


def _unmet(choices: Choices, end_factors: FloatArray) -> FloatArray | None:
    if choices.usd_unmet_per_gpu_hour is None:
        return None
    return choices.usd_unmet_per_gpu_hour * end_factors


def _usd_per_use(plan: Plan, probe: Probed) -> FloatArray:
    """Return the present value of one paid GPU-hour by (workload, option, month)."""
    count = len(plan.supplies)
    table = np.zeros((len(plan.workloads), count + len(probe.bought), plan.months))
    table[:, :count] = probe.usd_per_use[:, :count]
    for i, bought in enumerate(probe.bought):
        if len(bought.rows):
            # a probe has no use outside its life; where several have, they agree
            table[:, count + i] = _first_known(probe.usd_per_use[:, bought.rows])
    return table


def _first_known(usd: FloatArray) -> FloatArray:
    """Return the largest of the probes by (workload, month), NaN where one is unknown."""
    return np.asarray(usd.max(axis=1))


def _cheapest(usd: FloatArray) -> FloatArray:
    """Return the least of all workloads by (option, month), NaN only where no workload's is known."""
    least = np.where(np.isnan(usd), np.inf, usd).min(axis=0, initial=np.inf)
    return np.asarray(np.where(np.isinf(least), np.nan if usd.shape[0] else 0.0, least))


def _there(supply: Supply, usd: FloatArray, gpus: FloatArray, choices: Choices) -> Option:
    assert not isinstance(supply, SavingsPlan)  # noqa: S101  (refused before)
    size = supply.gpus_per_instance if isinstance(supply, OnDemand | Spot) else 1
    return Option(
        name=supply.name,
        kind=supply.kind,  # type: ignore[arg-type]  # a savings plan is no option
        usd_per_gpu_hour=usd,
        gpus=gpus,
        provider=supply.provider,
        region=supply.region,
        quota_unit=choices.quota_units.get(supply.name, ""),
        gpus_per_quota_unit=size,
    )


def _to_buy(plan: Plan, probe: Probed, bought: Bought, usd: FloatArray, has_crew: bool) -> Option:
    """Return a choice as an option: the money and capacity of its probes by month of purchase."""
    months, template, ledger = plan.months, bought.choice.template, probe.idle
    usd_per_unit, most = np.zeros(months), np.zeros(months)
    gpus, cash, kw = (np.zeros((months, months)) for _ in range(3))
    for row, month in zip(bought.rows.tolist(), bought.month.tolist(), strict=True):
        settled = ledger.supplies[row]
        usd_per_unit[month] = present_value(settled.lines, without_staff=has_crew)
        gpus[month] = probe.gpus[row]
        cash[month] = cash_by_month(settled.lines, months)
        most[month] = _most(bought.choice)
        kw[month] = _kw(settled.supply, probe)
    is_owned = isinstance(template, Owned)
    return Option(
        name=bought.name,
        kind=template.kind,  # type: ignore[arg-type]
        usd_per_gpu_hour=usd,
        gpus=np.zeros(len(ledger.slots.month)),
        provider=template.provider,
        region=template.region,
        purchase=Purchase(
            usd_per_unit=usd_per_unit,
            gpus_per_unit=gpus,
            most_per_month=most,
            whole=isinstance(bought.choice, OwnedChoice) or bought.choice.whole,
            capex_usd_per_unit=_known_capex(template),
            cash_usd_per_unit=cash,
            kw_per_unit=kw if is_owned else None,
            unit="server" if is_owned else "instance",
            least_per_purchase=gang_lots(plan, probe, bought),
        ),
    )


def _most(choice: OwnedChoice | object) -> float:
    most = (
        choice.most_per_order if isinstance(choice, OwnedChoice) else getattr(choice, "most_per_start", None)
    )
    return math.inf if most is None else float(most)


def _known_capex(template: Owned | Reserved) -> float:
    """Return the capital of one unit, 0 where its price is unknown: it cannot be bought then."""
    capex = capex_usd(template) if isinstance(template, Owned) else 0.0
    return 0.0 if math.isnan(capex) else capex


def _kw(supply: Supply, probe: Probed) -> FloatArray:
    setting = probe.idle.setting
    if not isinstance(supply, Owned) or not supply.max_kw_per_server:
        return np.zeros(setting.plan.months)
    return supply.max_kw_per_server * setting.lives[supply.name].is_serving(setting.month)


def _deferrable(plan: Plan, choices: Choices, demand: Demand, w: int) -> DeferrableWork:
    workload = plan.workloads[w]
    weights = demand.gpus[w] * demand.slots.hours
    hours = np.bincount(demand.slots.month, weights=weights, minlength=plan.months)
    late = next((each for each in choices.late if each.workload == workload.name), None)
    return DeferrableWork(
        name=workload.name,
        gpu_hours=hours.astype(np.float64),
        most_months_late=0 if late is None else late.most_months,
        usd_late_per_gpu_hour_month=0.0 if late is None else late.usd_per_gpu_hour_month,
        critical=workload.critical,
    )


def _limits(plan: Plan, choices: Choices, probe: Probed) -> Limits:
    return Limits(
        capex_budget_usd=choices.capex_budget_usd,
        most_provider_share=choices.most_provider_share,
        most_spot_share=choices.most_spot_share,
        least_coverage=choices.least_coverage,
        cash_usd_by_year={budget.year: budget.usd for budget in plan.budgets},
        power_kw=_power(plan, probe),
    )


def _power(plan: Plan, probe: Probed) -> dict[str, FloatArray]:
    """Return what the plan's own servers leave of each site's power, by month."""
    horizon = probe.idle.horizon
    left = {}
    for site in {limit.site for limit in plan.power_limits}:
        taken = np.zeros(plan.months)
        for settled in probe.idle.supplies[: len(plan.supplies)]:
            supply = settled.supply
            if isinstance(supply, Owned) and supply.region == site:
                taken += supply.servers * _kw(supply, probe)
        left[site] = np.maximum(kw_by_month(plan.power_limits, site, horizon) - taken, 0.0)
    return left


def settle_fixed(framed: Framed) -> float:
    """Return the present value of the plan as it stands under evaluate(), for a comparison with the optimum.

    NaN where a price is unknown. Work that stays unmet is not priced.

    >>> from planner.core.optimize.examples import plan_to_decide, servers_and_terms
    >>> round(settle_fixed(from_plan(plan_to_decide(1), servers_and_terms())))
    88574
    """
    return float(sum(line.present_value_usd.sum() for line in settle(framed.plan, framed.grid).lines()))

"""Small random problems for the optimizer, and the same written a second time, row by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from planner.core.money import discount_factors
from planner.core.optimize.options import commitment_option, on_demand_option, server_option, spot_option
from planner.core.optimize.problem import DeferrableWork, Limits, Option, Problem, Work


@dataclass(frozen=True)
class Case:
    """One small problem in plain numbers: months of two blocks of 146 and 584 hours."""

    months: int
    demand: Any  # (months, 2) GPUs
    work: Any  # (months,) GPU-hours
    late: int
    capex: float
    opex: float
    lead: int
    loss: float
    term: int
    committed: float
    on_demand: tuple[float, float]
    quota: tuple[float, float]
    spot: float
    overhead: float
    spot_gpus: float
    budget: float
    provider_share: float
    spot_share: float
    most: int = 2
    rate: float = 0.1
    delay: float = 0.25
    hours: tuple[float, float] = (146.0, 584.0)


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    months = int(rng.integers(2, 4))
    return Case(
        months=months,
        demand=rng.integers(5, 40, (months, 2)).astype(float),
        work=rng.integers(2_000, 20_000, months).astype(float),
        late=int(rng.integers(0, 3)),
        capex=float(rng.integers(20_000, 60_000)),
        opex=float(rng.integers(1_000, 5_000)),
        lead=int(rng.integers(0, 2)),
        loss=float(rng.uniform(0.0, 0.3)),
        term=int(rng.integers(1, months + 1)),
        committed=float(rng.uniform(1.5, 3.5)),
        on_demand=(float(rng.uniform(3.0, 5.0)), float(rng.uniform(3.0, 5.0))),
        quota=(float(rng.integers(20, 60)), float(rng.integers(20, 60))),
        spot=float(rng.uniform(0.5, 2.0)),
        overhead=float(rng.uniform(0.0, 0.4)),
        spot_gpus=float(rng.integers(4, 16)),
        budget=float(rng.integers(0, 200_000)),
        provider_share=float(rng.uniform(0.7, 1.0)),
        spot_share=float(rng.uniform(0.2, 1.0)),
    )


def problem_of(case: Case) -> Problem:
    factors = discount_factors(case.rate, case.months)
    blocks, month = 2 * case.months, np.repeat(np.arange(case.months), 2)
    hours = np.full(case.months, sum(case.hours))
    options: tuple[Option, ...] = (
        server_option(
            "Own", factors, blocks, gpus=8, capex_usd=case.capex, opex_usd_per_month=case.opex,
            lead_time_months=case.lead, availability=0.96, value_loss_per_month=case.loss,
            most_per_month=case.most,
        ),
        commitment_option(
            "Term", "A", factors, hours, blocks, term_months=case.term, usd_per_gpu_hour=case.committed
        ),
        on_demand_option(
            "A on demand", "A", factors,
            usd_per_gpu_hour=case.on_demand[0], gpus=np.full(blocks, case.quota[0]),
        ),
        on_demand_option(
            "B on demand", "B", factors,
            usd_per_gpu_hour=case.on_demand[1], gpus=np.full(blocks, case.quota[1]),
        ),
        spot_option(
            "Spot", "A", factors, usd_per_gpu_hour=case.spot, gpus=np.full(blocks, case.spot_gpus)
        ),
    )  # fmt: skip
    useful = np.ones((2, 5, case.months))
    useful[0, 4], useful[1, 4] = 0.0, 1.0 / (1.0 + case.overhead)
    return Problem(
        hours=np.tile(case.hours, case.months),
        month=month,
        end_factors=factors.end,
        urgent=(Work("serving", case.demand.ravel(), critical=True),),
        deferrable=(DeferrableWork("training", case.work, case.late, case.delay),),
        options=options,
        useful_per_paid=useful,
        limits=Limits(
            capex_budget_usd=case.budget,
            most_provider_share=case.provider_share,
            most_spot_share=case.spot_share,
        ),
    )


def dense_optimum(case: Case, orders: tuple[int, ...] | None = None) -> float:
    """Return the optimum of the formulation typed as dense rows, with the orders given or by the part.

    Infinite where there is none. x[s, k, t, b] of own, term, A, B, spot; y, z and late by month.
    """
    T = case.months
    monthly = (1.0 + case.rate) ** (1 / 12)
    begin = np.array([monthly**-t for t in range(T)])
    end = np.array([monthly ** -(t + 1) for t in range(T)])
    n_x = 5 * 2 * T * 2
    n = n_x + 3 * T

    def x(s: int, k: int, t: int, b: int) -> int:
        return ((s * 2 + k) * T + t) * 2 + b

    def y(t: int) -> int:
        return n_x + t

    def z(t: int) -> int:
        return n_x + T + t

    def late(t: int) -> int:
        return n_x + 2 * T + t

    cost, upper = np.zeros(n), np.full(n, np.inf)
    for t in range(T):
        in_service = max(0, T - t - case.lead)
        cost[y(t)] = case.capex * begin[t] + case.opex * end[t + case.lead :].sum()
        cost[y(t)] -= case.capex * (1 - case.loss) ** in_service * end[T - 1]
        upper[y(t)] = case.most
        cost[z(t)] = case.committed * 730 * end[t : t + case.term].sum()
        upper[z(t)] = np.inf if t + case.term <= T else 0.0
        cost[late(t)] = case.delay * end[t]
        recent = case.work[max(0, t + 1 - case.late) : t + 1].sum() if case.late else 0.0
        upper[late(t)] = 0.0 if t == T - 1 else recent
        for b in range(2):
            for k in range(2):
                for s, price in ((2, case.on_demand[0]), (3, case.on_demand[1]), (4, case.spot)):
                    cost[x(s, k, t, b)] = price * case.hours[b] * end[t]
            upper[x(4, 0, t, b)] = 0.0
    at_most, at_most_rhs, equal, equal_rhs = [], [], [], []
    row = np.zeros(n)
    row[[y(t) for t in range(T)]] = case.capex
    at_most.append(row)
    at_most_rhs.append(case.budget)
    done = {4: 1.0 / (1.0 + case.overhead)}
    for t in range(T):
        row = np.zeros(n)
        for b in range(2):
            for s in range(5):
                row[x(s, 1, t, b)] = case.hours[b] * done.get(s, 1.0)
        share = row.copy()
        row[late(t)] = 1.0
        if t:
            row[late(t - 1)] = -1.0
        equal.append(row)
        equal_rhs.append(case.work[t])
        share *= -case.spot_share
        for b in range(2):
            share[x(4, 1, t, b)] += case.hours[b] * done[4]
        at_most.append(share)
        at_most_rhs.append(0.0)
        for provider in ((1, 2, 4), (3,)):
            row = np.zeros(n)
            for b in range(2):
                for k in range(2):
                    for s in range(5):
                        row[x(s, k, t, b)] = case.hours[b] * ((s in provider) - case.provider_share)
            at_most.append(row)
            at_most_rhs.append(0.0)
        for b in range(2):
            row = np.zeros(n)
            row[[x(s, 0, t, b) for s in range(4)]] = -1.0
            at_most.append(row)
            at_most_rhs.append(-case.demand[t, b])
            for s, cap in ((0, 0.0), (1, 0.0), (2, case.quota[0]), (3, case.quota[1]), (4, case.spot_gpus)):
                row = np.zeros(n)
                row[[x(s, 0, t, b), x(s, 1, t, b)]] = 1.0
                if s == 0:
                    row[[y(u) for u in range(T) if u <= t - case.lead]] = -8 * 0.96
                if s == 1:
                    row[[z(u) for u in range(T) if u <= t < u + case.term]] = -1.0
                at_most.append(row)
                at_most_rhs.append(cap)
    bounds = [(0.0, None if np.isinf(top) else top) for top in upper]
    if orders is not None:
        bounds[n_x : n_x + T] = [(float(order), float(order)) for order in orders]
    found = linprog(
        cost, A_ub=np.array(at_most), b_ub=at_most_rhs, A_eq=np.array(equal), b_eq=equal_rhs, bounds=bounds
    )
    return float(found.fun or 0.0) if found.status == 0 else float("inf")

"""Delivery states: the few ways in which all drawn lead times put servers into months."""

from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray, Horizon, IntArray
from planner.core.owned import Life, life_of
from planner.core.plan import Owned, Plan

MOST_LEAD_DAYS = 3_650


@dataclass(frozen=True)
class States:
    """`plans` has one plan per state, lead times replaced; `of_draw` says which state each draw is in."""

    plans: tuple[Plan, ...]
    of_draw: IntArray


def delivery_states(plan: Plan, horizon: Horizon, lead_time: FloatArray) -> States:
    """Return the states that factors on lead times, by draw, lead to.

    Servers in service at the plan's first day have no lead time left. Draws whose servers are ordered,
    delivered and in service in the same months share a state, because a month is all that a plan knows of a
    date.
    """
    waiting = [s for s in plan.supplies if isinstance(s, Owned) and life_of(s, horizon).in_service > 0]
    if not waiting:
        return States((plan,), np.zeros(len(lead_time), dtype=np.int64))
    columns, days = [], []
    for owned in waiting:
        lead = np.minimum(np.rint(owned.lead_time_days * lead_time), MOST_LEAD_DAYS).astype(np.int64)
        columns.append(_lives(owned, lead, horizon))
        days.append(lead)
    # one number per combination of months sorts much faster than rows of them
    key = np.zeros(len(lead_time), dtype=np.int64)
    for column in np.concatenate(columns, axis=1).T:
        _, place = np.unique(key * (horizon.months + 1) + column, return_inverse=True)
        key = place.ravel()
    _, first, of_draw = np.unique(key, return_index=True, return_inverse=True)
    plans = [_with_lead_times(plan, waiting, [int(lead[place]) for lead in days]) for place in first]
    return States(tuple(plans), of_draw.ravel())


def _lives(owned: Owned, lead_days: IntArray, horizon: Horizon) -> IntArray:
    """Return month of delivery and of service for each lead time, capped behind the horizon."""
    distinct, place = np.unique(lead_days, return_inverse=True)
    found = [life_of(owned, horizon, int(days)) for days in distinct]
    months = np.array([_months(life, horizon.months) for life in found], dtype=np.int64)
    return months[place.ravel()]


def _months(life: Life, horizon_months: int) -> tuple[int, int]:
    return min(life.delivered, horizon_months), min(life.in_service, horizon_months)


def _with_lead_times(plan: Plan, waiting: list[Owned], days: list[int]) -> Plan:
    lead = {owned.name: each for owned, each in zip(waiting, days, strict=True)}
    supplies = tuple(
        replace(s, lead_time_days=lead[s.name]) if isinstance(s, Owned) and s.name in lead else s
        for s in plan.supplies
    )
    return replace(plan, supplies=supplies)

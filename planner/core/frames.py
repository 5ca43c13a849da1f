"""Write a settled plan as tidy frames. Each frame is built once, from arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from planner.core.calendar import FloatArray
from planner.core.ledger import Ledger
from planner.core.lines import Line
from planner.core.metered import in_whole_instances
from planner.core.plan import VIEWS, Supply, View

HOUR_COLUMNS = ("paid_gpu_hours", "useful_gpu_hours")


def monthly_frame(ledger: Ledger) -> pd.DataFrame:
    """Return one row per month, supply and line; lines that are zero throughout are left out."""
    block = _Blocks(ledger)
    served = ledger.served
    for row, settled in enumerate(ledger.supplies):
        supply = settled.supply
        hours = (served.paid_hours[row], served.useful_hours[row])
        block.add(supply.name, supply.kind, "served", hours=hours)
        for line in settled.lines:
            if not line.is_nothing():
                block.add(line.supply, line.kind, line.name, money=line)
    for line in ledger.projects:
        if not line.is_nothing():
            block.add(line.supply, line.kind, line.name, money=line)
    unmet = ledger.served.unmet_hours.sum(axis=0)
    block.add("", "unmet", "unmet", hours=(np.zeros_like(unmet), unmet))
    return block.frame()


class _Blocks:
    """Collects blocks of one row per month, then builds the frame in one go."""

    def __init__(self, ledger: Ledger) -> None:
        self.days = _days(ledger)
        self.nothing = np.zeros(len(self.days))
        self.names: list[tuple[str, str, str]] = []
        self.columns: dict[str, list[FloatArray]] = {name: [] for name in (*HOUR_COLUMNS, *VIEWS)}

    def add(
        self,
        supply: str,
        kind: str,
        line: str,
        hours: tuple[FloatArray, FloatArray] | None = None,
        money: Line | None = None,
    ) -> None:
        """Add one line's months, carrying either hours or money."""
        self.names.append((supply, kind, line))
        for column, values in zip(HOUR_COLUMNS, hours or (self.nothing, self.nothing), strict=True):
            self.columns[column].append(values)
        for view in VIEWS:
            self.columns[view].append(self.nothing if money is None else getattr(money, view))

    def frame(self) -> pd.DataFrame:
        """Return the frame."""
        months = len(self.days)
        data: dict[str, Any] = {"month": np.tile(self.days, len(self.names))}
        for position, column in enumerate(("supply", "kind", "line")):
            data[column] = _repeated([names[position] for names in self.names], months)
        for column, blocks in self.columns.items():
            data[column] = np.concatenate(blocks)
        return pd.DataFrame(data)


def _days(ledger: Ledger) -> NDArray[np.object_]:
    return np.array(ledger.horizon.first_days(), dtype=object)


def _repeated(values: Sequence[str], times: int) -> NDArray[np.object_]:
    return np.repeat(np.array(values, dtype=object), times)


def capacity_frame(ledger: Ledger) -> pd.DataFrame:
    """Return a row per month and supply: hours, installed, available, used, quota, peak in instances."""
    months, supplies = ledger.plan.months, ledger.supplies
    if not supplies:
        columns = ("month", "supply", "kind", "hours", "installed_gpu_hours", "available_gpu_hours")
        return pd.DataFrame(columns=[*columns, "used_gpu_hours", "quota_gpus", "peak_gpus"])
    return pd.DataFrame(
        {
            "month": np.tile(_days(ledger), len(supplies)),
            "supply": _repeated([settled.supply.name for settled in supplies], months),
            "kind": _repeated([settled.supply.kind for settled in supplies], months),
            "hours": np.tile(ledger.hours, len(supplies)),
            "installed_gpu_hours": np.concatenate([settled.installed_gpu_hours for settled in supplies]),
            "available_gpu_hours": np.concatenate([settled.available_gpu_hours for settled in supplies]),
            "used_gpu_hours": np.concatenate([settled.used_gpu_hours for settled in supplies]),
            "quota_gpus": np.concatenate([_quota(ledger, settled.supply) for settled in supplies]),
            "peak_gpus": np.concatenate([_peak(ledger, row) for row in range(len(supplies))]),
        }
    )


def _quota(ledger: Ledger, supply: Supply) -> FloatArray:
    quota = ledger.setting.quotas.get(supply.name, np.full(ledger.plan.months, np.inf))
    return np.where(np.isinf(quota), np.nan, quota)


def _peak(ledger: Ledger, row: int) -> FloatArray:
    supply, peak = ledger.supplies[row].supply, ledger.served.peak_paid_gpus[row]
    return in_whole_instances(peak, getattr(supply, "gpus_per_instance", 1))


def balances_frame(ledger: Ledger) -> pd.DataFrame:
    """Return what the books hold at the begin and end of each month by supply and item."""
    balances = [balance for settled in ledger.supplies for balance in settled.balances]
    months = ledger.plan.months
    closing = np.array([balance.closing_usd for balance in balances]).reshape(len(balances), months)
    opening = np.array([balance.opening_usd for balance in balances]).reshape(-1, 1)
    return pd.DataFrame(
        {
            "month": np.tile(_days(ledger), len(balances)),
            "supply": _repeated([balance.supply for balance in balances], months),
            "item": _repeated([balance.item for balance in balances], months),
            "opening_usd": np.concatenate([opening, closing[:, :-1]], axis=1).ravel(),
            "closing_usd": closing.ravel(),
        }
    )


def cumulative_frame(
    ledger: Ledger, totals: dict[View, FloatArray], baseline: dict[View, FloatArray]
) -> pd.DataFrame:
    """Return running totals of the plan and of staying on demand, by view."""
    data: dict[str, Any] = {"month": _days(ledger)}
    for view in VIEWS:
        data[view] = np.cumsum(totals[view])
    for view in VIEWS:
        data[f"baseline_{view}"] = np.cumsum(baseline[view])
    return pd.DataFrame(data)


def by_class_frame(ledger: Ledger) -> pd.DataFrame:
    """Return hours by month, workload and the supply that serves it; with supply "" what stays unmet.

    Pairs that never meet are left out.
    """
    served, plan = ledger.served, ledger.plan
    names: list[tuple[str, str]] = []
    paid: list[FloatArray] = []
    useful: list[FloatArray] = []
    unmet: list[FloatArray] = []
    nothing = np.zeros(plan.months)
    for w, workload in enumerate(plan.workloads):
        for s in np.flatnonzero(served.useful_by_class[w].any(axis=1)):
            names.append((workload.name, plan.supplies[int(s)].name))
            paid.append(served.paid_by_class[w, s])
            useful.append(served.useful_by_class[w, s])
            unmet.append(nothing)
        names.append((workload.name, ""))
        paid.append(nothing)
        useful.append(nothing)
        unmet.append(served.unmet_hours[w])
    return pd.DataFrame(
        {
            "month": np.tile(_days(ledger), len(names)),
            "workload": _repeated([name for name, _ in names], plan.months),
            "supply": _repeated([name for _, name in names], plan.months),
            "paid_gpu_hours": _joined(paid),
            "useful_gpu_hours": _joined(useful),
            "unmet_gpu_hours": _joined(unmet),
        }
    )


def _joined(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.zeros(0)

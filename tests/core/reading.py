"""Read an Outcome in tests: one line's amounts by month, balances, sums."""

import numpy as np

from planner.core.plan import Outcome, View


def line(outcome: Outcome, supply: str, name: str, column: str = "cash_usd") -> list[float]:
    """Return a line's values by month; zeros where the frame has no such line."""
    frame = outcome.monthly
    rows = frame[(frame["supply"] == supply) & (frame["line"] == name)]
    values = rows[column].to_numpy(dtype=float)
    return [0.0] * outcome.plan.months if len(values) == 0 else values.tolist()


def served(outcome: Outcome, supply: str) -> list[float]:
    """Return the useful GPU-hours a supply gave, by month."""
    return line(outcome, supply, "served", "useful_gpu_hours")


def unmet(outcome: Outcome) -> list[float]:
    """Return the GPU-hours left unmet, by month."""
    return line(outcome, "", "unmet", "useful_gpu_hours")


def by_month(outcome: Outcome, view: View, without: tuple[str, ...] = ()) -> np.ndarray:
    """Return a view's sum by month, leaving out some lines."""
    frame = outcome.monthly[~outcome.monthly["line"].isin(without)]
    return frame.groupby("month")[view].sum(min_count=1).to_numpy(dtype=float)


def closing(outcome: Outcome) -> np.ndarray:
    """Return what the books hold at the end of each month."""
    return _balances(outcome, "closing_usd")


def opening(outcome: Outcome) -> float:
    """Return what the books held before the plan."""
    return float(_balances(outcome, "opening_usd")[0])


def _balances(outcome: Outcome, column: str) -> np.ndarray:
    if outcome.balances.empty:
        return np.zeros(outcome.plan.months)
    return outcome.balances.groupby("month")[column].sum().to_numpy(dtype=float)

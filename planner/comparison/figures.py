"""Raw numbers beside their text for the eye: figures, and differences to the base."""

from collections.abc import Mapping
from typing import Literal

from planner.comparison.result import Delta, Figure, Meaning, Unit
from planner.templatetags import units

SAME_SHARE = 1e-9  # of the larger amount: the rounding of sums, not a difference
NOT_APPLICABLE = "—"
DAYS_PER_WEEK = 7
UNIT_WORDS: Mapping[Unit, str] = {
    "money": "{currency}",
    "money_per_gpu_hour": "{currency} per GPU-hour",
    "gpu_hours": "GPU-hours",
    "gpus": "GPUs",
    "share": "share",
    "days": "days",
    "run_days": "days",
    "runs_a_month": "runs a month",
}


def unit_words(unit: Unit, currency: str) -> str:
    """Return a unit as files and explanations write it: "USD per GPU-hour"."""
    return UNIT_WORDS[unit].format(currency=currency)


def money(value: float | None, currency: str, *, reason: str = "", explain: str = "") -> Figure:
    """Return an amount for tables: whole units with separators."""
    return Figure(value, units.usd(value, currency), reason, explain)


def money_short(value: float | None, currency: str, *, reason: str = "", explain: str = "") -> Figure:
    """Return an amount for cards: three significant figures."""
    return Figure(value, units.usd_short(value, currency), reason, explain)


def not_applicable(reason: str = "") -> Figure:
    """Return the figure of something that does not apply here."""
    return Figure(None, NOT_APPLICABLE, reason)


def share_served(share: float, explain: str = "") -> Figure:
    """Return a share of demand; all but a little is never shown as all."""
    text = units.percent(share)
    if share < 1.0 and text == units.percent(1.0):
        text = f"over{units.NBSP}{units.percent(0.999)}"
    return Figure(share, text, explain=explain)


def of_unit(value: float | None, unit: Unit, currency: str, *, reason: str = "", explain: str = "") -> Figure:
    """Return a figure in the words of its unit, for tables."""
    return Figure(value, _text(value, unit, currency), reason, explain)


def _text(value: float | None, unit: Unit, currency: str) -> str:
    match unit:
        case "money":
            return units.usd(value, currency)
        case "money_per_gpu_hour":
            return units.usd_per_hour(value, currency)
        case "share":
            return units.percent(value)
        case "days":
            return units.UNKNOWN if value is None else f"{round(value / DAYS_PER_WEEK)}{units.NBSP}wk"
        case "gpu_hours" | "gpus":
            return units.count(value)
        case "run_days":
            return units.UNKNOWN if value is None else f"{_three_figures(value)}{units.NBSP}d"
        case "runs_a_month":
            return units.UNKNOWN if value is None else _three_figures(value)


def _three_figures(value: float) -> str:
    return units.count(value) if abs(value) >= 100 else f"{value:.3g}".replace("-", units.MINUS)


def delta(
    value: float | None,
    base: float | None,
    unit: Unit,
    currency: str,
    *,
    explain: str = "",
    more_is_better: bool = False,
) -> Delta | None:
    """Return the difference to the base, if both are known; `explain` is the key of the figure itself."""
    key = f"delta_{explain}" if explain else ""
    if value is None or base is None:
        return None
    change = value - base
    if abs(change) <= SAME_SHARE * max(abs(value), abs(base)):
        return Delta(0.0, 0.0, "=", "", "", "same", key)
    share = change / abs(base) if base else None
    arrow: Literal["▼", "▲"] = "▼" if change < 0 else "▲"
    meaning: Meaning = "better" if (change > 0) == more_is_better else "worse"
    return Delta(
        change,
        share,
        _signed(change, unit, currency),
        "" if share is None else units.percent_signed(share),
        arrow,
        meaning,
        key,
    )


def _signed(change: float, unit: Unit, currency: str) -> str:
    if unit == "money":
        return units.usd_short_signed(change, currency)
    text = _text(change, unit, currency)
    return f"+{text}" if change > 0 else text

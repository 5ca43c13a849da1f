"""Raw numbers beside their text for the eye: figures, and differences to the base."""

from typing import Literal

from planner.comparison.result import Delta, Figure, Meaning, Unit
from planner.templatetags import units

SAME_SHARE = 1e-9  # of the larger amount: the rounding of sums, not a difference
NOT_APPLICABLE = "—"
DAYS_PER_WEEK = 7


def money(value: float | None, currency: str, *, reason: str = "", explain: str = "") -> Figure:
    """Return an amount for tables: whole units with separators."""
    return Figure(value, units.usd(value, currency), reason, explain)


def money_short(value: float | None, currency: str, *, reason: str = "", explain: str = "") -> Figure:
    """Return an amount for cards: three significant figures."""
    return Figure(value, units.usd_short(value, currency), reason, explain)


def not_applicable(reason: str = "") -> Figure:
    """Return the figure of something that does not apply here."""
    return Figure(None, NOT_APPLICABLE, reason)


def share_served(share: float) -> Figure:
    """Return a share of demand; all but a little is never shown as all."""
    text = units.percent(share)
    if share < 1.0 and text == units.percent(1.0):
        text = f"over{units.NBSP}{units.percent(0.999)}"
    return Figure(share, text)


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


def delta(value: float | None, base: float | None, unit: Unit, currency: str) -> Delta | None:
    """Return the difference to the base, if both are known. Less is better."""
    if value is None or base is None:
        return None
    change = value - base
    if abs(change) <= SAME_SHARE * max(abs(value), abs(base)):
        return Delta(0.0, 0.0, "=", "", "", "same")
    share = change / abs(base) if base else None
    arrow: Literal["▼", "▲"] = "▼" if change < 0 else "▲"
    meaning: Meaning = "better" if change < 0 else "worse"
    return Delta(
        change,
        share,
        _signed(change, unit, currency),
        "" if share is None else units.percent_signed(share),
        arrow,
        meaning,
    )


def _signed(change: float, unit: Unit, currency: str) -> str:
    if unit == "money":
        return units.usd_short_signed(change, currency)
    text = _text(change, unit, currency)
    return f"+{text}" if change > 0 else text

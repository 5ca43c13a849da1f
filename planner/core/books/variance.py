"""Plan against actual: why the money differs, and how good the forecast was."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.ranges import AT_LEAST_0, optional, refuse, require_fields, takes, with_unknown

MAYBE_AMOUNT = with_unknown(AT_LEAST_0)
PRICE = optional(AT_LEAST_0)
BAND = optional(MAYBE_AMOUNT)


@dataclass(frozen=True)
class Variance:
    """How much of a difference is volume and how much is rate, in USD; positive is dearer than planned."""

    volume_usd: float
    rate_usd: float

    @property
    def total_usd(self) -> float:
        """Return volume + rate, which is actual - plan."""
        return self.volume_usd + self.rate_usd


@takes(planned_quantity=AT_LEAST_0, planned_price=PRICE, actual_quantity=AT_LEAST_0, actual_price=PRICE)
def volume_and_rate(
    planned_quantity: float, planned_price: float | None, actual_quantity: float, actual_price: float | None
) -> Variance | None:
    """Return volume (Q1 - Q0) * P0 and rate (P1 - P0) * Q1; None where a price is unknown.

    Quantity in GPU-hours and price in USD per GPU-hour, or any other pair. Q1 P1 - Q0 P0 is their sum.
    Source: standard costing; FinOps Framework, "Forecasting" and "Unit economics".

    >>> volume_and_rate(100.0, 2.0, 120.0, 2.5)
    Variance(volume_usd=40.0, rate_usd=60.0)
    """
    if planned_price is None or actual_price is None:
        return None
    return Variance(
        (actual_quantity - planned_quantity) * planned_price, (actual_price - planned_price) * actual_quantity
    )


@dataclass(frozen=True)
class SourceChange:
    """One source of GPU-hours as planned and as it was. A price of None is not known."""

    name: str
    planned_gpu_hours: float
    planned_usd_per_gpu_hour: float | None
    actual_gpu_hours: float
    actual_usd_per_gpu_hour: float | None

    def __post_init__(self) -> None:
        """Refuse hours and prices outside their range."""
        require_fields(
            self,
            self.name,
            planned_gpu_hours=AT_LEAST_0,
            actual_gpu_hours=AT_LEAST_0,
            planned_usd_per_gpu_hour=PRICE,
            actual_usd_per_gpu_hour=PRICE,
        )


@dataclass(frozen=True)
class ThreeWay:
    """Volume, mix and price, in USD, and mix and price of each source. None where a price is missing."""

    volume_usd: float | None
    mix_usd: float | None
    price_usd: float | None
    mix_usd_by_source: dict[str, float]
    price_usd_by_source: dict[str, float]
    missing: tuple[str, ...] = ()

    @property
    def total_usd(self) -> float | None:
        """Return volume + mix + price, which is actual - plan."""
        parts = [part for part in (self.volume_usd, self.mix_usd, self.price_usd) if part is not None]
        return sum(parts) if len(parts) == 3 else None


def volume_mix_price(sources: Sequence[SourceChange]) -> ThreeWay:
    """Return volume (Q1 - Q0) * P0, mix Q1 * sum (s1 - s0) p0, price sum q1 * (p1 - p0).

    Q is the sum over sources, s a source's share, P0 the planned mean price. They add up: Q1 sum s0 p0 = Q1
    P0 and Q1 sum s1 p0 = sum q1 p0, so volume + mix = sum q1 p0 - Q0 P0, and price makes it sum q1 p1 - sum
    q0 p0. Mix plus price is the rate of `volume_and_rate`. A source's mix is Q1 (s1 - s0) (p0 - P0): more of
    a source that is cheaper than the mean saves. Prices of sources without hours in plan and actual are not
    needed. A planned price is needed of each that is used, a new one too; what is missing is named. Raises
    ValueError where nothing was planned, since then there is no planned mean, and for two sources of one
    name. Source: price-volume-mix of standard costing.

    >>> change = volume_mix_price([SourceChange("reserved", 80.0, 1.0, 60.0, 1.0),
    ...                            SourceChange("on demand", 20.0, 3.0, 60.0, 3.5)])
    >>> round(change.volume_usd, 9), round(change.mix_usd, 9), round(change.price_usd, 9)
    (28.0, 72.0, 30.0)
    """
    names = [each.name for each in sources]
    if len(set(names)) < len(names):  # by source they would take each other's place and no longer add up
        refuse("names of sources", ", ".join(names), "a name of its own for each source")
    used = [each for each in sources if each.planned_gpu_hours or each.actual_gpu_hours]
    if not sum(each.planned_gpu_hours for each in used):
        refuse(
            "planned_gpu_hours", 0, "above 0 for some source: without a plan there is no planned mean price"
        )
    missing = _missing_prices(used)
    if missing:
        return ThreeWay(None, None, None, {}, {}, missing)
    planned, actual, price_then, price_now = _columns(used)
    total_planned, total_actual = planned.sum(), actual.sum()
    mean = float((planned * price_then).sum() / total_planned)
    mix = total_actual * (_shares(actual) - planned / total_planned) * (price_then - mean)
    price = actual * (price_now - price_then)
    names = [each.name for each in used]
    return ThreeWay(
        float(total_actual - total_planned) * mean,
        float(mix.sum()),
        float(price.sum()),
        dict(zip(names, mix.tolist(), strict=True)),
        dict(zip(names, price.tolist(), strict=True)),
    )


def _shares(amounts: FloatArray) -> FloatArray:
    total = amounts.sum()
    return amounts / total if total else np.zeros_like(amounts)


def _missing_prices(sources: Sequence[SourceChange]) -> tuple[str, ...]:
    then = [f"{s.name}: planned price" for s in sources if s.planned_usd_per_gpu_hour is None]
    now = [
        f"{s.name}: actual price" for s in sources if s.actual_gpu_hours and s.actual_usd_per_gpu_hour is None
    ]
    return (*then, *now)


def _columns(sources: Sequence[SourceChange]) -> FloatArray:
    """Return rows of planned and actual hours, planned and actual prices; a price of no hours counts as 0."""
    rows = [
        (
            s.planned_gpu_hours,
            s.actual_gpu_hours,
            s.planned_usd_per_gpu_hour,
            s.actual_usd_per_gpu_hour or 0.0,
        )
        for s in sources
    ]
    return np.array(rows, dtype=np.float64).T


@dataclass(frozen=True)
class Accuracy:
    """How good a forecast was, over the periods for which both numbers are known.

    `wape` is the weighted absolute percentage error, `bias` above 0 a forecast that is too high; both shares
    of all that was. `coverage` is the share of periods inside P10 to P90: near 0.8 is right, 1 too wide.
    """

    wape: float | None
    bias: float | None
    coverage: float | None
    periods: int
    periods_left_out: int


@takes(actual=MAYBE_AMOUNT, forecast=MAYBE_AMOUNT, p10=BAND, p90=BAND)
def forecast_accuracy(
    actual: FloatArray, forecast: FloatArray, p10: FloatArray | None = None, p90: FloatArray | None = None
) -> Accuracy:
    """Return sum|A - F| / sum A, sum(F - A) / sum A and the share of P10 <= A <= P90.

    Arrays of one number a period; NaN (not measured, no forecast) leaves the period out and counts it. None
    where nothing is left, or all that was is 0. Raises ValueError where lengths differ or P90 is below P10.
    Source: Hyndman and Koehler, International Journal of Forecasting 22 (2006) 679 for the errors.

    >>> forecast_accuracy(np.array([100.0, 100.0]), np.array([110.0, 80.0])).wape
    0.15
    """
    for name, other in (("forecast", forecast), ("p10", p10), ("p90", p90)):
        if other is not None and other.shape != actual.shape:
            refuse(name, f"{other.size} periods", f"as many as actual has, {actual.size}")
    _check_band(p10, p90)
    known = ~(np.isnan(actual) | np.isnan(forecast))
    was, thought = actual[known], forecast[known]
    total = float(was.sum())
    return Accuracy(
        float(np.abs(was - thought).sum()) / total if total else None,
        float((thought - was).sum()) / total if total else None,
        _coverage(actual, p10, p90),
        int(known.sum()),
        int(actual.size - known.sum()),
    )


def _check_band(p10: FloatArray | None, p90: FloatArray | None) -> None:
    if p10 is None or p90 is None:
        return
    crossed = np.flatnonzero(p90 < p10)
    if len(crossed):
        first = int(crossed[0])
        refuse("p90", f"{p90[first]} against p10 {p10[first]}", "at least p10 in each period")


def _coverage(actual: FloatArray, p10: FloatArray | None, p90: FloatArray | None) -> float | None:
    if p10 is None or p90 is None:
        return None
    known = ~(np.isnan(actual) | np.isnan(p10) | np.isnan(p90))
    if not known.any():
        return None
    return float(((p10 <= actual) & (actual <= p90))[known].mean())

"""Break-even over two inputs at once: when owning overtakes renting, and above which utilization."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from planner.core.break_even import (
    DECLINE,
    SAME_SHARE,
    break_even_month_of_each,
    cumulative_own_and_rent,
)
from planner.core.calendar import FloatArray
from planner.core.money import residual_share_by_age
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    RATE,
    SHARE,
    SHARE_ABOVE_0,
    Range,
    optional,
    refuse,
    require,
    require_fields,
    require_one_of,
)
from planner.core.units import HOURS_PER_MONTH, MONTHS_PER_YEAR

COST = optional(AT_LEAST_0)


@dataclass(frozen=True)
class OwnOrRent:
    """One fleet bought, or the same demand rented. None is not known.

    Capex at time 0, capacity after the lead time, running cost and rent at month ends. Utilization is the
    share of installed hours in which the GPUs are wanted. `hours_by_month` are the months of the horizon.
    """

    gpus: float
    usd_capex: float | None
    usd_running_per_month: float | None
    usd_rent_per_gpu_hour: float | None
    hours_by_month: tuple[float, ...] = (float(HOURS_PER_MONTH),) * 60
    lead_months: int = 0
    utilization: float = 1.0
    price_decline_per_month: float = 0.0
    rate_per_year: float = 0.0
    usd_load_per_gpu_hour: float | None = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers outside their range."""
        require_fields(
            self,
            gpus=ABOVE_0,
            usd_capex=COST,
            usd_running_per_month=COST,
            usd_rent_per_gpu_hour=COST,
            hours_by_month=ABOVE_0,
            lead_months=COUNT,
            utilization=SHARE,
            price_decline_per_month=DECLINE,
            rate_per_year=RATE,
            usd_load_per_gpu_hour=COST,
        )
        if not self.hours_by_month:
            refuse("hours_by_month", self.hours_by_month, "the hours of at least one month")


AXES: Mapping[str, Range] = {
    "usd_capex": AT_LEAST_0,
    "usd_running_per_month": AT_LEAST_0,
    "usd_rent_per_gpu_hour": AT_LEAST_0,
    "lead_months": COUNT,
    "utilization": SHARE_ABOVE_0,
    "price_decline_per_month": DECLINE,
    "rate_per_year": RATE,
    "usd_load_per_gpu_hour": AT_LEAST_0,
}


@dataclass(frozen=True)
class Axis:
    """One input that a surface varies: the name of a field of OwnOrRent, and its values."""

    name: str
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse an input that cannot be varied, no values, and values outside the input's range."""
        require_one_of(tuple(AXES), name=self.name)
        if not self.values:
            refuse("values", self.values, f"at least one value of {self.name}")
        require(AXES[self.name], **{f"values of {self.name}": self.values})


@dataclass(frozen=True)
class Surface:
    """Break-even over a grid. Arrays have shape (values of `down`, values of `across`).

    Months: inf is never within the horizon, NaN not known. `until` is the first later month in which owning
    is dearer again. `month_with_residual` credits at each month what the fleet would fetch if sold then.
    `naive_month` is what comparing at full use, without lead time, falling prices and discounting says: never
    the answer, shown beside it. `utilization` is the share of installed hours of the months in service above
    which owning is cheaper over the horizon; above 1 it never is, inf where renting costs no more than the
    energy of the load.
    """

    across: Axis
    down: Axis
    months: int
    missing: tuple[str, ...]
    month: FloatArray
    until: FloatArray
    month_with_residual: FloatArray
    until_with_residual: FloatArray
    naive_month: FloatArray
    utilization: FloatArray
    utilization_with_residual: FloatArray


def break_even_surface(case: OwnOrRent, across: Axis, down: Axis) -> Surface:
    """Return break-even month and utilization for all pairs of two inputs, the others as in `case`.

    Month: the first m with cumulative discounted own cost <= cumulative discounted rent, from the first
    month in which they differ. Utilization: u* = PV(capex + running cost) / PV(GPUs * hours * (price - load
    energy)) over the months in service. Resale by age: 100 % new, 25 % at 36 months, 10 % from 60. A None in
    `case` that no axis sets makes the figures that need it NaN and is named in `missing`. Raises ValueError
    where both axes vary the same input.

    >>> case = OwnOrRent(8, 280_000.0, 3_500.0, 3.0, (730.0,) * 84, 3, 0.85, rate_per_year=0.10)
    >>> surface = break_even_surface(case, Axis("price_decline_per_month", (0.0, 0.01, 0.02)),
    ...                              Axis("utilization", (0.85,)))
    >>> surface.month.tolist(), surface.naive_month.tolist()
    ([[32.0, 42.0, inf]], [[20.0, 20.0, 20.0]])
    """
    if across.name == down.name:
        refuse("down", down.name, f"another input than that of across, {across.name}")
    inputs = _inputs(case, across, down)
    hours = np.array(case.hours_by_month)
    own, rent = cumulative_own_and_rent(**inputs, hours=hours)
    resale = _resale_usd(inputs, len(hours))
    plain = {"lead_months": np.array(0.0), "price_decline_per_month": np.array(0.0)}
    full_use = {"utilization": np.array(1.0), "rate_per_year": np.array(0.0)}
    simple = cumulative_own_and_rent(**{**inputs, **plain, **full_use}, hours=hours)
    figures = (
        *break_even_month_of_each(own, rent),
        *break_even_month_of_each(own - resale, rent),
        break_even_month_of_each(*simple)[0],
        _utilization(inputs, hours, np.zeros(1)),
        _utilization(inputs, hours, resale),
    )
    shape = (len(down.values), len(across.values))
    grids = [np.broadcast_to(figure, shape) for figure in figures]
    missing = tuple(name for name, values in inputs.items() if np.isnan(values).any())
    return Surface(across, down, len(hours), missing, *grids)


def _inputs(case: OwnOrRent, across: Axis, down: Axis) -> dict[str, FloatArray]:
    """Return every input as an array that broadcasts to (down, across); None is NaN."""
    inputs = {
        field.name: np.array(getattr(case, field.name), dtype=np.float64)
        for field in fields(case)
        if field.name != "hours_by_month"
    }
    inputs[across.name] = np.array(across.values, dtype=np.float64)[None, :]
    inputs[down.name] = np.array(down.values, dtype=np.float64)[:, None]
    return inputs


def _resale_usd(inputs: dict[str, FloatArray], months: int) -> FloatArray:
    """Return the discounted price of the fleet if sold at the end of each month; before service all of it."""
    month = np.arange(1, months + 1)
    age = np.maximum(month - inputs["lead_months"][..., None], 0.0)
    factors = (1.0 + inputs["rate_per_year"][..., None]) ** (-month / MONTHS_PER_YEAR)
    return inputs["usd_capex"][..., None] * residual_share_by_age(age) * factors


def _utilization(inputs: dict[str, FloatArray], hours: FloatArray, resale: FloatArray) -> FloatArray:
    """Return PV(fixed cost less resale at the end) / PV(installed hours * (price - load energy))."""
    # rented at full use and at no use, from the same function as the months: no second formula for the costs
    idle = {**inputs, "utilization": np.array(0.0)}
    fixed = cumulative_own_and_rent(**idle, hours=hours)[0][..., -1] - resale[..., -1]
    full = {**inputs, "utilization": np.array(1.0)}
    own, rent = (amounts[..., -1] for amounts in cumulative_own_and_rent(**full, hours=hours))
    # what full use saves in rent, less the energy of its load; rent of the lead time is in both and cancels
    saved = rent - (own - fixed - resale[..., -1])
    # a fleet that never comes into service saves nothing: what is left of the difference is rounding
    saves = saved > SAME_SHARE * (np.abs(own) + np.abs(rent))
    share = np.divide(fixed, saved, out=np.full(np.shape(saved), np.inf), where=saves)
    return np.where(np.isnan(fixed) | np.isnan(saved), np.nan, share)

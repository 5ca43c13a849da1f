"""What is uncertain about a plan, and by how much. The plan stays as it is: its inputs are the medians.

A scenario is a named plan; uncertainty is distributions on inputs inside it. Each of eight factors hangs on
one standard normal number, and the numbers are correlated: a Gaussian copula. Sources of the defaults: domain
notes of 2026 on H100 rental prices since 2023 (volatility 0.40, correlations), server lead times of 2023 to
2026. Where no source is named they are judgement, to be replaced by the organisation's own spread.
"""

from dataclasses import dataclass, field

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.quota import SERVERS_DAYS
from planner.core.ranges import PROBABILITY_INSIDE, SHARE, Range, refuse, require_fields

FACTORS = ("price", "demand", "utilization", "delivery", "residual", "spot", "fx", "power")
SIGMA = Range(0.0, 5.0)
CORRELATION = Range(-1.0, 1.0)
ROUNDING = 1e-9  # of an eigenvalue


@dataclass(frozen=True)
class Pert:
    """A share between `low` and `high` that is most likely `mode` (beta distribution with weight 4)."""

    low: float
    mode: float
    high: float

    def __post_init__(self) -> None:
        require_fields(self, low=SHARE, mode=SHARE, high=SHARE)
        if not 0.0 < self.low <= self.mode <= self.high:
            refuse(
                "utilization", (self.low, self.mode, self.high), "low, mode and high in rising order, above 0"
            )


@dataclass(frozen=True)
class Jump:
    """A new generation: with `probability` rental prices fall by `share` from month index `month` on."""

    month: int
    probability: float
    share: float

    def __post_init__(self) -> None:
        require_fields(
            self,
            month=Range(0, 360, whole=True),
            probability=PROBABILITY_INSIDE,
            share=Range(0.0, 1.0, below=True),
        )


@dataclass(frozen=True)
class Correlation:
    """How two factors move together; the names are among FACTORS."""

    one: str
    other: str
    value: float

    def __post_init__(self) -> None:
        require_fields(self, value=CORRELATION)
        for name in (self.one, self.other):
            if name not in FACTORS:
                refuse("correlation of", repr(name), "one of " + ", ".join(FACTORS))


DEFAULT_CORRELATIONS = (Correlation("price", "residual", 0.7), Correlation("price", "demand", 0.3))


@dataclass(frozen=True)
class Uncertainty:
    """The spread of each factor; 0, or None, leaves it at the plan's value.

    price_sigma_per_root_year: rental prices wander, ln p = ln p0 + drift * t + sigma * W(t).
    price_floor_share: they never fall below this share of their month-1 value.
    demand_sigma_per_year: demand is exp(sigma * z * years) times the plan's; demand_sigma: in month 1
    already. utilization: the share of allocated hours that does work; demand is mode / share times the
    plan's. lead_time_sigma: lead times are exp(sigma * z) times the plan's, all alike: suppliers share a
    market. residual_sigma, spot_sigma, power_sigma: factors exp(sigma * z) on what servers fetch, on spot
    prices (on top of rental prices) and on electricity. fx_sigma_per_root_year: exp(sigma * sqrt(t) * z) on
    all money of the supplies named in `foreign`.
    """

    price_sigma_per_root_year: float = 0.40
    price_floor_share: float = 0.0
    jump: Jump | None = None
    demand_sigma_per_year: float = 0.15
    demand_sigma: float = 0.05
    utilization: Pert | None = None
    lead_time_sigma: float = SERVERS_DAYS.sigma
    residual_sigma: float = 0.35
    spot_sigma: float = 0.20
    fx_sigma_per_root_year: float = 0.08
    foreign: tuple[str, ...] = ()
    power_sigma: float = 0.15
    correlations: tuple[Correlation, ...] = field(default=DEFAULT_CORRELATIONS)

    def __post_init__(self) -> None:
        require_fields(
            self,
            price_sigma_per_root_year=SIGMA,
            price_floor_share=SHARE,
            demand_sigma_per_year=SIGMA,
            demand_sigma=SIGMA,
            lead_time_sigma=SIGMA,
            residual_sigma=SIGMA,
            spot_sigma=SIGMA,
            fx_sigma_per_root_year=SIGMA,
            power_sigma=SIGMA,
        )
        correlation_matrix(self.correlations)


def correlation_matrix(correlations: tuple[Correlation, ...]) -> FloatArray:
    """Return the matrix of the factors, 1 on its diagonal; raise ValueError where no numbers can move so.

    >>> correlation_matrix(DEFAULT_CORRELATIONS)[0, 4]
    np.float64(0.7)
    """
    matrix = np.eye(len(FACTORS))
    for each in correlations:
        one, other = FACTORS.index(each.one), FACTORS.index(each.other)
        if one == other:
            refuse("correlation of", repr(each.one), "two different factors")
        matrix[one, other] = matrix[other, one] = each.value
    least = float(np.linalg.eigvalsh(matrix).min())
    if least < -ROUNDING:
        refuse(
            "correlations",
            f"a matrix with eigenvalue {least:.3f}",
            "values that can hold together (from 0 up)",
        )
    return matrix


CERTAIN = Uncertainty(
    price_sigma_per_root_year=0.0,
    demand_sigma_per_year=0.0,
    demand_sigma=0.0,
    lead_time_sigma=0.0,
    residual_sigma=0.0,
    spot_sigma=0.0,
    fx_sigma_per_root_year=0.0,
    power_sigma=0.0,
)

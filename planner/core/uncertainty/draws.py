"""Draws: the random numbers of a study, made once and shared by all its scenarios.

Common random numbers: the same draw means the same world to every scenario, so that a difference between two
of them is not blurred by chance. The price path is a Brownian bridge to its last month, which keeps the
number that correlates with the residual value in `normals` and the wandering in between in `bridge`.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import betaincinv, ndtr

from planner.core.calendar import FloatArray
from planner.core.ranges import ANY, AT_LEAST_0, COUNT_FROM_1, SHARE, Range, takes
from planner.core.uncertainty.factors import FACTORS, Correlation, Jump, Pert, Uncertainty, correlation_matrix
from planner.core.units import MONTHS_PER_YEAR

DRAWS = Range(1, 1_000_000, whole=True)
MONTHS = Range(1, 360, whole=True)
PERT_WEIGHT = 4.0


@dataclass(frozen=True)
class Draws:
    """Standard normal numbers: `normals` by (draw, factor), correlated; `walk` by (month, draw).

    `walk` is the standard Brownian motion W at the begin of each month, in root years, with W = 0 in month 1.
    `jumps` is one more normal number per draw.
    """

    normals: FloatArray
    walk: FloatArray
    jumps: FloatArray

    @property
    def count(self) -> int:
        return len(self.normals)

    def of(self, factor: str) -> FloatArray:
        """Return the normal numbers of one factor, by draw."""
        return self.normals[:, FACTORS.index(factor)]


@takes(count=DRAWS, months=MONTHS)
def draw(
    generator: np.random.Generator, count: int, months: int, correlations: tuple[Correlation, ...]
) -> Draws:
    """Return `count` draws for horizons of up to `months`; the same generator state gives the same bytes.

    Raises ValueError for counts below 1 or above a million, and for correlations that cannot hold together.
    """
    values, vectors = np.linalg.eigh(correlation_matrix(correlations))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normals = generator.standard_normal((count, len(FACTORS))) @ root.T
    steps = generator.standard_normal((months - 1, count)) / np.sqrt(MONTHS_PER_YEAR)
    jumps = generator.standard_normal(count)
    return Draws(normals, bridge(steps, normals[:, FACTORS.index("price")]), jumps)


@takes(steps=ANY, last=ANY)
def bridge(steps: FloatArray, last: FloatArray) -> FloatArray:
    """Return Brownian paths from 0 that end at `last` * sqrt(T); `steps` by (month, draw) may be none."""
    months = len(steps)
    walk = np.zeros((months + 1, len(last)))
    if months == 0:
        return walk
    np.cumsum(steps, axis=0, out=walk[1:])
    target = last * np.sqrt(months / MONTHS_PER_YEAR)
    walk += np.linspace(0.0, 1.0, months + 1)[:, None] * (target - walk[-1])
    return walk


@takes(normals=ANY, months=MONTHS)
def chosen(normals: FloatArray, months: int) -> Draws:
    """Return draws with given normal numbers by (draw, factor) and straight price paths."""
    count = normals.shape[0]
    last = normals[:, FACTORS.index("price")]
    end = np.sqrt(max(months - 1, 0) / MONTHS_PER_YEAR)
    walk = np.linspace(0.0, 1.0, months)[:, None] * (last * end) if months > 1 else np.zeros((1, count))
    return Draws(normals, walk, np.full(count, NormalDist().inv_cdf(0.5)))


@dataclass(frozen=True)
class Paths:
    """What the draws make of the factors, by (month, draw), or by draw: multipliers of the plan's values."""

    price: FloatArray  # (month, draw)
    demand: FloatArray  # (month, draw)
    fx: FloatArray  # (month, draw), at the month's end
    lead_time: FloatArray
    residual: FloatArray
    spot: FloatArray
    power: FloatArray


@takes(price_path=AT_LEAST_0)
def paths_of(draws: Draws, uncertainty: Uncertainty, price_path: FloatArray) -> Paths:
    """Return the multipliers of a plan's values; `price_path` is what its rental prices are without chance.

    It is by month, as multiples of month 1, and counts in the floor of prices.
    """
    months = len(price_path)
    years = np.arange(months)[:, None] / MONTHS_PER_YEAR
    fx = uncertainty.fx_sigma_per_root_year * draws.of("fx")
    return Paths(
        price=_price(draws, uncertainty, price_path),
        demand=_demand(draws, uncertainty, years),
        fx=np.exp(fx * np.sqrt(years + 1.0 / MONTHS_PER_YEAR)),
        lead_time=np.exp(uncertainty.lead_time_sigma * draws.of("delivery")),
        residual=np.exp(uncertainty.residual_sigma * draws.of("residual")),
        spot=np.exp(uncertainty.spot_sigma * draws.of("spot")),
        power=np.exp(uncertainty.power_sigma * draws.of("power")),
    )


def _price(draws: Draws, uncertainty: Uncertainty, price_path: FloatArray) -> FloatArray:
    months = len(price_path)
    price = np.exp(uncertainty.price_sigma_per_root_year * draws.walk[:months])
    if uncertainty.jump is not None:
        price *= _jumped(draws, uncertainty.jump, months)
    if uncertainty.price_floor_share > 0.0:
        drifted = np.maximum(price_path, np.finfo(float).tiny)[:, None]
        # the floor is a share of month 1's price, and lifts nothing that the plan itself puts below it
        floor = np.minimum(uncertainty.price_floor_share / drifted, 1.0)
        price = np.maximum(price, floor)
    return price


def _jumped(draws: Draws, jump: Jump, months: int) -> FloatArray:
    happens = draws.jumps < NormalDist().inv_cdf(jump.probability)
    since = np.arange(months)[:, None] >= jump.month
    return np.where(happens & since, 1.0 - jump.share, 1.0)


def _demand(draws: Draws, uncertainty: Uncertainty, years: FloatArray) -> FloatArray:
    spread = uncertainty.demand_sigma + uncertainty.demand_sigma_per_year * years
    demand = np.exp(spread * draws.of("demand"))
    if uncertainty.utilization is not None:
        demand *= uncertainty.utilization.mode / pert_quantile(
            uncertainty.utilization, draws.of("utilization")
        )
    return demand


@takes(normals=ANY)
def pert_quantile(pert: Pert, normals: FloatArray) -> FloatArray:
    """Return the shares of a PERT distribution at the ranks of standard normal numbers.

    Beta with a = 1 + 4 (mode - low) / (high - low), b = 1 + 4 (high - mode) / (high - low), on low..high.
    """

    width = pert.high - pert.low
    if width == 0.0:
        return np.full_like(normals, pert.mode)
    a = 1.0 + PERT_WEIGHT * (pert.mode - pert.low) / width
    b = 1.0 + PERT_WEIGHT * (pert.high - pert.mode) / width
    return np.asarray(pert.low + width * betaincinv(a, b, ndtr(normals)))


@takes(probability=SHARE, count=COUNT_FROM_1)
def standard_error_of_share(probability: float, count: int) -> float:
    """Return sqrt(p (1 - p) / n), the standard error of a share of draws.

    >>> standard_error_of_share(0.5, 2500)
    0.01
    """
    return float(np.sqrt(probability * (1.0 - probability) / count))

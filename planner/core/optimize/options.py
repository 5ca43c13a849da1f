"""Options from plain numbers: months of one length, capex wholly at the order, a steady loss of value.

These are the coefficients of the textbook problem; those of a Plan come from its own cost functions
(from_plan.py).
"""

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.money import Factors
from planner.core.optimize.problem import GPUS, MAYBE_USD, Option, Purchase
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT, COUNT_FROM_1, SHARE, SHARE_ABOVE_0, takes


@takes(
    gpus=COUNT_FROM_1,
    capex_usd=AT_LEAST_0,
    opex_usd_per_month=AT_LEAST_0,
    lead_time_months=COUNT,
    availability=SHARE_ABOVE_0,
    value_loss_per_month=SHARE,
    most_per_month=GPUS,
    blocks=COUNT_FROM_1,
)
def server_option(
    name: str,
    factors: Factors,
    blocks: int,
    *,
    gpus: int,
    capex_usd: float,
    opex_usd_per_month: float,
    lead_time_months: int,
    availability: float,
    value_loss_per_month: float,
    most_per_month: float,
) -> Option:
    """Return servers that may be ordered in any month t, in service from t + L to the end.

    Present value of one: capex * vb_t + sum of opex * ve_m over its months of service - capex *
    (1 - loss)^n * ve_T, n being the months in service; one that is not in service by the end is credited with
    its whole capex.

    >>> from planner.core.money import discount_factors
    >>> own = server_option("Own", discount_factors(0.0, 4), 8, gpus=8, capex_usd=100.0,
    ...     opex_usd_per_month=2.0, lead_time_months=1, availability=0.96, value_loss_per_month=0.5,
    ...     most_per_month=10)
    >>> own.purchase.usd_per_unit
    array([93.5, 79. , 52. ,  0. ])
    """
    months = len(factors.end)
    serves = (np.arange(months)[None, :] >= np.arange(months)[:, None] + lead_time_months).astype(np.float64)
    in_service = serves.sum(axis=1)
    residual = capex_usd * np.power(1.0 - value_loss_per_month, in_service) * factors.end[-1]
    purchase = Purchase(
        usd_per_unit=capex_usd * factors.begin + opex_usd_per_month * (serves @ factors.end) - residual,
        gpus_per_unit=serves * (gpus * availability),
        most_per_month=np.full(months, float(most_per_month)),
        capex_usd_per_unit=capex_usd,
    )
    return Option(name, "owned", np.zeros(months), np.zeros(blocks), purchase=purchase)


@takes(
    hours_of_month=ABOVE_0,
    term_months=COUNT_FROM_1,
    usd_per_gpu_hour=MAYBE_USD,
    gpus_per_unit=COUNT_FROM_1,
    blocks=COUNT_FROM_1,
)
def commitment_option(
    name: str,
    provider: str,
    factors: Factors,
    hours_of_month: FloatArray,
    blocks: int,
    *,
    term_months: int,
    usd_per_gpu_hour: float,
    gpus_per_unit: int = 1,
    whole: bool = False,
) -> Option:
    """Return commitments that may start in any month in which the term still fits; paid in every hour.

    Present value of one unit: sum over its months of price * hours * ve_m. Bought by the GPU unless `whole`.

    >>> from planner.core.money import discount_factors
    >>> one = commitment_option("A", "A", discount_factors(0.0, 3), np.full(3, 730.0), 3, term_months=2,
    ...     usd_per_gpu_hour=2.0)
    >>> one.purchase.usd_per_unit, one.purchase.most_per_month
    (array([2920., 2920., 1460.]), array([inf, inf,  0.]))
    """
    months = len(factors.end)
    since = np.arange(months)[None, :] - np.arange(months)[:, None]
    is_running = ((since >= 0) & (since < term_months)).astype(np.float64)
    fits = np.arange(months) + term_months <= months
    purchase = Purchase(
        usd_per_unit=is_running @ (usd_per_gpu_hour * gpus_per_unit * hours_of_month * factors.end),
        gpus_per_unit=is_running * float(gpus_per_unit),
        most_per_month=np.where(fits, np.inf, 0.0),
        whole=whole,
        unit="GPU" if gpus_per_unit == 1 else "instance",
    )
    return Option(name, "reserved", np.zeros(months), np.zeros(blocks), provider, purchase=purchase)


@takes(usd_per_gpu_hour=MAYBE_USD, gpus=GPUS)
def on_demand_option(
    name: str, provider: str, factors: Factors, *, usd_per_gpu_hour: float, gpus: FloatArray
) -> Option:
    """Return what is rented by the hour, up to `gpus` by block; present value is price * ve_t.

    >>> from planner.core.money import discount_factors
    >>> on_demand_option("A", "A", discount_factors(0.0, 2), usd_per_gpu_hour=4.0, gpus=np.full(4, 64.0)).kind
    'on_demand'
    """
    return Option(name, "on_demand", usd_per_gpu_hour * factors.end, gpus, provider)


@takes(usd_per_gpu_hour=MAYBE_USD, gpus=GPUS)
def spot_option(
    name: str, provider: str, factors: Factors, *, usd_per_gpu_hour: float, gpus: FloatArray
) -> Option:
    """Return what is rented by the hour and may be taken back, up to `gpus` paid GPUs by block.

    >>> from planner.core.money import discount_factors
    >>> spot_option("Spot", "A", discount_factors(0.0, 2), usd_per_gpu_hour=1.6, gpus=np.full(4, 24.0)).kind
    'spot'
    """
    return Option(name, "spot", usd_per_gpu_hour * factors.end, gpus, provider)

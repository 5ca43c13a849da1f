"""Servers bought: when they exist, what they cost in each month, what the books hold.

Deposit at the order, remainder at delivery, both at the begin of the month that contains the day.
Colocation, staff and idle energy run from the month of delivery; capacity from the first month that
begins on or after order + lead time + burn-in, until the economic life ends, if one is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.lines import Line, LineMaker
from planner.core.money import residual_share_by_age
from planner.core.plan import Owned
from planner.core.units import MONTHS_PER_YEAR

NEVER = 1_000_000  # a month index no horizon reaches


@dataclass(frozen=True)
class Life:
    """The month indexes that matter to one purchase; `retired` is the first month without it."""

    ordered: int
    delivered: int
    in_service: int
    retired: int

    def is_present(self, month: FloatArray) -> FloatArray:
        """Return 1 in months in which the servers stand, from delivery to retirement."""
        return ((month >= self.delivered) & (month < self.retired)).astype(np.float64)

    def is_serving(self, month: FloatArray) -> FloatArray:
        """Return 1 in months in which the servers give capacity."""
        return ((month >= self.in_service) & (month < self.retired)).astype(np.float64)


def life_of(owned: Owned, horizon: Horizon, lead_time_days: int | None = None) -> Life:
    """Return the months of order, delivery, first service and retirement; with another lead time if given."""
    lead = owned.lead_time_days if lead_time_days is None else lead_time_days
    # plain dates: a study of lead times asks this some thousand times
    delivery = owned.order_date + timedelta(days=lead)
    in_service = horizon.index_on_or_after(delivery + timedelta(days=owned.burn_in_days))
    return Life(
        ordered=horizon.index_of(owned.order_date),
        delivered=horizon.index_of(delivery),
        in_service=in_service,
        retired=NEVER if owned.economic_life_months is None else in_service + owned.economic_life_months,
    )


def gpus_available(owned: Owned, serving: FloatArray) -> FloatArray:
    """Return the GPUs that work: servers * GPUs * availability; spares give none."""
    return serving * owned.servers * owned.gpus_per_server * owned.availability


def capex_usd(owned: Owned) -> float:
    """Return the price of all servers, spares included (NaN: unknown)."""
    per_server = _known(owned.usd_capex_per_server) + _known(owned.usd_other_capex_per_server)
    return (owned.servers + owned.spare_servers) * per_server


def _known(value: float | None) -> float:
    return float("nan") if value is None else value


def residual_share(owned: Owned, months_in_service: FloatArray) -> FloatArray:
    """Return the share of all capex the servers would fetch: a steady loss, one share, or by age."""
    if owned.residual_loss_per_month is not None:
        return np.power(1.0 - owned.residual_loss_per_month, months_in_service)
    if owned.residual_share is None:
        return residual_share_by_age(months_in_service)
    return np.full_like(months_in_service, owned.residual_share)


def load_usd_per_gpu_hour(owned: Owned) -> float:
    """Return the energy cost of one more GPU-hour in use: (max - idle) kW * PUE * price / GPUs available."""
    if owned.colocation_includes_energy:
        return 0.0
    extra_kw = _known(owned.max_kw_per_server) - _known(owned.idle_kw_per_server)
    usd_per_server_hour = extra_kw * owned.pue * _known(owned.usd_per_kwh)
    return usd_per_server_hour / (owned.gpus_per_server * owned.availability)


def running_lines(
    owned: Owned,
    life: Life,
    month: FloatArray,
    hours: FloatArray,
    used_gpu_hours: FloatArray,
    staff_usd: FloatArray,
    make: LineMaker,
) -> list[Line]:
    """Return what the servers cost to run, paid at the end of each month."""
    present = life.is_present(month)
    per_server_month = owned.servers * present
    return [
        make.running("energy", energy_usd(owned, present, hours, used_gpu_hours)),
        make.running("colocation", present * colocation_usd_per_month(owned)),
        make.running("maintenance", _maintenance_usd(owned, life, month)),
        make.running("staff", staff_usd),
        make.running("software", per_server_month * owned.usd_software_per_server_month),
        make.running("insurance", per_server_month * owned.usd_insurance_per_server_month),
    ]


def energy_usd(
    owned: Owned, present: FloatArray, hours: FloatArray, used_gpu_hours: FloatArray
) -> FloatArray:
    """Return idle energy of all delivered servers, spares included, plus the energy of the load."""
    if owned.colocation_includes_energy:
        return np.zeros_like(hours)
    standing = owned.servers + owned.spare_servers
    idle_kwh = standing * _known(owned.idle_kw_per_server) * present * hours * owned.pue
    return idle_kwh * _known(owned.usd_per_kwh) + used_gpu_hours * load_usd_per_gpu_hour(owned)


def colocation_usd_per_month(owned: Owned) -> float:
    """Return contracted kW * rate: maximum power of all servers, spares included."""
    if owned.usd_colocation_per_kw_month == 0.0:
        return 0.0
    standing = owned.servers + owned.spare_servers
    return standing * _known(owned.max_kw_per_server) * owned.usd_colocation_per_kw_month


def _maintenance_usd(owned: Owned, life: Life, month: FloatArray) -> FloatArray:
    """Return nothing while the warranty of delivery runs, then a twelfth of the yearly share of capex."""
    is_due = life.is_present(month) * (month >= life.delivered + owned.warranty_months)
    yearly = owned.servers * _known(owned.usd_capex_per_server) * owned.maintenance_share_per_year
    return is_due * yearly / MONTHS_PER_YEAR


def staff_usd_by_supply(fleet: Sequence[Owned], lives: Sequence[Life], month: FloatArray) -> list[FloatArray]:
    """Return each purchase's staff cost per month: servers / servers per FTE, at least the fleet's minimum.

    The minimum holds once for all delivered servers; it is shared out in proportion. Spares do not
    count. Kept in money, so that purchases with different pay per FTE add up: the dearest minimum holds.
    """
    by_servers = [
        life.is_present(month) * _fte(owned) * owned.usd_staff_per_fte_year / MONTHS_PER_YEAR
        for owned, life in zip(fleet, lives, strict=True)
    ]
    minimums = [
        life.is_present(month) * owned.fte_minimum * owned.usd_staff_per_fte_year / MONTHS_PER_YEAR
        for owned, life in zip(fleet, lives, strict=True)
    ]
    total = np.sum(by_servers, axis=0)
    floor = np.max(minimums, axis=0) if minimums else total
    scale = np.divide(np.maximum(total, floor), total, out=np.ones_like(month), where=total > 0)
    return [usd * scale for usd in by_servers]


def _fte(owned: Owned) -> float:
    return owned.servers / owned.servers_per_fte

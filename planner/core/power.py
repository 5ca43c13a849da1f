"""Power at a site: servers beyond its limit stay dark. They cost what they cost, and serve nothing."""

from collections.abc import Sequence

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.owned import Life
from planner.core.plan import Owned, PowerLimit


def lit_shares(
    fleet: Sequence[Owned], lives: Sequence[Life], limits: Sequence[PowerLimit], horizon: Horizon
) -> list[FloatArray]:
    """Return, for each purchase, the share of its servers that may run in each month.

    A site's kW go to its purchases in the order of the plan, in whole servers at their maximum power. Without
    a limit, or where the power of a server is unknown, all run.
    """
    month = np.arange(horizon.months, dtype=np.float64)
    left = {site: kw_by_month(limits, site, horizon) for site in {owned.region for owned in fleet}}
    shares = []
    for owned, life in zip(fleet, lives, strict=True):
        kw = left[owned.region]
        if not owned.max_kw_per_server:
            shares.append(np.ones(horizon.months))
            continue
        standing = owned.servers * life.is_serving(month)
        # 20 kW hold two servers of 10 kW, whatever the last bit of the division says
        lit = np.minimum(standing, np.floor(kw / owned.max_kw_per_server + 1e-9))
        left[owned.region] = kw - lit * owned.max_kw_per_server
        shares.append(np.divide(lit, standing, out=np.ones(horizon.months), where=standing > 0))
    return shares


def kw_by_month(limits: Sequence[PowerLimit], site: str, horizon: Horizon) -> FloatArray:
    """Return the limit of a site by month, infinite before the first one."""
    kw = np.full(horizon.months, np.inf)
    for limit in sorted((each for each in limits if each.site == site), key=lambda each: each.start):
        kw[np.arange(horizon.months) >= horizon.index_on_or_after(limit.start)] = limit.kw
    return kw

"""How much of the critical work hangs on one provider, region, site, vendor or month of expiry.

HHI = sum of (share in percent)^2: 10,000 is a single one, 10,000 / n is n equal ones. Shares are of critical
GPU-hours served over the horizon of the base plan.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import AT_LEAST_0, Range, optional, refuse, require_fields, require_one_of, takes

Level = Literal["low", "moderate", "high"]
HHI_OF_ONE = 10_000.0
_YEAR = Range(1900, 2200, whole=True)
HHI = Range(0.0, HHI_OF_ONE, above=True)
_ROUNDING = 1e-9  # of the index: n equal shares of a third add up to a little less than one


@dataclass(frozen=True)
class Guideline:
    """Bands of the index: moderate from `moderate_from` up to `high_above`, which is still moderate."""

    name: str
    year: int
    moderate_from: float
    high_above: float

    def __post_init__(self) -> None:
        require_fields(self, year=_YEAR, moderate_from=HHI, high_above=HHI)
        if self.high_above < self.moderate_from:
            refuse("high_above", self.high_above, f"at least moderate_from, {self.moderate_from:g}")


# The bands are drawn for markets, not for one buyer's suppliers: a convention for display, no more.
GUIDELINES: dict[int, Guideline] = {
    2010: Guideline("Horizontal Merger Guidelines, US DOJ and FTC", 2010, 1500.0, 2500.0),
    2023: Guideline("Merger Guidelines, US DOJ and FTC", 2023, 1000.0, 1800.0),
}
SHOWN_YEAR = 2010


@takes(weights=AT_LEAST_0)
def herfindahl_index(weights: Sequence[float]) -> float | None:
    """Return the sum of squared shares in percent, of weights in any one unit; None where they sum to 0.

    Source: Herfindahl 1950, Hirschman 1945; the example is that of the US Department of Justice.

    >>> herfindahl_index([30, 30, 20, 20])
    2600.0
    """
    total = sum(weights)
    if total == 0.0:
        return None
    return min(sum((100.0 * weight / total) ** 2 for weight in weights), HHI_OF_ONE)


@takes(hhi=HHI)
def effective_number(hhi: float) -> float:
    """Return 10,000 / HHI: as many suppliers of equal size would be as concentrated.

    Source: Adelman, Review of Economics and Statistics 51 (1969) 99.

    >>> round(effective_number(2600.0), 3)
    3.846
    """
    return HHI_OF_ONE / hhi


@takes(hhi=HHI, guideline_year=_YEAR)
def band(hhi: float, guideline_year: int = SHOWN_YEAR) -> Level:
    """Return low, moderate or high by a dated guideline: low < 1,500 <= moderate <= 2,500 < high of 2010.

    Source: US Department of Justice and Federal Trade Commission, guidelines of 2010 and 2023.

    >>> band(2600.0), band(1900.0), band(1900.0, guideline_year=2023)
    ('high', 'moderate', 'high')
    """
    require_one_of([str(year) for year in GUIDELINES], guideline_year=str(guideline_year))
    guideline = GUIDELINES[guideline_year]
    if hhi < guideline.moderate_from:
        return "low"
    return "moderate" if hhi <= guideline.high_above * (1.0 + _ROUNDING) else "high"


@dataclass(frozen=True)
class Served:
    """Critical GPU-hours that one source serves, with its value of each key, such as provider or region.

    A value of None is unknown; a key that is left out does not apply, such as an expiry month of on-demand.
    `critical_gpu_hours` None: unknown.
    """

    name: str
    keys: Mapping[str, str | None]
    critical_gpu_hours: float | None

    def __post_init__(self) -> None:
        require_fields(self, critical_gpu_hours=optional(AT_LEAST_0))


@dataclass(frozen=True)
class Concentration:
    """The index by one key. `hhi` and `effective_number` are None where unknown or nothing is served.

    `shares` are of the GPU-hours whose value is known, largest first. With unknown values the index lies from
    `hhi_from` to `hhi_to`. `unknown` names what is missing, `left_out_gpu_hours` is what the key does not
    apply to.
    """

    key: str
    hhi: float | None
    hhi_from: float | None
    hhi_to: float | None
    effective_number: float | None
    level: Level | None
    guideline: Guideline
    shares: dict[str, float]
    unknown: tuple[str, ...]
    left_out_gpu_hours: float


@takes(guideline_year=_YEAR)
def concentration(rows: Sequence[Served], key: str, guideline_year: int = SHOWN_YEAR) -> Concentration:
    """Return the index of critical GPU-hours by one key: provider, region, site, vendor, expiry month.

    Unknown values: the index is least where each is one that nobody else has, and most where all of them are
    the largest one. With unknown GPU-hours nothing is said. Raises ValueError for a year
    without a guideline. Source: as `herfindahl_index`.

    >>> rows = [Served("a", {"provider": "X"}, 60.0), Served("b", {"provider": "Y"}, 40.0)]
    >>> found = concentration(rows, "provider")
    >>> found.hhi, round(found.effective_number, 3), found.level
    (5200.0, 1.923, 'high')
    """
    require_one_of([str(year) for year in GUIDELINES], guideline_year=str(guideline_year))
    concerned = [row for row in rows if key in row.keys]
    by_value: dict[str, float] = {}
    nameless: list[float] = []
    for row in concerned:
        value, gpu_hours = row.keys[key], row.critical_gpu_hours or 0.0
        if value is None:
            nameless.append(gpu_hours)
        else:
            by_value[value] = by_value.get(value, 0.0) + gpu_hours
    unmeasured = [row.name for row in concerned if row.critical_gpu_hours is None]
    unknown = [row.name for row in concerned if row.keys[key] is None and row.critical_gpu_hours]
    low, high = (None, None) if unmeasured else _range(list(by_value.values()), nameless)
    hhi = high if not unknown else None
    known = sum(by_value.values())
    ordered = sorted(by_value.items(), key=lambda pair: (-pair[1], pair[0]))
    return Concentration(
        key=key,
        hhi=hhi,
        hhi_from=low,
        hhi_to=high,
        effective_number=None if hhi is None else effective_number(hhi),
        level=None if hhi is None else band(hhi, guideline_year),
        guideline=GUIDELINES[guideline_year],
        shares={} if unmeasured or not known else {value: hours / known for value, hours in ordered},
        unknown=tuple(dict.fromkeys(unmeasured + unknown)),
        left_out_gpu_hours=sum(row.critical_gpu_hours or 0.0 for row in rows if key not in row.keys),
    )


def _range(weights: list[float], nameless: list[float]) -> tuple[float | None, float | None]:
    """Return the least and the most that the index can be where each of `nameless` may be anybody's."""
    *rest, largest = sorted(weights) or [0.0]
    return herfindahl_index([*weights, *nameless]), herfindahl_index([*rest, largest + sum(nameless)])

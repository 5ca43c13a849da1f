"""Speeds of the links between GPUs, per GPU and in one direction. Dated data: add rows, change none in place.

Makers print both directions together (NVLink 4: 900 GB/s); all-reduce moves at the speed of one. Nodes of 8
GPUs share their network cards, so a link across nodes is the node's cards / 8.
"""

from dataclasses import dataclass
from typing import Literal

from planner.core.drivers.assumptions import ACHIEVED_LINK_SHARE
from planner.core.ranges import ABOVE_0, COUNT_FROM_1, SHARE_ABOVE_0, require_fields, require_one_of, takes

Scope = Literal["within a node", "across nodes"]
SCOPES: tuple[Scope, ...] = ("within a node", "across nodes")
GUIDE = "S. Bekman, Machine Learning Engineering, github.com/stas00/ml-engineering/network, early 2025"


@dataclass(frozen=True)
class Link:
    """One kind of link: GB/s (10^9 bytes) per GPU in one direction, by its specification."""

    name: str
    gb_per_second: float
    scope: Scope
    source: str

    def __post_init__(self) -> None:
        require_fields(self, gb_per_second=ABOVE_0)
        require_one_of(SCOPES, scope=self.scope)


LINKS: dict[str, Link] = {
    link.name: link
    for link in (
        Link("NVLink 3", 300.0, "within a node", GUIDE),
        Link("NVLink 4", 450.0, "within a node", GUIDE),
        Link("NVLink 5", 900.0, "within a node", GUIDE),
        Link("PCIe 4 x16", 31.0, "within a node", GUIDE),
        Link("PCIe 5 x16", 63.0, "within a node", GUIDE),
        Link("InfiniBand NDR, 8 x 400 Gb/s per 8 GPUs", 50.0, "across nodes", GUIDE),
        Link("EFA v2, 32 x 100 Gb/s per 8 GPUs", 50.0, "across nodes", GUIDE),
        Link("EFA v1, 4 x 100 Gb/s per 8 GPUs", 6.25, "across nodes", GUIDE),
    )
}


def link(name: str) -> Link:
    """Return the link of that name. Raises ValueError for a name that is not in the table.

    >>> link("NVLink 4").gb_per_second
    450.0
    """
    require_one_of(tuple(LINKS), name=name)
    return LINKS[name]


@takes(gb_per_second=ABOVE_0, achieved_share=SHARE_ABOVE_0)
def achieved_gb_per_second(gb_per_second: float, achieved_share: float = ACHIEVED_LINK_SHARE.value) -> float:
    """Return speed * share of it that all-reduce achieves; 0.80 to 0.88 in published measurements.

    >>> achieved_gb_per_second(450.0, 0.8)
    360.0
    """
    return gb_per_second * achieved_share


@takes(
    gpus=COUNT_FROM_1, gpus_per_node=COUNT_FROM_1, within_gb_per_second=ABOVE_0, across_gb_per_second=ABOVE_0
)
def slowest_gb_per_second(
    gpus: int, gpus_per_node: int, within_gb_per_second: float, across_gb_per_second: float
) -> float:
    """Return the speed of the slowest link of a ring: within the node while the job fits in it.

    Both speeds are per GPU and in one direction. Trees and reduction in the switch do better.

    >>> slowest_gb_per_second(8, 8, 450.0, 50.0), slowest_gb_per_second(16, 8, 450.0, 50.0)
    (450.0, 50.0)
    """
    if gpus <= gpus_per_node:
        return within_gb_per_second
    return min(within_gb_per_second, across_gb_per_second)

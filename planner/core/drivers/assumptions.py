"""Planning defaults that no source settles. A page shows them as assumptions that anybody may change."""

from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import AT_LEAST_0, refuse, require_fields, require_one_of

Label = Literal["judgement", "published range"]
LABELS: tuple[Label, ...] = ("judgement", "published range")


@dataclass(frozen=True)
class Assumption:
    """A default with the range in which projects have been seen, and how well it is founded.

    >>> EXPERIMENTS.value, EXPERIMENTS.label
    (1.0, 'judgement')
    """

    name: str
    value: float
    low: float
    high: float
    label: Label
    source: str

    def __post_init__(self) -> None:
        require_fields(self, value=AT_LEAST_0, low=AT_LEAST_0, high=AT_LEAST_0)
        require_one_of(LABELS, label=self.label)
        if not self.low <= self.value <= self.high:
            refuse("value", self.value, f"from {self.low:g} to {self.high:g}")


FROM_PAPERS = "GPT-3 0.21, Gopher 0.33, MT-NLG 0.30, PaLM 0.46, Llama 3 405B 0.38 to 0.43"

MFU_LARGE = Assumption("MFU, dense, large scale", 0.35, 0.20, 0.50, "published range", FROM_PAPERS)
MFU_FIRST = Assumption("MFU, first projects", 0.30, 0.20, 0.50, "judgement", FROM_PAPERS)
MFU_EXPERTS = Assumption("MFU, mixture of experts", 0.25, 0.20, 0.30, "judgement", "no citable source")
EXPERIMENTS = Assumption(
    "experiments, in final runs", 1.0, 0.5, 3.0, "judgement", "published totals cover the final run alone"
)
RESTARTS = Assumption(
    "restarts, rework and evaluation", 0.15, 0.05, 0.40, "judgement", "no citable source for the default"
)
DECODE_BANDWIDTH_SHARE = Assumption(
    "share of memory bandwidth in decoding", 0.7, 0.6, 0.8, "judgement", "no citable source"
)
DECODE_FLOPS_SHARE = Assumption(
    "share of dense peak FLOP/s in decoding", 0.4, 0.3, 0.5, "judgement", "no citable source"
)
OCCUPANCY_INTERACTIVE = Assumption(
    "target occupancy, interactive", 0.70, 0.50, 0.80, "judgement", "no citable source"
)
OCCUPANCY_BATCH = Assumption("target occupancy, batch", 0.85, 0.70, 0.95, "judgement", "no citable source")
SERVICE_VARIABILITY = Assumption(
    "squared coefficient of variation of request sizes", 3.0, 2.0, 5.0, "judgement", "no citable source"
)
ACHIEVED_LINK_SHARE = Assumption(
    "share of a link's speed that all-reduce achieves",
    0.84,
    0.80,
    0.88,
    "published range",
    "S. Bekman, Machine Learning Engineering: measured with nccl-tests and all_reduce_bench",
)

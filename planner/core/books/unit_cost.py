"""What one unit of work costs: a million tokens, a run, an experiment; and how long a reference run takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import (
    ABOVE_0,
    ANY,
    AT_LEAST_0,
    SHARE_ABOVE_0,
    optional,
    refuse,
    require,
    require_one_of,
    takes,
)
from planner.core.units import HOURS_PER_DAY, TOKENS_PER_MILLION

Allocation = Literal["node_share", "price_ratio", "all_on_output"]
ALLOCATIONS: Mapping[Allocation, str] = {
    "node_share": "split by the nodes that serve each kind of token",
    "price_ratio": "split so that each kind costs the same share of its price",
    "all_on_output": "all cost on output tokens",
}
USD = optional(ANY)


@dataclass(frozen=True)
class TokenCost:
    """Cost per million tokens of each kind, and of all tokens together; None where the cost is not known.

    `allocation` says in words how the cost was split. A kind without tokens has no cost per million (None):
    what it bears all the same is `usd_unallocated`.
    """

    usd_per_million: dict[str, float | None]
    usd_per_million_of_all: float | None
    allocation: str
    usd_unallocated: float | None = 0.0


@takes(usd=USD)
def usd_per_million_tokens(
    usd: float | None,
    tokens: Mapping[str, float],
    allocation: Allocation = "all_on_output",
    weights: Mapping[str, float] | None = None,
    output: str = "output",
) -> TokenCost:
    """Return the cost of a serving fleet in a period over its tokens in millions, split by `allocation`.

    node_share: `weights` are the nodes of each kind; kind k bears usd * nodes_k / sum nodes. price_ratio:
    `weights` are prices per million; k bears usd * tokens_k price_k / sum tokens price. all_on_output: the
    kind named `output` bears all. The cost is that of the whole fleet, idle and headroom included. Raises
    ValueError for an unknown allocation, a weight missing or too many, and where nobody would bear the cost.
    Source of the example: DeepSeek-V3/R1 inference system overview (2025-02-28).

    >>> cost = usd_per_million_tokens(87_072.0, {"input": 608e9, "output": 168e9})
    >>> round(cost.usd_per_million["output"], 3), round(cost.usd_per_million_of_all, 3)
    (0.518, 0.112)
    """
    require_one_of(tuple(ALLOCATIONS), allocation=allocation)
    require(AT_LEAST_0, **{f"tokens of {kind}": amount for kind, amount in tokens.items()})
    shares = _shares(tokens, allocation, weights, output)
    return TokenCost(
        {kind: _per_million(usd, tokens[kind], shares[kind]) for kind in tokens},
        _per_million(usd, sum(tokens.values()), 1.0),
        ALLOCATIONS[allocation],
        None if usd is None else usd * sum(shares[kind] for kind in tokens if not tokens[kind]),
    )


def _per_million(usd: float | None, tokens: float, share: float) -> float | None:
    return None if usd is None or not tokens else usd * share / (tokens / TOKENS_PER_MILLION)


def _shares(
    tokens: Mapping[str, float], allocation: Allocation, weights: Mapping[str, float] | None, output: str
) -> dict[str, float]:
    """Return the share of the cost that each kind of token bears."""
    if allocation == "all_on_output":
        if output not in tokens:
            refuse("output", repr(output), f"one of the kinds of tokens: {', '.join(tokens)}")
        return {kind: float(kind == output) for kind in tokens}
    given = weights or {}
    if set(given) != set(tokens):
        refuse("weights", ", ".join(given) or None, f"one weight for each of {', '.join(tokens)}")
    require(AT_LEAST_0, **{f"weight of {kind}": weight for kind, weight in given.items()})
    scale = tokens if allocation == "price_ratio" else dict.fromkeys(tokens, 1.0)
    borne = {kind: given[kind] * scale[kind] for kind in tokens}
    total = sum(borne.values())
    if not total:
        refuse("weights", dict(given), "above 0 for some kind that has tokens")
    return {kind: amount / total for kind, amount in borne.items()}


def token_revenue_usd(tokens: Mapping[str, float], usd_per_million: Mapping[str, float]) -> float:
    """Return the sum of tokens in millions * price per million. Raises ValueError where a price is missing.

    >>> round(token_revenue_usd({"output": 168e9}, {"output": 2.19}), 2)
    367920.0
    """
    missing = [kind for kind in tokens if kind not in usd_per_million]
    if missing:
        refuse("usd_per_million", ", ".join(usd_per_million), f"a price for {', '.join(missing)} too")
    require(AT_LEAST_0, **{f"tokens of {kind}": amount for kind, amount in tokens.items()})
    require(AT_LEAST_0, **{f"price of {kind}": price for kind, price in usd_per_million.items()})
    return sum(amount / TOKENS_PER_MILLION * usd_per_million[kind] for kind, amount in tokens.items())


@takes(revenue_usd=USD, cost_usd=USD)
def cost_profit_margin(revenue_usd: float | None, cost_usd: float | None) -> float | None:
    """Return (revenue - cost) / cost: a share of cost, not of revenue. None where one is unknown or cost 0.

    >>> round(cost_profit_margin(562_027.0, 87_072.0), 2)
    5.45
    """
    if revenue_usd is None or not cost_usd:
        return None
    return (revenue_usd - cost_usd) / cost_usd


@takes(
    gpu_hours=AT_LEAST_0,
    usd_per_gpu_hour=optional(AT_LEAST_0),
    usd_storage=optional(AT_LEAST_0),
    usd_network=optional(AT_LEAST_0),
)
def usd_per_run(
    gpu_hours: float,
    usd_per_gpu_hour: float | None,
    usd_storage: float | None = 0.0,
    usd_network: float | None = 0.0,
) -> float | None:
    """Return GPU-hours * rate + storage + network of one training run; None where a part is unknown.

    The GPU-hours are all that were paid, failed attempts included. Source of the example: DeepSeek-V3 report
    (2,788 thousand H800 hours at 2 USD; the final run only, without the research before it).

    >>> usd_per_run(2_788_000.0, 2.0)
    5576000.0
    """
    if usd_per_gpu_hour is None or usd_storage is None or usd_network is None:
        return None
    return gpu_hours * usd_per_gpu_hour + usd_storage + usd_network


@dataclass(frozen=True)
class Allocated:
    """The cost of each tag (experiment, model version, customer), and what no tag claims, shown as such.

    None where the cost is not known.
    """

    usd_by_tag: dict[str, float | None]
    usd_unallocated: float | None


@takes(usd=USD, gpu_hours=ABOVE_0)
def usd_by_tag(usd: float | None, gpu_hours: float, gpu_hours_by_tag: Mapping[str, float]) -> Allocated:
    """Return cost * tagged / all paid GPU-hours for each tag; the rest stays unallocated.

    `gpu_hours` are all that the cost paid for, idle ones included. None where the cost is not known. Raises
    ValueError where tags claim more.

    >>> usd_by_tag(1_000.0, 100.0, {"ablation-7": 25.0, "eval": 50.0})
    Allocated(usd_by_tag={'ablation-7': 250.0, 'eval': 500.0}, usd_unallocated=250.0)
    """
    require(AT_LEAST_0, **{f"GPU-hours of {tag}": hours for tag, hours in gpu_hours_by_tag.items()})
    claimed = sum(gpu_hours_by_tag.values())
    if claimed > gpu_hours * (1.0 + 1e-9):
        refuse("gpu_hours_by_tag", f"{claimed:g} in all", f"at most gpu_hours, {gpu_hours:g}")
    if usd is None:
        return Allocated(dict.fromkeys(gpu_hours_by_tag), None)
    rate = usd / gpu_hours
    by_tag: dict[str, float | None] = {tag: rate * hours for tag, hours in gpu_hours_by_tag.items()}
    return Allocated(by_tag, usd * (1.0 - claimed / gpu_hours))


@takes(run_gpu_hours=optional(AT_LEAST_0), gpus=optional(ABOVE_0), goodput=optional(SHARE_ABOVE_0))
def days_per_run(run_gpu_hours: float | None, gpus: float | None, goodput: float | None) -> float | None:
    """Return run GPU-hours / (GPUs * 24 * goodput): days of a reference run on that many GPUs.

    Run GPU-hours are those of useful work, goodput the share of paid time that is useful. None where one of
    them is unknown.

    >>> days_per_run(46_080.0, 64.0, 0.75)
    40.0
    """
    if run_gpu_hours is None or gpus is None or goodput is None:
        return None
    return run_gpu_hours / (gpus * HOURS_PER_DAY * goodput)


@takes(useful_gpu_hours=optional(AT_LEAST_0), run_gpu_hours=optional(ABOVE_0))
def runs_a_month(useful_gpu_hours: float | None, run_gpu_hours: float | None) -> float | None:
    """Return the useful GPU-hours of a month / GPU-hours of useful work per run; None where unknown.

    >>> runs_a_month(92_160.0, 46_080.0)
    2.0
    """
    return None if useful_gpu_hours is None or run_gpu_hours is None else useful_gpu_hours / run_gpu_hours

"""The cost of a million tokens, a run and an experiment, and how long a reference run takes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.unit_cost import (
    ALLOCATIONS,
    Allocation,
    cost_profit_margin,
    days_per_run,
    runs_a_month,
    token_revenue_usd,
    usd_by_tag,
    usd_per_million_tokens,
    usd_per_run,
)

TOKENS = {"input": 608e9, "output": 168e9}


@settings(max_examples=50, deadline=None)
@given(
    st.floats(0.0, 1e7),
    st.sampled_from(sorted(ALLOCATIONS)),
    st.floats(1e6, 1e12),
    st.floats(1e6, 1e12),
    st.floats(0.01, 100.0),
    st.floats(0.01, 100.0),
)
def test_what_the_kinds_bear_is_the_whole_cost(
    usd: float, allocation: Allocation, put_in: float, put_out: float, weight_in: float, weight_out: float
) -> None:
    weights = None if allocation == "all_on_output" else {"input": weight_in, "output": weight_out}
    cost = usd_per_million_tokens(usd, {"input": put_in, "output": put_out}, allocation, weights)
    by_kind = cost.usd_per_million
    assert by_kind["input"] is not None
    assert by_kind["output"] is not None
    borne = by_kind["input"] * put_in / 1e6 + by_kind["output"] * put_out / 1e6
    assert borne == pytest.approx(usd, rel=1e-9)
    assert cost.usd_per_million_of_all == pytest.approx(usd / ((put_in + put_out) / 1e6), rel=1e-9)
    assert cost.allocation == ALLOCATIONS[allocation]


def test_the_published_day_by_each_split() -> None:
    """87,072 USD a day for 608 and 168 thousand million tokens; 95.48 prefill and 131.38 decode nodes."""
    nodes = {"input": 95.48, "output": 131.38}
    by_nodes = usd_per_million_tokens(87_072.0, TOKENS, "node_share", nodes).usd_per_million
    assert by_nodes["input"] == pytest.approx(87_072 * 95.48 / 226.86 / 608_000)
    assert by_nodes["output"] == pytest.approx(87_072 * 131.38 / 226.86 / 168_000)
    # by price each kind has the same margin: cost is one share of the price
    prices = {"input": 0.55, "output": 2.19}
    by_price = usd_per_million_tokens(87_072.0, TOKENS, "price_ratio", prices).usd_per_million
    share = 87_072 / token_revenue_usd(TOKENS, prices)
    assert by_price == {"input": pytest.approx(0.55 * share), "output": pytest.approx(2.19 * share)}
    assert usd_per_million_tokens(87_072.0, TOKENS).usd_per_million["input"] == 0.0


def test_unknown_cost_stays_unknown_and_no_tokens_have_no_cost() -> None:
    unknown = usd_per_million_tokens(None, TOKENS)
    assert unknown.usd_per_million == {"input": None, "output": None}
    assert unknown.usd_per_million_of_all is None
    assert usd_per_million_tokens(1.0, {"input": 1e6, "output": 0.0}).usd_per_million["output"] is None
    assert cost_profit_margin(None, 1.0) is None
    assert cost_profit_margin(1.0, 0.0) is None


def test_a_run_costs_hours_storage_and_network() -> None:
    # 2,664 + 119 + 5 thousand hours at 2.00, and what stands beside them
    assert usd_per_run(2_664e3 + 119e3 + 5e3, 2.0) == 5_576_000.0
    assert usd_per_run(100.0, 2.0, 30.0, 20.0) == 250.0
    assert usd_per_run(100.0, None) is None
    assert usd_per_run(100.0, 2.0, usd_network=None) is None


def test_what_no_tag_claims_is_shown_as_such() -> None:
    allocated = usd_by_tag(900.0, 90.0, {"a": 30.0, "b": 15.0})
    assert allocated.usd_by_tag == {"a": pytest.approx(300.0), "b": pytest.approx(150.0)}
    assert allocated.usd_unallocated == pytest.approx(450.0)
    assert usd_by_tag(900.0, 90.0, {}).usd_unallocated == 900.0


def test_an_unknown_cost_is_unknown_for_each_tag() -> None:
    allocated = usd_by_tag(None, 90.0, {"a": 30.0, "b": 15.0})
    assert allocated.usd_by_tag == {"a": None, "b": None}
    assert allocated.usd_unallocated is None


def test_what_a_kind_without_tokens_bears_is_shown_as_unallocated() -> None:
    """One node of four waited for input tokens that never came: a quarter is nobody's."""
    tokens, nodes = {"input": 0.0, "output": 1e9}, {"input": 1.0, "output": 3.0}
    cost = usd_per_million_tokens(800.0, tokens, "node_share", nodes)
    assert cost.usd_per_million == {"input": None, "output": pytest.approx(0.6)}
    assert cost.usd_unallocated == pytest.approx(200.0)
    assert usd_per_million_tokens(800.0, {"input": 5.0, "output": 0.0}).usd_unallocated == 800.0
    assert usd_per_million_tokens(800.0, {"input": 5.0, "output": 1.0}).usd_unallocated == 0.0
    assert usd_per_million_tokens(None, {"input": 5.0, "output": 0.0}).usd_unallocated is None


def test_engineering_terms() -> None:
    """2,788,000 H800 hours on 2,048 GPUs at 90 % goodput: 2,788,000 / 44,236.8 a day = 63.02 days."""
    days = days_per_run(2_788_000.0, 2_048.0, 0.9)
    assert days == pytest.approx(63.0244, abs=1e-4)
    # those GPUs give 2,048 * 730 * 0.9 useful hours a month; a run takes 63.02 / 30.4167 months
    runs = runs_a_month(2_048 * 730 * 0.9, 2_788_000.0)
    assert days is not None
    assert runs == pytest.approx((730 / 24) / days)


@pytest.mark.parametrize("arguments", [(None, 8.0, 0.9), (1.0, None, 0.9), (1.0, 8.0, None)])
def test_unknown_passes_through(arguments: tuple[float | None, float | None, float | None]) -> None:
    assert days_per_run(*arguments) is None
    assert runs_a_month(None, 1.0) is None
    assert runs_a_month(1.0, None) is None


def test_refusals() -> None:
    with pytest.raises(ValueError, match="allocation is 'fair'; right would be node_share, price_ratio or"):
        usd_per_million_tokens(1.0, TOKENS, "fair")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights is None; right would be one weight for each of input"):
        usd_per_million_tokens(1.0, TOKENS, "node_share")
    with pytest.raises(ValueError, match="weight of input is -1"):
        usd_per_million_tokens(1.0, TOKENS, "node_share", {"input": -1.0, "output": 1.0})
    with pytest.raises(ValueError, match="above 0 for some kind"):
        usd_per_million_tokens(1.0, TOKENS, "node_share", {"input": 0.0, "output": 0.0})
    with pytest.raises(ValueError, match="output is 'out'; right would be one of the kinds"):
        usd_per_million_tokens(1.0, TOKENS, output="out")
    with pytest.raises(ValueError, match="tokens of input is nan"):
        usd_per_million_tokens(1.0, {"input": float("nan"), "output": 1.0})
    with pytest.raises(ValueError, match="a price for output too"):
        token_revenue_usd(TOKENS, {"input": 1.0})
    with pytest.raises(
        ValueError, match="gpu_hours_by_tag is 12 in all; right would be at most gpu_hours, 10"
    ):
        usd_by_tag(1.0, 10.0, {"a": 12.0})
    with pytest.raises(ValueError, match=r"goodput is 0\.0"):
        days_per_run(1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match=r"run_gpu_hours is 0\.0"):
        runs_a_month(1.0, 0.0)

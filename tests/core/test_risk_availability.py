"""Several sources at once: how often all are out, and what is then missing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.risk.availability import (
    DEFAULT_COMMON_CAUSE,
    Place,
    any_available,
    any_available_anywhere,
    common_cause_weight,
    default_common_cause,
    independence_understates_by,
)
from planner.core.risk.shortfall import MOST_SOURCES, expected_shortfall, joint_states

SHARES = st.floats(0.0, 1.0)
HUNDREDTHS = st.integers(0, 100).map(lambda count: count / 100)
SOURCES = st.lists(SHARES, min_size=1, max_size=6)
ZONES = [0.8831, 0.905, 0.8913]  # us-west-2a, b and c in public spot traces of 2023


def test_three_zones_are_out_together_33_times_as_often_as_independence_says() -> None:
    # prod U = 0.1169 * 0.095 * 0.1087 = 0.00120716; 0.0394 / 0.00120716 = 32.64
    assert any_available(ZONES, 0.0) == pytest.approx(1 - 0.00120716, abs=1e-8)
    assert independence_understates_by(ZONES, 0.9606) == pytest.approx(32.64, abs=0.01)
    # (0.0394 - 0.00120716) / (0.095 - 0.00120716) = 0.03819284 / 0.09379284
    assert common_cause_weight(ZONES, 0.9606) == pytest.approx(0.40720, abs=1e-5)


@settings(max_examples=50, deadline=None)
@given(SOURCES, SHARES)
def test_all_are_out_between_independence_and_the_best_of_them(shares: list[float], weight: float) -> None:
    out = 1 - any_available(shares, weight)
    assert math.prod(1 - each for each in shares) - 1e-12 <= out <= 1 - max(shares) + 1e-12


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=6), SHARES)
def test_the_weight_of_a_mixture_is_found_again(shares: list[float], weight: float) -> None:
    assert common_cause_weight(shares, any_available(shares, weight)) == pytest.approx(weight, abs=1e-6)


def test_a_weight_is_not_told_where_the_mixture_has_one_answer() -> None:
    assert common_cause_weight([0.9], 0.9) is None
    assert common_cause_weight([1.0, 0.9], 1.0) is None
    assert independence_understates_by([1.0, 0.9], 1.0) is None


def test_sources_that_take_turns_have_no_common_cause() -> None:
    assert common_cause_weight([0.5, 0.5], 1.0) == 0.0


def test_any_of_several_is_up_no_less_than_the_best() -> None:
    with pytest.raises(ValueError, match=r"measured_any_available is 0\.8; .* best source, 0\.9"):
        common_cause_weight([0.9, 0.5], 0.8)
    assert common_cause_weight([0.905, 0.5], 0.9049) == 1.0  # rounding


def test_defaults_say_what_they_were_observed_to_be_and_what_is_judgement() -> None:
    assert [default_common_cause(each).weight for each in DEFAULT_COMMON_CAUSE] == [0.6, 0.3, 0.1]
    for each in DEFAULT_COMMON_CAUSE.values():
        if each.observed_low is None or each.observed_high is None:
            assert "judgement" in each.label
        else:
            assert each.observed_low <= each.weight <= each.observed_high
    with pytest.raises(ValueError, match="relation"):
        default_common_cause("next door")  # type: ignore[arg-type]


# --- by place ---


def test_a_second_provider_helps_more_than_a_second_zone() -> None:
    def of(*places: tuple[str, str]) -> float:
        return any_available_anywhere([Place(*place, 0.9) for place in places])

    zone, region, provider = (
        of(("A", "x"), ("A", "x")),
        of(("A", "x"), ("A", "y")),
        of(("A", "x"), ("B", "x")),
    )
    # beta * 0.1 + (1 - beta) * 0.01
    assert (zone, region, provider) == (pytest.approx(0.936), pytest.approx(0.963), pytest.approx(0.981))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("xyz"), SHARES), min_size=1, max_size=6))
def test_by_place_too_the_answer_lies_between_the_best_and_independence(
    rows: list[tuple[str, str, float]],
) -> None:
    shares = [share for _, _, share in rows]
    found = any_available_anywhere([Place(*row) for row in rows])
    assert max(shares) - 1e-12 <= found <= any_available(shares, 0.0) + 1e-12


# --- states ---


@settings(max_examples=50, deadline=None)
@given(SOURCES, SHARES)
def test_states_add_up_and_each_source_keeps_its_own_share(shares: list[float], weight: float) -> None:
    states = joint_states(shares, weight)
    assert states.is_out.shape == (2 ** len(shares), len(shares))
    assert np.all(states.probability >= 0.0)
    assert states.probability.sum() == pytest.approx(1.0)
    assert states.probability @ states.is_out == pytest.approx(1 - np.array(shares))
    all_out = states.probability[states.is_out.all(axis=1)].sum()
    assert all_out == pytest.approx(1 - any_available(shares, weight))


@settings(max_examples=50, deadline=None)
@given(st.lists(HUNDREDTHS, min_size=1, max_size=4), st.sampled_from([0.0, 0.25, 1.0]))
def test_states_are_those_of_a_hundred_equal_draws(shares: list[float], weight: float) -> None:
    states = joint_states(shares, weight)
    out = [round(100 * (1 - share)) for share in shares]
    for row, probability in zip(states.is_out.tolist(), states.probability, strict=True):
        draws = sum([v < each for each in out] == row for v in range(100)) / 100
        alone = math.prod(
            (each if is_out else 100 - each) / 100 for each, is_out in zip(out, row, strict=True)
        )
        assert probability == pytest.approx(weight * draws + (1 - weight) * alone, abs=1e-9)


# --- shortfall ---


def test_a_shortfall_worked_out_by_hand() -> None:
    """Need 10 of 8 + 4, up 90 and 80 % of the time, independent, 730 hours.

    Out: the first alone 0.1 * 0.8 lacks 6, the second alone 0.9 * 0.2 lacks 2, both 0.02 lack 10.
    """
    found = expected_shortfall(10, [8, 4], [0.9, 0.8], 0.0, 730)
    assert found.gpu_hours == pytest.approx((0.08 * 6 + 0.18 * 2 + 0.02 * 10) * 730)
    assert found.probability == pytest.approx(0.28)
    # one cause: V below 0.1 takes both, from 0.1 to 0.2 the second
    together = expected_shortfall(10, [8, 4], [0.9, 0.8], 1.0, 730)
    assert together.gpu_hours == pytest.approx((0.1 * 10 + 0.1 * 2) * 730)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), SHARES), min_size=1, max_size=4), st.integers(0, 50), SHARES)
def test_the_shortfall_is_the_sum_over_states(
    sources: list[tuple[int, float]], need: int, weight: float
) -> None:
    capacities, shares = [each for each, _ in sources], [share for _, share in sources]
    states = joint_states(shares, weight)
    expected = 0.0
    for row, probability in zip(states.is_out.tolist(), states.probability, strict=True):
        up = sum(each for each, is_out in zip(capacities, row, strict=True) if not is_out)
        expected += probability * max(0, need - up) * 10
    found = expected_shortfall(need, capacities, shares, weight, 10)
    assert found.gpu_hours == pytest.approx(expected)
    assert found.gpu_hours <= need * 10 + 1e-9


@settings(max_examples=50, deadline=None)
@given(SOURCES, st.floats(0.0, 100.0), st.floats(1.0, 50.0))
def test_one_more_source_never_adds_to_the_shortfall(
    shares: list[float], need: float, capacity: float
) -> None:
    less = expected_shortfall(need, [capacity] * len(shares), shares, 0.4, 1)
    more = expected_shortfall(need, [capacity] * (len(shares) + 1), [*shares, 0.5], 0.4, 1)
    assert more.most_gpu_hours <= less.most_gpu_hours + 1e-9


def test_an_unknown_capacity_is_neither_none_nor_endless() -> None:
    found = expected_shortfall(10, [10, None], [0.9, 0.9], 0.5, 100)
    assert (found.gpu_hours, found.probability, found.unknown) == (None, None, (1,))
    assert found.most_gpu_hours == pytest.approx(0.1 * 10 * 100)  # as if the second had none
    certain = expected_shortfall(10, [10, None], [1.0, 0.9], 0.5, 100)
    assert (certain.gpu_hours, certain.probability) == (0.0, 0.0)  # the first is enough in every state


def test_twelve_sources_are_summed_and_thirteen_refused() -> None:
    assert joint_states([0.9] * MOST_SOURCES, 0.3).probability.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="1 to 12 sources"):
        joint_states([0.9] * 13, 0.3)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, math.inf])
def test_shares_outside_their_range_are_refused(share: float) -> None:
    for call in (
        lambda: any_available([0.9, share], 0.5),
        lambda: joint_states([share], 0.5),
        lambda: expected_shortfall(1, [1], [share], 0.5, 1),
        lambda: common_cause_weight([share], 0.5),
        lambda: Place("A", "x", share),
    ):
        with pytest.raises(ValueError, match="availabilit"):
            call()
    with pytest.raises(ValueError, match="common_cause_weight"):
        any_available([0.9], share)


def test_lists_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="availabilities"):
        any_available([], 0.5)
    with pytest.raises(ValueError, match="availabilities"):
        any_available_anywhere([])
    with pytest.raises(ValueError, match="capacities_gpus"):
        expected_shortfall(1, [1, 2], [0.9], 0.5, 1)
    with pytest.raises(ValueError, match="hours"):
        expected_shortfall(1, [1], [0.9], 0.5, -1)

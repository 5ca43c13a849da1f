"""Plan against actual: the parts add up, whatever the numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.variance import (
    SourceChange,
    forecast_accuracy,
    volume_and_rate,
    volume_mix_price,
)

few = settings(max_examples=100, deadline=None)
hours = st.floats(0.0, 1e6)
prices = st.floats(0.0, 100.0)
sources = st.lists(st.tuples(hours, prices, hours, prices), min_size=1, max_size=6).filter(
    lambda rows: sum(row[0] for row in rows) > 1.0
)


@few
@given(hours, prices, hours, prices)
def test_volume_and_rate_are_the_whole_difference(q0: float, p0: float, q1: float, p1: float) -> None:
    parts = volume_and_rate(q0, p0, q1, p1)
    assert parts is not None
    assert parts.total_usd == pytest.approx(q1 * p1 - q0 * p0, rel=1e-9, abs=1e-6)


@few
@given(sources)
def test_volume_mix_and_price_are_the_whole_difference(
    rows: list[tuple[float, float, float, float]],
) -> None:
    changes = [SourceChange(str(i), *row) for i, row in enumerate(rows)]
    parts = volume_mix_price(changes)
    planned = sum(q0 * p0 for q0, p0, _, _ in rows)
    actual = sum(q1 * p1 for _, _, q1, p1 in rows)
    assert parts.total_usd == pytest.approx(actual - planned, rel=1e-9, abs=1e-4)
    assert sum(parts.mix_usd_by_source.values()) == pytest.approx(parts.mix_usd, rel=1e-9, abs=1e-4)
    assert sum(parts.price_usd_by_source.values()) == pytest.approx(parts.price_usd, rel=1e-9, abs=1e-4)


@few
@given(
    st.lists(st.tuples(*[st.integers(0, 1000)] * 4), min_size=1, max_size=5).filter(
        lambda r: sum(x[0] for x in r)
    )
)
def test_the_three_formulas_add_up_exactly_in_fractions(rows: list[tuple[int, int, int, int]]) -> None:
    """The proof in numbers without rounding: volume, mix and price as written, in fractions."""
    total0, total1 = sum(r[0] for r in rows), sum(r[2] for r in rows)
    mean = Fraction(sum(q0 * p0 for q0, p0, _, _ in rows), total0)
    volume = (total1 - total0) * mean
    mix = sum((q1 - Fraction(total1 * q0, total0)) * (p0 - mean) for q0, p0, q1, _ in rows)
    price = Fraction(sum(q1 * (p1 - p0) for _, p0, q1, p1 in rows))
    assert volume + mix + price == sum(q1 * p1 - q0 * p0 for q0, p0, q1, p1 in rows)
    parts = volume_mix_price([SourceChange(str(i), *map(float, row)) for i, row in enumerate(rows)])
    assert (parts.volume_usd, parts.mix_usd, parts.price_usd) == (
        pytest.approx(float(volume), abs=1e-6),
        pytest.approx(float(mix), abs=1e-6),
        pytest.approx(float(price), abs=1e-6),
    )


def test_a_move_from_reserved_to_on_demand_is_mix() -> None:
    """Planned 80 h at 1 and 20 h at 3, mean 1.40. It was 60 and 60 h: 20 more hours are 28, the move 72."""
    parts = volume_mix_price(
        [SourceChange("reserved", 80.0, 1.0, 60.0, 1.0), SourceChange("on demand", 20.0, 3.0, 60.0, 3.5)]
    )
    assert parts.volume_usd == pytest.approx(20 * 1.4)
    # of 120 h, 30 % moved from 1.00 to 3.00; by source against the mean of 1.40
    assert parts.mix_usd == pytest.approx(120 * 0.3 * (3.0 - 1.0)) == pytest.approx(72.0)
    assert parts.mix_usd_by_source == {
        "reserved": pytest.approx(120 * -0.3 * -0.4),
        "on demand": pytest.approx(120 * 0.3 * 1.6),
    }
    assert parts.price_usd_by_source == {"reserved": 0.0, "on demand": 30.0}
    two_way = volume_and_rate(100.0, 1.4, 120.0, 270.0 / 120.0)
    assert two_way is not None
    assert two_way.rate_usd == pytest.approx(parts.mix_usd + parts.price_usd)


def test_a_missing_price_is_named_and_nothing_is_split() -> None:
    parts = volume_mix_price(
        [SourceChange("reserved", 80.0, 1.0, 60.0, 1.0), SourceChange("spot", 0.0, None, 10.0, None)]
    )
    assert (parts.volume_usd, parts.mix_usd, parts.price_usd, parts.total_usd) == (None,) * 4
    assert parts.missing == ("spot: planned price", "spot: actual price")
    assert volume_and_rate(1.0, None, 1.0, 1.0) is None


def test_prices_of_what_was_never_used_are_not_needed() -> None:
    parts = volume_mix_price(
        [
            SourceChange("reserved", 10.0, 2.0, 0.0, None),
            SourceChange("never", 0.0, None, 0.0, None),
            SourceChange("spot", 0.0, 1.0, 10.0, 1.5),
        ]
    )
    # 20 was planned and 15 paid: 10 h moved from 2.00 to 1.00, then 0.50 dearer than thought
    assert (parts.volume_usd, parts.mix_usd, parts.price_usd) == pytest.approx((0.0, -10.0, 5.0))


def test_errors_of_a_forecast() -> None:
    """|100 - 110| + |200 - 150| = 60 of 300; 260 - 300 = -40 of 300; P10 to P90 holds one of two."""
    accuracy = forecast_accuracy(
        np.array([100.0, 200.0, np.nan]),
        np.array([110.0, 150.0, 400.0]),
        np.array([90.0, 120.0, 300.0]),
        np.array([130.0, 180.0, 500.0]),
    )
    assert accuracy.wape == pytest.approx(0.2)
    assert accuracy.bias == pytest.approx(-40 / 300)
    assert accuracy.coverage == 0.5
    assert (accuracy.periods, accuracy.periods_left_out) == (2, 1)


def test_a_right_band_holds_about_eight_in_ten() -> None:
    rng = np.random.default_rng(4)
    was = rng.normal(100.0, 10.0, 4_000)
    z = 1.2815515655
    band = np.full(4_000, 100.0 - 10.0 * z), np.full(4_000, 100.0 + 10.0 * z)
    assert forecast_accuracy(was, np.full(4_000, 100.0), *band).coverage == pytest.approx(0.8, abs=0.02)


def test_nothing_measured_has_no_error() -> None:
    accuracy = forecast_accuracy(np.array([np.nan]), np.array([1.0]), np.array([1.0]), np.array([2.0]))
    assert (accuracy.wape, accuracy.bias, accuracy.coverage, accuracy.periods) == (None, None, None, 0)
    assert forecast_accuracy(np.array([0.0]), np.array([1.0])).wape is None


def test_refusals() -> None:
    with pytest.raises(ValueError, match="planned_gpu_hours is 0; right would be above 0"):
        volume_mix_price([SourceChange("new", 0.0, 1.0, 5.0, 1.0)])
    with pytest.raises(ValueError, match=r"spot: actual_gpu_hours is -1\.0"):
        SourceChange("spot", 1.0, 1.0, -1.0, 1.0)
    with pytest.raises(ValueError, match="actual_price is nan"):
        volume_and_rate(1.0, 1.0, 1.0, float("nan"))
    with pytest.raises(ValueError, match="forecast is 2 periods; right would be as many as actual has, 1"):
        forecast_accuracy(np.array([1.0]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"p90 is 5\.0 against p10 6\.0; right would be at least p10"):
        forecast_accuracy(np.array([1.0, 2.0]), np.zeros(2), np.array([0.0, 6.0]), np.array([1.0, 5.0]))
    twice = [SourceChange("spot", 1.0, 1.0, 1.0, 1.0), SourceChange("spot", 1.0, 2.0, 1.0, 2.0)]
    with pytest.raises(ValueError, match="names of sources is spot, spot; right would be a name of its own"):
        volume_mix_price(twice)

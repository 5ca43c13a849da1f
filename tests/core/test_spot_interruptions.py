"""What is known of losses: a measured rate, a bound, or nothing, which is never 0 %."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.spot_interruptions import (
    NO_INTERRUPTION_DATA,
    NOT_KNOWN,
    InterruptionRate,
    band_hazards_per_hour,
    lowest_hazard_per_hour,
    measured_rate,
    rate_of_band,
)

SHARES = st.floats(0.0, 0.99)


def test_no_interruption_data_is_a_value_without_a_number() -> None:
    assert NOT_KNOWN.text == NO_INTERRUPTION_DATA == "no interruption data"
    assert (NOT_KNOWN.hazard_per_hour, NOT_KNOWN.mtbf_hours) == (None, None)
    assert measured_rate(0.0, 0) is NOT_KNOWN


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 1e6), st.integers(0, 1000), SHARES, st.one_of(st.none(), SHARES))
def test_no_evidence_ever_says_0_percent(hours: float, losses: int, low: float, high: float | None) -> None:
    found = [measured_rate(hours, losses)]
    if high is None or high >= low:
        found.append(rate_of_band(low, high))
    for each in found:
        assert each.hazard_per_hour is None or each.hazard_per_hour > 0.0
        assert (each.hazard_per_hour is None) == (each.evidence == "none")
        assert each.evidence != "none" or NO_INTERRUPTION_DATA in each.text
        assert each.text


def test_a_measured_rate_is_losses_per_available_hour() -> None:
    found = measured_rate(105.0, 10)
    assert (found.evidence, found.mtbf_hours, found.text) == ("measured", 10.5, "10 losses in 105 h")
    assert found.hazard_per_hour == pytest.approx(10 / 105)


def test_a_time_without_a_loss_bounds_the_hazard_from_above() -> None:
    found = measured_rate(300.0, 0)
    assert (found.evidence, found.mtbf_hours) == ("at most", None)
    assert found.hazard_per_hour == pytest.approx(3 / 300, rel=2e-3)  # the rule of three
    # 300 hours without a loss then have a chance of one in twenty
    assert math.exp(-300 * (found.hazard_per_hour or 0)) == pytest.approx(0.05)


def test_a_band_is_a_lower_bound_and_no_rate_to_plan_on() -> None:
    found = rate_of_band(0.2, None)
    assert (found.evidence, found.mtbf_hours) == ("at least", None)
    assert found.hazard_per_hour == lowest_hazard_per_hour(0.2)
    assert found.text == "20 % and more interrupted in a month: at least 0.000306 an hour"


def test_the_lowest_band_says_nothing() -> None:
    found = rate_of_band(0.0, 0.05)
    assert (found.evidence, found.hazard_per_hour) == ("none", None)
    assert found.text.startswith(NO_INTERRUPTION_DATA)


def test_bounds_at_the_ends_of_a_band() -> None:
    low, high = band_hazards_per_hour(0.05, 0.10)
    assert (low, high) == (pytest.approx(-math.log(0.95) / 730), pytest.approx(-math.log(0.90) / 730))


def test_values_without_a_meaning_are_refused() -> None:
    for call, name in (
        (lambda: measured_rate(-1.0, 0), "available_hours"),
        (lambda: measured_rate(1.0, -1), "losses"),
        (lambda: measured_rate(1.0, 0, confidence=1.0), "confidence"),
        (lambda: rate_of_band(1.0, None), "share_low"),
        (lambda: rate_of_band(0.2, 0.1), "share_high"),
        (lambda: lowest_hazard_per_hour(math.nan), "share_interrupted"),
        (lambda: InterruptionRate("measured", 0.0, "0 %"), "hazard_per_hour"),
        (lambda: InterruptionRate("measured", None, "?"), "hazard_per_hour"),
        (lambda: InterruptionRate("none", 0.1, "?"), "hazard_per_hour"),
        (lambda: InterruptionRate("guessed", 0.1, "?"), "evidence"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=name):
            call()

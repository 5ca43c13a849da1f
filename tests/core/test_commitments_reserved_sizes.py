"""Reservations match zones exactly, regions across sizes, the smallest size first."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.reserved_sizes import (
    NORMALIZED_UNITS,
    Reservation,
    Running,
    SizeRules,
    apply_reservations,
    cover_smallest_first,
)

RULES = SizeRules(fixed_size_families=("g4dn", "g5", "inf1"))
FEW = settings(max_examples=50, deadline=None)


def running(**changes: Any) -> Running:
    given = {"family": "p5", "size": "48xlarge", "instances": 1, "region": "us-east-1", "zone": "us-east-1a"}
    return Running(**given | changes)


def reserved(**changes: Any) -> Reservation:
    given = {"name": "r", "family": "p5", "size": "48xlarge", "instances": 1, "region": "us-east-1"}
    return Reservation(**given | changes)


def test_normalised_units_are_those_of_ec2() -> None:
    published = {"small": 1, "medium": 2, "large": 4, "xlarge": 8, "2xlarge": 16, "9xlarge": 72}
    published |= {"12xlarge": 96, "24xlarge": 192, "32xlarge": 256, "48xlarge": 384}
    assert {size: NORMALIZED_UNITS[size] for size in published} == published


def test_the_smallest_running_size_is_covered_first() -> None:
    # two xlarge are 16 units: all of the large (4), all of the xlarge (8), 4 of the 16 of the 2xlarge
    use = apply_reservations(
        [running(size="2xlarge"), running(size="large"), running(size="xlarge")],
        [reserved(size="xlarge", instances=2)],
        RULES,
    )
    assert use.covered_instances.tolist() == [0.25, 1.0, 1.0]
    assert use.covered_share == pytest.approx(16 / 28)
    assert use.utilization == 1.0


def test_a_zonal_reservation_is_used_before_a_regional_one() -> None:
    use = apply_reservations([running()], [reserved(name="regional"), reserved(zone="us-east-1a")], RULES)
    assert use.used_instances.tolist() == [0.0, 1.0]
    assert use.covered_instances.tolist() == [1.0]
    assert use.utilization == 0.5


@pytest.mark.parametrize(
    ("change", "covered"),
    [
        ({}, 1.0),
        ({"zone": "us-east-1b"}, 0.0),
        ({"size": "24xlarge"}, 0.0),
        ({"platform": "Windows"}, 0.0),
        ({"tenancy": "dedicated"}, 0.0),
        ({"region": "us-west-2"}, 0.0),
    ],
)
def test_a_zonal_reservation_matches_exactly(change: dict[str, str], covered: float) -> None:
    use = apply_reservations([running(**change)], [reserved(zone="us-east-1a")], RULES)
    assert use.covered_instances.tolist() == [covered]


@pytest.mark.parametrize(
    ("change", "covered"),
    [
        ({"family": "p5"}, 0.5),
        ({"family": "g5"}, 0.0),  # the caller's list
        ({"platform": "Windows"}, 0.0),
        ({"tenancy": "dedicated"}, 0.0),
    ],
)
def test_size_flexibility_is_what_the_rules_say(change: dict[str, str], covered: float) -> None:
    use = apply_reservations([running(**change)], [reserved(size="24xlarge", **change)], RULES)
    assert use.covered_instances.tolist() == [covered]


def test_without_size_flexibility_the_same_size_is_covered_in_any_zone() -> None:
    use = apply_reservations([running(family="g5", zone="us-east-1f")], [reserved(family="g5")], RULES)
    assert use.covered_share == 1.0


def test_nothing_running_or_reserved_has_no_share() -> None:
    assert apply_reservations([], [], RULES).covered_share is None
    assert apply_reservations([], [reserved()], RULES).utilization == 0.0
    assert apply_reservations([running()], [], RULES).covered_share == 0.0


SIZES = ("small", "large", "xlarge", "2xlarge")
MANY = st.lists(st.integers(0, 6), min_size=4, max_size=4)


@FEW
@given(MANY, st.integers(0, 100), st.integers(0, 5))
def test_covered_never_passes_what_runs_or_is_reserved(counts: list[int], units: int, zonal: int) -> None:
    fleet = [running(size=size, instances=n) for size, n in zip(SIZES, counts, strict=True)]
    bought = [
        reserved(size="small", instances=units),
        reserved(name="z", size="xlarge", instances=zonal, zone="us-east-1a"),
    ]
    use = apply_reservations(fleet, bought, RULES)
    size_units = np.array([NORMALIZED_UNITS[size] for size in SIZES])
    assert (use.covered_instances <= np.array(counts) + 1e-9).all()
    assert (use.used_instances <= np.array([units, zonal]) + 1e-9).all()
    by_zone = min(zonal, counts[2]) * 8
    covered = by_zone + min(units, float(np.dot(counts, size_units)) - by_zone)
    assert float(use.covered_instances @ size_units) == pytest.approx(covered)


@FEW
@given(st.lists(MANY, min_size=1, max_size=5), st.integers(0, 60))
def test_hours_are_covered_one_by_one(hours: list[list[int]], units: int) -> None:
    size_units = np.array([1.0, 4.0, 8.0, 16.0])
    table = np.array(hours, dtype=float) * size_units
    together = cover_smallest_first(table, size_units, units)
    for hour, row in enumerate(table):
        left, expected = float(units), []
        for amount in row:  # sizes rise already
            expected.append(min(left, amount))
            left -= expected[-1]
        assert together[hour] == pytest.approx(expected)


def test_bad_input_is_refused_with_the_right_range() -> None:
    with pytest.raises(ValueError, match=r"p5.48xlarge: instances is -1"):
        running(instances=-1)
    with pytest.raises(ValueError, match="r: instances is nan"):
        reserved(instances=float("nan"))
    with pytest.raises(ValueError, match="size is '7xlarge'"):
        apply_reservations([running(size="7xlarge")], [], RULES)
    with pytest.raises(ValueError, match="units_by_size of xl is 0"):
        SizeRules(fixed_size_families=(), units_by_size={"xl": 0})
    with pytest.raises(ValueError, match="units_per_instance"):
        cover_smallest_first(np.array([1.0, 2.0]), np.array([1.0]), 1.0)
    with pytest.raises(ValueError, match="reserved_units is -1"):
        cover_smallest_first(np.array([1.0]), np.array([1.0]), -1.0)

"""Several limits at once: all of them hold."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.quota_limits import Launch, Limit, Room, gaps, room_for

ND, NC, A3, A2 = Launch("ND96"), Launch("NC24"), Launch("a3"), Launch("a2")
FAMILY = Limit("ND vCPUs", 384, {"ND96": 96})
REGION = Limit("regional vCPUs", 300, {"ND96": 96, "NC24": 24})


def test_on_azure_family_and_region_both_hold() -> None:
    assert room_for(ND, [FAMILY]).instances == 4
    # 300 / 96 is 3 and a bit; with 4 NC24 running, 204 / 96 is 2
    assert room_for(ND, [FAMILY, REGION]) == Room(3, 3, ("regional vCPUs",), ())
    assert room_for(ND, [FAMILY, REGION], {NC: 4}).instances == 2
    # the family binds where 2 run already and the region is wide
    wide = Limit("regional vCPUs", 10_000, {"ND96": 96, "NC24": 24})
    assert room_for(ND, [FAMILY, wide], {ND: 2}) == Room(2, 2, ("ND vCPUs",), ())


def test_on_google_type_and_all_regions_both_hold() -> None:
    h100, everything = Limit("H100", 32, {"a3": 8}), Limit("all", 40, {"a3": 8, "a2": 1})
    assert room_for(A3, [h100, everything], {A2: 20}) == Room(2, 2, ("all",), ())
    assert gaps([h100, everything], {A3: 5, A2: 12}) == {"H100": 8.0, "all": 12.0}


def test_spot_does_not_draw_on_the_limit_of_on_demand() -> None:
    spot = Limit("spot vCPUs", 192, {"p5": 192}, "spot")
    on_demand = Limit("P vCPUs", 128, {"p5": 192})
    assert room_for(Launch("p5"), [on_demand, spot]).instances == 0
    assert room_for(Launch("p5", "spot"), [on_demand, spot]).instances == 1
    assert gaps([on_demand, spot], {Launch("p5", "spot"): 2}) == {"P vCPUs": 0.0, "spot vCPUs": 192.0}


def test_an_unknown_limit_is_not_endless() -> None:
    unknown = Limit("regional vCPUs", None, {"ND96": 96})
    assert room_for(ND, [FAMILY, unknown]) == Room(None, 4, ("ND vCPUs",), ("regional vCPUs",))
    assert room_for(ND, [unknown]) == Room(None, None, (), ("regional vCPUs",))
    assert room_for(ND, []) == Room(None, None, (), ())
    assert gaps([unknown], {ND: 1}) == {"regional vCPUs": None}
    assert gaps([unknown], {NC: 1}) == {"regional vCPUs": 0.0}


def test_a_known_limit_without_room_leaves_none_whatever_the_others() -> None:
    full, unknown = Limit("ND vCPUs", 95, {"ND96": 96}), Limit("regional vCPUs", None, {"ND96": 96})
    assert room_for(ND, [full, unknown]).instances == 0
    assert room_for(ND, [FAMILY], {ND: 9}).instances == 0  # overdrawn


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2000), st.integers(0, 2000), st.integers(1, 200), st.integers(1, 200), st.integers(0, 9)
)
def test_what_room_allows_leaves_no_gap_and_one_more_does(
    family: int, region: int, drawn: int, drawn_by_other: int, running: int
) -> None:
    limits = [
        Limit("f", family, {"ND96": drawn}),
        Limit("r", region, {"ND96": drawn, "NC24": drawn_by_other}),
    ]
    room = room_for(ND, limits, {NC: running}).instances
    assert room is not None
    others_fit = running * drawn_by_other <= region
    assert all(value == 0 for value in gaps(limits, {ND: room, NC: running}).values()) == others_fit
    assert any(value for value in gaps(limits, {ND: room + 1, NC: running}).values())


def test_values_without_a_meaning_are_refused() -> None:
    for call, name in (
        (lambda: Limit("a", -1, {}), "amount"),
        (lambda: Limit("a", math.nan, {}), "amount"),
        (lambda: Limit("a", 1, {"p5": 0}), "drawn_per_instance of p5"),
        (lambda: Limit("a", 1, {}, "reserved"), "purchase"),  # type: ignore[arg-type]
        (lambda: room_for(ND, [FAMILY], {NC: -1}), "instances of NC24"),
        (lambda: room_for(ND, [FAMILY], {NC: 1.5}), "instances of NC24"),  # type: ignore[dict-item]
        (lambda: room_for(ND, [FAMILY, FAMILY]), "limits"),
        (lambda: gaps([FAMILY, FAMILY], {}), "limits"),
        (lambda: room_for(Launch("p5", "free"), []), "purchase"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=name):
            call()

"""How much hangs on one provider, region, vendor or month of expiry."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.risk.concentration import (
    GUIDELINES,
    Guideline,
    Served,
    band,
    concentration,
    effective_number,
    herfindahl_index,
)

ROWS = [
    Served("own", {"provider": "own", "vendor": "NVIDIA", "site": "Reno"}, 300.0),
    Served("p5", {"provider": "AWS", "vendor": "NVIDIA", "expiry_month": "2027-03"}, 300.0),
    Served("trn2", {"provider": "AWS", "vendor": "AWS", "expiry_month": "2027-09"}, 200.0),
    Served("od", {"provider": "GCP", "vendor": "NVIDIA"}, 200.0),
]


def test_the_index_is_taken_by_any_key() -> None:
    by_provider = concentration(ROWS, "provider")
    assert by_provider.shares == {"AWS": 0.5, "own": 0.3, "GCP": 0.2}
    assert by_provider.hhi == pytest.approx(50**2 + 30**2 + 20**2)
    assert by_provider.level == "high"
    assert concentration(ROWS, "vendor").hhi == pytest.approx(80**2 + 20**2)


def test_what_a_key_does_not_apply_to_is_left_out_and_said() -> None:
    found = concentration(ROWS, "expiry_month")
    assert found.hhi == pytest.approx(60**2 + 40**2)
    assert found.left_out_gpu_hours == 500.0
    assert concentration(ROWS, "region").hhi is None
    assert concentration(ROWS, "region").left_out_gpu_hours == 1000.0


def test_an_unknown_value_leaves_a_range() -> None:
    rows = [
        Served("a", {"region": "x"}, 50.0),
        Served("b", {"region": "y"}, 30.0),
        Served("c", {"region": None}, 20.0),
    ]
    found = concentration(rows, "region")
    assert (found.hhi, found.effective_number, found.level, found.unknown) == (None, None, None, ("c",))
    assert found.hhi_from == pytest.approx(50**2 + 30**2 + 20**2)  # a region of its own
    assert found.hhi_to == pytest.approx(70**2 + 30**2)  # the same as the largest


def test_unknown_gpu_hours_leave_nothing_to_say() -> None:
    found = concentration([*ROWS, Served("new", {"provider": "Azure"}, None)], "provider")
    assert (found.hhi, found.hhi_from, found.hhi_to, found.shares) == (None, None, None, {})
    assert found.unknown == ("new",)


def test_nothing_served_has_no_index() -> None:
    assert herfindahl_index([]) is None
    assert herfindahl_index([0.0, 0.0]) is None
    assert concentration([Served("a", {"provider": "A"}, 0.0)], "provider").hhi is None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=20))
def test_the_index_lies_between_equal_shares_and_a_single_one(weights: list[float]) -> None:
    index = herfindahl_index(weights)
    assert index is not None
    assert 10_000 / len(weights) * (1 - 1e-9) <= index <= 10_000 * (1 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["x", "y", None]), st.integers(1, 100)), min_size=1, max_size=5),
    st.lists(st.sampled_from(["x", "y", "z", "other"]), min_size=5, max_size=5),
)
def test_whatever_the_unknown_values_are_the_index_is_in_the_range(
    rows: list[tuple[str | None, int]], guesses: list[str]
) -> None:
    def served(values: list[str | None]) -> list[Served]:
        return [
            Served(str(n), {"region": v}, float(w))
            for n, (v, (_, w)) in enumerate(zip(values, rows, strict=True))
        ]

    found = concentration(served([value for value, _ in rows]), "region")
    true = concentration(
        served([value or guess for (value, _), guess in zip(rows, guesses, strict=False)]), "region"
    )
    assert None not in (found.hhi_from, found.hhi_to, true.hhi)
    assert found.hhi_from - 1e-6 <= true.hhi <= found.hhi_to + 1e-6


def test_a_single_supplier_is_high_whatever_the_rounding() -> None:
    found = concentration([Served(str(n), {"provider": "A"}, 0.1) for n in range(3)], "provider")
    assert found.hhi == pytest.approx(10_000)
    assert found.level == "high"


@pytest.mark.parametrize(
    ("index", "in_2010", "in_2023"),
    [
        (999.0, "low", "low"), (1000.0, "low", "moderate"), (1500.0, "moderate", "moderate"),
        (1801.0, "moderate", "high"), (2500.0, "moderate", "high"), (2501.0, "high", "high"),
    ],
)  # fmt: skip
def test_bands_are_those_of_a_dated_guideline(index: float, in_2010: str, in_2023: str) -> None:
    assert (band(index), band(index, guideline_year=2023)) == (in_2010, in_2023)
    assert [each.year for each in GUIDELINES.values()] == list(GUIDELINES)


def test_values_without_a_meaning_are_refused() -> None:
    for call, name in (
        (lambda: herfindahl_index([1.0, -1.0]), "weights"),
        (lambda: herfindahl_index([math.nan]), "weights"),
        (lambda: effective_number(0.0), "hhi"),
        (lambda: band(10_001.0), "hhi"),
        (lambda: band(1000.0, guideline_year=1992), "guideline_year"),
        (lambda: concentration(ROWS, "provider", 1992), "guideline_year"),
        (lambda: Served("a", {}, -1.0), "critical_gpu_hours"),
        (lambda: Guideline("g", 2010, 2000.0, 1000.0), "high_above"),
    ):
        with pytest.raises(ValueError, match=name):
            call()

"""Numbers for the eye: three figures in heroes, whole units in tables, unknown is never zero."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.templatetags import units

N = "\u00a0"  # no-break space
M = "\u2212"  # true minus


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10221592, "$10,221,592"),
        (Decimal("10221591.5"), "$10,221,592"),
        (-1608000, f"{M}$1,608,000"),
        (0, "$0"),
        (-0.3, "$0"),
        (2.5, "$3"),
        (None, "unknown"),
        (float("nan"), "unknown"),
        ("", "—"),
    ],
)
def test_tables_show_whole_dollars(value, text):
    assert units.usd(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_421_000, f"$1.42{N}M"),
        (362_000, f"$362{N}k"),
        (74.9, "$74.90"),
        (10_221_592, f"$10.2{N}M"),
        (142_100_000, f"$142{N}M"),
        (1_500_000_000, f"$1.50{N}B"),
        (-804_000, f"{M}$804{N}k"),
        (60_960, f"$61.0{N}k"),
        (999.4, "$999"),
        (999_400, f"$999{N}k"),
        (999_600, f"$1.00{N}M"),
        (999.6, f"$1.00{N}k"),
        (9_996, f"$10.0{N}k"),
        (9_994, f"$9.99{N}k"),
        (0, "$0"),
        (None, "unknown"),
    ],
)
def test_heroes_show_three_significant_figures(value, text):
    assert units.usd_short(value) == text


def test_differences_carry_their_sign_always():
    assert units.usd_short_signed(-1_421_000) == f"{M}$1.42{N}M"
    assert units.usd_short_signed(362_000) == f"+$362{N}k"
    assert units.usd_short_signed(0) == "$0"


def test_other_currencies_show_their_own_sign():
    assert units.usd(1500, "EUR") == "€1,500"
    assert units.usd(-1500, "CHF") == f"{M}CHF{N}1,500"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.2249, "$3.22"),
        (0.0875, "$0.0875"),
        (0.1, "$0.10"),
        (0, "$0"),
        (-0.47, f"{M}$0.47"),
        (None, "unknown"),
    ],
)
def test_rates_have_two_decimals_and_four_below_ten_cents(value, text):
    assert units.usd_per_hour(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("0.0374999"), "$0.0375"),
        (Decimal("0.00302"), "$0.00302"),
        (12.3456, "$12.35"),
        (0, "$0.00"),
        (Decimal("-0.0012345"), f"{M}$0.00123"),
        (None, "unknown"),
        ("", "—"),
    ],
)
def test_small_rates_keep_three_figures(value, text):
    assert units.small_rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.62, f"62{N}%"),
        (0.052, f"5.2{N}%"),
        (0.0996, f"10{N}%"),
        (1, f"100{N}%"),
        (0, f"0{N}%"),
        (-0.12, f"{M}12{N}%"),
        (float("inf"), "unknown"),
        (None, "unknown"),
    ],
)
def test_shares_lose_their_decimals_from_ten_percent_on(value, text):
    assert units.percent(value) == text


def test_changes_keep_one_decimal_and_the_sign():
    assert units.percent_signed(-0.1217) == f"{M}12.2{N}%"
    assert units.percent_signed(0.052) == f"+5.2{N}%"


def test_differences_of_shares_are_points():
    assert units.points(0.02) == f"+2{N}pt"
    assert units.points(-0.13) == f"{M}13{N}pt"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (70_140, f"70.1{N}k{N}GPU-h"),
        (999.4, f"999{N}GPU-h"),
        (999.7, f"1.00{N}k{N}GPU-h"),
        (2_500_000, f"2.50{N}M{N}GPU-h"),
        (0, f"0{N}GPU-h"),
        (None, "unknown"),
    ],
)
def test_gpu_hours_are_whole_then_thousands_then_millions(value, text):
    assert units.gpu_hours(value) == text


def test_dates_name_the_year_only_when_it_is_another_one():
    today = date(2026, 11, 30)
    assert units.day(date(2026, 1, 15), today) == f"15{N}Jan"
    assert units.day(date(2027, 1, 5), today) == f"5{N}Jan{N}2027"
    assert units.month(date(2029, 6, 1)) == f"Jun{N}2029"
    assert units.moment(datetime(2026, 11, 30, 9, 40, tzinfo=UTC)) == f"30{N}Nov{N}2026{N}09:40{N}UTC"


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(minutes=119), f"119{N}min{N}old"),
        (timedelta(hours=26, minutes=10), f"26{N}h{N}old"),
        (timedelta(days=9, hours=3), f"9{N}d{N}old"),
        (timedelta(seconds=-5), f"0{N}min{N}old"),
        (None, "never"),
    ],
)
def test_age_is_said_in_the_unit_that_fits(passed, text):
    assert units.age(passed) == text


def test_a_delta_says_its_direction_by_arrow_sign_and_colour():
    change = SimpleNamespace(arrow="▼", text=f"{M}$1.42{N}M", meaning="better")
    assert units.delta(change) == f'<span class="delta good">▼{N}{M}$1.42{N}M</span>'
    assert units.delta(None) == ""


def test_text_in_a_delta_is_never_markup():
    assert "<b>" not in units.delta(SimpleNamespace(arrow="", text="<b>", meaning="none"))


@given(st.floats(min_value=1e-3, max_value=1e12, allow_nan=False))
def test_three_figures_never_stray_from_the_number(value):
    text = units.usd_short(value).removeprefix("$").replace(",", "")
    figures, _, letter = text.partition(N)
    shown = float(figures) * {"": 1, "k": 1e3, "M": 1e6, "B": 1e9}[letter]
    # three figures are within half of the third; money below 100 is shown to the cent
    assert abs(shown - value) <= max(value * 0.005001, 0.00501)
    assert len(figures.replace(".", "").lstrip("0")) <= (4 if not letter else 6)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_no_number_breaks_a_filter(value):
    for each in (units.usd, units.usd_short, units.usd_per_hour, units.percent, units.gpu_hours, units.count):
        assert each(value)

"""Claims about measured use. Weeks begin on Monday; 2026-11-02 and 2026-11-30 are Mondays."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from costs.queries import utilization
from tests.fact_builders import make_batch, make_hours

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
WEEK = timedelta(weeks=1)


def test_a_week_adds_up_its_hours():
    make_hours(168, MONDAY)
    (week,) = utilization.weekly(sample=False)
    assert (week.start, week.end) == (MONDAY, MONDAY + WEEK)
    assert (week.allocated_gpu_hours, week.available_gpu_hours) == (Decimal(6 * 168), Decimal(10 * 168))
    assert (week.share, week.active_share) == (0.6, None)
    assert (week.hours_measured, week.hours_expected, week.is_complete) == (168, 168, True)


def test_sunday_2359_and_monday_0000_are_different_weeks():
    make_hours(169, MONDAY - timedelta(hours=1), gpus_allocated=lambda hour: Decimal(10 if hour == 0 else 5))
    before, week = utilization.weekly(sample=False)
    assert (before.start, before.share, before.hours_measured) == (MONDAY - WEEK, 1.0, 1)
    assert (week.start, week.share) == (MONDAY, 0.5)


def test_pools_are_added_and_can_be_told_apart():
    batch = make_batch(source="utilization_csv")
    make_hours(168, MONDAY, batch)
    make_hours(168, MONDAY, batch, pool="inference", gpus_allocated=Decimal(2))
    (week,) = utilization.weekly(sample=False)
    assert (week.share, week.hours_measured) == (0.4, 168)
    by_pool = utilization.weekly_by_pool(sample=False)
    assert {pool: [week.share for week in weeks] for pool, weeks in by_pool.items()} == {
        "inference": [0.2],
        "training": [0.6],
    }
    assert [week.share for week in utilization.weekly(sample=False, pools=["inference"])] == [0.2]
    assert utilization.weekly(sample=False, clusters=["elsewhere"]) == []


def test_hours_with_an_unknown_side_do_not_count_for_the_share():
    make_hours(
        168,
        MONDAY,
        gpus_available=lambda hour: None if hour < 100 else Decimal(10),
        gpus_allocated=lambda hour: None if hour >= 160 else Decimal(6 if hour >= 100 else 9),
    )
    (week,) = utilization.weekly(sample=False)
    assert week.share == 0.6
    assert (week.hours_measured, week.is_complete) == (160, False)


def test_nothing_known_is_unknown_and_not_zero():
    make_hours(168, MONDAY, gpus_available=None)
    (week,) = utilization.weekly(sample=False)
    assert (week.share, week.allocated_gpu_hours) == (None, Decimal(6 * 168))


def test_more_than_available_stays_more_than_one():
    make_hours(168, MONDAY, gpus_allocated=Decimal(12))
    assert utilization.weekly(sample=False)[0].share == 1.2


def test_the_active_share_is_weighted_by_allocated_gpus():
    make_hours(
        168,
        MONDAY,
        gpus_allocated=lambda hour: Decimal(9 if hour < 84 else 1),
        active_share=lambda hour: Decimal("0.9") if hour < 84 else Decimal("0.1"),
    )
    # (9 * 0.9 + 1 * 0.1) / (9 + 1)
    assert utilization.weekly(sample=False)[0].active_share == pytest.approx(0.82)


def test_sample_and_own_never_mix():
    make_hours(168, MONDAY)
    make_hours(168, MONDAY, is_sample=True, gpus_allocated=Decimal(1))
    assert [week.share for week in utilization.weekly(sample=True)] == [0.1]
    assert [week.share for week in utilization.weekly(sample=False)] == [0.6]
    assert utilization.measured(sample=True, as_of=MONDAY + WEEK).share == 0.1


def test_the_week_that_still_runs_is_left_out_once_a_whole_one_is_there():
    make_hours(168 + 30, MONDAY)
    assert [week.start for week in utilization.weekly(sample=False)] == [MONDAY]


def test_the_first_week_counts_before_it_is_whole():
    make_hours(30, MONDAY)
    (week,) = utilization.weekly(sample=False)
    assert (week.hours_measured, week.hours_expected, week.share) == (30, 30, 0.6)


def test_a_week_without_rows_is_a_gap():
    make_hours(168, MONDAY)
    make_hours(168, MONDAY + 2 * WEEK, make_batch(source="utilization_csv"))
    assert [week.start for week in utilization.weekly(sample=False)] == [MONDAY, MONDAY + 2 * WEEK]


def test_only_the_last_weeks_are_returned():
    make_hours(168 * 4, MONDAY)
    weeks = utilization.weekly(sample=False, weeks=2)
    assert [week.start for week in weeks] == [MONDAY + 2 * WEEK, MONDAY + 3 * WEEK]


def test_days_count_for_their_hours():
    rows = make_hours(7, MONDAY, period_hours=Decimal(24), gpus_allocated=Decimal(5))
    for day, row in enumerate(rows):
        row.starts_at = MONDAY + timedelta(days=day)
        row.save()
    (week,) = utilization.weekly(sample=False)
    assert (week.allocated_gpu_hours, week.hours_measured, week.share) == (Decimal(5 * 168), 168, 0.5)


def test_years_are_utc_calendar_years():
    new_year = datetime(2026, 1, 1, tzinfo=UTC)
    make_hours(4, new_year - timedelta(hours=2), gpus_allocated=lambda hour: Decimal(8 if hour < 2 else 4))
    old, new = utilization.yearly(sample=False)
    assert (old.start.year, old.share, old.hours_measured) == (2025, 0.8, 2)
    assert (new.start.year, new.share, new.end) == (2026, 0.4, datetime(2027, 1, 1, tzinfo=UTC))


def test_a_thousand_tenths_are_exactly_a_hundred():
    make_hours(168, MONDAY, gpus_allocated=Decimal("0.1"))
    assert utilization.weekly(sample=False)[0].allocated_gpu_hours == Decimal("16.8")


def test_measured_gives_the_median_of_the_last_eight_weeks_and_the_growth():
    batch = make_batch(source="utilization_csv")
    for week in range(26):
        # 2 % a week from 4 GPUs of 10, so 1.02 ** (365.25 / 12 / 7) - 1 a month
        make_hours(
            168, MONDAY + week * WEEK, batch, gpus_allocated=round(Decimal(4) * Decimal("1.02") ** week, 4)
        )
    end = MONDAY + 26 * WEEK
    figures = utilization.measured(sample=False, as_of=end)
    shares = sorted(0.4 * 1.02**week for week in range(18, 26))
    assert figures.share == pytest.approx((shares[3] + shares[4]) / 2, rel=1e-4)
    assert (figures.share_low, figures.share_high) == pytest.approx((shares[0], shares[-1]), rel=1e-4)
    assert figures.growth_per_month == pytest.approx(1.02**4.348214 - 1, rel=1e-3)
    assert figures.fleet_gpus == Decimal(10)
    assert float(figures.busy_gpus) == pytest.approx(10 * figures.share, rel=1e-4)
    assert (figures.clusters, figures.pools, figures.until) == (("main",), ("training",), end)


def test_measured_knows_no_growth_from_seven_weeks_and_nothing_from_none():
    assert utilization.measured(sample=False, as_of=MONDAY) is None
    make_hours(168 * 7, MONDAY)
    assert utilization.measured(sample=False, as_of=MONDAY + 7 * WEEK).growth_per_month is None


def test_measured_on_a_past_date_does_not_see_later_weeks():
    make_hours(168 * 2, MONDAY, gpus_allocated=lambda hour: Decimal(5 if hour < 168 else 9))
    assert utilization.measured(sample=False, as_of=MONDAY + WEEK).share == 0.5


def test_the_profile_is_the_shape_of_the_week_around_one():
    make_hours(336, MONDAY, gpus_allocated=lambda hour: Decimal(9 if hour % 168 == 10 else 3))
    profile = utilization.hour_of_week_profile(sample=False, until=MONDAY + 2 * WEEK)
    mean = (167 * 3 + 9) / 168
    assert len(profile) == 168
    assert (profile[10], profile[11]) == pytest.approx((9 / mean, 3 / mean))
    assert utilization.hour_of_week_profile(sample=False, until=MONDAY + timedelta(days=3)) is None


def test_every_answer_costs_the_same_queries_however_many_rows(django_assert_num_queries):
    make_hours(168, MONDAY)
    for added in (0, 168 * 3):
        if added:
            make_hours(added, MONDAY + WEEK, make_batch(source="utilization_csv"))
        with django_assert_num_queries(2):
            utilization.weekly(sample=False)
        with django_assert_num_queries(2):
            utilization.measured(sample=False, as_of=MONDAY + 9 * WEEK)


def test_own_and_sample_hours_on_file_are_told_apart_in_one_query(django_assert_num_queries):
    assert utilization.kinds_on_file() == (False, False)
    make_hours(1, MONDAY, is_sample=True)
    with django_assert_num_queries(1):
        assert utilization.kinds_on_file() == (False, True)
    make_hours(1, MONDAY, cluster="other")
    assert utilization.kinds_on_file() == (True, True)

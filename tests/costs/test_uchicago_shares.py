"""Claims about a real fleet: the chart's own query gives the shares that its publisher's figures give.

The publisher's days are local days and the hourly series is in UTC, so a year's share may differ in the
second decimal: within 0.1 of a percent.
"""

from datetime import UTC, datetime

import pytest

from costs.ingest import ingest
from costs.queries import utilization

FILE = "data/utilization/derived/uchicago_dsi_hourly_2023-05_2026-08.csv"
SHARES_PERCENT = {2024: 56.9, 2025: 59.3, 2026: 78.5}


@pytest.mark.shared
@pytest.mark.django_db(transaction=True)
def test_the_yearly_shares_are_the_published_ones(shared, settings, tmp_path):
    settings.RAW_DIR = tmp_path / "raw"
    path = shared / FILE
    run = ingest(
        "utilization_csv",
        file=path,
        name=path.name,
        params={},
        requested_by="test",
        now=datetime(2026, 11, 30, tzinfo=UTC),
    )
    assert run.lines_kept == 28_584
    shares = {year.start.year: year.share for year in utilization.yearly(sample=False)}
    for year, percent in SHARES_PERCENT.items():
        assert shares[year] * 100 == pytest.approx(percent, abs=0.1)
    # the first day's total is blank, so 2023 is not the 19.9 % that the publisher shows
    assert shares[2023] * 100 == pytest.approx(48.4, abs=0.1)
    weeks = utilization.weekly(sample=False, weeks=12)
    assert len(weeks) == 12
    assert all(week.share is not None and week.hours_measured == 168 for week in weeks)

"""Work that costs money once, in every view."""

from datetime import date

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Project
from tests.builders import make_plan


def with_project(project: Project, **changes: object):  # type: ignore[no-untyped-def]
    return make_plan(months=12, projects=(project,), discount_rate_per_year=0.10, **changes)


def test_a_project_costs_money_and_weeks_in_the_month_of_its_day() -> None:
    without = evaluate(make_plan(months=12, discount_rate_per_year=0.10))
    project = Project("cache", date(2027, 4, 15), usd=5_000.0, engineering_weeks=3.0)
    outcome = evaluate(with_project(project, usd_per_engineering_week=4_000.0))
    added = 5_000.0 + 3 * 4_000.0
    for view in ("cash_usd", "amortized_usd"):
        assert outcome.total[view] - without.total[view] == pytest.approx(added)  # type: ignore[operator]
    # paid at the begin of April, three months after the start
    present = outcome.total["present_value_usd"] - without.total["present_value_usd"]  # type: ignore[operator]
    assert present == pytest.approx(added * 1.10 ** (-3 / 12))
    row = outcome.monthly[outcome.monthly["line"] == "project"]
    assert row[row["cash_usd"] > 0]["month"].tolist() == [date(2027, 4, 1)]


def test_weeks_without_a_price_are_a_gap() -> None:
    outcome = evaluate(with_project(Project("cache", date(2027, 4, 15), engineering_weeks=1.0)))
    assert outcome.total["cash_usd"] is None
    assert [gap.field for gap in outcome.gaps] == ["usd_per_engineering_week"]


def test_absurd_projects_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"project 'cache': engineering_weeks is -1\.0; right would be a number"
    ):
        evaluate(with_project(Project("cache", date(2027, 4, 15), engineering_weeks=-1.0)))

"""Claims about names that no table knows: the newest file of each list tells, and none twice."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from costs.models import IngestRun, RejectedRow
from costs.queries.spellings import WINDOW, UnmappedName, unmapped_names
from tests.fact_builders import make_run

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RULE = "accelerator_unknown"


def refuse(names: dict[str, int], origin: str = "list_2026-11-01.csv", **changes: Any) -> IngestRun:
    """Make a run that refused lines for names, each with its number of lines."""
    fields = {"source": "skypilot", "status": "partial", "started_at": NOW - timedelta(days=1)} | changes
    by_rule = {RULE: sum(names.values())} if names else {}
    run = make_run(origin=origin, rejected_by_rule=by_rule, **fields)
    line = 1
    for name, count in names.items():
        for _ in range(count):
            line += 1
            RejectedRow.objects.create(
                run=run,
                kind="wrong",
                line=line,
                column="accelerator_name",
                value=name,
                rule=RULE,
                expected="x",
            )
    return run


def found(*whole_lists: str) -> dict[str, int]:
    return {each.name: each.lines for each in unmapped_names(NOW, whole_lists)}


def test_names_come_with_lines_and_files_those_of_most_lines_first() -> None:
    first = refuse({"Warp9": 1, "Warp8": 2})
    second = refuse({"Warp9": 3}, origin="other.csv", source="vantage")
    names = unmapped_names(NOW, ())
    assert [(each.name, each.lines) for each in names] == [("Warp9", 4), ("Warp8", 2)]
    assert isinstance(names[0], UnmappedName)
    assert [(each.run_id, each.lines, each.first_line) for each in names[0].refusals] == [
        (second.pk, 3, 2),
        (first.pk, 1, 2),
    ]
    assert names[0].run_ids == [second.pk, first.pk]


@pytest.mark.parametrize("status", ["done", "partial", "duplicate"])
def test_a_later_file_of_that_name_tells(status: str) -> None:
    refuse({"Warp9": 1})
    refuse({"Warp8": 1} if status == "partial" else {}, status=status)
    assert found() == ({"Warp8": 1} if status == "partial" else {})


@pytest.mark.parametrize("status", ["failed", "previewed", "cancelled", "undone", "running"])
def test_a_later_run_that_took_nothing_tells_nothing(status: str) -> None:
    refuse({"Warp9": 1})
    refuse({"Warp8": 1}, status=status)
    assert found() == {"Warp9": 1}


def test_lists_whose_names_differ_by_a_date_are_one_where_a_file_is_the_whole_list() -> None:
    refuse({"Warp9": 1}, origin="list_2026-10-01.csv")
    refuse({}, origin="list_2026-11-01.csv", status="done")
    assert found("skypilot") == {}
    assert found() == {"Warp9": 1}  # of a history each file holds other days
    assert found("vantage") == {"Warp9": 1}


def test_another_list_of_the_source_stays_a_question() -> None:
    refuse({"Warp9": 1}, origin="aws_2026-10-01.csv")
    refuse({}, origin="azure_2026-11-01.csv", status="done")
    assert found("skypilot") == {"Warp9": 1}


def test_what_was_not_loaded_for_long_is_no_question() -> None:
    refuse({"Warp9": 1}, started_at=NOW - WINDOW - timedelta(seconds=1))
    refuse({"Warp8": 1}, origin="b.csv", started_at=NOW - WINDOW)
    assert found() == {"Warp8": 1}


def test_a_wrong_slug_in_a_table_of_names_is_no_name_of_a_list() -> None:
    run = refuse({}, source="aliases")
    IngestRun.objects.filter(pk=run.pk).update(rejected_by_rule={RULE: 1})
    RejectedRow.objects.create(
        run=run, kind="wrong", line=2, column="accelerator", value="h9", rule=RULE, expected="x"
    )
    assert found() == {}


def test_three_queries_whatever_there_is(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert found() == {}
    for number in range(4):
        refuse({f"Warp{number}": 2}, origin=f"{number}.csv")
        with django_assert_num_queries(3):
            unmapped_names(NOW, ())

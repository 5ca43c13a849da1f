"""Claims about what is held back: what waits, what was decided, and how often it is counted."""

from typing import Any

import pytest

from costs.models import IngestRun, QuarantinedFact
from costs.quarantine import open_facts
from costs.queries import quarantine
from tests.fact_builders import make_run

pytestmark = pytest.mark.django_db


def hold(run: IngestRun | None = None, **changes: Any) -> QuarantinedFact:
    run = run or make_run(source="skypilot", status="partial")
    fields = {"source": run.source, "key": "k", "digest": "d", "rule": "price_jump", "line": 2} | changes
    return QuarantinedFact.objects.create(run=run, **fields)


@pytest.mark.parametrize("status", [status.value for status in IngestRun.Status])
def test_what_waits_here_is_what_the_gate_asks(status: str) -> None:
    held = hold(make_run(source="skypilot", status=status))
    assert list(quarantine.held_facts()) == list(open_facts())
    assert quarantine.waiting_by_source() == ({"skypilot": 1} if held in open_facts() else {})


def test_a_decision_stands_once_however_often_the_fact_came_again() -> None:
    first = hold(status="kept_out")
    newest = hold(status="kept_out")
    other = hold(status="kept_out", digest="e")
    assert set(quarantine.held_facts(status="kept_out")) == {newest, other} - {first}


def test_who_was_released_later_is_kept_out_no_more() -> None:
    hold(status="kept_out")
    released = hold(status="released")
    assert list(quarantine.held_facts(status="kept_out")) == []
    assert list(quarantine.held_facts(status="released")) == [released]


def test_with_a_run_its_own_records_come_as_they_are() -> None:
    check = make_run(source="skypilot", status="previewed")
    mine = [hold(check), hold(check, status="kept_out")]
    hold()
    assert set(quarantine.held_facts(status="any", run=check.pk)) == set(mine)


def test_rules_are_counted_by_records_and_rows_the_most_first() -> None:
    hold(rule="zero_price")
    hold(rule="scope_shrank", rows=400, line=None)
    hold(rule="scope_shrank", rows=5, line=None)
    rules = quarantine.rules_of(quarantine.held_facts())
    assert [(each.rule, each.records, each.rows) for each in rules] == [
        ("scope_shrank", 2, 405),
        ("zero_price", 1, 1),
    ]


@pytest.mark.parametrize(
    ("changes", "decided", "released"),
    [
        ({"payload": {"a": 1}}, True, True),
        ({"payload": None}, True, False),  # a line without a fact
        ({"payload": None, "line": None}, True, True),  # a whole scope
        ({"payload": {"a": 1}, "status": "kept_out"}, True, True),
        ({"payload": {"a": 1}, "status": "released"}, False, False),
        ({"payload": {"a": 1}, "status": "superseded"}, False, False),
    ],
)
def test_what_may_be_decided(changes: dict[str, Any], decided: bool, released: bool) -> None:
    held = hold(**changes)
    assert quarantine.may_be_decided(held) is decided
    assert quarantine.may_be_released(held) is released
    assert quarantine.decidable(QuarantinedFact.objects.all()).exists() is decided


def test_nothing_of_a_check_may_be_decided() -> None:
    held = hold(make_run(source="skypilot", status="previewed"), payload={"a": 1})
    assert not quarantine.may_be_decided(held)
    assert not quarantine.decidable(QuarantinedFact.objects.all()).exists()

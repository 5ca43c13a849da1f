"""What looks wrong waits for a person: old prices stay, and a decision stands for what the fact says."""

from datetime import timedelta
from typing import Any

import pytest

from costs import jobs, quarantine
from costs.inspection import Inspection
from costs.ledger import verify
from costs.models import IngestRun, Job, Price, QuarantinedFact, StagedRow
from costs.quarantine import Undecidable, keep_out, open_facts, release

from . import fake_prices
from .conftest import A_MOMENT, Take
from .tables import current_prices, dump, history

pytestmark = pytest.mark.django_db
JANUARY = "as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\nc,2,east,18\nd,4,east,36\ne,1,east,9.4\n"
LATER = JANUARY.replace("01-02", "02-02")
BY = {"decided_by": "ann@example.com", "now": A_MOMENT}


@pytest.fixture(autouse=True)
def ledger_is_exact(take: Take) -> Any:
    """Whatever a test did, the tables hold what the accepted files say."""
    yield
    assert verify().problems == []
    assert not StagedRow.objects.exists()


def run_the_jobs() -> None:
    while claim := jobs.claim():
        jobs.run(claim)


def held(rule: str | None = None) -> QuarantinedFact:
    rows = open_facts()
    return rows.get(rule=rule) if rule else rows.get()


def test_a_price_that_jumps_waits_and_the_old_one_stays(take: Take) -> None:
    take(JANUARY)
    run = take(LATER.replace("b,1,east,9.5", "b,1,east,1.0"))
    fact = held("price_jump")
    assert (fact.line, fact.scope, fact.rows) == (3, "acme east", 1)
    assert "9.5" in fact.evidence
    assert "1 is" in fact.evidence
    assert current_prices()["b", "east"] == "9.5"
    assert (run.status, run.lines_kept, run.lines_quarantined, run.held) == ("partial", 4, 1, 1)
    said = "1 held in quarantine, the first: acme b, 1 × H100, east, on demand: "
    assert said in run.message, run.message


def test_a_released_fact_is_published_by_its_own_file_and_dated_as_it_says(take: Take) -> None:
    take(JANUARY)
    take(LATER.replace("b,1,east,9.5", "b,1,east,1.0"))
    (job,) = release([held().pk], note="they did cut it", **BY)
    run_the_jobs()
    job.refresh_from_db()
    assert (job.status, job.requested_by) == (Job.Status.DONE, "ann@example.com")
    assert history("b") == [("9.5", "2026-01-02", "2026-02-02"), ("1", "2026-02-02", None)]
    assert not open_facts().exists()
    decided = QuarantinedFact.objects.get()
    assert (decided.status, decided.note, decided.decided_by) == (
        "released",
        "they did cut it",
        BY["decided_by"],
    )


def test_what_was_released_once_is_not_asked_about_again(take: Take) -> None:
    take(JANUARY)
    jumped = LATER.replace("b,1,east,9.5", "b,1,east,1.0")
    take(jumped)
    release([held().pk], note="true", **BY)
    run_the_jobs()
    run = take(jumped.replace("02-02", "02-03"))
    assert (run.status, run.lines_quarantined) == ("done", 0)


def test_what_was_kept_out_stays_out_without_being_asked_about_again(take: Take) -> None:
    take(JANUARY)
    jumped = LATER.replace("b,1,east,9.5", "b,1,east,1.0")
    take(jumped)
    assert keep_out([held().pk], note="a typo of theirs", **BY) == 1
    run = take(jumped.replace("02-02", "02-03"))
    assert run.lines_quarantined == 1
    assert not open_facts().exists()
    again = run.quarantined.get()
    assert (again.status, again.note) == ("kept_out", "a typo of theirs")
    assert current_prices()["b", "east"] == "9.5"


def test_who_kept_a_fact_out_may_still_release_it(take: Take) -> None:
    take(JANUARY)
    take(LATER.replace("b,1,east,9.5", "b,1,east,1.0"))
    pk = held().pk
    keep_out([pk], note="a typo", **BY)
    release(
        [pk], note="no, they wrote to us", decided_by="bob@example.com", now=A_MOMENT + timedelta(hours=1)
    )
    run_the_jobs()
    assert current_prices()["b", "east"] == "1"


@pytest.mark.parametrize("note", ["", "   "])
def test_a_decision_needs_a_note(take: Take, note: str) -> None:
    take(JANUARY)
    take(LATER.replace("b,1,east,9.5", "b,1,east,1.0"))
    with pytest.raises(Undecidable, match="note"):
        release([held().pk], note=note, **BY)
    assert open_facts().count() == 1


def test_a_price_of_zero_has_nothing_to_release(take: Take) -> None:
    run = take(JANUARY + "x,1,east,0\n")
    fact = run.quarantined.get()
    with pytest.raises(Undecidable, match="none to release"):
        release([fact.pk], note="free", **BY)
    assert keep_out([fact.pk], note="free trial", **BY) == 1


def test_of_two_lines_that_contradict_each_other_a_person_chooses_one(take: Take) -> None:
    take(JANUARY)
    take(LATER + "b,1,east,9.6\n")
    assert current_prices()["b", "east"] == "9.5"
    wanted = open_facts().get(payload__price_per_hour="9.600000000")
    release([wanted.pk], note="the second line is right", **BY)
    run_the_jobs()
    assert current_prices()["b", "east"] == "9.6"


def test_a_list_that_lost_more_than_half_of_its_rows_is_held_whole(take: Take) -> None:
    take(JANUARY)
    before = current_prices()
    run = take("as_of 2026-02-02\na,8,east,79\nb,1,east,9.4\n")
    fact = held("scope_shrank")
    assert (fact.line, fact.rows, fact.payload) == (None, 2, None)
    assert current_prices() == before
    assert (run.status, run.lines_kept, run.lines_quarantined, run.facts) == ("partial", 0, 2, 0)


def test_a_whole_list_can_be_released(take: Take) -> None:
    take(JANUARY)
    take("as_of 2026-02-02\na,8,east,79\nb,1,east,9.4\n")
    release([held().pk], note="they closed three products", **BY)
    run_the_jobs()
    assert current_prices() == {("a", "east"): "79", ("b", "east"): "9.4"}
    assert not open_facts().exists()


def test_a_list_in_another_currency_is_held_whole(take: Take) -> None:
    take(JANUARY)
    take("as_of 2026-02-02\n" + "".join(f"{line},EUR\n" for line in LATER.splitlines()[1:]))
    assert held().rule == "currency_changed"
    assert set(Price.objects.values_list("currency", flat=True)) == {"USD"}


def test_a_provider_that_vanished_from_a_list_of_all_keeps_its_prices_until_somebody_agrees(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake_prices, "WHOLE", True, raising=False)
    take(JANUARY + "z,1,west,7\n")
    run = take(LATER)
    fact = held("scope_vanished")
    assert (fact.scope, fact.rows) == ("acme west", 1)
    assert current_prices()["z", "west"] == "7"
    assert run.status == IngestRun.Status.PARTIAL
    release([fact.pk], note="they left the market", **BY)
    run_the_jobs()
    assert ("z", "west") not in current_prices()
    assert history("z") == [("7", "2026-01-02", "2026-02-02")]


def test_a_file_of_one_region_says_nothing_about_another(take: Take) -> None:
    take(JANUARY + "z,1,west,7\n")
    take(LATER)
    assert not open_facts().exists()
    assert current_prices()["z", "west"] == "7"


def test_a_first_list_is_judged_on_bounds_alone(take: Take) -> None:
    run = take("as_of 2026-01-02\na,8,east,80\nb,1,east,99\n")
    assert [fact.key for fact in run.quarantined.all()] == [
        "acme / b / H100 / 1.000 / east /  / on_demand / "
    ]
    assert current_prices() == {("a", "east"): "80"}


def test_a_preview_asks_nobody_anything(take: Take) -> None:
    take(JANUARY)
    before = dump()
    job = jobs.enqueue(
        "preview",
        {"source": "fake_prices", "raw": None, "name": "", "params": {}},
        key="p", requested_by="test", now=A_MOMENT,
    )  # fmt: skip
    fake_prices.OFFERED.append(("p.csv", LATER.replace("b,1,east,9.5", "b,1,east,1").encode()))
    run_the_jobs()
    run = job.runs.get()
    assert (run.status, run.lines_quarantined) == (IngestRun.Status.PREVIEWED, 1)
    assert run.quarantined.get().rule == "price_jump"
    assert not open_facts().exists()
    assert dump() == before


def test_a_later_list_replaces_what_an_earlier_one_asked(take: Take) -> None:
    take(JANUARY)
    take(LATER.replace("b,1,east,9.5", "b,1,east,1.0"))
    take(LATER.replace("02-02", "02-03"))
    assert not open_facts().exists()
    assert QuarantinedFact.objects.get().status == "superseded"


def test_the_same_list_again_asks_once(take: Take) -> None:
    take(JANUARY)
    jumped = LATER.replace("b,1,east,9.5", "b,1,east,1.0")
    take(jumped)
    before = dump()
    assert take(jumped).status == IngestRun.Status.DUPLICATE
    assert open_facts().count() == 1
    assert dump() == before


def test_a_file_that_was_inspected_against_older_prices_is_inspected_again(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(JANUARY)
    look, looks = Inspection.look, []

    def look_and_let_another_file_in(self: Inspection) -> Any:
        found = look(self)
        looks.append(self.run.pk)
        if len(looks) == 1:
            take(JANUARY.replace("01-02", "01-09").replace("b,1,east,9.5", "b,1,east,3.5"), name="other.csv")
        return found

    monkeypatch.setattr(Inspection, "look", look_and_let_another_file_in)
    run = take(LATER.replace("b,1,east,9.5", "b,1,east,3.2"))
    # against 9.5 the new price would be held; against 3.5, which came in between, it is not
    assert (run.status, run.lines_quarantined, len(looks)) == ("done", 0, 3)
    assert current_prices()["b", "east"] == "3.2"


def test_facts_of_two_runs_can_be_decided_together(take: Take) -> None:
    take(JANUARY + "z,1,west,7\n")
    take(LATER.replace("b,1,east,9.5", "b,1,east,1.0"))
    take("as_of 2026-02-02\nz,1,west,1\n", name="west.csv")
    made = release([fact.pk for fact in open_facts()], note="all true", **BY)
    assert len(made) == 2
    run_the_jobs()
    assert (current_prices()["b", "east"], current_prices()["z", "west"]) == ("1", "1")
    assert quarantine.decisions("fake_prices").kept_out == {}

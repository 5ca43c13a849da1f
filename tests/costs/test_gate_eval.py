"""The trial of the gate: what is drawn, what counts as caught, what counts as held in vain."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from costs.quarantine_rules import Suspicion, Verdict
from costs.rows import FileInfo, RawLine
from costs.rowtext import Payload
from costs.wrong_prices import replay, trial, year
from costs.wrong_prices.catalogues import Catalogue, Reference, Stated, catalogues, reference
from costs.wrong_prices.corpus import MUTATIONS, Case, corpus, digest
from costs.wrong_prices.dirt import known_wrong
from costs.wrong_prices.trial import Trial
from costs.wrong_prices.wrong import Wrong

from .prices_said import A_DAY, KNOWN, MACHINES, said, seen

NOW = datetime(2026, 11, 30, tzinfo=UTC)
REF = Reference(KNOWN, MACHINES)
SIZES = (("g5.2xlarge", 1, 8, "1.2"), ("g5.12xlarge", 4, 48, "5.7"), ("g5.48xlarge", 8, 192, "16.3"))


def skypilot_list() -> str:
    """Return an AWS list in SkyPilot's layout; all amounts are made up."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    header = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region"
    write.writerow(header.split(","))
    for region, dearer in (("us-east-1", "1"), ("eu-west-1", "1.1"), ("ap-south-1", "1.2")):
        for name, gpus, vcpus, text in SIZES:
            price = Decimal(text) * Decimal(dearer)
            spot = price * Decimal("0.4")
            write.writerow((name, "A10G", gpus, vcpus, vcpus * 4, "", price, spot, region))
    return out.getvalue()


def p5_history() -> str:
    """Return two months of a price, day by day; its cut is as AWS made it, the days around it are made up."""
    first = datetime(2025, 5, 10, 7, 22)  # noqa: DTZ001 - such files give no zone
    lines = ["timestamp,instance,price_usd"]
    for day in range(60):
        at = first + timedelta(days=day)
        lines.append(f"{at.isoformat()},p5.48xlarge,{'98.32' if day < 26 else '55.04'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def lists_folder(tmp_path: Path) -> Path:
    """Return a folder with two price lists and a file that is none."""
    folder = tmp_path / "lists"
    (folder / "prices").mkdir(parents=True)
    (folder / "prices" / "skypilot_aws_2026-05-20.csv").write_text(skypilot_list())
    (folder / "aws_p5_us-east-1_daily.csv").write_text(p5_history())
    (folder / "README.md").write_text("no price list\n")
    return folder


@pytest.fixture
def lists(lists_folder: Path) -> list[Catalogue]:
    ref = reference(NOW)
    return list(catalogues(lists_folder, ref, NOW, lambda line: None))


def catalogue(*facts: Payload, mode: str = "snapshot") -> Catalogue:
    """Return a list of one scope, whose lines have a price and nothing else."""
    stated = tuple(
        Stated(RawLine(at, {"Price": str(fact["price_per_hour"])}), fact) for at, fact in enumerate(facts)
    )
    wrong = known_wrong(facts, MACHINES) if mode == "history" else frozenset()
    return Catalogue("skypilot", "a.csv", "acme", mode, A_DAY, FileInfo(None, {}), stated, wrong)


def mutated(name: str, of: Catalogue, seed: int = 1) -> Wrong | None:
    return MUTATIONS[name](of, Random(seed), REF)


# what is read


def test_every_price_list_of_a_folder_is_read_as_ingest_reads_it(lists: list[Catalogue]) -> None:
    found = {each.source: each for each in lists if each.source != "list_prices"}
    assert set(found) == {"skypilot", "price_history_table"}
    assert len(found["skypilot"].facts) == 18
    assert (found["skypilot"].scope, found["skypilot"].mode) == ("aws", "snapshot")
    assert len(found["price_history_table"].facts) == 60
    assert any(each.source == "list_prices" for each in lists)  # the list that comes with the product


# what is drawn


def test_the_same_seed_draws_the_same_corpus_and_another_one_does_not(lists: list[Catalogue]) -> None:
    ref = reference(NOW)
    first, again, other = (corpus(lists, ref, seed, 60) for seed in (1, 1, 2))
    assert digest(first) == digest(again)
    assert digest(first) != digest(other)
    assert [case.number for case in first] == list(range(1, 61))


def test_every_kind_of_error_is_in_the_corpus_and_every_file_goes_wrong(lists: list[Catalogue]) -> None:
    cases = corpus(lists, reference(NOW), 1, 200)
    assert len(cases) == 200
    assert {case.mutation for case in cases} == set(MUTATIONS)
    assert {case.catalogue.file for case in cases} == {each.file for each in lists}


def test_a_wrong_fact_says_otherwise_than_the_true_one(lists: list[Catalogue]) -> None:
    for case in corpus(lists, reference(NOW), 3, 120):
        true, wrong = case.catalogue.facts, case.wrong
        assert all(wrong.facts[at] != true[at] for at in wrong.wrong)
        assert all(
            wrong.facts[at] == fact for at, fact in enumerate(true) if at not in wrong.wrong and wrong.wrong
        )
        assert wrong.touched


def test_a_case_names_list_error_and_rows(lists: list[Catalogue]) -> None:
    of = catalogue(said("80"))
    wrong = mutated("times_8", of)
    assert wrong is not None
    case = Case(7, "times_8", of, wrong)
    named = "skypilot a.csv [acme]: acme, gpu8, H100, 8.000, east, on_demand"
    assert str(case).split() == ["007", "times_8", *named.split()]
    assert case.written.endswith("|640.000000000")


# what is left out when a case is drawn


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("spot_and_on_demand_swapped", [said("80"), said("80", term="spot")]),  # nothing would change
        ("spot_and_on_demand_swapped", [said("80"), said("80.01", term="spot")]),  # but for a rounding
        ("bid_floor", [said("0.02", term="spot")]),  # near the floor
        ("one_gpu_for_node", [said("20", gpu_count=Decimal(2))]),  # half the price may be a real one
        ("host_without_gpu", [said("8", vcpus=Decimal(192), memory_gib=Decimal(9))]),  # most is the host
        ("wrong_gpu_count", [said("80"), said("10", gpu_count=Decimal(1))]),  # a name sold in several counts
        ("windows_for_linux", [said("80", vcpus=Decimal(192))]),  # who sells no Windows by the vCPU
        # of one GPU and eight in hosts that nobody knows the first may be in a large one
        ("large_below_small", [said("9", sku="a1", gpu_count=Decimal(1)), said("80", sku="a8")]),
        ("one_region_times_10", [said("80")]),
        ("under_half_the_rows", [said("80"), said("30", term="spot")]),
        ("whole_list_times_10", [said(None)]),
    ],
)
def test_a_change_that_is_none_or_may_be_a_real_price_is_not_drawn(name: str, facts: list[Payload]) -> None:
    assert all(mutated(name, catalogue(*facts), seed) is None for seed in range(9))


def test_a_short_addition_and_a_scaled_history_are_no_errors() -> None:
    regions = [said("80", region=f"r{number}") for number in range(8)]
    assert mutated("under_half_the_rows", catalogue(*regions)) is not None
    assert mutated("under_half_the_rows", catalogue(*regions, mode="amend")) is None
    history = [seen(f"03-{day:02}", "80") for day in range(1, 9)]
    assert mutated("whole_list_a_tenth", catalogue(*history, mode="history")) is None


def test_in_a_history_one_right_observation_among_others_goes_wrong() -> None:
    prices = ["80", "80", "8", "80", "80", "80", "80"]  # the third is wrong already
    history = catalogue(*(seen(f"03-{day:02}", price) for day, price in enumerate(prices, 1)), mode="history")
    assert history.wrong == {2}
    for seed in range(20):
        wrong = mutated("times_8", history, seed)
        assert wrong is not None
        assert len(wrong.wrong) == 1
        assert not wrong.wrong & {0, 2}
    short = catalogue(*(seen(f"03-{day:02}", "80") for day in range(1, 5)), mode="history")
    assert mutated("times_8", short) is None


# what counts as caught


@pytest.mark.parametrize("name", sorted(set(MUTATIONS)))
def test_every_kind_of_error_is_caught_in_these_lists(name: str, lists: list[Catalogue]) -> None:
    ref = reference(NOW)
    against = Trial(ref)
    tried = 0
    for each in lists:
        wrong = MUTATIONS[name](each, Random(name), ref)
        if wrong is not None:
            tried += 1
            outcome = against.tried(Case(1, name, each, wrong))
            assert outcome.is_caught, (each.name, outcome.missed[:3])
    assert tried


def test_a_case_is_caught_only_if_every_wrong_fact_is() -> None:
    of = catalogue(said("80"), said("80", region="west"))
    half_seen = Wrong((said("8"), said("79", region="west")), frozenset({0, 1}), (), ("one", "other"))
    outcome = Trial(REF).tried(Case(1, "made up", of, half_seen))
    assert not outcome.is_caught
    assert outcome.missed == ("acme, gpu8, H100, 8.000, west, on_demand: 79.000000000",)


def test_a_price_that_no_row_can_hold_is_refused_and_so_caught() -> None:
    of = catalogue(said("80"), said("80", region="west"))
    year_for_hour = {**said("80"), "price_per_hour": "700800.000000000"}
    wrong = Wrong((year_for_hour, said("80", region="west")), frozenset({0}), (), ("it",))
    outcome = Trial(REF).tried(Case(1, "year_for_hour", of, wrong))
    assert outcome.is_caught
    assert outcome.rules == {"price_out_of_bounds": 1}


# what counts as held in vain


def test_a_history_is_replayed_and_what_it_shows_to_be_wrong_is_no_false_alarm() -> None:
    prices = ["80", "80", "8", "80", "20", "20", "20", "20"]
    history = catalogue(*(seen(f"03-{day:02}", price) for day, price in enumerate(prices, 1)), mode="history")
    tally = replay.replayed(history, REF)
    assert (tally.judged, tally.changed) == (8, 3)  # said for the first time, 8, and 20
    assert tally.true == {"price_jump": 1}
    assert tally.false == {"price_jump": 1}  # a cut to a quarter that was real: asked about once
    assert tally.passed == 0


@pytest.mark.parametrize(
    ("facts", "wrong"),
    [
        ([seen("03-01", "80"), seen("03-02", None), seen("03-03", "80")], {1}),  # gone for a day
        ([seen("03-01", "80"), seen("03-02", None), seen("04-03", "80")], set()),  # for a month
        ([seen("03-01", "80"), seen("03-01", "80", term="reserved_1y")], {1}),  # filled in
        ([seen("03-01", "80"), seen("03-01", "50", term="reserved_1y")], set()),
        ([seen("03-01", "9"), seen("03-05", "80"), seen("03-09", "81")], {0}),  # left at once
    ],
)
def test_what_a_history_shows_to_be_wrong(facts: list[Payload], wrong: set[int]) -> None:
    assert known_wrong(facts, MACHINES) == wrong


def test_an_ordinary_year_moves_and_keeps_the_order_of_prices(lists: list[Catalogue]) -> None:
    each = next(each for each in lists if each.source == "skypilot")
    tally = year.ordinary_year(each, reference(NOW), "1")
    assert tally.judged > 52 * 15
    assert 100 < tally.changed < tally.judged
    assert tally.false["spot_above_on_demand"] == 0
    again = year.ordinary_year(each, reference(NOW), "1")
    assert (again.judged, again.changed, again.false) == (tally.judged, tally.changed, tally.false)


# the command


@pytest.fixture
def run(lists_folder: Path) -> Iterator[Any]:
    def call(cases: int = 60) -> str:
        out = io.StringIO()
        try:
            call_command(
                "gate_eval", catalogues=lists_folder, cases=cases, seed=1, stdout=out, stderr=io.StringIO()
            )
        except CommandError as error:
            out.write(f"ENDED: {error}")
        return out.getvalue()

    return call


def test_both_sides_of_the_gate_are_printed(run: Any) -> None:
    said = run()
    assert "caught 60 of 60 wrong files" in said
    assert "60 wrong files of seed 1, SHA-256 " in said
    assert said.index("SHA-256") < said.index("caught")  # written down first
    assert "a simulated year: " in said
    assert "the real histories, replayed: 0 right prices held of 60 judged" in said
    assert said.endswith("the gate is good enough\n")


def test_a_gate_that_lets_all_through_fails(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("check_scope", "check_history"):
        monkeypatch.setattr(trial, name, lambda *args, **options: Verdict())
    said = run()
    assert "MISSED 001 " in said
    assert "ENDED: the gate is not good enough" in said


def test_a_gate_that_holds_everything_fails(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def hold_all(facts: list[Payload], *args: Any, **options: Any) -> Verdict:
        return Verdict(None, {at: Suspicion("any", "", "", "") for at in range(len(facts))})

    monkeypatch.setattr(year, "check_scope", hold_all)
    said = run()
    assert "caught 60 of 60" in said
    assert "(100.000%)" not in said  # of unchanged prices nothing is held
    assert "ENDED: the gate is not good enough" in said


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such folder"):
        call_command("gate_eval", catalogues=tmp_path / "none")


@pytest.mark.shared
def test_the_gate_catches_200_wrong_files_of_the_real_lists_and_holds_hardly_anything_else(
    shared: Path,
) -> None:
    out = io.StringIO()
    call_command("gate_eval", catalogues=shared / "data", stdout=out, stderr=io.StringIO())
    assert "caught 200 of 200 wrong files" in out.getvalue()
    assert out.getvalue().endswith("the gate is good enough\n")

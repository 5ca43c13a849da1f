"""Histories before the gate: what the observations around one tell about it."""

import csv
import gzip
from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.gate import Known
from costs.names import accelerator_key
from costs.quarantine_rules import Before, MachineFacts, ScopeBefore, check_history
from costs.rows import PriceRow
from costs.rowtext import key_of

from .prices_said import judged_history, rules, said, seen

P5 = {"provider": "aws", "sku": "p5.48xlarge"}
AZURE = {"provider": "azure", "sku": "Standard_NC24", "accelerator_name": "A100", "gpu_count": Decimal(1)}


def days(*prices: str | None, **changes: object) -> list[dict[str, object]]:
    """Return one observation a day from the first of March on."""
    return [seen(f"03-{day:02}", price, **changes) for day, price in enumerate(prices, 1)]


def test_the_cut_of_june_2025_is_one_change_and_nothing_is_held() -> None:
    facts = [
        said(price, effective_from=datetime(2025, month, day, tzinfo=UTC), **P5)
        for price, month, day in (("98.32", 4, 23), ("98.32", 6, 4), ("55.04", 6, 5), ("55.04", 6, 6))
    ]
    assert rules(judged_history(facts)) == {}


def test_one_wrong_observation_is_held_and_those_around_it_are_not() -> None:
    assert rules(judged_history(days("80", "80", "640", "80", "80"))) == {2: "price_per_gpu_hour_absurd"}
    assert rules(judged_history(days("80", "80", "16", "80", "80"))) == {2: "price_jump"}


def test_a_first_observation_that_all_later_ones_leave_at_once_is_the_wrong_one() -> None:
    verdict = judged_history(days("10", "80", "81", "80", "79"))
    assert rules(verdict) == {0: "price_jump"}
    assert verdict.facts[0].evidence == "10 is 1/8.00 of the 80 from 2026-03-02 on"


def test_a_jump_that_stays_is_held_as_long_as_nobody_else_pays_it() -> None:
    assert rules(judged_history(days("90", "91", "22", "23", "24"))) == dict.fromkeys([2, 3, 4], "price_jump")


def test_a_jump_that_stays_where_other_regions_pay_as_much_already_is_believed() -> None:
    # Google, 2025-11: spot of 8 H100 fell from 89.05 to 22.94 in Tokyo, where others had fallen before
    elsewhere = [*days("20", "21", "20", "20", "20", region="w"), *days(*["24"] * 5, region="c")]
    assert rules(judged_history([*days("90", "91", "22", "23", "24"), *elsewhere])) == {}
    # but not for a day
    assert rules(judged_history([*days("90", "91", "22", "90", "90"), *elsewhere])) == {2: "price_jump"}


def test_a_month_taken_for_an_hour_from_some_day_on_is_held_for_good() -> None:
    everywhere = [
        fact
        for region in ("a", "b", "c", "d")
        for fact in days("8", "8", "240", "240", "240", "240", region=region)
    ]
    held = judged_history(everywhere).facts
    assert sorted(held) == [at for at in range(24) if at % 6 > 1]


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        ("4.777", "24 vCPUs at 0.046"),
        ("4.796", "24 vCPUs at 0.0468, as in eastus2"),
        ("5.455", "24 vCPUs at 0.07425, as in southcentralus"),
        ("3.877", "spot pays its share of the fee"),
    ],
)
def test_a_price_that_goes_up_by_a_licence_and_comes_back_was_windows(windows: str, why: str) -> None:
    times = ["03-01", "2026-05-01T04:45", "2026-05-01T07:20", "2026-05-02T01:16"]
    prices = ["3.673", windows, "3.673", "3.673"]
    facts = [seen(moment, price, **AZURE) for moment, price in zip(times, prices, strict=True)]
    assert rules(judged_history(facts)) == {1: "linux_windows_flapping"}, why


def test_a_price_that_comes_down_by_just_a_licence_was_windows_whatever_it_came_from() -> None:
    # first seen as Windows; and up by a licence on the day of a real rise from 3.673 to 4.1
    assert rules(judged_history(days("4.777", "3.673", "3.673", **AZURE))) == {0: "linux_windows_flapping"}
    prices = ("3.673", "5.204", "4.1", "4.1")
    assert rules(judged_history(days(*prices, **AZURE))) == {1: "linux_windows_flapping"}


def test_a_rise_that_stays_is_a_rise() -> None:
    assert rules(judged_history(days("3.673", "4.1", "4.1", "4.1", **AZURE))) == {}


def test_a_term_that_costs_as_much_as_the_hour_is_held_each_time_it_is_said() -> None:
    # Google's 80 GB A100 had no commitment in 2022: the list filled in the hour
    facts = [*days("40", "42"), *days("40", "42", term="reserved_1y")]
    assert rules(judged_history(facts)) == dict.fromkeys([2, 3], "term_not_below_on_demand")


def test_spot_is_held_against_the_hour_of_its_own_day() -> None:
    facts = [*days("80", "80", "40"), *days("30", "50", "35", term="spot")]
    assert rules(judged_history(facts)) == {}
    facts = [*days("80", "80", "40"), *days("30", "50", "45", term="spot")]
    assert set(rules(judged_history(facts))) == {2, 5}  # both moved that day


def test_another_count_for_the_same_machine_is_held() -> None:
    facts = [*days("80", "80"), seen("03-03", "80", gpu_count=Decimal(4)), seen("03-04", "80")]
    assert rules(judged_history(facts)) == {2: "gpu_count_contradicts_machine"}


def test_what_stands_counts_for_observations_that_are_not_older() -> None:
    stood = seen("03-02", "80")
    since = datetime(2026, 3, 2, tzinfo=UTC)
    before = ScopeBefore(1, {key_of(PriceRow, stood): Before(Decimal(80), "priced", "USD", since, None)})
    assert rules(judged_history([seen("03-03", "16")], before=before)) == {0: "price_jump"}
    assert rules(judged_history([seen("03-01", "16")], before=before)) == {}


def test_a_released_observation_is_what_the_next_is_held_against() -> None:
    facts = days("90", "91", "22", "23", "24")
    assert rules(judged_history(facts, vouched={2})) == {}


def test_an_empty_history_says_nothing() -> None:
    assert rules(judged_history([])) == {}


@given(
    st.lists(st.decimals("0.5", "300", places=2).map(str), min_size=1, max_size=9),
    st.lists(st.decimals("0.5", "300", places=2).map(str), min_size=1, max_size=9),
    st.integers(),
)
def test_observations_may_come_in_any_order(hours: list[str], spots: list[str], seed: int) -> None:
    facts = [*days(*hours), *days(*spots, term="spot")]
    order = list(range(len(facts)))
    Random(seed).shuffle(order)
    again = judged_history([facts[at] for at in order])
    assert {order[at]: each.rule for at, each in again.facts.items()} == rules(judged_history(facts))


# the real ones; what is wrong in them is worked out here with csv and gzip alone


def _observations(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.shared
def test_every_windows_price_of_azures_real_history_is_held_and_no_linux_price(shared: Path) -> None:
    changes = _observations(
        shared / "data" / "spot" / "azure_gcp_lambda_gpu_price_changes_2026-04-02_2026-05-20.csv.gz"
    )
    with (shared / "data" / "prices" / "skypilot_azure_gpu_2026-05-20.csv").open(newline="") as file:
        vcpus = {line["InstanceType"]: Decimal(line["vCPUs"]) for line in csv.DictReader(file)}
    rows = [row for row in changes if row["cloud"] == "azure" and row["event"] != "removed" and row["price"]]
    lowest: dict[tuple[str, str], Decimal] = defaultdict(lambda: Decimal("Infinity"))
    for row in rows:
        offer = (row["instance_type"], row["region"])
        lowest[offer] = min(lowest[offer], Decimal(row["price"]))
    facts, windows = [], set()
    for at, row in enumerate(rows):
        moment = datetime.fromisoformat(row["observed_at"]).astimezone(UTC)
        facts.append(
            said(
                row["price"],
                provider="azure",
                sku=row["instance_type"],
                accelerator_name="GPU",
                gpu_count=Decimal(row["accelerator_count"]),
                region=row["region"],
                effective_from=moment,
            )
        )
        # each offer began and ended at its lowest price: Linux; all else was 0.045 to 0.075 a vCPU-hour more
        more = Decimal(row["price"]) - lowest[row["instance_type"], row["region"]]
        if more:
            assert Decimal("0.045") < more / vcpus[row["instance_type"]] < Decimal("0.075")
            windows.add(at)
    machines = {
        ("azure", row["instance_type"]): MachineFacts(
            Decimal(row["accelerator_count"]), vcpus[row["instance_type"]]
        )
        for row in rows
    }
    held = check_history(facts, machines, Known({accelerator_key("GPU"): "gpu"})).facts
    assert len(windows) == 1226
    assert {at for at, each in held.items() if each.rule == "linux_windows_flapping"} == windows
    assert set(held) == windows


@pytest.mark.shared
def test_four_years_of_google_hold_no_price_for_windows(shared: Path) -> None:
    rows = _observations(shared / "data" / "spot" / "gcp_gpu_machine_price_changes_2022-02_2026-07.csv.gz")
    facts = [
        said(
            row[column],
            provider="gcp",
            sku=row["machine_type"],
            accelerator_name="GPU",
            gpu_count=Decimal(1),
            region=row["region"],
            term=term,
            effective_from=datetime.fromisoformat(row["date"]).replace(tzinfo=UTC),
        )
        for row in rows
        for column, term in (("hour", "on_demand"), ("hour_spot", "spot"))
        if row[column] and Decimal(row[column])
    ]
    # vCPUs stand in the names of G2 and G4; an A2 has 12 a GPU, an A3 26
    machines = {}
    for name in {row["machine_type"] for row in rows}:
        series, _, size = name.rpartition("-")
        each = {"a2": 12, "a3": 26}.get(series[:2], 1)
        number = Decimal(size.rstrip("g")) if size.rstrip("g").isdigit() else Decimal(8)
        machines["gcp", name] = MachineFacts(Decimal(1), each * number)
    held = check_history(facts, machines, Known({accelerator_key("GPU"): "gpu"})).facts.values()
    assert len(facts) > 30_000
    assert [each for each in held if each.rule == "linux_windows_flapping"] == []

"""Each rule that holds back a fact: what trips it, what is just inside, and what its evidence says."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.quarantine_rules import QUARANTINE_RULES, MachineFacts, Verdict, check_scope
from costs.rows import RowError
from costs.sources.decimals import price as read_price

from .prices_said import A_DAY, KNOWN, judged, rules, said, stands

LIST = [said("80"), said("30", term="spot"), said("50", term="reserved_1y"), said("36", term="reserved_3y")]
SPOT, HOUR, YEAR = {"term": "spot"}, {"term": "on_demand"}, {"term": "reserved_1y"}


def test_a_file_that_repeats_what_stands_is_taken_whatever_it_says() -> None:
    absurd = [said("0.01"), said("900", term="spot"), said("0.5", sku="p5.48xlarge", provider="aws")]
    assert judged(absurd, stands(absurd)) == Verdict()


# a fact by itself


@pytest.mark.parametrize(
    ("price", "is_held"),
    [
        ("2.39", True),  # under 0.30 for each of 8
        ("2.40", False),
        ("320", False),
        ("321", True),  # above 40
        ("40150", True),  # 55 for a month
    ],
)
def test_a_price_per_gpu_hour_outside_the_bounds_of_its_gpu_is_held(price: str, is_held: bool) -> None:
    assert rules(judged([said(price)], None)) == ({0: "price_per_gpu_hour_absurd"} if is_held else {})


def test_bounds_are_those_of_the_day_that_the_price_is_of() -> None:
    cheap = said("4", effective_from=datetime(2026, 10, 1, tzinfo=UTC))  # 0.50 per GPU
    then = said("4", effective_from=datetime(2023, 10, 1, tzinfo=UTC), region="west")
    assert rules(judged([cheap, then], None)) == {1: "price_per_gpu_hour_absurd"}


def test_evidence_names_the_figures_that_were_compared() -> None:
    suspicion = judged([said("0.08")], None).facts[0]
    assert suspicion.evidence == (
        "0.01 USD per GPU-hour (0.08 for 8) is outside 0.3 to 40 for h100-sxm-80gb on 2026-11-01"
    )
    assert (suspicion.column, suspicion.value) == ("price_per_hour", "0.08")


def test_a_bid_floor_of_a_cent_is_held_also_where_nothing_stands() -> None:
    assert rules(judged([said("0.01", gpu_count=Decimal(1))], None)) == {0: "price_per_gpu_hour_absurd"}


def test_a_consumer_card_may_cost_a_few_cents() -> None:
    card = {"accelerator_name": "RTX 4090", "gpu_count": Decimal(1)}
    assert rules(judged([said("0.06", **card), said("0.04", region="west", **card)], None)) == {
        1: "price_per_gpu_hour_absurd"
    }


def test_bounds_scale_with_the_currency() -> None:
    assert rules(judged([said("2000", currency="CNY")], None)) == {}  # 31 dollars per GPU


@pytest.mark.parametrize(("count", "is_held"), [("8", False), ("1", True), ("192", True)])
def test_a_gpu_count_that_contradicts_the_table_of_machine_types_is_held(count: str, is_held: bool) -> None:
    fact = said("300", provider="aws", sku="p5.48xlarge", gpu_count=Decimal(count))
    found = judged([fact], None).facts
    assert (found.get(0) is not None and found[0].rule == "gpu_count_contradicts_machine") == is_held


def test_a_part_of_a_card_may_be_written_with_two_places_or_three() -> None:
    machines = {("azure", "NV12"): MachineFacts(Decimal("0.333"))}
    third = said("0.4", provider="azure", sku="NV12", accelerator_name="A100", gpu_count=Decimal("0.33"))
    half = {**third, "gpu_count": "0.500"}
    assert check_scope([third, half], None, A_DAY, machines, KNOWN).facts.keys() == {1}


def test_a_count_that_was_accepted_is_not_asked_about_again() -> None:
    fact = {"provider": "aws", "sku": "p5.48xlarge", "gpu_count": Decimal(4)}
    assert rules(judged([said("41", **fact)], stands([said("40", **fact)]))) == {}


def test_without_a_table_the_count_that_stands_for_the_machine_counts() -> None:
    before = stands([said("80"), said("82", region="west")])
    wrong = [said("80"), said("82", region="west", gpu_count=Decimal(1))]
    verdict = judged(wrong, before)
    assert rules(verdict) == {1: "gpu_count_contradicts_machine"}
    assert verdict.facts[1].evidence == "1 GPUs in gpu8 in west; its prices so far are for 8"


def test_a_name_that_is_sold_in_several_counts_may_get_another() -> None:
    card = said("9", gpu_count=Decimal(1))
    assert (
        rules(judged([card, said("80"), said("38", gpu_count=Decimal(4))], stands([card, said("80")]))) == {}
    )


# a fact against what stands


@pytest.mark.parametrize(
    ("price", "is_held"), [("240", False), ("240.01", True), ("26.67", False), ("26.66", True)]
)
def test_more_than_three_times_or_under_a_third_of_the_last_price_is_held(price: str, is_held: bool) -> None:
    assert rules(judged([said(price)], stands([said("80")]))) == ({0: "price_jump"} if is_held else {})


def test_a_cut_by_44_percent_is_taken() -> None:
    p5 = {"provider": "aws", "sku": "p5.48xlarge"}
    assert rules(judged([said("55.04", **p5)], stands([said("98.32", **p5)]))) == {}


def test_a_price_that_comes_back_is_held_against_the_one_before_it_went() -> None:
    before = stands([said(None)], gpu8="80")
    assert rules(judged([said("70")], before)) == {}
    assert rules(judged([said("10")], before)) == {0: "price_jump"}


# a fact beside its neighbours


def test_spot_above_on_demand_is_held_and_equal_is_not() -> None:
    before = stands(LIST)
    assert rules(judged([LIST[0], said("80", **SPOT), *LIST[2:]], before)) == {}
    verdict = judged([LIST[0], said("81", **SPOT), *LIST[2:]], before)
    assert rules(verdict) == {1: "spot_above_on_demand"}
    assert verdict.facts[1].evidence == "81 for gpu8 spot is above 80 for gpu8 on demand in east"


def test_a_rounding_is_not_above() -> None:
    before = stands([said("27.43298"), said("20", **SPOT)])
    assert rules(judged([said("27.43298"), said("27.4330", **SPOT)], before)) == {}


def test_spot_of_a_zone_is_held_against_the_hour_of_its_region() -> None:
    zone = {"zone": "east-1", **SPOT}
    before = stands([said("80"), said("30", **zone)])
    assert rules(judged([said("80"), said("85", **zone)], before)) == {1: "spot_above_on_demand"}
    other = stands([said("80", zone="east-2"), said("30", **zone)])
    assert rules(judged([said("80", zone="east-2"), said("85", **zone)], other)) == {}


def test_an_hour_that_falls_to_the_very_price_of_spot_is_held() -> None:
    assert rules(judged([said("30"), *LIST[1:]], stands(LIST)))[0] in {
        "spot_above_on_demand",
        "term_not_below_on_demand",
    }
    two = LIST[:2]
    assert rules(judged([said("30"), two[1]], stands(two))) == {0: "spot_above_on_demand"}


@pytest.mark.parametrize("price", ["80", "81"])
def test_a_term_at_or_above_on_demand_is_held(price: str) -> None:
    facts = [*LIST[:2], said(price, **YEAR), LIST[3]]
    assert rules(judged(facts, stands(LIST))) == {2: "term_not_below_on_demand"}


def test_a_three_year_price_shown_as_on_demand_is_held_and_the_term_is_not() -> None:
    facts = [said("36"), *LIST[1:]]
    assert rules(judged(facts, stands(LIST))) == {0: "term_not_below_on_demand"}


def test_a_capacity_block_may_cost_more_than_the_hour() -> None:
    block = {"term": "capacity_block"}
    before = stands([said("80"), said("70", **block)])
    assert rules(judged([said("80"), said("90", **block)], before)) == {}


def test_a_long_term_above_a_short_one_is_held() -> None:
    facts = [*LIST[:3], said("51", term="reserved_3y")]
    assert rules(judged(facts, stands(LIST))) == {3: "long_term_above_short_term"}


def test_terms_of_different_payment_are_not_held_against_each_other() -> None:
    prices = [
        said("80"),
        said("50", **YEAR, payment="all_upfront"),
        said("45", term="reserved_3y", payment="no_upfront"),
    ]
    facts = [*prices[:2], said("51", term="reserved_3y", payment="no_upfront")]
    assert rules(judged(facts, stands(prices))) == {}


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (2, 3)])
def test_of_two_prices_that_were_swapped_both_are_held(pair: tuple[int, int]) -> None:
    facts = list(LIST)
    left, right = pair
    facts[left] = {**LIST[left], "price_per_hour": LIST[right]["price_per_hour"]}
    facts[right] = {**LIST[right], "price_per_hour": LIST[left]["price_per_hour"]}
    assert set(rules(judged(facts, stands(LIST)))) == {left, right}


def test_a_pair_that_stands_out_of_order_may_move_together() -> None:
    # a list that fills in the hour where no term is sold, and was let in
    before = stands([said("80"), said("80", **YEAR)])
    assert rules(judged([said("70"), said("70", **YEAR)], before)) == {}
    assert rules(judged([said("70"), said("80", **YEAR)], before)) == {0: "term_not_below_on_demand"}


SMALL = {"sku": "gpu4", "gpu_count": Decimal(4)}


def test_a_node_with_eight_gpus_below_the_one_with_four_is_held() -> None:
    before = stands([said("80"), said("40", **SMALL)])
    verdict = judged([said("39"), said("40", **SMALL)], before)
    assert rules(verdict) == {0: "more_gpus_for_less"}
    assert verdict.facts[0].evidence == "39 for gpu8 with 8 GPUs is below 40 for gpu4 with 4 GPUs in east"


def test_one_gpu_with_a_large_host_may_cost_more_than_four_with_a_small_one() -> None:
    # AWS asks 4.352 for g4dn.16xlarge (1 GPU, 64 vCPUs) and 3.912 for g4dn.12xlarge (4 GPUs, 48 vCPUs)
    large = {"sku": "gpu1-64", "gpu_count": Decimal(1), "vcpus": Decimal(64)}
    four = {"sku": "gpu4-48", "gpu_count": Decimal(4), "vcpus": Decimal(48)}
    before = stands([said("4", **large), said("5", **four)])
    assert rules(judged([said("4.352", **large), said("3.912", **four)], before)) == {}
    equal = {**large, "vcpus": Decimal(48)}
    before = stands([said("4", **equal), said("5", **four)])
    assert rules(judged([said("4", **equal), said("3.912", **four)], before)) == {1: "more_gpus_for_less"}


def test_another_series_is_no_smaller_size_of_this_one() -> None:
    other = {"sku": "fastgpu4", "gpu_count": Decimal(4)}
    before = stands([said("80"), said("40", **other)])
    assert rules(judged([said("39"), said("40", **other)], before)) == {}


def test_what_is_held_is_no_measure_for_its_neighbours() -> None:
    # the hour is an error; spot moved a little, and is fine beside the hour that stands
    facts = [said("8"), said("31", **SPOT), *LIST[2:]]
    assert rules(judged(facts, stands(LIST))) == {0: "price_jump"}


# Linux and Windows

AZURE = {"provider": "azure", "sku": "Standard_NC24", "accelerator_name": "A100", "gpu_count": Decimal(1)}


def test_a_rise_by_the_fee_of_a_windows_licence_is_held() -> None:
    # Azure, 2026-05-01: 3.673 became 4.777, which is 24 vCPUs at 0.046
    before = stands([said("3.673", **AZURE)])
    verdict = judged([said("4.777", **AZURE)], before)
    assert rules(verdict) == {0: "linux_windows_flapping"}
    assert verdict.facts[0].evidence.endswith("1.104 more is what Windows costs on this machine")
    assert rules(judged([said("4.760", **AZURE)], before)) == {}


def test_the_way_back_to_linux_is_taken() -> None:
    assert rules(judged([said("3.673", **AZURE)], stands([said("4.777", **AZURE)]))) == {}


def test_a_seller_without_windows_may_rise_by_as_much() -> None:
    other = {**AZURE, "provider": "acme", "vcpus": Decimal(24)}
    assert rules(judged([said("4.777", **other)], stands([said("3.673", **other)]))) == {}


def test_spot_that_rose_by_the_share_of_a_licence_is_held_where_half_of_the_rises_are_such() -> None:
    spot = {**AZURE, **SPOT}
    regions = ("r1", "r2", "r3", "r4", "r5")
    hours = [said("3.673", **AZURE, region=region) for region in (*regions, "r6", "r7")]
    before = stands([*hours, *(said("0.67877", **spot, region=region) for region in regions)])
    windows = "0.882792"  # 0.67877 × 4.777 / 3.673
    one_of_five = [windows, "0.70", "0.71", "0.72", "0.73"]
    spots = [said(price, **spot, region=region) for price, region in zip(one_of_five, regions, strict=True)]
    assert rules(judged([*hours, *spots], before)) == {}
    three = [windows, windows, windows, "0.72", "0.5"]
    spots = [said(price, **spot, region=region) for price, region in zip(three, regions, strict=True)]
    # and then nothing that changed in such a file is believed
    assert rules(judged([*hours, *spots], before)) == dict.fromkeys(range(7, 12), "linux_windows_flapping")


def test_in_a_file_that_mixes_up_its_meters_a_price_that_is_gone_is_held() -> None:
    regions = ("r1", "r2", "r3", "r4")
    before = stands([said("3.673", **AZURE, region=region) for region in regions])
    prices = ["4.777", "4.777", "4.777", None]
    facts = [said(price, **AZURE, region=region) for price, region in zip(prices, regions, strict=True)]
    verdict = judged(facts, before)
    assert verdict.facts[3].rule == "linux_windows_flapping"
    others = "3 other prices of this file rose by just the fee of a Windows licence"
    assert verdict.facts[3].evidence == f"no price where 3.673 stands, and {others}"


# the whole


def many(count: int, price: str = "80") -> list[dict[str, object]]:
    return [said(price, region=f"r{number}") for number in range(count)]


def test_a_scope_that_vanished_is_held() -> None:
    whole = judged([], stands(many(7))).whole
    assert whole is not None
    assert (whole.rule, whole.evidence) == ("scope_vanished", "no facts, where the last file had 7")


@pytest.mark.parametrize(("left", "is_held"), [(5, False), (4, True)])
def test_a_list_with_under_half_of_the_last_rows_is_held(left: int, is_held: bool) -> None:
    whole = judged(many(left), stands(many(10))).whole
    assert (whole is not None and whole.rule == "scope_shrank") == is_held


def test_a_list_with_under_half_of_the_last_prices_is_held_though_its_rows_are_there() -> None:
    facts = [*many(4), *(said(None, region=f"r{number}") for number in range(4, 10))]
    whole = judged(facts, stands(many(10))).whole
    assert whole is not None
    assert whole.evidence == "4 prices, under half of the 10 before"


def test_an_addition_to_a_list_may_be_short() -> None:
    assert judged(many(1), stands(many(10)), complete=False) == Verdict()


def test_another_currency_is_held() -> None:
    whole = judged([said("80", currency="EUR")], stands([said("80")])).whole
    assert whole is not None
    assert (whole.rule, whole.evidence) == ("currency_changed", "prices in EUR, where USD stands")


def test_where_half_of_the_list_looks_wrong_its_new_offers_are_not_trusted_either() -> None:
    facts = [*many(5, "800"), said("800", region="new")]
    verdict = judged(facts, stands(many(5)))
    assert verdict.whole is not None
    assert verdict.whole.rule == "scope_in_doubt"
    assert "5 of 5 prices" in verdict.whole.evidence


def test_one_region_at_ten_times_holds_that_region_alone() -> None:
    facts = [*many(9), said("250", region="r9")]
    assert rules(judged(facts, stands(many(10)))) == {9: "price_jump"}


# a first batch, and what people decided


def test_a_first_batch_is_judged_on_bounds_and_machine_types_alone() -> None:
    out_of_order = [said("80"), said("90", **SPOT), said("95", **YEAR), said("90", **SMALL)]
    assert judged(out_of_order, None) == Verdict()
    assert judged(out_of_order, stands([], rows=0)) == Verdict()


def test_a_price_that_a_person_released_is_not_judged_and_others_are_held_against_it() -> None:
    before = stands(LIST)
    facts = [said("20"), said("25", **SPOT), *LIST[2:]]  # on-demand at a quarter, spot above it
    assert set(rules(judged(facts, before))) == {0}
    assert rules(judged(facts, before, vouched={0})) == {1: "spot_above_on_demand"}


@pytest.mark.parametrize("text", ["0", "0.0000000000", "-1", "481800", "0.0000000001"])
def test_a_line_without_a_price_that_a_table_could_hold_is_quarantined_by_its_rule(text: str) -> None:
    with pytest.raises(RowError) as caught:
        read_price("Price", text)
    assert caught.value.rule in QUARANTINE_RULES


# laws

prices = st.decimals("0.01", "5000", places=2).map(str)
terms = st.sampled_from(["on_demand", "spot", "reserved_1y", "reserved_3y"])
facts = st.dictionaries(
    st.tuples(st.sampled_from(["gpu1", "gpu4", "gpu8"]), st.sampled_from(["east", "west"]), terms),
    prices,
    min_size=1,
    max_size=12,
).map(
    lambda drawn: [
        said(price, sku=sku, gpu_count=Decimal(sku[3:]), region=region, term=term)
        for (sku, region, term), price in drawn.items()
    ]
)


@given(facts, facts, st.randoms())
def test_the_order_of_the_lines_tells_nothing(now: list, then: list, random: object) -> None:  # type: ignore[type-arg]
    before = stands(then)
    shuffled = list(range(len(now)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = judged(now, before)
    again = judged([now[at] for at in shuffled], before)
    assert {shuffled[at] for at in again.facts} == set(found.facts)
    assert (again.whole and again.whole.rule) == (found.whole and found.whole.rule)


@given(facts, facts)
def test_what_is_held_is_new_and_not_vouched_for(now: list, then: list) -> None:  # type: ignore[type-arg]
    before = stands(then)
    held = judged(now, before).facts
    standing = {str(fact) for fact in then}
    assert not any(str(now[at]) in standing for at in held)
    vouched = set(held) | {0}
    assert not vouched & set(judged(now, before, vouched=vouched).facts)


def test_accelerators_of_the_tests_are_known() -> None:
    assert KNOWN.slug_of("gpu8", "H100") == "h100-sxm-80gb"

"""A comparison says which plan costs less only where that is true, and its parts add up to its totals."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.comparison import compare
from planner.comparison.cards import mix_of
from planner.comparison.gather import align
from planner.comparison.result import Comparison, Row
from planner.comparison.rows import CORE_VIEWS, cost_rows_of, lead_time_days
from planner.core import plan as core
from planner.core.evaluate import evaluate
from planner.models import Scenario
from tests.fact_builders import make_hours
from tests.plan_builders import (
    NOW,
    make_on_demand,
    make_owned,
    make_reserved,
    make_revision,
    make_scenario,
    make_workload,
)

HOURS_2027 = 8_760
ON_DEMAND_TOTAL = 8 * HOURS_2027 * 4.0  # 8 GPUs, $4
RESERVED_TOTAL = 8 * HOURS_2027 * 2.0


def row(comparison: Comparison, key: str) -> Row:
    return next(each for each in comparison.rows if each.key == key)


def values(comparison: Comparison, key: str) -> list[float | None]:
    return [cell.figure.value for cell in row(comparison, key).cells]


def three() -> list[Scenario]:
    return [
        make_scenario("Stay on demand"),
        make_scenario("Reserve 8", [make_on_demand(), make_reserved()]),
        make_scenario("Own 8", [make_on_demand(), make_owned()]),
    ]


@pytest.mark.django_db
class TestAnswer:
    def test_the_cheapest_is_named_with_the_saving_and_its_share(self):
        comparison = compare(three(), now=NOW)
        saving = ON_DEMAND_TOTAL - 100_000  # own costs its purchase price alone: 180,320 of 280,320, 64.3 %
        assert saving == 180_320
        assert comparison.answer.letter == "C"
        assert comparison.answer.text == (
            "C, Own 8, costs $180\u00a0k less than staying on demand over 12 months, 64.3\u00a0%."
        )

    def test_break_even_stands_against_measured_use(self):
        # 60 of 100 GPUs are busy in every week
        make_hours(24 * 7 * 9, datetime(2026, 9, 28, tzinfo=UTC), gpus_available=Decimal(100),
                   gpus_installed=Decimal(100), gpus_allocated=Decimal(60))  # fmt: skip
        comparison = compare(three()[:2], now=NOW)
        # reserved at $2 against $4 by the hour pays above one half
        assert (
            "B pays above 50\u00a0% utilization of what it reserves and plans 100\u00a0%; "
            "today's fleet runs at 60\u00a0%." in comparison.answer.detail_text
        )
        assert [(line.letter, line.share) for line in comparison.series.break_evens] == [
            ("B", pytest.approx(0.5))
        ]

    def test_without_measurement_it_says_so(self):
        assert "no utilization is measured yet" in compare(three(), now=NOW).answer.detail_text

    def test_the_base_may_be_the_cheapest(self):
        scenarios = three()[:2]
        comparison = compare(scenarios, now=NOW, base="reserve-8")
        assert (comparison.base, comparison.answer.letter) == ("B", "B")
        assert "is the cheapest over 12 months; next is A, Stay on demand, at $140\u00a0k more." in (
            comparison.answer.text
        )

    def test_a_plan_that_leaves_work_undone_is_never_called_cheaper(self):
        half = make_scenario("Too small", [make_on_demand("0.01", quota_gpus=Decimal(4))])
        comparison = compare([make_scenario("Whole"), half], now=NOW)
        assert comparison.answer.letter is None
        assert not any(column.is_cheapest for column in comparison.columns)
        assert "none is called cheaper" in comparison.answer.text
        assert values(comparison, "unmet_gpu_hours") == [0.0, 4 * HOURS_2027]

    def test_among_three_only_those_that_do_the_same_work_are_ranked(self):
        half = make_scenario("Too small", [make_on_demand("0.01", quota_gpus=Decimal(4))])
        comparison = compare([*three()[:2], half], now=NOW)
        assert comparison.answer.letter == "B"
        assert "C is not ranked: it leaves 35.0\u00a0k\u00a0GPU-h unserved" in comparison.answer.detail_text

    def test_plans_for_different_demand_are_not_ranked(self):
        bigger = make_scenario("Bigger", workloads=[make_workload(gpus=Decimal(16))])
        assert compare([make_scenario(), bigger], now=NOW).answer.letter is None

    def test_an_unknown_total_names_the_missing_input(self):
        unknown = make_scenario("Own 8", [make_on_demand(), make_owned(usd_capex_per_server=None)])
        comparison = compare([make_scenario("Stay"), unknown], now=NOW)
        assert comparison.answer.letter is None
        assert comparison.answer.text == (
            "The total of B, Own 8, is unknown: own: price per server is unknown."
        )
        assert values(comparison, "total") == [ON_DEMAND_TOTAL, None]
        assert [(gap.letter, gap.supply, gap.field) for gap in comparison.gaps] == [
            ("B", "own", "usd_capex_per_server")
        ]

    def test_an_unknown_base_is_never_the_measure(self):
        unknown = make_scenario("Own 8", [make_on_demand(), make_owned(usd_capex_per_server=None)])
        comparison = compare([unknown, *three()[:2]], now=NOW)
        assert comparison.answer.letter is None
        assert all(cell.delta is None for cell in row(comparison, "total").cells)

    def test_a_plan_as_good_as_the_base_does_not_beat_it(self):
        comparison = compare([make_scenario("One"), make_scenario("Other")], now=NOW)
        assert comparison.answer.letter == "A"
        assert row(comparison, "total").cells[1].delta.meaning == "same"


@pytest.mark.django_db
class TestRows:
    def test_lines_and_totals_are_the_money_of_the_plans(self):
        comparison = compare(three(), now=NOW)
        assert values(comparison, "on_demand") == [pytest.approx(ON_DEMAND_TOTAL), 0.0, 0.0]
        assert values(comparison, "reserved") == [0.0, pytest.approx(RESERVED_TOTAL), 0.0]
        assert values(comparison, "hardware") == [0.0, 0.0, 100_000.0]
        assert values(comparison, "total") == pytest.approx([ON_DEMAND_TOTAL, RESERVED_TOTAL, 100_000.0])
        assert values(comparison, "usd_per_useful_gpu_hour") == pytest.approx([4.0, 2.0, 100_000 / 70_080])

    def test_deltas_are_against_the_base_with_the_meaning_of_money(self):
        cells = row(compare(three(), now=NOW, base="B"), "total").cells
        assert cells[1].delta is None
        assert cells[0].delta.value == pytest.approx(ON_DEMAND_TOTAL - RESERVED_TOTAL)
        assert (cells[0].delta.arrow, cells[0].delta.meaning) == ("▲", "worse")
        assert (cells[2].delta.arrow, cells[2].delta.meaning) == ("▼", "better")

    def test_lines_that_are_zero_in_every_plan_are_left_out(self):
        keys = {each.key for each in compare(three(), now=NOW).rows}
        assert "spot" not in keys
        assert "loan" not in keys

    @pytest.mark.parametrize("view", ["cash", "amortized", "present_value"])
    def test_lines_add_up_to_the_total_in_every_view(self, view):
        loan = {"loan_share": Decimal("0.5"), "loan_rate_per_year": Decimal("0.08"), "loan_months": 36}
        owned = make_owned(idle_kw_per_server=Decimal(2), max_kw_per_server=Decimal(10), pue=Decimal("1.4"),
                           usd_per_kwh=Decimal("0.1"), fte_minimum=Decimal("0.5"),
                           usd_staff_per_fte_year=Decimal(180_000), residual_share=None, **loan)  # fmt: skip
        comparison = compare(
            [make_scenario(), make_scenario("own", [make_on_demand(), owned])], now=NOW, view=view
        )
        for place in range(2):
            lines = sum(each.cells[place].figure.value for each in comparison.rows if each.kind == "line")
            assert lines == pytest.approx(values(comparison, "total")[place], abs=1e-6)

    def test_lead_time_runs_to_the_first_month_with_capacity(self):
        # ordered 1 January, 84 + 28 days: 23 April, so capacity from 1 May: 120 days after the start
        owned = core.Owned("own", 1, 8, date(2027, 1, 1), 84, 1.0, burn_in_days=28)
        plan = core.Plan("p", date(2027, 1, 1), 12, "h100", (), (owned,))
        assert lead_time_days(plan) == 120


@pytest.mark.django_db
class TestOverrides:
    def fleet(self) -> None:
        make_hours(24 * 7 * 9, datetime(2026, 9, 28, tzinfo=UTC), gpus_available=Decimal(100),
                   gpus_installed=Decimal(110), gpus_allocated=Decimal(60))  # fmt: skip

    def slider(self, comparison: Comparison, key: str):
        return next((each for each in comparison.sliders if each.key == key), None)

    def test_util_is_a_share_of_the_available_fleet(self):
        self.fleet()
        comparison = compare(three(), now=NOW, overrides={"util": 50.0})
        # half of 100 available GPUs, not of the 110 installed
        assert values(comparison, "demand_gpu_hours")[0] == pytest.approx(50 * HOURS_2027)

    def test_the_slider_knows_saved_and_measured_values(self):
        self.fleet()
        slider = self.slider(compare(three(), now=NOW), "util")
        assert (slider.value, slider.saved, slider.measured) == pytest.approx((8.0, 8.0, 60.0))
        assert slider.hint == "Actual, last 8 weeks: median 60\u00a0%, range 60–60\u00a0%"
        # the tick stands at 60 on a track from 5 to 100
        assert slider.measured_at == pytest.approx(100 * 55 / 95)
        assert not slider.is_changed

    def test_without_a_measured_fleet_the_slider_is_in_gpus_and_has_no_tick(self):
        comparison = compare(three(), now=NOW, overrides={"demand": 16.0})
        assert self.slider(comparison, "util") is None
        slider = self.slider(comparison, "demand")
        assert (slider.value, slider.saved, slider.measured, slider.is_changed) == (16.0, 8.0, None, True)
        assert values(comparison, "demand_gpu_hours")[0] == pytest.approx(16 * HOURS_2027)

    def test_util_without_a_fleet_is_refused_with_a_notice(self):
        comparison = compare(three(), now=NOW, overrides={"util": 50.0})
        assert values(comparison, "demand_gpu_hours")[0] == pytest.approx(8 * HOURS_2027)
        assert any("util is not used" in notice for notice in comparison.notices)

    def test_purchase_price_moves_owned_plans_alone(self):
        comparison = compare(three(), now=NOW, overrides={"capex_gpu": 20_000.0})
        assert values(comparison, "total") == pytest.approx([ON_DEMAND_TOTAL, RESERVED_TOTAL, 160_000.0])

    def test_a_yearly_price_change_compounds_by_month(self):
        comparison = compare(three(), now=NOW, overrides={"drift_year": -50.0})
        hours = [744, 672, 744, 720, 744, 720, 744, 744, 720, 744, 720, 744]
        expected = sum(8 * 4.0 * h * 0.5 ** (month / 12) for month, h in enumerate(hours))
        assert values(comparison, "total")[0] == pytest.approx(expected)

    def test_growth_applies_from_the_second_month(self):
        comparison = compare(three(), now=NOW, overrides={"growth": 10.0})
        assert comparison.series.served[0].demand[:3] == pytest.approx((8.0, 8.8, 9.68))

    def test_what_is_moved_is_counted(self):
        comparison = compare(three(), now=NOW, overrides={"growth": 1.0, "kwh": 0.0})
        # 0 is what the plans say already
        assert comparison.changed_text == "1 assumption differs from the saved scenarios"

    def test_scenarios_that_differ_say_so_and_have_no_saved_value(self):
        bigger = make_scenario("Bigger", workloads=[make_workload(gpus=Decimal(16))])
        slider = self.slider(compare([make_scenario(), bigger], now=NOW), "demand")
        assert slider.saved is None
        assert slider.saved_text == "A 8\u00a0GPUs, B 16\u00a0GPUs"

    def test_a_plan_without_demand_is_left_as_it_is_with_a_notice(self):
        idle = make_scenario("Idle", workloads=[])
        comparison = compare([make_scenario(), idle], now=NOW, overrides={"demand": 16.0})
        assert values(comparison, "demand_gpu_hours") == [pytest.approx(16 * HOURS_2027), 0.0]
        assert any("Idle has no demand" in notice for notice in comparison.notices)


@pytest.mark.django_db
class TestSideBySide:
    def test_different_horizons_are_compared_over_their_common_months(self):
        early = make_scenario("Early", revision=make_revision(start=date(2027, 1, 1), months=12))
        late = make_scenario("Late", revision=make_revision(start=date(2027, 7, 1), months=12))
        comparison = compare([early, late], now=NOW)
        assert (comparison.start, comparison.months) == (date(2027, 7, 1), 6)
        # July to December has 4,416 hours
        assert values(comparison, "total") == pytest.approx([8 * 4_416 * 4.0] * 2)
        assert any("6 that they have in common" in notice for notice in comparison.notices)

    def test_demand_and_prices_are_as_they_are_by_then(self):
        plan = core.Plan(
            "p", date(2027, 1, 1), 12, "h100", (core.Workload("w", "inference", 100.0, 0.1),),
            (core.OnDemand("o", 10.0),), price_drift_per_month=-0.1,
        )  # fmt: skip
        later = core.Plan("q", date(2027, 3, 1), 12, "h100", (), ())
        aligned = align([plan, later], [])[0]
        assert (aligned.start, aligned.months) == (date(2027, 3, 1), 10)
        assert aligned.workloads[0].gpus == pytest.approx(121.0)
        assert aligned.supplies[0].usd_per_gpu_hour == pytest.approx(8.1)

    def test_a_scenario_without_a_common_month_is_left_out_with_a_notice(self):
        now = make_scenario("Now")
        later = make_scenario("Later", revision=make_revision(start=date(2030, 1, 1)))
        comparison = compare([now, later], now=NOW)
        assert [column.name for column in comparison.columns] == ["Now"]
        assert comparison.notices == ("Later has no month in common with the others and is left out.",)
        assert "nothing stands beside it" in comparison.answer.text

    def test_other_currencies_stand_without_deltas_and_are_not_ranked(self):
        euro = make_scenario("Euro", revision=make_revision(currency="EUR"))
        comparison = compare([make_scenario(), euro], now=NOW)
        cell = row(comparison, "total").cells[1]
        assert (cell.figure.text, cell.delta) == ("€280,320", None)
        assert row(comparison, "unmet_gpu_hours").cells[1].delta is not None
        assert comparison.answer.letter is None
        assert any("EUR" in notice for notice in comparison.notices)

    def test_sample_and_own_never_stand_side_by_side(self):
        sample = make_scenario("Sample", is_sample=True)
        comparison = compare([make_scenario("Own"), make_scenario("Own too"), sample], now=NOW)
        assert [column.name for column in comparison.columns] == ["Own", "Own too"]
        assert "left out: Sample" in comparison.notices[0]

    def test_sample_plans_stand_beside_the_sample_fleet_alone(self):
        make_hours(24 * 7 * 9, datetime(2026, 9, 28, tzinfo=UTC))
        own, sample = [make_scenario(), make_scenario()], [make_scenario(is_sample=True) for _ in range(2)]
        assert compare(own, now=NOW).series.measured is not None
        assert compare(sample, now=NOW).series.measured is None

    def test_an_older_revision_can_be_named(self):
        scenario = three()[0]
        other = make_scenario("Other")
        comparison = compare([scenario, other], now=NOW, revisions={scenario.slug: 7})
        assert comparison.columns[0].revision == 1
        assert any("has no revision 7" in notice for notice in comparison.notices)

    def test_the_frozen_query_pins_date_and_revisions(self):
        comparison = compare(three()[:2], now=NOW, overrides={"growth": 1.5})
        assert comparison.query == "s=stay-on-demand&s=reserve-8&growth=1.5"
        assert comparison.frozen_query == (
            "s=stay-on-demand~1&s=reserve-8~1&as_of=2026-11-30T00%3A00%3A00Z&growth=1.5"
        )

    def test_repeated_comparisons_ask_for_nothing_but_what_may_have_changed(self, django_assert_num_queries):
        scenarios = three()
        compare(scenarios, now=NOW)
        # the stamp of the facts, and the revisions
        with django_assert_num_queries(2):
            compare(scenarios, now=NOW, overrides={"growth": 2.0})


class TestCards:
    def plan(self, *supplies: core.Supply, gpus: float = 8.0) -> core.Plan:
        workload = core.Workload("w", "training", gpus, interruptible=True)
        return core.Plan("p", date(2027, 1, 1), 12, "h100", (workload,), supplies)

    def test_the_mix_is_of_useful_hours_and_fills_the_bar(self):
        outcome = evaluate(
            self.plan(
                core.Reserved("r", 6, date(2027, 1, 1), 12, "no_upfront", 2.0),
                core.OnDemand("o", 4.0, reference=True),
            )
        )
        mix = {part.kind: part.share for part in mix_of(outcome)}
        assert mix == {"reserved": pytest.approx(0.75), "on_demand": pytest.approx(0.25)}
        assert sum(part.width for part in mix_of(outcome)) == pytest.approx(100.0)

    def test_nothing_served_has_no_mix(self):
        assert mix_of(evaluate(self.plan(core.OnDemand("o", 4.0, quota_gpus=0.0)))) == ()

    @given(
        gpus=st.floats(1, 200),
        growth=st.floats(-0.05, 0.05),
        servers=st.integers(1, 20),
        reserved=st.integers(1, 64),
        quota=st.one_of(st.none(), st.floats(0, 100)),
        drift=st.floats(-0.05, 0.05),
        loan=st.sampled_from([None, core.Loan(0.5, 0.08, 24)]),
    )
    @settings(max_examples=40)
    def test_parts_add_up_to_totals(self, gpus, growth, servers, reserved, quota, drift, loan):
        plan = core.Plan(
            "p",
            date(2027, 1, 1),
            24,
            "h100",
            (core.Workload("w", "training", gpus, growth, deferrable_hours=24, interruptible=True),),
            (
                core.Owned(
                    "own", servers, 8, date(2027, 2, 1), 60, 250_000.0, burn_in_days=20,
                    idle_kw_per_server=2.0, max_kw_per_server=10.0, usd_per_kwh=0.1,
                    usd_colocation_per_kw_month=195.0, fte_minimum=0.5, usd_staff_per_fte_year=180_000.0,
                    warranty_months=12, availability=0.98, loan=loan,
                ),
                core.Reserved("r", reserved, date(2027, 3, 1), 36, "partial_upfront", 1.0, 5_000.0,
                              salvage_share=0.2),
                core.OnDemand("o", 4.0, quota_gpus=quota, reference=True),
                core.Spot("s", 1.5, 0.8, quota_gpus=20.0),
            ),
            price_drift_per_month=drift,
        )  # fmt: skip
        outcome = evaluate(plan)
        for view in CORE_VIEWS.values():
            parts = sum(cost_rows_of(outcome, view).values())
            assert parts == pytest.approx(outcome.total[view], rel=1e-9, abs=0.001)
        served = sum(part.share for part in mix_of(outcome))
        assert served == pytest.approx(1.0)

"""Every figure of Compare, of a scenario's page and of the first page follows from what it opens to."""

import dataclasses
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from planner.comparison import Comparison, compare
from planner.comparison.figures import money_short, of_unit, share_served
from planner.comparison.result import Card, Figure
from planner.core.calendar import add_months
from planner.core.explain import Explanation, Input, recompute
from planner.models import Person, Scenario
from planner.overview import overview
from planner.sample.scenarios import create_scenarios
from planner.scenarios import plan_cache
from planner.templatetags.units import month, percent, percent_signed, usd_per_hour
from tests.fact_builders import make_hours
from tests.plan_builders import (
    NOW,
    START,
    make_on_demand,
    make_owned,
    make_reserved,
    make_revision,
    make_scenario,
    make_spot,
    make_workload,
)
from tests.planner.explained import assert_answer_opens, assert_follows, assert_shown, body_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forget():
    plan_cache.forget()


@pytest.fixture
def visit(client):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def demand() -> list:
    return [
        make_workload(growth_per_month=Decimal("0.02")),
        make_workload(name="training", kind="training", gpus=Decimal(16), interruptible=True),
    ]


def four() -> list[Scenario]:
    """Stay, reserve, own and own too little: with growth, training, quotas, a resale value."""
    return [
        make_scenario("Stay", [make_on_demand(), make_spot(quota_gpus=Decimal(8))], demand()),
        make_scenario("Reserve", [make_on_demand("4.2"), make_reserved(gpus=16)], demand()),
        make_scenario(
            "Own",
            [make_on_demand(), make_owned(servers=2, lead_time_days=75, residual_share=Decimal("0.3"))],
            demand(),
        ),
        make_scenario(
            "Own too little",
            [make_on_demand(quota_gpus=Decimal(8)), make_owned(availability=Decimal("0.9"))],
            demand(),
        ),
    ]


def weeks_of_use() -> None:
    start = datetime(2026, 11, 23, tzinfo=UTC) - timedelta(weeks=8)
    make_hours(9 * 168, start, gpus_allocated=lambda hour: Decimal(5 + hour // 168 % 3))


def numbers(comparison: Comparison) -> Iterator[tuple[str, Figure]]:
    """Yield every figure of the cards and rows that has a value."""
    for card in comparison.cards:
        for field in dataclasses.fields(Card):
            figure = getattr(card, field.name)
            if isinstance(figure, Figure) and figure.value is not None:
                yield f"card: {field.name} of {card.column.letter}", figure
    for row in comparison.rows:
        for cell in row.cells:
            if cell.figure.value is not None:
                yield f"{row.key} of {cell.letter}", cell.figure


@pytest.fixture(params=["cash", "amortized", "present_value"])
def view(request):
    return request.param


class TestCompare:
    @pytest.mark.parametrize("base", ["A", "C"])
    def test_every_figure_opens_and_follows_from_its_inputs(self, view, base):
        weeks_of_use()
        comparison = compare(four(), now=NOW, view=view, base=base, overrides={"util": 70})
        assert_follows(comparison.explanations)
        found = dict(numbers(comparison))
        assert len(found) > 75
        for name, figure in found.items():
            assert figure.explain, f"{name} opens nothing"
            assert recompute(comparison.explanations[figure.explain]) == pytest.approx(
                figure.value, rel=1e-9, abs=1e-6
            )

    def test_cells_say_what_their_inputs_give(self, view):
        comparison = compare(four(), now=NOW, view=view)
        for row in comparison.rows:
            for cell in row.cells:
                again = recompute(comparison.explanations[cell.figure.explain])
                assert of_unit(again, row.unit, "USD").text == cell.figure.text, (row.key, cell.letter)

    def test_cards_say_what_their_inputs_give(self, view):
        comparison = compare(four(), now=NOW, view=view)
        for card in comparison.cards:

            def again(figure: Figure) -> float | None:
                return recompute(comparison.explanations[figure.explain])

            assert money_short(again(card.total), "USD").text == card.total.text
            assert money_short(again(card.peak_cash), "USD").text == card.peak_cash.text
            assert usd_per_hour(again(card.unit_cost)) == card.unit_cost.text
            assert share_served(again(card.served) or 0.0).text == card.served.text
            if card.break_even.value is not None:
                at = again(card.break_even)
                text = "at once" if at == 1 else month(add_months(START, int(at or 0) - 1))
                assert card.break_even.text.startswith(text)
            if card.planned_use.value is not None:
                assert percent(again(card.planned_use)) == card.planned_use.text

    @pytest.mark.parametrize("base", ["A", "C"])
    def test_every_difference_is_explained(self, view, base):
        comparison = compare(four(), now=NOW, view=view, base=base)
        deltas = [
            (row, cell.delta) for row in comparison.rows for cell in row.cells if cell.delta is not None
        ]
        assert len(deltas) > 30
        for row, delta in deltas:
            again = recompute(comparison.explanations[delta.explain])
            assert again == pytest.approx(delta.value, rel=1e-9, abs=1e-6 * (delta.value == 0.0)), row.key
        for card in comparison.cards:
            if card.delta is not None and card.delta.share is not None:
                share = comparison.explanations[card.delta.explain.replace("delta", "share")]
                assert percent_signed(recompute(share)) == card.delta.share_text

    @pytest.mark.parametrize("scenarios", [slice(0, 3), slice(0, 4), slice(2, 4)])
    @pytest.mark.parametrize("overrides", ["", "&util=70"])
    def test_the_page_says_what_its_explanations_give(self, visit, view, scenarios, overrides):
        weeks_of_use()
        slugs = "&".join(f"s={one.slug}" for one in four()[scenarios])
        response = visit(f"/compare/?{slugs}&view={view}{overrides}")
        body = body_of(response)
        at = lambda value: (  # noqa: E731 # months of break-evens
            "at once",
            month(add_months(START, int(value) - 1)) if 1 <= value <= 12 else "",
        )
        assert assert_shown(body, response.context["comparison"].explanations, at) > 30
        assert_answer_opens(body)

    def test_an_unknown_price_leaves_every_figure_that_needs_it_unknown(self, view):
        unknown = make_scenario("Own", [make_on_demand(), make_owned(usd_capex_per_server=None)])
        comparison = compare([make_scenario("Stay"), unknown], now=NOW, view=view)
        assert_follows(comparison.explanations)
        for figure in ("total", "unit_cost", "peak_month", "break_even", "cost_hardware"):
            if f"{figure}-B" in comparison.explanations:
                assert recompute(comparison.explanations[f"{figure}-B"]) is None
        assert recompute(comparison.explanations["served-B"]) == 1.0

    def test_an_explanation_is_written_when_it_is_read(self, monkeypatch):
        comparison = compare(four(), now=NOW)
        written = []
        monkeypatch.setattr(
            "planner.comparison.explanations.explain_one", lambda case, figure: written.append(figure)
        )
        assert len(comparison.explanations) > 80
        assert "total-A" in comparison.explanations
        assert written == []
        assert comparison.explanations["total-A"] is None
        assert written == ["total"]


class TestScenarioPage:
    @pytest.mark.parametrize("number", range(4))
    def test_every_figure_opens_and_says_what_its_inputs_give(self, visit, view, number):
        scenario = four()[number]
        response = visit(f"/scenarios/{scenario.slug}/?view={view}")
        body, result = body_of(response), response.context["result"]
        at = lambda value: (  # noqa: E731
            "at once",
            month(add_months(START, int(value) - 1)) if 1 <= value <= 12 else "",
        )
        assert assert_shown(body, result.explanations, at) >= 10
        assert_answer_opens(body)
        for each in result.totals:
            assert (
                money_short(recompute(result.explanations[each.total.explain]), "USD").text == each.total.text
            )
            assert usd_per_hour(recompute(result.explanations[each.unit_cost.explain])) == each.unit_cost.text
        figures = re.findall(r'<span class="kpi-value"[^>]*>(.*?)</span>', body, re.S)
        assert len(figures) == 3
        assert all("popovertarget" in one for one in figures)

    def test_unknown_totals_are_unknown_from_their_inputs(self, visit):
        scenario = make_scenario("Own", [make_on_demand(None), make_owned()])
        response = visit(f"/scenarios/{scenario.slug}/")
        told = response.context["result"].explanations
        assert_follows(told)
        assert recompute(told["total-A"]) is None


class TestOverview:
    def test_every_figure_opens_and_says_what_its_inputs_give(self, visit, monkeypatch):
        monkeypatch.setattr("planner.views.overview.timezone.now", lambda: NOW)
        weeks_of_use()
        scenarios = four()
        Scenario.objects.filter(pk=scenarios[2].pk).update(is_plan_of_record=True)
        response = visit("/")
        body, page = body_of(response), response.context["page"]
        assert assert_shown(body, page.explanations) >= 15
        assert_answer_opens(body)
        keys = set(re.findall(r'popovertarget="why-([^"]+)"', body))
        assert {
            "measured_use", "break_even_utilization", "planned_use", "margin", "week_share", "week_change",
            "idle_gpus", "available_gpus", "total", "unit_cost", "total-A", "total-C",
        } <= keys  # fmt: skip

    def test_what_was_not_reported_is_unknown_from_its_inputs(self):
        make_hours(168, datetime(2026, 11, 23, tzinfo=UTC), gpus_available=None)
        told = overview(NOW).explanations
        assert_follows(told)
        for figure in ("week_share", "idle_gpus", "available_gpus", "measured_use"):
            assert recompute(told[figure]) is None


class TestReferenceRuns:
    def test_days_and_runs_of_the_published_run_on_the_scenarios_gpu(self):
        # 16 GPUs train all of 2027: 1.46 M / (16 * 24) days; 16 * 8,760 / 12 a month
        comparison = compare(four()[:2], now=NOW)
        rows = {row.key: row for row in comparison.rows}
        assert comparison.reference_run.name == "Llama 3.1 8B"
        assert [c.figure.value for c in rows["days_per_run"].cells] == pytest.approx([1.46e6 / (16 * 24)] * 2)
        assert [c.figure.value for c in rows["runs_a_month"].cells] == pytest.approx([16 * 730 / 1.46e6] * 2)
        assert rows["days_per_run"].group == "Training, in runs of Llama 3.1 8B, 1.46 M H100 GPU-hours"
        told = comparison.explanations["days_per_run-A"]
        assert ("Reference run", "model card, Meta, 2024") in [(one.name, one.source) for one in told.inputs]

    def test_fewer_days_and_more_runs_are_better(self):
        less = make_scenario(
            "Half",
            [make_on_demand(quota_gpus=Decimal(12))],
            [make_workload(kind="training", gpus=Decimal(16))],
        )
        whole = make_scenario("Whole", workloads=[make_workload(kind="training", gpus=Decimal(16))])
        rows = {row.key: row for row in compare([less, whole], now=NOW).rows}
        assert rows["days_per_run"].cells[1].delta.meaning == "better"
        assert rows["days_per_run"].cells[1].delta.text.startswith("−")
        assert rows["runs_a_month"].cells[1].delta.meaning == "better"

    def test_a_number_in_the_address_is_taken_and_kept(self, visit):
        slugs = "&".join(f"s={one.slug}" for one in four()[:2])
        response = visit(f"/compare/?{slugs}&run_gpu_hours=38400")
        comparison = response.context["comparison"]
        row = next(row for row in comparison.rows if row.key == "days_per_run")
        assert row.cells[0].figure.text == "100\u00a0d"  # 38,400 / (16 * 24)
        assert "run_gpu_hours=38400" in comparison.query
        assert "run_gpu_hours=38400" in comparison.frozen_query
        assert 'value="38400"' in body_of(response)

    def test_what_is_taken_anyway_stays_out_of_the_address(self):
        assert "run_gpu_hours" not in compare(four()[:2], now=NOW, run_gpu_hours=1.46e6).query
        other = compare(four()[2:], now=NOW, run_gpu_hours=7.0e6)
        assert other.reference_run.name == "Llama 3.1 70B"
        assert "run_gpu_hours=7000000" in other.query

    @pytest.mark.parametrize("value", ["0", "-3", "nan", "1e12", "many"])
    def test_a_number_that_makes_no_sense_is_named_and_left_out(self, visit, value):
        slugs = "&".join(f"s={one.slug}" for one in four()[:2])
        comparison = visit(f"/compare/?{slugs}&run_gpu_hours={value}").context["comparison"]
        assert any(notice.startswith(f"run_gpu_hours={value} is not used") for notice in comparison.notices)
        assert comparison.reference_run.name == "Llama 3.1 8B"

    def test_on_a_gpu_without_a_published_run_it_is_unknown_until_one_is_typed(self):
        def of(name: str) -> Scenario:
            return make_scenario(name, workloads=demand(), revision=make_revision(gpu_model="b200-sxm"))

        scenarios = [of("One"), of("Other")]
        row = next(row for row in compare(scenarios, now=NOW).rows if row.key == "days_per_run")
        assert [cell.figure.text for cell in row.cells] == ["unknown", "unknown"]
        assert "no run is published" in row.cells[0].figure.reason
        typed = compare(scenarios, now=NOW, run_gpu_hours=38_400.0)
        assert (
            next(row for row in typed.rows if row.key == "days_per_run").cells[0].figure.text == "100\u00a0d"
        )

    def test_a_run_on_one_gpu_says_nothing_of_another(self):
        a100 = make_scenario("A100", workloads=demand(), revision=make_revision(gpu_model="a100-sxm-80gb"))
        comparison = compare([four()[0], a100], now=NOW)
        row = next(row for row in comparison.rows if row.key == "days_per_run")
        assert row.cells[0].figure.value is not None
        assert row.cells[1].figure.value is None
        assert "the run was on H100" in row.cells[1].figure.reason

    def test_where_nothing_trains_there_are_no_such_rows(self):
        assert not [
            r
            for r in compare([make_scenario(), make_scenario()], now=NOW).rows
            if r.group.startswith("Training")
        ]

    def test_the_files_hold_what_the_page_shows(self, visit):
        slugs = "&".join(f"s={one.slug}" for one in four()[:2])
        page = visit(f"/compare/?{slugs}").context["comparison"]
        row = next(row for row in page.rows if row.key == "runs_a_month")
        sent = visit(f"/compare.json?{slugs}").json()
        [line] = [line for line in sent["lines"] if line["line"] == "runs_a_month"]
        assert line["values"] == {cell.letter: cell.figure.value for cell in row.cells}
        assert sent["reference_run"]["gpu_hours"] == 1.46e6
        text = visit(f"/compare.csv?{slugs}").content.decode()
        assert f",{row.cells[0].figure.value!r}," in text


class TestSampleScenarios:
    @pytest.fixture
    def slugs(self, settings, tmp_path):
        settings.RAW_DIR = tmp_path / "raw"
        for source in ("accelerators", "list_prices"):
            call_command("ingest", source, verbosity=0)
        start = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(weeks=10)
        for pool, gpus in (("training", 60), ("inference", 30)):
            make_hours(10 * 168, start, pool=pool, is_sample=True, gpus_installed=Decimal(100),
                       gpus_available=Decimal(100), gpus_allocated=Decimal(gpus))  # fmt: skip
        return "&".join(f"s={one.slug}" for one in create_scenarios(timezone.now(), None))

    @pytest.mark.parametrize("view", ["cash", "amortized", "present_value"])
    def test_every_figure_follows_from_its_inputs(self, visit, slugs, view):
        response = visit(f"/compare/?{slugs}&view={view}")
        comparison = response.context["comparison"]
        assert None not in [card.total.value for card in comparison.cards]
        assert_follows(comparison.explanations)
        for name, figure in numbers(comparison):
            again = recompute(comparison.explanations[figure.explain])
            assert again == pytest.approx(figure.value, rel=1e-9, abs=1e-3), name
        assert_answer_opens(body_of(response))

    def test_prices_say_where_they_come_from(self, visit, slugs):
        told = visit(f"/compare/?{slugs}").context["comparison"].explanations["total-C"]
        sources = [one.source for one in told.inputs if one.name.startswith("Price, ")]
        assert sources
        assert all(sources)


class TestFiles:
    """JSON carries the explanations: a reader can work each figure out again."""

    def told(self, sent: dict) -> dict[str, Explanation]:
        def value(each: dict) -> float | tuple[float, ...] | None:
            return tuple(each["value"]) if isinstance(each["value"], list) else each["value"]

        return {
            key: Explanation(
                one["title"], one["sentence"], one["formula"],
                tuple(Input(i["name"], value(i), i["text"], i["source"], i["symbol"]) for i in one["inputs"]),
                one["value"], one["unit"], one["expression"],
            )
            for key, one in sent["explanations"].items()
        }  # fmt: skip

    def test_a_comparison_can_be_worked_out_again_from_its_file(self, visit):
        weeks_of_use()
        slugs = "&".join(f"s={one.slug}" for one in four())
        sent = visit(f"/compare.json?{slugs}").json()
        told = self.told(sent)
        assert_follows(told)
        for line in sent["lines"]:
            for letter, value in line["values"].items():
                again = recompute(told[line["explain"][letter]])
                assert again == pytest.approx(value, rel=1e-9, abs=1e-6), line["line"]

    def test_a_scenario_can_be_worked_out_again_from_its_file(self, visit):
        sent = visit(f"/scenarios/{four()[2].slug}.json").json()
        told = self.told(sent)
        assert_follows(told)
        for total in sent["totals"].values():
            assert recompute(told[total["total"]["explain"]]) == pytest.approx(total["total"]["value"])

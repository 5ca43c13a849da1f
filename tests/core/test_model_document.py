"""The cases worked through in docs/model.md, their sums taken again here."""

import re
from datetime import date
from pathlib import Path

import pytest

from planner.core.drivers.loads import Tokens
from planner.core.drivers.records import WorkloadRecord, demand_of
from planner.core.evaluate import evaluate
from tests.builders import make_on_demand, make_owned, make_plan, make_workload
from tests.core.reading import closing, line

# 2027 and 2029 have 8,760 hours, 2028 has 8,784
ALL_HOURS = 8760 + 8784 + 8760
LEAD_HOURS = 744 + 672 + 744
SERVING_HOURS = ALL_HOURS - LEAD_HOURS


def test_the_plan_of_the_document() -> None:
    servers = make_owned(
        servers=2,
        lead_time_days=90,
        idle_kw_per_server=2.0,
        max_kw_per_server=10.0,
        pue=1.5,
        usd_per_kwh=0.10,
        availability=0.97,
    )
    plan = make_plan(
        months=36,
        discount_rate_per_year=0.10,
        workloads=(make_workload(gpus=12.0),),
        supplies=(servers, make_on_demand()),
    )
    outcome = evaluate(plan)
    energy = (2 * 2 + 2 * 8 * 12 / 15.52) * 1.5 * 0.10 * SERVING_HOURS
    rent = 12 * 4.0 * LEAD_HOURS
    assert (round(energy, 2), rent) == (59_289.70, 103_680.0)
    assert sum(line(outcome, "Own", "energy")) == pytest.approx(energy)
    cash = 560_000 + rent + energy - 560_000 * (1 - 0.75 * 33 / 36)
    assert round(cash, 2) == 547_969.70
    assert outcome.total["cash_usd"] == pytest.approx(cash)
    depreciation = (560_000 - 56_000) / 60 * 33
    assert outcome.total["amortized_usd"] == pytest.approx(depreciation + rent + energy)
    assert closing(outcome)[-1] == pytest.approx(560_000 - depreciation) == pytest.approx(282_800)
    assert outcome.cumulative["baseline_cash_usd"].iloc[-1] == 12 * 4.0 * ALL_HOURS == 1_262_592
    assert outcome.usd_per_useful_gpu_hour["cash_usd"] == pytest.approx(cash / (12 * ALL_HOURS))
    assert outcome.demand_gpu_hours == 12 * ALL_HOURS == 315_648
    assert outcome.peak_month == date(2027, 4, 1)


def test_break_even_of_the_document() -> None:
    """Month by month in cash: 12 GPUs at 4.00 against 560,000 and 2.4557 an hour for energy."""
    servers = make_owned(
        servers=2, lead_time_days=90, idle_kw_per_server=2.0, max_kw_per_server=10.0, pue=1.5,
        usd_per_kwh=0.10, availability=0.97,
    )  # fmt: skip
    plan = make_plan(
        months=36,
        discount_rate_per_year=0.10,
        workloads=(make_workload(gpus=12.0),),
        supplies=(servers, make_on_demand()),
    )
    outcome = evaluate(plan)
    hours = [744, 672, 744, 720, 744, 720, 744, 744, 720, 744, 720, 744]
    hours = [*hours, 744, 696, *hours[2:], *hours]
    per_hour = (4 + 16 * 12 / 15.52) * 0.15
    expected = {}
    for view, rate in (("cash_usd", 0.0), ("present_value_usd", 0.10)):
        own = rent = 0.0
        for month, length in enumerate(hours, start=1):
            begin, end = (1 + rate) ** (-(month - 1) / 12), (1 + rate) ** (-month / 12)
            own += {1: 168_000.0, 4: 392_000.0}.get(month, 0.0) * begin
            own += (48.0 if month <= 3 else per_hour) * length * end
            rent += 48.0 * length * end
            if view not in expected and own <= rent:
                expected[view] = month
        if view == "present_value_usd":
            assert rent == pytest.approx(1_093_577.43, abs=0.01)
            residual = 175_000 * 1.1**-3
            assert outcome.total["present_value_usd"] == pytest.approx(own - residual)
            assert round(own - residual, 2) == 572_064.61
    assert expected == {"cash_usd": 20, "present_value_usd": 22}
    for view, month in expected.items():
        found = outcome.break_even[view]  # type: ignore[index]
        assert found is not None
        assert found.month == month
    assert outcome.break_even_utilization_of_available == pytest.approx(0.350, abs=0.0005)


def test_the_published_case_of_the_document() -> None:
    """DeepSeek's inference of a day: tokens to nodes, GPUs, money, and the same as a plan."""
    load = Tokens(
        input_tokens_per_second=608e9 / 86_400,
        output_tokens_per_second=168e9 / 86_400,
        gpus_per_node=8,
        input_tokens_per_second_per_node=73_700.0,
        output_tokens_per_second_per_node=14_800.0,
    )
    gpus = load.mean_gpus(730.0)
    assert gpus is not None
    assert round(gpus / 8, 2) == 226.86
    assert gpus / 8 == pytest.approx(226.75, rel=1e-3)  # as the report says
    day = gpus * 24 * 2.0
    assert round(day) == 87_116
    assert day == pytest.approx(87_072, rel=1e-3)  # as the report says
    assert round(day / 776_000, 4) == 0.1123
    assert round(day / 168_000, 4) == 0.5185
    found = demand_of(WorkloadRecord("chat", "inference_reserved", load), date(2027, 2, 1), 1)
    assert found.workload is not None
    rent = make_on_demand(usd_per_gpu_hour=2.0)
    outcome = evaluate(
        make_plan(start=date(2027, 2, 1), months=1, workloads=(found.workload,), supplies=(rent,))
    )
    assert outcome.total["cash_usd"] == pytest.approx(28 * day)
    assert round(28 * day) == 2_439_237
    assert outcome.usd_per_useful_gpu_hour["cash_usd"] == pytest.approx(2.0)


DOCUMENT = Path(__file__).parents[2] / "docs" / "model.md"


@pytest.mark.parametrize("figure", ["226.86", "1,814.9", "43,558", "87,116", "0.1123", "0.5185", "2,439,237"])
def test_the_document_says_these_figures(figure: str) -> None:
    assert figure in DOCUMENT.read_text(encoding="utf-8")


def test_every_chapter_that_the_document_names_exists() -> None:
    for link in re.findall(r"\]\((model/[^)#]+)\)", DOCUMENT.read_text(encoding="utf-8")):
        assert (DOCUMENT.parent / link).is_file(), link

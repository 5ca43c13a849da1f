"""Claims about what the kept plans are kept under: facts that changed are never answered from before."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.utils import timezone

from costs.models import Batch, Price
from costs.undo import order_undo
from planner.models import Scenario
from planner.queries import whole_revisions
from planner.scenarios.plan_cache import data_date, loaded_plans
from tests.fact_builders import make_batch
from tests.plan_builders import make_key, make_on_demand, make_scenario
from tests.planner.data_pages import catalogue, line, load, work_off

pytestmark = pytest.mark.django_db
FROZEN = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE, AFTER = "skypilot_nebius_2026-01-02.csv", "skypilot_nebius_2026-02-02.csv"


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.RAW_DIR = tmp_path / "raw"
    load("accelerators")
    load("skypilot", catalogue(), BEFORE, tmp_path)
    return tmp_path


@pytest.fixture
def plan(folder: Path) -> Scenario:
    region = Price.objects.get(sku__name="gpu-1x-h100", term="on_demand").region
    key = make_key(provider="nebius", sku="gpu-1x-h100", region=region)
    return make_scenario("Plan", [make_on_demand(price=key)])


def cheaper(name: str, folder: Path, usd: str = "2.90"):
    return load("skypilot", catalogue(gpu1=line("gpu-1x-h100", "H100", 1, usd)), name, folder)


def rate(plan: Scenario, frozen: datetime | None = FROZEN) -> float:
    revision = whole_revisions().get(scenario=plan)
    (loaded,) = loaded_plans([revision], data_date(timezone.now(), frozen))
    return loaded.plan.supplies[0].usd_per_gpu_hour


@pytest.mark.parametrize("frozen", [None, FROZEN])
def test_a_list_and_its_undoing_move_a_plan_that_was_loaded_before(plan, folder, frozen):
    assert rate(plan, frozen) == 3
    run = cheaper(AFTER, folder)
    assert rate(plan, frozen) == 2.9
    order_undo(run, requested_by="ann@example.com", now=timezone.now())
    work_off()
    assert rate(plan, frozen) == 3


def test_a_list_of_the_same_moment_corrects_a_plan_that_was_loaded_before(plan, folder):
    assert rate(plan) == 3
    cheaper(BEFORE, folder, "2.50")
    assert rate(plan) == 2.5


def test_every_publication_removal_and_undoing_changes_the_stamp(plan, folder):
    def stamp():
        return data_date(timezone.now(), FROZEN).stamp

    seen = [stamp()]
    run = cheaper(AFTER, folder)
    seen.append(stamp())
    order_undo(run, requested_by="ann@example.com", now=timezone.now())
    work_off()
    seen.append(stamp())
    cheaper(AFTER, folder)
    seen.append(stamp())
    other = make_batch()
    seen.append(stamp())
    make_batch()
    seen.append(stamp())
    Batch.objects.filter(pk=other.pk).delete()  # as the sample data are removed
    seen.append(stamp())
    assert len(set(seen)) == len(seen)

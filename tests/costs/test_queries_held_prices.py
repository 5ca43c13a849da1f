"""Claims about the count of prices in quarantine: by rule, for the filters of the page."""

import pytest

from costs.models import QuarantinedFact
from costs.queries.held_prices import held_by_rule
from tests.fact_builders import make_accelerator, make_run, make_sku

pytestmark = pytest.mark.django_db


def hold(rule: str, *, source="skypilot", payload="fact", run_status="partial", **changes):
    fact = {
        "provider": "aws", "sku": "p5.48xlarge", "accelerator_name": "H100", "gpu_count": "8.000",
        "region": "us-east-1", "term": "on_demand", "state": "priced",
    }  # fmt: skip
    rows, status = changes.pop("rows", 1), changes.pop("status", "open")
    fact |= changes
    return QuarantinedFact.objects.create(
        run=make_run(source=source, status=run_status), source=source, scope="all", line=3, rows=rows,
        key=" / ".join(fact.values()), digest="0" * 64, rule=rule, evidence="because", status=status,
        payload=fact if payload == "fact" else payload,
    )  # fmt: skip


def test_rows_are_counted_by_rule_the_most_first(django_assert_num_queries):
    hold("zero_price", payload=None)
    hold("price_jump")
    hold("price_jump")
    hold("scope_shrank", payload=None, rows=40)
    with django_assert_num_queries(1):
        found = held_by_rule()
    assert list(found.items()) == [("scope_shrank", 40), ("price_jump", 2), ("zero_price", 1)]


def test_what_was_decided_or_only_checked_or_is_no_price_does_not_count():
    hold("price_jump", status="released")
    hold("price_jump", status="kept_out")
    hold("price_jump", run_status="previewed")
    hold("price_jump", source="aws_quotas")
    assert held_by_rule() == {}


@pytest.mark.parametrize(
    "filters",
    [
        {"cloud": ["azure"]},
        {"region": "eu"},
        {"term": ["spot"]},
        {"state": ["unknown"]},
        {"min_gpus": 16},
        {"q": "azure"},
        {"gpu": ["b200"]},
        {"link": 900},
    ],
)
def test_each_filter_leaves_out_what_it_does_not_mean(filters):
    make_sku(accelerator=make_accelerator(link_gb_s_per_direction=450))
    other = {
        "provider": "azure", "sku": "ND_B200", "accelerator_name": "B200", "gpu_count": "16.000",
        "region": "eu-west", "term": "spot", "state": "unknown",
    }  # fmt: skip
    b200 = make_accelerator(slug="b200", name="B200", link_gb_s_per_direction=900)
    make_sku(provider="azure", name="ND_B200", accelerator_name="B200", accelerator=b200)
    hold("price_jump")
    hold("spot_above_on_demand", **other)
    assert held_by_rule(**filters) == {"spot_above_on_demand": 1}
    assert len(held_by_rule()) == 2


def test_a_fact_of_a_sku_that_was_never_published_is_known_by_the_spelling_of_its_gpu():
    make_sku(accelerator=make_accelerator())
    hold("zero_price", sku="p9.new")
    assert held_by_rule(gpu=["h100-sxm-80gb"]) == {"zero_price": 1}
    assert held_by_rule(gpu=["other"]) == {}

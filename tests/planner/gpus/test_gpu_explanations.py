"""Every figure that opens on a GPU's page says what the inputs of its explanation give."""

from datetime import timedelta
from decimal import Decimal

import pytest

from planner.core.explain import Explanation, recompute
from planner.gpus.facts import plain
from tests.fact_builders import make_batch, make_hours, make_price
from tests.planner.explained import assert_answer_opens, assert_follows, assert_shown

from .reading import NOW, PAGE, body_of

pytestmark = pytest.mark.django_db


def told_of(response) -> dict[str, Explanation]:
    facts = {fact.opens: fact.why for fact in response.context["facts"]}
    return {**facts, **response.context["whys"]}


def stated(value: float) -> list[str]:
    """Return a fact of the maker as the head line writes it."""
    number = plain(Decimal(repr(value)))
    units = ("GB", "GB/s", "GB/s a direction", "W", "TFLOPS bf16 dense")
    return [f"{number}\u00a0{unit}" for unit in units]


@pytest.mark.parametrize("query", ["", "?term=reserved_1y", "?cloud=aws", "?term=spot", "?window=6m"])
def test_every_number_that_opens_follows_from_its_inputs(visit, offers, query):
    make_hours(24 * 7 * 3, NOW - timedelta(weeks=4))
    response = visit(f"{PAGE}{query}")
    body = body_of(response)
    assert assert_shown(body, told_of(response), stated) >= 7
    assert_answer_opens(body)


def test_the_answer_opens_each_of_its_amounts(visit, offers):
    make_hours(24 * 7 * 3, NOW - timedelta(weeks=4), gpus_allocated=Decimal(6))
    told = told_of(visit(PAGE))
    assert recompute(told["lowest"]) == 2.99
    assert recompute(told["median"]) == pytest.approx((2.99 + 6.88) / 2)
    assert recompute(told["cut-old"]) == 12.29  # 98.32 / 8
    assert recompute(told["cut-new"]) == 6.88
    assert recompute(told["commitment"]) == 4.128
    assert recompute(told["term-aws-reserved_1y"]) == 0.6
    assert recompute(told["fleet"]) == pytest.approx(0.6)


def test_a_price_that_is_too_old_to_count_is_explained_as_the_last(visit, h100):
    old = NOW - timedelta(days=100)
    make_price(
        batch=make_batch(as_of=old, published_at=old), accelerator=h100, price_per_hour=Decimal(40),
        effective_from=old, as_of=old,
    )  # fmt: skip
    response = visit(PAGE)
    assert_follows(told_of(response))
    assert assert_shown(body_of(response), told_of(response), stated) >= 5

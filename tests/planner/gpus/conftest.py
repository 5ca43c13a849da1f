"""Fixtures for tests of the page of one GPU."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from planner.models import Person
from tests.fact_builders import make_accelerator, make_batch, make_price, make_sku

from .reading import FACTS, NOW


@pytest.fixture(autouse=True)
def at_noon(monkeypatch):
    """Let every page be asked for at one moment: ages and windows are counted from it."""
    monkeypatch.setattr(timezone, "now", lambda: NOW)


@pytest.fixture
def visit(client):
    """Return a function that opens an address as a viewer."""
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


@pytest.fixture
def h100():
    return make_accelerator(reference="the maker's sheet", **FACTS)


@pytest.fixture
def offers(h100):
    """H100 at three clouds: a cut in the past, commitments, a stale price, a region that lacks it."""
    aws = make_sku(accelerator=h100)
    cut = NOW - timedelta(days=100)
    fresh = make_batch(as_of=NOW, published_at=NOW)
    old = make_batch(source="list_prices")
    make_price(
        sku=aws, batch=old, scope="aws", price_per_hour=Decimal("98.32"), as_of=cut - timedelta(hours=9),
        effective_from=cut - timedelta(days=200), effective_to=cut,
    )  # fmt: skip
    make_price(sku=aws, batch=fresh, scope="aws", price_per_hour=Decimal("55.04"), effective_from=cut, line=9)
    make_price(
        sku=aws, batch=fresh, price_per_hour=Decimal("33.024"), term="reserved_1y", payment="no_upfront"
    )
    make_price(sku=aws, batch=fresh, price_per_hour=Decimal("41.28"), term="capacity_block")
    make_price(sku=aws, batch=fresh, price_per_hour=Decimal("19.264"), term="spot", zone="use1-az1")
    make_price(sku=aws, batch=fresh, region="eu-west-1", state="not_sold", price_per_hour=None)
    make_price(
        batch=fresh, provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), accelerator=h100,
        region="us-west-1", price_per_hour=Decimal("2.99"),
    )  # fmt: skip
    make_price(
        batch=fresh, provider="gcp", name="a3-highgpu-8g", accelerator=h100, region="us-central1",
        state="unknown", state_reason="the catalogue states 0.00", price_per_hour=None, term="spot",
    )  # fmt: skip
    make_price(
        source="skypilot", provider="vast", name="1x", gpu_count=Decimal(1), accelerator=h100,
        region="global", price_per_hour=Decimal("1.10"), as_of=NOW - timedelta(days=40),
        effective_from=NOW - timedelta(days=90),
    )  # fmt: skip
    return fresh

"""Plans at a listed price that fell in June 2026, for tests of which date a plan's prices are of."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.test import Client
from django.utils import timezone

from costs.models import Price
from planner.models import Revision, Scenario
from planner.queries import whole_revisions
from tests.fact_builders import make_batch, make_price
from tests.plan_builders import make_key, make_on_demand, make_revision, make_scenario

OLD, CHANGE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
HOURS_2027 = 8_760
# 8 GPUs of an instance: $80 and then $40 by the hour
BEFORE, AFTER = 80.0 * HOURS_2027, 40.0 * HOURS_2027


def cut_in_june() -> None:
    """Let the price of the machine fall from 80 to 40 dollars on 1 June."""
    price = make_price(price_per_hour=Decimal(80), effective_from=OLD, effective_to=CHANGE)
    make_price(sku=price.sku, price_per_hour=Decimal(40), effective_from=CHANGE)


def listed(name: str = "", kept: datetime | None = None, **changes: Any) -> Scenario:
    """Save a plan at the listed price that keeps the prices of a moment, or follows the newest."""
    revision = make_revision(prices_as_of=kept)
    return make_scenario(name, [make_on_demand(price=make_key())], revision=revision, **changes)


def newest(scenario: Scenario) -> Revision:
    return whole_revisions().filter(scenario=scenario).order_by("-number")[0]


def total(client: Client, scenario: Scenario, more: str = "") -> float:
    return client.get(f"/scenarios/{scenario.slug}/{more}").context["result"].card.total.value


def query(*scenarios: Scenario) -> str:
    return "&".join(f"s={scenario.slug}" for scenario in scenarios)


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def next_list(usd_per_hour: str) -> None:
    """Publish another price of the machine, in force from now on."""
    later = timezone.now()
    current = Price.objects.get(effective_to=None)
    Price.objects.filter(pk=current.pk).update(effective_to=later)
    make_price(sku=current.sku, price_per_hour=Decimal(usd_per_hour), effective_from=later,
               batch=make_batch(published_at=later, as_of=later))  # fmt: skip

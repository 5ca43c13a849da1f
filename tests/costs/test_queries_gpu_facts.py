"""Claims about what stands beside a GPU's prices: spot now, bands, contracts, the fleet's use, other GPUs."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from costs.models import Commitment, FxRate, Interruption, MachineType, SpotPrice
from costs.queries.accelerator_prices import sold
from costs.queries.contract_prices import agreed_days, contracts
from costs.queries.fleet_share import fleet_share
from costs.queries.spot_bands import spot_bands
from costs.queries.spot_now import spot_now
from tests.fact_builders import make_accelerator, make_batch, make_hours, make_price, make_sku

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday
H100 = "h100-sxm-80gb"


def make_machine(name: str = "p5.48xlarge", gpus: int = 8, accelerator: str = H100, **changes: Any) -> None:
    fields = {"provider": "aws", "reference": "a page", "batch": make_batch(source="machine_types")} | changes
    MachineType.objects.create(name=name, gpu_count=Decimal(gpus), accelerator=accelerator, **fields)


def make_spot(price: str, starts: datetime, zone: str = "use1-az1", **changes: Any) -> None:
    fields = {
        "source": "aws_spot_history",
        "scope": "aws",
        "starts_at": starts,
        "last_seen_at": starts + timedelta(hours=1),
        "follows_gap": False,
        "line": 1,
        "provider": "aws",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "zone": zone,
        "zone_kind": "id",
        "product": "Linux/UNIX",
    } | changes
    fields.setdefault("batch", make_batch(source="aws_spot_history"))
    SpotPrice.objects.create(price_per_hour=Decimal(price), **fields)


# ---- spot now ----


def test_the_spot_price_of_now_is_the_newest_of_each_zone_for_one_gpu(django_assert_num_queries):
    make_machine()
    make_machine("g6.xlarge", 1, "l4-24gb")
    make_spot("40", NOW - timedelta(days=9))
    make_spot("16", NOW - timedelta(hours=3))
    make_spot("24", NOW - timedelta(hours=3), zone="use1-az2")
    make_spot("8", NOW, sku="g6.xlarge")
    make_spot("99", NOW, product="Windows")
    with django_assert_num_queries(1):
        found = spot_now(H100)
    assert [(one.zone, one.usd_per_gpu_hour) for one in found] == [("use1-az1", 2), ("use1-az2", 3)]
    assert not found[0].is_stale(NOW)
    assert found[0].is_stale(NOW + timedelta(days=3)), "prices come every day; two days are two cadences"


def test_a_spot_price_in_another_currency_has_no_dollars():
    make_machine()
    make_spot("40", NOW, currency="CNY")
    assert spot_now(H100)[0].usd_per_gpu_hour is None


def test_bands_are_the_newest_published_of_each_region_for_linux():
    make_machine()
    batch = make_batch(source="spot_advisor")

    def make_band(label: str, as_of: datetime, **changes: Any) -> None:
        fields = {"source": "spot_advisor", "scope": f"{as_of}", "effective_from": as_of, "as_of": as_of}
        fields |= {"batch": batch, "line": 1, "provider": "aws", "sku": "p5.48xlarge", "region": "us-east-1"}
        fields |= {"product": "Linux", "band": 1, "band_label": label, "share_low": Decimal(0)}
        Interruption.objects.create(**fields | changes)

    make_band("<5%", NOW - timedelta(days=9))
    make_band("5-10%", NOW - timedelta(days=2))
    make_band(">20%", NOW - timedelta(days=1), product="Windows")
    make_band("gone", NOW - timedelta(days=20), effective_to=NOW - timedelta(days=10), region="eu-west-1")
    make_band("other", NOW - timedelta(days=1), sku="g6.xlarge")
    assert [(band.region, band.band_label) for band in spot_bands(H100, NOW)] == [("us-east-1", "5-10%")]


# ---- contracts ----


def make_contract(name: str, **changes: Any) -> None:
    fields = {
        "source": "aws_commitments",
        "scope": name,
        "effective_from": NOW - timedelta(days=50),
        "as_of": NOW,
        "line": 1,
        "provider": "aws",
        "commitment": name,
        "kind": "reserved_instance",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "count": Decimal(2),
        "recurring_per_hour": Decimal(48),
        "currency": "USD",
        "starts_at": datetime(2026, 1, 1, tzinfo=UTC),
        "ends_at": datetime(2027, 1, 1, tzinfo=UTC),
        "state": "active",
    } | changes
    fields.setdefault("batch", make_batch(source="aws_commitments"))
    Commitment.objects.create(**fields)


def test_a_contract_costs_its_hours_and_its_upfront_spread_over_them(django_assert_num_queries):
    """2 machines of 8 GPUs: 48 an hour is 3 a GPU-hour, and 140,160 over 8,760 hours is 1 more."""
    make_machine()
    make_contract("r-1")
    make_contract("r-2", upfront=Decimal(140160), term_hours=Decimal(8760))
    make_contract("r-3", upfront=Decimal(140160), recurring_per_hour=None)  # the term is its two dates
    with django_assert_num_queries(1):
        found = contracts(H100)
    assert [(one.commitment, one.gpus, one.usd_per_gpu_hour) for one in found] == [
        ("r-1", 16, 3), ("r-2", 16, 4), ("r-3", 16, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"sku": ""},
        {"sku": "g6.xlarge"},
        {"count": None},
        {"currency": "EUR"},
        {"starts_at": None},
        {"recurring_per_hour": None},
        {"upfront": Decimal(100), "ends_at": None},
        {"effective_to": NOW},
    ],
)
def test_a_commitment_whose_rate_is_not_known_is_no_line(changes):
    make_machine()
    make_contract("r-1", **changes)
    assert contracts(H100) == []


def test_days_with_several_contracts_have_their_mean_by_gpus_and_days_without_any_are_left_out():
    make_machine()
    early, late = datetime(2026, 11, 5, tzinfo=UTC), datetime(2026, 11, 10, tzinfo=UTC)
    make_contract("r-1", starts_at=early, ends_at=datetime(2026, 11, 20, tzinfo=UTC))
    make_contract("r-2", starts_at=late, ends_at=late + timedelta(days=5), count=1, recurring_per_hour=48)
    make_contract("r-3", starts_at=datetime(2026, 11, 28, tzinfo=UTC), ends_at=None)
    found = agreed_days(contracts(H100), date(2026, 11, 1), date(2026, 11, 30))
    assert [(one.first.day, one.last.day, one.usd_per_gpu_hour, one.gpus) for one in found] == [
        (5, 9, 3, 16), (10, 14, 4, 24), (15, 19, 3, 16), (28, 30, 3, 16),
    ]  # fmt: skip  # (16 GPUs at 3 and 8 at 6) / 24 = 4


# ---- the fleet ----


def test_the_fleets_share_is_the_median_of_eight_whole_weeks(django_assert_num_queries):
    start = datetime(2026, 9, 28, tzinfo=UTC)  # nine weeks before this Monday
    make_hours(9 * 168, start, gpus_allocated=lambda hour: Decimal(hour // 168 + 1))
    with django_assert_num_queries(1):
        found = fleet_share(NOW)
    assert found is not None
    assert (found.weeks, found.is_sample) == (8, False)
    assert found.share == pytest.approx(0.55), "weeks 2 to 9 of 10 GPUs: between 0.5 and 0.6"
    assert found.until == datetime(2026, 11, 30, tzinfo=UTC)


def test_the_sample_stands_in_where_there_is_no_own_fleet():
    make_hours(168, datetime(2026, 11, 23, tzinfo=UTC), is_sample=True)
    found = fleet_share(NOW)
    assert found is not None
    assert (found.is_sample, found.share) == (True, pytest.approx(0.6))
    make_hours(168, datetime(2026, 11, 23, tzinfo=UTC), gpus_allocated=Decimal(3))
    found = fleet_share(NOW)
    assert found is not None
    assert (found.is_sample, found.share) == (False, pytest.approx(0.3))


def test_a_fleet_that_was_not_measured_of_late_has_no_share():
    make_hours(168, datetime(2026, 3, 2, tzinfo=UTC))
    make_hours(5, datetime(2026, 11, 23, tzinfo=UTC), gpus_available=None, pool="unknown size")
    assert fleet_share(NOW) is None


# ---- other accelerators ----


def test_each_accelerator_has_its_cheapest_offer_that_is_not_stale(django_assert_num_queries):
    a100 = make_accelerator(slug="a100-80gb", name="A100 80 GB")
    make_price(price_per_hour=Decimal(24), as_of=NOW)
    make_price(provider="lambda", name="1x", gpu_count=Decimal(1), price_per_hour=Decimal(4), as_of=NOW)
    make_price(provider="old", name="old", price_per_hour=Decimal(8), as_of=NOW - timedelta(days=400))
    make_price(provider="gcp", name="a2", accelerator=a100, price_per_hour=Decimal(8), as_of=NOW, term="spot")
    with django_assert_num_queries(1):
        found = sold("on_demand", NOW)
    assert set(found) == {H100}
    h100 = found[H100]
    assert h100.cheapest is not None
    assert (h100.cheapest.provider, h100.cheapest.usd_per_gpu_hour) == ("aws", 3)
    assert (h100.offers, h100.stale, h100.providers) == (3, 1, {"aws", "lambda", "old"})
    assert sold("spot", NOW)["a100-80gb"].offers == 1


def test_an_offer_that_several_sources_state_counts_once_as_the_newest_says_that_is_not_stale():
    sku = make_sku()
    for source, price, days in (("list_prices", 16, 20), ("skypilot", 24, 10), ("skypilot", 8, 100)):
        make_price(sku=sku, source=source, price_per_hour=Decimal(price), as_of=NOW - timedelta(days=days))
    found = sold("on_demand", NOW)[H100]
    assert found.cheapest is not None
    assert (found.offers, found.cheapest.usd_per_gpu_hour) == (1, 3)


def test_an_accelerator_of_which_all_is_stale_or_without_dollars_has_no_cheapest_offer():
    make_price(as_of=NOW - timedelta(days=400))
    make_price(provider="aliyun", name="cn", currency="CNY", as_of=NOW, price_per_hour=Decimal(8))
    found = sold("on_demand", NOW)[H100]
    assert (found.cheapest, found.offers) == (None, 2)


def test_a_price_in_another_currency_counts_at_todays_rate():
    make_price(provider="scaleway", name="x", currency="EUR", as_of=NOW, price_per_hour=Decimal(16))
    batch = make_batch(source="ecb_rates")
    FxRate.objects.create(currency="USD", on=date(2026, 11, 27), per_euro=Decimal("1.5"), batch=batch)
    found = sold("on_demand", NOW)[H100]
    assert found.cheapest is not None
    assert found.cheapest.usd_per_gpu_hour == 3

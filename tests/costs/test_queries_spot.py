"""Claims about the reading of spot prices: every price counts for as long as it held."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.models import Batch, Interruption, MachineType, SpotCapacity, SpotPrice, Zone
from costs.queries import spot
from costs.queries.spot_statistics import Step, clipped, quantile, share_at_or_below, statistics
from tests.fact_builders import make_batch

NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)
ACCOUNT = "123456789012"


def at(hour: float) -> datetime:
    return NOVEMBER + timedelta(hours=hour)


def make_run(price: str, starts: float, seen: float, **changes: Any) -> SpotPrice:
    """Store one change point: a price from one hour on, last seen at another."""
    batch = changes.pop("batch", None) or make_batch(source="aws_spot_history")
    fields = {
        "source": "aws_spot_history",
        "scope": "us-east-1",
        "provider": "aws",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "zone": "use1-az6",
        "zone_kind": "id",
        "account": "",
        "product": "Linux/UNIX",
        "follows_gap": False,
        "line": 1,
    } | changes
    return SpotPrice.objects.create(
        **fields, batch=batch, starts_at=at(starts), last_seen_at=at(seen), price_per_hour=Decimal(price)
    )


def make_band(label: str = "5-10%", **changes: Any) -> Interruption:
    fields = {
        "source": "spot_advisor",
        "scope": "us-east-1",
        "provider": "aws",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "product": "Linux",
        "band": 1,
        "band_label": label,
        "share_low": Decimal("0.05"),
        "share_high": Decimal("0.10"),
        "saving_share": Decimal("0.62"),
        "effective_from": NOVEMBER,
        "as_of": NOVEMBER,
        "line": 1,
    } | changes
    return Interruption.objects.create(**fields, batch=make_batch(source="spot_advisor"))


def make_zone(**changes: Any) -> Zone:
    fields = {
        "provider": "aws",
        "account": ACCOUNT,
        "region": "us-east-1",
        "zone_name": "us-east-1a",
        "zone_id": "use1-az6",
    } | changes
    return Zone.objects.create(**fields, batch=make_batch(source="aws_zones"))


def ask(start: float = 0, end: float = 720, **changes: Any) -> spot.SpotHistory:
    asked = {"provider": "aws", "sku": "p5.48xlarge", "product": "Linux/UNIX"} | changes
    return spot.spot_history(**asked, start=at(start), end=at(end))


def only_zone(**changes: Any) -> spot.ZoneSeries:
    (zone,) = ask(**changes).zones
    return zone


def spans(zone: spot.ZoneSeries) -> list[tuple[str, float, float]]:
    """Return price, first and last hour of each step."""
    return [
        (
            f"{step.price_per_hour.normalize():f}",
            (step.starts_at - NOVEMBER) / timedelta(hours=1),
            (step.ends_at - NOVEMBER) / timedelta(hours=1),
        )
        for step in zone.steps
    ]


# --- series ---


@pytest.mark.django_db
def test_a_price_holds_until_the_next_and_the_last_until_it_was_seen() -> None:
    make_run("20", 0, 6, follows_gap=True)
    make_run("24", 10, 30)
    zone = only_zone()
    assert spans(zone) == [("20", 0, 10), ("24", 10, 30)]
    assert (zone.price_per_hour, zone.since, zone.last_seen_at) == (24, at(10), at(30))


@pytest.mark.django_db
def test_nothing_is_said_of_a_gap() -> None:
    make_run("20", 0, 6, follows_gap=True)
    make_run("20", 100, 110, follows_gap=True)
    zone = only_zone()
    assert spans(zone) == [("20", 0, 6), ("20", 100, 110)]
    assert zone.statistics is not None
    assert (zone.statistics.watched, zone.statistics.changes) == (timedelta(hours=16), 0)


@pytest.mark.django_db
def test_a_price_that_began_before_the_window_counts_in_it() -> None:
    make_run("16", 0, 1, follows_gap=True)
    make_run("20", 2, 6)
    make_run("24", 50, 80)
    make_run("28", 90, 99)
    assert spans(only_zone(start=40, end=60)) == [("20", 40, 50), ("24", 50, 60)]


@pytest.mark.django_db
def test_a_series_that_ended_before_the_window_keeps_its_newest_price_and_its_age() -> None:
    make_run("16", 0, 1, follows_gap=True)
    make_run("20", 2, 6)
    zone = only_zone(start=40, end=60)
    assert (zone.steps, zone.statistics) == ((), None)
    assert (zone.price_per_hour, zone.last_seen_at) == (20, at(6))


@pytest.mark.django_db
def test_what_came_after_the_window_is_not_in_it() -> None:
    make_run("20", 0, 6, follows_gap=True)
    make_run("24", 100, 110)
    zone = only_zone(start=0, end=50)
    assert (spans(zone), zone.price_per_hour) == ([("20", 0, 50)], 20)
    assert ask(start=-20, end=0).zones == ()


@pytest.mark.django_db
def test_zones_stand_by_their_price_now_and_other_machines_and_products_are_not_among_them() -> None:
    make_run("24", 0, 6, zone="use1-az1")
    make_run("20", 0, 6, zone="use1-az2")
    make_run("22", 0, 6, zone="usw2-az1", region="us-west-2", scope="us-west-2")
    make_run("1", 0, 6, product="Windows")
    make_run("1", 0, 6, sku="g6.xlarge")
    assert [zone.zone for zone in ask().zones] == ["use1-az2", "usw2-az1", "use1-az1"]
    assert [zone.zone for zone in ask(regions=["us-west-2"]).zones] == ["usw2-az1"]


@pytest.mark.django_db
def test_the_newest_price_per_gpu_takes_the_machine_table() -> None:
    make_run("20", 0, 6)
    history = ask()
    assert history.usd_per_gpu_hour(history.zones[0]) is None
    MachineType.objects.create(
        provider="aws", name="p5.48xlarge", accelerator="h100-sxm-80gb", gpu_count=Decimal(8),
        reference="a page", batch=make_batch(source="machine_types"),
    )  # fmt: skip
    history = ask()
    assert history.usd_per_gpu_hour(history.zones[0]) == Decimal("2.5")
    assert history.last_seen_at == at(6)
    assert history.zones[0].run_id == Batch.objects.get(source="aws_spot_history").run_id


@pytest.mark.django_db
def test_a_price_in_another_currency_is_no_price_in_dollars() -> None:
    MachineType.objects.create(
        provider="aws", name="p5.48xlarge", accelerator="h100-sxm-80gb", gpu_count=Decimal(8),
        reference="a page", batch=make_batch(source="machine_types"),
    )  # fmt: skip
    make_run("20", 0, 6, currency="CNY")
    history = ask()
    assert history.usd_per_gpu_hour(history.zones[0]) is None


# --- zones ---


@pytest.mark.django_db
def test_a_name_has_an_id_only_by_the_list_of_its_own_account() -> None:
    make_run("20", 0, 6, zone="us-east-1a", zone_kind="name", account=ACCOUNT)
    assert only_zone().zone_id == ""
    make_zone(account="999999999999", zone_id="use1-az1")
    assert only_zone().zone_id == ""
    make_zone()
    zone = only_zone()
    assert (zone.zone, zone.zone_id, zone.zone_names) == (
        "us-east-1a",
        "use1-az6",
        ((ACCOUNT, "us-east-1a"),),
    )


@pytest.mark.django_db
def test_names_whose_account_is_not_known_are_never_joined() -> None:
    make_run("20", 0, 6, zone="us-east-1a", zone_kind="name", account="")
    make_zone(account="")
    make_zone()
    assert only_zone().zone_id == ""


@pytest.mark.django_db
def test_an_id_says_the_names_that_accounts_know_it_by_and_stays_a_series_of_its_own() -> None:
    make_run("20", 0, 6)
    make_run("20", 0, 6, zone="us-east-1a", zone_kind="name", account=ACCOUNT)
    make_zone()
    by_id, by_name = sorted(ask().zones, key=lambda zone: zone.zone_kind)
    assert (by_id.zone_id, by_name.zone_id) == ("use1-az6", "use1-az6")
    assert by_id.zone_names == ((ACCOUNT, "us-east-1a"),)


# --- bands ---


@pytest.mark.django_db
def test_the_band_of_a_region_comes_with_its_date() -> None:
    row = make_band()
    make_run("20", 0, 6)
    band = ask().bands["us-east-1"]
    assert (band.label, band.share_low, band.share_high, band.saving_share) == (
        "5-10%",
        Decimal("0.05"),
        Decimal("0.10"),
        Decimal("0.62"),
    )
    assert (band.as_of, band.run_id) == (NOVEMBER, row.batch.run_id)


@pytest.mark.django_db
def test_licensed_linux_has_the_band_of_linux_and_windows_its_own() -> None:
    make_band("<5%")
    make_band(">20%", product="Windows", share_low=Decimal("0.2"), share_high=None)
    labels = {
        product: ask(product=product).bands["us-east-1"].label
        for product in ("Linux/UNIX", "Red Hat Enterprise Linux", "SUSE Linux", "Windows")
    }
    assert labels == {
        "Linux/UNIX": "<5%", "Red Hat Enterprise Linux": "<5%", "SUSE Linux": "<5%", "Windows": ">20%",
    }  # fmt: skip
    assert ask(product="Windows").bands["us-east-1"].share_high is None


@pytest.mark.django_db
def test_the_band_is_the_one_that_held_at_the_end_of_the_window() -> None:
    make_band("<5%", effective_to=at(100))
    make_band("5-10%", effective_from=at(100))
    assert ask(end=50).bands["us-east-1"].label == "<5%"
    assert ask(end=100).bands["us-east-1"].label == "5-10%"
    assert ask(start=-50, end=-1).bands == {}


# --- the rest ---


@pytest.mark.django_db
def test_what_is_on_file_is_listed_with_its_span() -> None:
    make_run("20", 0, 6)
    make_run("21", 3, 9, zone="use1-az1")
    make_run("20", 0, 6, sku="g6.xlarge", product="Windows")
    assert spot.on_file() == [
        spot.OnFile("aws", "g6.xlarge", "Windows", at(0), at(6)),
        spot.OnFile("aws", "p5.48xlarge", "Linux/UNIX", at(0), at(9)),
    ]


@pytest.mark.django_db
def test_a_trace_comes_with_its_change_points_and_gaps() -> None:
    batch = make_batch(source="spot_traces")
    for starts, seen, gap, nodes, zone in (
        (5, 9, False, 0, "us-east-1a"), (0, 3, True, 16, "us-east-1a"), (0, 3, True, 1, "us-east-1b"),
    ):  # fmt: skip
        SpotCapacity.objects.create(
            source="spot_traces", scope="t", batch=batch, line=1, provider="aws", trace="t",
            region="us-east-1", zone=zone, accelerator_name="V100", gpu_count=1, nodes_wanted=16,
            measures="availability", starts_at=at(starts), last_seen_at=at(seen), follows_gap=gap,
            nodes=nodes,
        )  # fmt: skip
    first, second = spot.capacity_traces(accelerator_name="V100", trace="t")
    assert (first.zone, second.zone) == ("us-east-1a", "us-east-1b")
    assert (first.starts_at, first.last_seen_at) == ((at(0), at(5)), (at(3), at(9)))
    assert (first.follows_gap, first.nodes, first.nodes_wanted) == ((True, False), (16, 0), 16)
    assert spot.capacity_traces(accelerator_name="K80") == []


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow(django_assert_num_queries: Any) -> None:
    def fill(zones: range) -> None:
        for number in zones:
            for hour in range(3):
                make_run(f"{20 + hour}", hour, hour + 0.5, zone=f"use1-az{number}")
            make_zone(zone_name=f"us-east-1{number}", zone_id=f"use1-az{number}")
            make_band(region=f"region {number}")

    fill(range(1))
    with django_assert_num_queries(4):
        assert len(ask().zones) == 1
    fill(range(1, 6))
    with django_assert_num_queries(4):
        assert len(ask().zones) == 6
    with django_assert_num_queries(1):
        spot.on_file()
    with django_assert_num_queries(1):
        spot.capacity_traces()


# --- statistics ---


def step(price: str, starts: float, ends: float, gap: bool = False, currency: str = "USD") -> Step:
    return Step(at(starts), at(ends), Decimal(price), currency, gap, at(ends))


def test_each_price_counts_for_as_long_as_it_held() -> None:
    """1.00 for 6 hours, 2.00 for 3, 5.00 for one: the mean is 0.6 + 0.6 + 0.5 = 1.70."""
    found = statistics([step("1", 0, 6), step("2", 6, 9), step("5", 9, 10)])
    assert found is not None
    assert (found.lowest, found.median, found.p95, found.highest) == (1, 1, 5, 5)
    assert found.mean == Decimal("1.7")
    # 0.7 squared for 0.6, 0.3 squared for 0.3, 3.3 squared for 0.1 of the time: 1.41
    assert found.variation == (Decimal("1.41").sqrt() / Decimal("1.7")).quantize(Decimal("0.000001"))
    assert (found.watched, found.changes) == (timedelta(hours=10), 2)


def test_a_price_that_never_moves_does_not_vary() -> None:
    found = statistics([step("0.918", 0, 100), step("0.918", 200, 300, gap=True)])
    assert found is not None
    assert (found.variation, found.changes, found.median, found.p95) == (
        0,
        0,
        Decimal("0.918"),
        Decimal("0.918"),
    )


def test_a_quantile_is_the_lowest_price_that_covers_its_share_of_the_time() -> None:
    steps = [step("1", 0, 5), step("2", 5, 9), step("3", 9, 10)]
    assert [quantile(steps, Decimal(share)) for share in ("0.5", "0.51", "0.9", "0.95", "1")] == [
        1,
        2,
        2,
        3,
        3,
    ]
    with pytest.raises(ValueError, match="cover some time"):
        quantile([], Decimal("0.5"))


def test_the_share_of_time_at_a_price_or_less() -> None:
    steps = [step("1", 0, 5), step("2", 5, 9), step("3", 9, 10)]
    shares = [share_at_or_below(steps, Decimal(price)) for price in ("0.5", "1", "2.5", "3")]
    assert shares == [0, Decimal("0.5"), Decimal("0.9"), 1]


def test_without_watched_time_there_are_no_figures() -> None:
    assert statistics([]) is None
    assert statistics([step("1", 3, 3)]) is None
    assert share_at_or_below([step("1", 3, 3)], Decimal(9)) is None


def test_prices_in_two_currencies_have_no_common_figures() -> None:
    assert statistics([step("1", 0, 5), step("7", 5, 9, currency="CNY")]) is None


def test_a_window_cuts_steps_and_leaves_out_what_lies_beside_it() -> None:
    steps = [step("1", 0, 5), step("2", 5, 9), step("3", 9, 9), step("4", 20, 30)]
    assert [
        (found.price_per_hour, found.starts_at, found.ends_at) for found in clipped(steps, at(3), at(20))
    ] == [(1, at(3), at(5)), (2, at(5), at(9)), (3, at(9), at(9))]


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 20)), min_size=1, max_size=20),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_figures_are_those_of_the_same_prices_hour_by_hour(
    lengths: list[tuple[int, int]], first: int, second: int
) -> None:
    steps, hours, now = [], [], 0
    for price, length in lengths:
        steps.append(step(str(price), now, now + length))
        hours += [price] * length
        now += length
    start, end = min(first, second), max(first, second)
    part, hours = clipped(steps, at(start), at(end)), hours[start:end]
    found = statistics(part)
    if not hours:
        assert found is None
        return
    assert found is not None
    ordered = sorted(hours)
    assert found.median == ordered[(len(hours) + 1) // 2 - 1]
    assert (found.lowest, found.highest) == (ordered[0], ordered[-1])
    mean = Decimal(sum(hours)) / len(hours)
    assert abs(found.mean - mean) < Decimal("1e-8")
    variance = sum((hour - mean) ** 2 for hour in hours) / len(hours)
    assert abs(found.variation - variance.sqrt() / mean) < Decimal("1e-5")
    below = Decimal(sum(hour <= 25 for hour in hours)) / len(hours)
    share = share_at_or_below(part, Decimal(25))
    assert share is not None
    assert abs(share - below) < Decimal("1e-5")

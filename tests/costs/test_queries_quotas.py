"""What limits allow, in whole machines and GPUs, and how long requests took."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from costs.models import Batch, MachineType, Quota, QuotaRequest
from costs.queries.quota_allowances import Allowance, allowance, allowances, buckets, most_gpus
from costs.queries.quota_requests import requests_on, waits_on
from costs.queries.quotas import Limit, history, limits_on
from planner.core.quota import LARGE_QUOTA_DAYS, learned_wait
from tests.fact_builders import make_batch

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def batch() -> Batch:
    return make_batch(source="aws_quotas")


def make_quota(batch: Batch, code: str = "L-417A185B", limit: object = 384, **changes: Any) -> Quota:
    fields: dict[str, Any] = {
        "provider": "aws",
        "account": "1",
        "region": "us-east-1",
        "code": code,
        "name": code,
        "bucket": "P",
        "purchase": "on_demand",
        "unit": "vcpu",
        "limit": limit,
        "is_unlimited": False,
        "used": None,
        "default_limit": None,
        "is_adjustable": True,
        "source": "aws_quotas",
        "scope": batch.scope,
        "effective_from": START,
        "as_of": START,
        "batch": batch,
        "line": 1,
    }
    return Quota.objects.create(**fields | changes)


def make_machine(batch: Batch, name: str, **changes: Any) -> MachineType:
    fields: dict[str, Any] = {
        "provider": "aws",
        "name": name,
        "accelerator": "h100-sxm-80gb",
        "gpu_count": Decimal(8),
        "vcpus": Decimal(192),
        "memory_gib": Decimal(2048),
        "quota_on_demand": "L-417A185B",
        "quota_spot": "L-C4BD4855",
        "reference": "https://example.com",
        "batch": batch,
    }
    return MachineType.objects.create(**fields | changes)


def p5(batch: Batch) -> MachineType:
    return make_machine(batch, "p5.48xlarge")


def the(found: list[Allowance], machine: str = "p5.48xlarge", purchase: str = "on_demand") -> Allowance:
    (one,) = [each for each in found if (each.machine, each.purchase) == (machine, purchase)]
    return one


def only_limit(**wanted: Any) -> Limit:
    (limit,) = limits_on(NOW, **wanted)
    return limit


# --- whole machines ---


@pytest.mark.parametrize(
    ("limit", "machines", "gpus"), [(128, 0, 0), (192, 1, 8), (384, 2, 16), (1000, 5, 40)]
)
def test_a_limit_in_vcpus_is_whole_machines(batch: Batch, limit: int, machines: int, gpus: int) -> None:
    """RISK-02 and oddity 17: p5.48xlarge has 192 vCPUs. 128 allow none, though 128 / 24 would be 5 GPUs."""
    make_quota(batch, limit=limit)
    (found,) = allowance(p5(batch), "on_demand", "us-east-1", NOW)
    assert (found.instances, found.gpus, found.reason) == (machines, gpus, "")
    assert found.binding is not None
    assert found.binding.limit.code == "L-417A185B"


def test_types_of_one_bucket_each_stand_alone(batch: Batch) -> None:
    """Every P type shares L-417A185B: 384 vCPUs are 2 p5 or 4 p4d, not both, so nothing adds them."""
    make_quota(batch)
    p5(batch)
    make_machine(
        batch, "p4d.24xlarge", vcpus=Decimal(96), accelerator="a100-sxm-40gb", quota_spot="L-7212CCBC"
    )
    found = allowances(NOW)
    assert {each.machine: each.gpus for each in found} == {"p5.48xlarge": 16, "p4d.24xlarge": 32}
    (bucket,) = buckets(found)
    assert bucket.limit.code == "L-417A185B"
    assert [each.machine for each in bucket.allowances] == ["p4d.24xlarge", "p5.48xlarge"]


def test_on_demand_and_spot_are_two_limits(batch: Batch) -> None:
    """Oddity 17: P5 spot has a quota of its own."""
    make_quota(batch)
    make_quota(batch, "L-C4BD4855", 192, purchase="spot")
    make_quota(batch, "L-7212CCBC", 6400, purchase="spot")  # of P4, P3 and P2
    p5(batch)
    found = allowances(NOW)
    assert (the(found).instances, the(found, purchase="spot").instances) == (2, 1)


def test_partitioned_cards_come_in_whole_machines_too(batch: Batch) -> None:
    make_quota(batch, "StandardNVADSA10v5Family", 20, provider="azure", region="eastus")
    make_quota(batch, "cores", 100, provider="azure", region="eastus")
    machine = make_machine(
        batch, "Standard_NV6ads_A10_v5", provider="azure", gpu_count=Decimal("0.167"), vcpus=Decimal(6),
        quota_on_demand="StandardNVADSA10v5Family",
    )  # fmt: skip
    (found,) = allowance(machine, "on_demand", "eastus", NOW)
    assert (found.instances, found.gpus) == (3, Decimal("0.501"))


# --- room ---


def test_room_is_the_limit_less_what_is_used(batch: Batch) -> None:
    make_quota(batch, used=Decimal(250))
    assert only_limit().headroom == 134
    found = allowance(p5(batch), "on_demand", "us-east-1", NOW)[0]
    # two machines fit under the limit; 134 vCPUs are room for none more
    assert (found.instances, found.free_instances, found.free_gpus) == (2, 0, 0)


def test_unknown_use_leaves_the_room_unknown(batch: Batch) -> None:
    make_quota(batch)
    assert only_limit().headroom is None
    found = allowance(p5(batch), "on_demand", "us-east-1", NOW)[0]
    assert (found.instances, found.free_instances, found.free_gpus, found.free_binding) == (
        2,
        None,
        None,
        None,
    )


def test_use_above_the_limit_leaves_no_room_and_says_how_far(batch: Batch) -> None:
    make_quota(batch, used=Decimal(576))
    assert only_limit().headroom == -192
    assert allowance(p5(batch), "on_demand", "us-east-1", NOW)[0].free_instances == 0


def test_a_limit_that_allows_nothing_has_no_room_whatever_is_used(batch: Batch) -> None:
    make_quota(batch, limit=0)
    assert allowance(p5(batch), "on_demand", "us-east-1", NOW)[0].free_instances == 0


# --- unlimited, unknown ---


def test_no_limit_is_not_zero_and_not_unknown(batch: Batch) -> None:
    make_quota(batch, limit=None, is_unlimited=True)
    assert only_limit().state == "unlimited"
    found = allowance(p5(batch), "on_demand", "us-east-1", NOW)[0]
    assert (found.is_unlimited, found.instances, found.reason) == (True, None, "")
    assert most_gpus([found])["aws", "1", "us-east-1", "h100-sxm-80gb", "on_demand"] is found


def test_a_default_alone_is_no_limit(batch: Batch) -> None:
    make_quota(batch, limit=None, default_limit=Decimal(76))
    limit = only_limit()
    assert (limit.state, limit.limit, limit.default_limit) == ("unknown", None, 76)
    found = allowance(p5(batch), "on_demand", "us-east-1", NOW)[0]
    assert (found.instances, found.is_unlimited) == (None, False)
    assert found.reason == "the limit L-417A185B in us-east-1 is not known"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quota_on_demand": "L-00000000"}, "no limit L-00000000 is known of 1 in us-east-1"),
        ({"quota_on_demand": ""}, "it is not known which limit p5.48xlarge counts against"),
        ({"vcpus": None}, "it is not known how many vcpu one p5.48xlarge takes"),
    ],
)
def test_what_cannot_be_said_has_a_reason(batch: Batch, change: dict[str, Any], reason: str) -> None:
    make_quota(batch)
    machine = make_machine(batch, "p5.48xlarge", **change)
    (found,) = allowance(machine, "on_demand", "us-east-1", NOW)
    assert (found.instances, found.gpus, found.is_unlimited, found.reason) == (None, None, False, reason)
    assert most_gpus([found]) == {}


def test_a_region_without_any_limit_says_so(batch: Batch) -> None:
    (found,) = allowance(p5(batch), "on_demand", "eu-west-1", NOW)
    assert found.reason == "no limit L-417A185B is known of this account in eu-west-1"
    assert allowances(NOW) == []


# --- limits over all machines ---


def azure(batch: Batch, family: int, cores: int | None, **changes: Any) -> Allowance:
    place = {"provider": "azure", "account": "s", "region": "eastus"}
    make_quota(batch, "standardNDSH100v5Family", family, **place, **changes)
    if cores is not None:
        make_quota(batch, "cores", cores, **place, used=Decimal(12))
    machine = make_machine(
        batch, "Standard_ND96isr_H100_v5", provider="azure", vcpus=Decimal(96),
        quota_on_demand="standardNDSH100v5Family", quota_spot="lowPriorityCores",
    )  # fmt: skip
    (found,) = allowance(machine, "on_demand", "eastus", NOW)
    return found


@pytest.mark.parametrize(
    ("family", "cores", "machines", "binding"),
    [(192, 350, 2, "standardNDSH100v5Family"), (960, 350, 3, "cores"), (960, 50, 0, "cores")],
)
def test_on_azure_family_and_regional_total_must_both_hold(
    batch: Batch, family: int, cores: int, machines: int, binding: str
) -> None:
    found = azure(batch, family, cores)
    assert (found.instances, found.missing) == (machines, ())
    assert found.binding is not None
    assert found.binding.limit.code == binding


def test_room_may_be_bound_by_another_limit_than_the_total(batch: Batch) -> None:
    found = azure(batch, 192, 350, used=Decimal(96))
    # the family allows 2 in all and 1 more; the region 3 in all and (350 - 12) / 96 = 3 more
    assert (found.instances, found.free_instances) == (2, 1)


def test_a_total_that_is_not_known_is_named(batch: Batch) -> None:
    found = azure(batch, 192, None)
    assert (found.instances, found.missing) == (2, ("cores",))  # at most


def test_an_azure_family_is_found_however_it_is_spelled(batch: Batch) -> None:
    """Oddity 11."""
    place = {"provider": "azure", "account": "s", "region": "eastus"}
    make_quota(batch, "standardNDASv4a100family", 192, **place)
    machine = make_machine(
        batch, "Standard_ND96asr_v4", provider="azure", vcpus=Decimal(96),
        quota_on_demand="Standard NDASv4_A100 Family",
    )  # fmt: skip
    assert allowance(machine, "on_demand", "eastus", NOW)[0].instances == 2


def gcp(batch: Batch, *limits: tuple[str, str, object], purchase: str = "on_demand") -> Allowance:
    for code, region, limit in limits:
        make_quota(
            batch, code, limit, provider="gcp", account="project", region=region, unit="gpu",
            is_unlimited=limit is None, used=Decimal(0),
        )  # fmt: skip
    machine = make_machine(
        batch, "a3-highgpu-8g", provider="gcp", vcpus=Decimal(208), quota_on_demand="NVIDIA_H100_GPUS",
        quota_spot="PREEMPTIBLE_NVIDIA_H100_GPUS",
    )  # fmt: skip
    (found,) = allowance(machine, purchase, "us-central1", NOW)
    return found


@pytest.mark.parametrize(
    ("own", "everywhere", "machines", "binding"),
    [(20, 64, 2, "NVIDIA_H100_GPUS"), (64, 20, 2, "GPUS_ALL_REGIONS"), (None, 8, 1, "GPUS_ALL_REGIONS")],
)
def test_on_google_the_types_limit_and_the_one_of_all_gpus_must_both_hold(
    batch: Batch, own: object, everywhere: object, machines: int, binding: str
) -> None:
    found = gcp(batch, ("NVIDIA_H100_GPUS", "us-central1", own), ("GPUS_ALL_REGIONS", "global", everywhere))
    # counted in GPUs: 20 are two machines of 8, whatever their vCPUs
    assert (found.instances, found.is_unlimited) == (machines, False)
    assert found.binding is not None
    assert found.binding.limit.code == binding


def test_spot_counts_against_its_own_limit_and_the_one_of_all_gpus(batch: Batch) -> None:
    found = gcp(
        batch,
        ("NVIDIA_H100_GPUS", "us-central1", 64),
        ("PREEMPTIBLE_NVIDIA_H100_GPUS", "us-central1", 32),
        ("GPUS_ALL_REGIONS", "global", 16),
        purchase="spot",
    )
    assert [gate.limit.code for gate in found.gates] == ["PREEMPTIBLE_NVIDIA_H100_GPUS", "GPUS_ALL_REGIONS"]
    assert (found.instances, found.free_instances) == (2, 2)


def test_newer_google_gpus_are_limited_by_family(batch: Batch) -> None:
    found = gcp(
        batch,
        ("GPUS_PER_GPU_FAMILY/NVIDIA_H100", "us-central1", 16),
        ("GPUS_PER_GPU_FAMILY", "us-central1", 0),  # of families without a limit of their own
        ("GPUS_ALL_REGIONS", "global", 64),
    )
    assert (found.instances, found.reason) == (2, "")


def test_a_family_without_a_limit_of_its_own_takes_the_one_of_the_rest(batch: Batch) -> None:
    found = gcp(batch, ("GPUS_PER_GPU_FAMILY", "us-central1", 8), ("GPUS_ALL_REGIONS", "global", 64))
    assert (found.instances, found.binding and found.binding.limit.code) == (1, "GPUS_PER_GPU_FAMILY")


def test_the_type_that_allows_the_most_gpus_stands_for_its_accelerator(batch: Batch) -> None:
    make_quota(batch, limit=384)
    p5(batch)
    make_machine(batch, "p5.4xlarge", vcpus=Decimal(16), gpu_count=Decimal(1))
    best = most_gpus(allowances(NOW))
    found = best["aws", "1", "us-east-1", "h100-sxm-80gb", "on_demand"]
    assert (found.machine, found.gpus) == ("p5.4xlarge", 24)


def test_accounts_and_regions_are_kept_apart(batch: Batch) -> None:
    make_quota(batch)
    make_quota(batch, account="2", limit=192)
    make_quota(batch, region="us-west-2", limit=1920)
    machine = p5(batch)
    found = allowances(NOW, account="1", purchases=["on_demand"])
    assert {each.region: each.instances for each in found} == {"us-east-1": 2, "us-west-2": 10}
    assert [each.account for each in allowance(machine, "on_demand", "us-east-1", NOW)] == ["1", "2"]
    assert allowances(NOW, accelerator="b200-sxm-180gb") == []


# --- dates and sources ---


def test_a_limit_is_what_held_on_the_date(batch: Batch) -> None:
    raised = START + timedelta(days=10)
    make_quota(batch, limit=0, effective_to=raised)
    make_quota(batch, limit=384, effective_from=raised)
    values = {
        day: [limit.limit for limit in limits_on(day)]
        for day in (START, raised - timedelta(seconds=1), raised)
    }
    assert values == {START: [0], raised - timedelta(seconds=1): [0], raised: [384]}
    assert limits_on(START - timedelta(days=1)) == []
    assert [each.limit for each in history("aws", "1", "us-east-1", "l-417a185b")] == [0, 384]


def test_of_two_sources_the_newest_number_counts_and_each_fills_what_the_other_lacks(batch: Batch) -> None:
    make_quota(batch, limit=384, used=Decimal(192), as_of=START)
    later = START + timedelta(days=5)
    make_quota(batch, limit=576, source="quota_csv", as_of=later)
    make_quota(
        batch,
        limit=None,
        default_limit=Decimal(0),
        scope="1:us-east-1:defaults",
        as_of=later + timedelta(days=1),
    )
    limit = only_limit()
    assert (limit.limit, limit.source, limit.as_of) == (576, "quota_csv", later)
    assert (limit.used, limit.used_as_of, limit.default_limit, limit.headroom) == (192, START, 0, 384)


def test_reading_takes_the_same_queries_however_many_rows(
    batch: Batch, django_assert_num_queries: Any
) -> None:
    for region in ("us-east-1", "us-west-2", "eu-west-1"):
        make_quota(batch, region=region)
    for number in range(5):
        make_machine(batch, f"p5.{number}")
    with django_assert_num_queries(2):
        assert len(allowances(NOW)) == 15


# --- requests ---


def make_request(
    batch: Batch, number: int, status: str = "granted", took: float | None = 2.0, **changes: Any
) -> QuotaRequest:
    asked = START - timedelta(days=100 - number)
    fields: dict[str, Any] = {
        "provider": "aws",
        "account": "1",
        "region": "us-east-1",
        "code": "L-417A185B",
        "request": f"R{number}",
        "asked": Decimal(384),
        "status": status,
        "requested_at": asked,
        "decided_at": None if took is None else asked + timedelta(days=took),
        "granted": Decimal(384) if status == "granted" else None,
        "source": "aws_quota_requests",
        "scope": batch.scope,
        "effective_from": START,
        "as_of": START,
        "batch": batch,
        "line": number,
    }
    return QuotaRequest.objects.create(**fields | changes)


def test_ten_decided_requests_replace_the_assumption(batch: Batch) -> None:
    for number in range(1, 8):
        make_request(batch, number, took=float(number))
    for number in (8, 9):
        make_request(batch, number, "denied", float(number))
    make_request(batch, 10, "partly_granted", 10.0, granted=Decimal(192))
    make_request(batch, 11, "open", None)
    make_request(batch, 12, "cancelled", 50.0)  # its outcome is not known
    make_request(batch, 13, "granted", None)  # nobody noted the day
    waits = waits_on(NOW)["aws"]
    assert sorted(waits.days) == [float(day) for day in range(1, 11)]
    assert (waits.granted, waits.open) == (7, 1)
    learned = learned_wait(waits.days, waits.granted)
    assert learned is not None
    assert (learned.median, learned.granted_share) == (5.5, 0.7)
    few = waits.days[:9]
    assert learned_wait(few, 7) is None  # then LARGE_QUOTA_DAYS, marked as an assumption
    assert LARGE_QUOTA_DAYS.is_assumption


def test_each_provider_teaches_its_own_wait(batch: Batch) -> None:
    make_request(batch, 1, took=1.0)
    make_request(batch, 2, took=9.0, provider="azure")
    assert {name: waits.days for name, waits in waits_on(NOW).items()} == {"aws": (1.0,), "azure": (9.0,)}


def test_requests_are_as_they_stood_and_the_newest_statement_counts(batch: Batch) -> None:
    decided = START + timedelta(days=3)
    make_request(batch, 1, "open", None, effective_to=decided)
    make_request(batch, 1, effective_from=decided, as_of=decided)
    make_request(batch, 2, "open", None, source="quota_requests_csv", as_of=START - timedelta(days=1))
    make_request(batch, 2, "denied", 4.0)
    assert [(each.request, each.status) for each in requests_on(START)] == [("R2", "denied"), ("R1", "open")]
    now = {each.request: each for each in requests_on(NOW, provider="aws")}
    assert (now["R1"].status, now["R1"].took) == ("granted", timedelta(days=2))
    assert requests_on(NOW, provider="gcp") == []

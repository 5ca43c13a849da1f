"""Turn limits into whole machines and GPUs of each type.

Machine types of one bucket share its limit, so the GPUs of each are those of that type alone; their sum
would count the limit once per type. Where several limits hold for one machine the narrowest binds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from costs.models import MachineType

from .quotas import GLOBAL, Limit, code_key, limits_on

WAYS_TO_BUY = ("on_demand", "spot")
# limits over all machines of an account: (provider, way to buy) -> codes
_OVER_ALL = {
    ("azure", "on_demand"): ("cores",),
    ("gcp", "on_demand"): ("GPUS_ALL_REGIONS",),
    ("gcp", "spot"): ("GPUS_ALL_REGIONS",),
}
_GCP_FAMILY = "GPUS_PER_GPU_FAMILY"


@dataclass(frozen=True)
class Gate:
    """One limit that a machine counts against, in whole machines."""

    limit: Limit
    drawn: Decimal | None  # of the limit's unit by one machine
    instances: int | None  # None where there is no limit, or where it is unknown
    free_instances: int | None

    @property
    def is_known(self) -> bool:
        return self.limit.is_unlimited or self.instances is not None


@dataclass(frozen=True)
class Allowance:
    """How many machines of one type an account's limits allow in a region, if it ran no other type.

    Without a number `reason` says why. `missing` names limits that hold too and are not known: the numbers
    are then the most that can be.
    """

    provider: str
    account: str
    region: str
    machine: str
    accelerator: str
    gpu_count: Decimal
    purchase: str
    gates: tuple[Gate, ...]
    missing: tuple[str, ...]
    is_unlimited: bool
    instances: int | None
    free_instances: int | None
    binding: Gate | None  # the narrowest limit
    free_binding: Gate | None  # the one with the least room
    reason: str

    @property
    def gpus(self) -> Decimal | None:
        return None if self.instances is None else self.instances * self.gpu_count

    @property
    def free_gpus(self) -> Decimal | None:
        return None if self.free_instances is None else self.free_instances * self.gpu_count


@dataclass(frozen=True)
class Bucket:
    """A limit and what it allows of each machine type that counts against it, each alone."""

    limit: Limit
    allowances: tuple[Allowance, ...]


def allowances(
    as_of: datetime,
    *,
    provider: str = "",
    account: str | None = None,
    region: str = "",
    accelerator: str = "",
    purchases: Iterable[str] = WAYS_TO_BUY,
) -> list[Allowance]:
    """Return what the known limits allow of each machine type, where a limit of its own is known."""
    wanted = tuple(purchases)
    machines = MachineType.objects.order_by("provider", "name")
    if accelerator:
        machines = machines.filter(accelerator=accelerator)
    by_provider: dict[str, list[MachineType]] = {}
    for machine in machines:
        by_provider.setdefault(machine.provider, []).append(machine)
    return [
        _allowance(machine, purchase, place)
        for place in _places(limits_on(as_of, provider=provider, account=account, region=region))
        for machine in by_provider.get(place.provider, ())
        for purchase in wanted
        if _own(machine, purchase, place)
    ]


def allowance(
    machine: MachineType, purchase: str, region: str, as_of: datetime, *, account: str | None = None
) -> list[Allowance]:
    """Return what each account's limits allow of one machine type in a region, or why that is unknown."""
    limits = limits_on(as_of, provider=machine.provider, account=account, region=region)
    places = [place for place in _places(limits) if place.region == region]
    return [_allowance(machine, purchase, place) for place in places] or [
        _allowance(machine, purchase, _Place(machine.provider, account or "", region, {}))
    ]


def most_gpus(found: Iterable[Allowance]) -> dict[tuple[str, str, str, str, str], Allowance]:
    """Return, by provider, account, region, accelerator and way to buy, the type that allows the most GPUs.

    Types without a number are left out; unlimited is the most.
    """
    best: dict[tuple[str, str, str, str, str], Allowance] = {}
    for each in found:
        if not each.is_unlimited and each.gpus is None:
            continue
        key = (each.provider, each.account, each.region, each.accelerator, each.purchase)
        if key not in best or _much(each) > _much(best[key]):
            best[key] = each
    return best


def _much(each: Allowance) -> Decimal:
    return Decimal("Infinity") if each.gpus is None else each.gpus


def buckets(found: Iterable[Allowance]) -> list[Bucket]:
    """Return each limit with the machine types that share it."""
    shared: dict[tuple[str, ...], tuple[Limit, list[Allowance]]] = {}
    for each in found:
        for gate in each.gates:
            limit = gate.limit
            key = (limit.provider, limit.account, limit.region, limit.code)
            shared.setdefault(key, (limit, []))[1].append(each)
    return [Bucket(limit, tuple(each)) for _, (limit, each) in sorted(shared.items())]


@dataclass(frozen=True)
class _Place:
    """The limits of one account in one region, with those that hold in all of its regions."""

    provider: str
    account: str
    region: str
    limits: dict[str, Limit]


def _places(limits: Iterable[Limit]) -> Iterator[_Place]:
    grouped: dict[tuple[str, str], dict[str, dict[str, Limit]]] = {}
    for limit in limits:
        regions = grouped.setdefault((limit.provider, limit.account), {})
        regions.setdefault(limit.region, {})[code_key(limit.code)] = limit
    for (provider, account), regions in grouped.items():
        everywhere = regions.pop(GLOBAL, {})
        for region, own in regions.items():
            yield _Place(provider, account, region, {**everywhere, **own})


def _codes(machine: MachineType, purchase: str) -> tuple[str, ...]:
    """Return the codes under which a machine's own limit may stand; Google keeps newer GPUs by family."""
    code = machine.quota_on_demand if purchase == "on_demand" else machine.quota_spot
    if not code:
        return ()
    if machine.provider == "gcp" and purchase == "on_demand" and not code.startswith(_GCP_FAMILY):
        return (code, f"{_GCP_FAMILY}/{code.removesuffix('_GPUS')}")
    return (code,)


def _own(machine: MachineType, purchase: str, place: _Place) -> list[Limit]:
    """Return the limits of the machine's own type or family that are known in a place."""
    codes = _codes(machine, purchase)
    found = [limit for code in codes if (limit := place.limits.get(code_key(code)))]
    if not found and len(codes) > 1 and (rest := place.limits.get(code_key(_GCP_FAMILY))):
        return [rest]  # of all families that have no limit of their own
    return found


def _allowance(machine: MachineType, purchase: str, place: _Place) -> Allowance:
    own = _own(machine, purchase, place)
    over_all = _OVER_ALL.get((machine.provider, purchase), ())
    shared = [limit for code in over_all if (limit := place.limits.get(code_key(code)))]
    gates = tuple(_gate(limit, machine) for limit in (*own, *shared))
    reason = _reason(machine, purchase, place, gates[: len(own)])
    named = {code_key(limit.code) for limit in shared}
    unknown = [gate.limit.code for gate in gates[len(own) :] if not gate.is_known]
    missing = [code for code in over_all if code_key(code) not in named] + unknown
    counted = [gate for gate in gates if gate.instances is not None] if not reason else []
    binding = min(counted, key=lambda gate: gate.instances or 0, default=None)
    free = _least_free(counted)
    return Allowance(
        provider=machine.provider,
        account=place.account,
        region=place.region,
        machine=machine.name,
        accelerator=machine.accelerator,
        gpu_count=machine.gpu_count,
        purchase=purchase,
        gates=gates,
        missing=tuple(missing),
        is_unlimited=not reason and not missing and all(gate.limit.is_unlimited for gate in gates),
        instances=binding.instances if binding else None,
        free_instances=free.free_instances if free else None,
        binding=binding,
        free_binding=free,
        reason=reason,
    )


def _least_free(counted: list[Gate]) -> Gate | None:
    """Return the gate with the least room; None where the use of one is unknown, unless one is shut."""
    known = [gate for gate in counted if gate.free_instances is not None]
    least = min(known, key=lambda gate: gate.free_instances or 0, default=None)
    is_sure = len(known) == len(counted) or (least is not None and least.free_instances == 0)
    return least if is_sure else None


def _reason(machine: MachineType, purchase: str, place: _Place, own: tuple[Gate, ...]) -> str:
    """Return why no number can be given, "" where one can."""
    codes = _codes(machine, purchase)
    if not codes:
        return f"it is not known which limit {machine.name} counts against"
    if not own:
        return f"no limit {codes[0]} is known of {place.account or 'this account'} in {place.region}"
    for gate in own:
        if gate.limit.is_unlimited:
            continue
        if gate.drawn is None:
            return f"it is not known how many {gate.limit.unit} one {machine.name} takes"
        if gate.limit.state == "unknown":
            return f"the limit {gate.limit.code} in {place.region} is not known"
    return ""


def _drawn(unit: str, machine: MachineType) -> Decimal | None:
    """Return how much of a limit one machine takes, None where that is not known."""
    taken = {
        "vcpu": machine.vcpus,
        "core": machine.vcpus,
        "gpu": machine.gpu_count,
        "chip": machine.gpu_count,
        "instance": Decimal(1),
        "host": Decimal(1),
    }
    return taken.get(unit) or None


def _gate(limit: Limit, machine: MachineType) -> Gate:
    drawn = _drawn(limit.unit, machine)
    allowed = _whole(limit.limit, drawn)
    free = 0 if allowed == 0 else _whole(limit.headroom, drawn)
    return Gate(limit, drawn, allowed, free)


def _whole(amount: Decimal | None, drawn: Decimal | None) -> int | None:
    """Return floor(amount / drawn), at least 0: 128 vCPUs allow no machine of 192."""
    return None if amount is None or drawn is None else max(int(amount // drawn), 0)

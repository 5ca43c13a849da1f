"""One SKU of Google's Cloud Billing Catalog: what it prices, and at which rate.

Which resource and term a SKU is for stands in its description alone. The descriptions are matched whole:
beside "Nvidia H100 80GB GPU running in Americas" there are SKUs of the same GPU for flex-start ("attached to
DWS Defined Duration VMs"), calendar mode, reservations at 0.00 and sole tenants, each with another price.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache

import msgspec

from costs.rows import MAX_PRICE_PER_HOUR, OutOfScope, RowError, Term

from .dates import moment

SERVICE = "Compute Engine"
LOCAL_SSD = "local SSD"
HOURS_PER_MONTH = 730  # Google's own month, https://cloud.google.com/compute/all-pricing

# the words of a GPU in descriptions, as the Catalog of 2023 to 2026 writes them -> our name for the meter
_GPUS = {
    "Nvidia Tesla A100 GPU": "A100",
    "Nvidia Tesla A100 80GB GPU": "A100 80GB",
    "Nvidia H100 80GB GPU": "H100",
    # one and the same part: on demand it is written Plus, as spot and committed Mega
    "Nvidia H100 80GB Plus GPU": "H100 Mega",
    "Nvidia H100 80GB Mega GPU": "H100 Mega",
    "Nvidia H100 Mega 80GB GPU": "H100 Mega",
    "H200 141GB GPU": "H200",
    "Nvidia H200 141GB GPU": "H200",
    "Nvidia L4 GPU": "L4",
    "RTX 6000 96GB": "RTX PRO 6000",
    # an eighth of the whole machine, with its cores, memory and SSD
    "A4 Nvidia B200 (1 gpu slice)": "B200 slice",
}
_FAMILIES = ("A2", "A3", "A3Plus", "A3Ultra", "G2", "G4")
_COMMITTED: dict[str, Term] = {"1": "reserved_1y", "3": "reserved_3y"}

# what a description says that looks like one of ours and is none -> the name of the reason
_TRAPS = (
    ("dws_flex_start", re.compile(r"\bDWS (Defined|Flex)|\bFlex[- ]?Start", re.IGNORECASE)),
    ("calendar_mode", re.compile(r"\bCalendar Mode", re.IGNORECASE)),
    ("reserved_capacity", re.compile(r"^Reserved |\breservation", re.IGNORECASE)),
    ("sole_tenancy", re.compile(r"Sole Tenan", re.IGNORECASE)),
    ("capacity_optimized", re.compile(r"Capacity Optimized", re.IGNORECASE)),
    ("surcharge", re.compile(r"\bPremium\b|\bUpgrade\b", re.IGNORECASE)),
    ("custom_machine", re.compile(r"\bCustom\b", re.IGNORECASE)),
    ("suspended_machine", re.compile(r"^VM state")),
    ("commitment_of_5_years", re.compile(r"for 5 Years?$")),
    ("gpu_for_n1", re.compile(r"\b(K80|P4|P100|T4|V100) ")),
    ("part_of_gpu", re.compile(r"\bvGPU\b|Virtual Workstation", re.IGNORECASE)),
)
_OF_GPU_MACHINES = re.compile(
    r"\b(A2|A3|A3Plus|A3Ultra|A4X?|G2|G4)\b|GPU\b|Nvidia|RTX|H200|SSD backed Local Storage|: Local SSD"
)
_PLACE = r"[^:]+"

_UNITS = {"h": 1, "GiBy.h": 1, "mo": HOURS_PER_MONTH, "GiBy.mo": HOURS_PER_MONTH}
# description and category name the term; these two kinds of spot SKUs stand under OnDemand all the same
_USAGE: dict[Term, tuple[str, ...]] = {
    "on_demand": ("OnDemand",),
    "spot": ("Preemptible", "OnDemand"),
    "reserved_1y": ("Commit1Yr",),
    "reserved_3y": ("Commit3Yr",),
}


class Money(msgspec.Struct):
    currencyCode: str = ""
    units: str | int = "0"
    nanos: int = 0


class Tier(msgspec.Struct):
    unitPrice: Money
    startUsageAmount: float = 0


class Expression(msgspec.Struct):
    usageUnit: str = ""
    tieredRates: list[Tier] = []


class Pricing(msgspec.Struct):
    pricingExpression: Expression
    effectiveTime: str = ""


class Category(msgspec.Struct):
    serviceDisplayName: str = ""
    resourceFamily: str = ""
    resourceGroup: str = ""
    usageType: str = ""


class Sku(msgspec.Struct):
    skuId: str
    description: str
    category: Category
    serviceRegions: list[str] = []
    pricingInfo: list[Pricing] = []


@dataclass(frozen=True)
class Meter:
    """What a SKU prices."""

    resource: str  # "GPU A100", "core A2", "RAM A2", "local SSD"
    term: Term


@dataclass(frozen=True)
class Rate:
    """What one unit of a meter costs for an hour: one GPU, one core, one GiB."""

    per_hour: Decimal
    currency: str
    effective_from: datetime | None


def gpu(name: str) -> str:
    """Return the name of the resource of a GPU's meter."""
    return f"GPU {name}"


def core(family: str) -> str:
    """Return the name of the resource of a family's cores."""
    return f"core {family}"


def ram(family: str) -> str:
    """Return the name of the resource of a family's memory."""
    return f"RAM {family}"


def _resource_patterns(
    usage: str, committed: str, resource: str
) -> list[tuple[re.Pattern[str], str, Term | None]]:
    """Return the whole descriptions of one resource; the term of a commitment is in its text."""
    spot = r"(?:Spot )?Preemptible"
    return [
        (re.compile(rf"{usage} running in {_PLACE}"), resource, "on_demand"),
        (re.compile(rf"{spot} {usage} running in {_PLACE}"), resource, "spot"),
        (re.compile(rf"{usage} attached to {spot} VMs? (?:running )?in {_PLACE}"), resource, "spot"),
        (
            re.compile(rf"Commitment v1: {committed} (?:running )?in {_PLACE} for ([13]) Years?"),
            resource,
            None,
        ),
    ]


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str, Term | None], ...]:
    found = []
    for words, name in _GPUS.items():
        found += _resource_patterns(re.escape(words), re.escape(words), gpu(name))
    for family in _FAMILIES:
        found += _resource_patterns(f"{family} Instance Core", f"{family} Cpu", core(family))
        found += _resource_patterns(f"{family} Instance Ram", f"{family} Ram", ram(family))
    ssd = "SSD backed Local Storage"
    found += _resource_patterns(ssd, "Local SSD", LOCAL_SSD)
    # the oldest regions share SKUs of the SSD that name no place
    place = rf"(?: in {_PLACE})?"
    found += [
        (re.compile(rf"{ssd}{place}"), LOCAL_SSD, "on_demand"),
        (re.compile(rf"{ssd} attached to (?:Spot )?Preemptible VMs?{place}"), LOCAL_SSD, "spot"),
    ]
    return tuple(found)


def _check_trap(description: str) -> None:
    if not _OF_GPU_MACHINES.search(description):
        raise OutOfScope("not_gpu_machine", "description", description, "a part of a machine with GPUs")
    for rule, words in _TRAPS:
        if words.search(description):
            raise OutOfScope(
                rule, "description", description, "on demand, spot or a commitment of 1 or 3 years"
            )


def _matched(description: str) -> Meter:
    for pattern, resource, term in _patterns():
        match = pattern.fullmatch(description)
        if match:
            return Meter(resource, term or _COMMITTED[match[1]])
    raise OutOfScope(
        "gpu_sku_unknown", "description", description, "the words of a known GPU or machine family"
    )


def meter_of(sku: Sku) -> Meter:
    """Return what a SKU prices; raise OutOfScope where that is no part of a machine with GPUs."""
    service, description = sku.category.serviceDisplayName, sku.description
    if service != SERVICE:
        raise OutOfScope("not_compute_engine", "serviceDisplayName", service, SERVICE)
    _check_trap(description)
    meter = _matched(description)
    if sku.category.usageType not in _USAGE[meter.term]:
        raise RowError(
            "usageType",
            sku.category.usageType,
            "usage_type_contradicts",
            f"{' or '.join(_USAGE[meter.term])}, as the description says: {description}",
        )
    return meter


def _amount(sku: Sku, money: Money) -> Decimal:
    """Return units plus nanos: "2" and 933908000 are 2.933908."""
    try:
        units = int(money.units)
    except ValueError:
        units = -1
    if units < 0 or not 0 <= money.nanos < 10**9:
        value = f"{money.units} and {money.nanos} nanos"
        raise RowError(
            "unitPrice", value, "money_unreadable", f"units and nanos, both positive, of {sku.skuId}"
        )
    return units + Decimal(money.nanos).scaleb(-9)


def _tier(sku: Sku, tiers: list[Tier]) -> tuple[Money, Decimal]:
    """Return the rate of all usage, or of all that follows a free amount."""
    amounts = [(tier.unitPrice, _amount(sku, tier.unitPrice)) for tier in tiers]
    if len(amounts) > 1 and amounts[0][1] == 0:
        amounts = amounts[1:]
    if len(amounts) != 1:
        raise RowError("tieredRates", len(amounts), "many_tiers", "one rate, or a free amount and one rate")
    money, amount = amounts[0]
    if amount == 0:
        raise RowError("unitPrice", f"0 for {sku.skuId}", "zero_price", "a price above 0")
    if amount > MAX_PRICE_PER_HOUR:
        raise RowError("unitPrice", amount, "price_out_of_bounds", f"at most {MAX_PRICE_PER_HOUR}")
    return money, amount


def rate_of(sku: Sku, meter: Meter) -> Rate:
    """Return the newest rate of a SKU per hour; refuse a unit that is not the resource's."""
    if not sku.serviceRegions:
        raise RowError("serviceRegions", "", "empty", f"the regions of {sku.skuId}")
    if not sku.pricingInfo:
        raise RowError("pricingInfo", "", "price_missing", f"the price of {sku.skuId}")
    newest = max(sku.pricingInfo, key=lambda info: info.effectiveTime)
    unit = newest.pricingExpression.usageUnit
    is_memory = not meter.resource.startswith(("GPU", "core"))
    if unit not in _UNITS or unit.startswith("GiBy") != is_memory:
        expected = "GiBy.h or GiBy.mo" if is_memory else "h or mo"
        raise RowError("usageUnit", unit, "unit_wrong", f"{expected} for {meter.resource} of {sku.skuId}")
    money, amount = _tier(sku, newest.pricingExpression.tieredRates)
    effective = moment("effectiveTime", newest.effectiveTime) if newest.effectiveTime else None
    return Rate(amount / _UNITS[unit], money.currencyCode, effective)

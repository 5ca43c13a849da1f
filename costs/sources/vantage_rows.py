"""The prices of one machine in one region, as ec2instances.info writes them."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from costs.rows import OutOfScope, Payment, PriceRow, PriceState, RowError, Term

from .decimals import number, optional_number, price
from .json_records import BROKEN, flat
from .machines import Machine, machine_of
from .price_table_machines import machine_for
from .vantage_lines import NOWHERE, PLANS_MIXED, PLATFORM, PRICES, REGION

_KEY = re.compile(r"yrTerm([13])(Standard|Convertible|Savings|InstanceSavings)\.(no|partial|all)Upfront")
_TERMS: dict[tuple[str, str], Term] = {
    ("Standard", "1"): "reserved_1y",
    ("Standard", "3"): "reserved_3y",
    ("Convertible", "1"): "convertible_1y",
    ("Convertible", "3"): "convertible_3y",
    ("Savings", "1"): "compute_plan_1y",
    ("Savings", "3"): "compute_plan_3y",
    ("InstanceSavings", "1"): "instance_plan_1y",
    ("InstanceSavings", "3"): "instance_plan_3y",
}
_PAYMENTS: dict[str, Payment] = {"no": "no_upfront", "partial": "partial_upfront", "all": "all_upfront"}
_RESERVATIONS = [
    f"yrTerm{years}{kind}.{upfront}Upfront"
    for kind in ("Standard", "Convertible")
    for years in "13"
    for upfront in _PAYMENTS
]
# a list writes these where it knows no price
_NO_PRICE = frozenset({"", "0", "0.0", "N/A"})
_NOT_SOLD = "the list gives no price for this term: it is not sold"
_RESERVATION_ONLY = {
    "p5e.": "p5e is sold through Capacity Blocks only: it has no on-demand price",
    "p6e-gb200.": "P6e-GB200 is sold through Capacity Blocks only: it has no on-demand price",
    "u-p6e-gb200": "UltraServers are sold through Capacity Blocks only: they have no on-demand price",
}
_EVERYWHERE = "global"  # where a state holds in all regions
_PLATFORM_RULES = (
    ("mswin", "windows"),
    ("dedicated", "dedicated_tenancy"),
    ("emr", "surcharge"),
    ("ebs", "surcharge"),
    ("linuxSQL", "preinstalled_software"),
)


def _number_or_none(fields: Mapping[str, str], *names: str) -> Decimal | None:
    """Return the first of the named numbers that is stated and is not 0."""
    for name in names:
        found = optional_number(name, fields.get(name, ""))
        if found:
            return found
    return None


def _part(fields: Mapping[str, str], sku: str, count: Decimal | None, model: str) -> tuple[str, Decimal]:
    """Return name and number of a machine's accelerators.

    The name is ours: lists call the T4G of a g5g "ARM Mali" and the 80 GB A100 of a p4de "A100". The number
    is the list's own, so that a wrong one is seen; but 0 is no number (g2, in lists of 2017).
    """
    machine: Machine | None = machine_of("aws", sku)
    if machine is None and count and model:
        return model, count
    machine = machine or machine_for("aws", sku, "instance_type")
    return machine.accelerator_name, count or machine.gpu_count


def _row(
    fields: Mapping[str, str],
    sku: str,
    part: tuple[str, Decimal],
    term: Term,
    payment: Payment,
    stated: tuple[PriceState, Decimal | None, str],
) -> PriceRow:
    region = fields[REGION]
    machine = machine_of("aws", sku)
    return PriceRow(
        provider="aws",
        sku=sku,
        accelerator_name=part[0],
        gpu_count=part[1],
        region=region,
        term=term,
        payment=payment,
        state=stated[0],
        price_per_hour=stated[1],
        state_reason=stated[2],
        # the list has no currency: AWS China bills in yuan, all others in dollars
        currency="CNY" if region.startswith("cn-") else "USD",
        vcpus=_number_or_none(fields, "vCPU", "vcpu"),
        memory_gib=machine.memory_gib if machine else None,
    )


def _on_demand(sku: str, column: str, text: str) -> tuple[PriceState, Decimal | None, str]:
    if text not in _NO_PRICE:
        return "priced", price(column, text), ""
    for start, reason in _RESERVATION_ONLY.items():
        if sku.startswith(start):
            return "reservation_only", None, reason
    return "unknown", None, "the list names the machine and region without an on-demand price"


def _check_platform(fields: Mapping[str, str]) -> None:
    platform = fields.get(PLATFORM, "linux")
    if platform == "linux":
        return
    rule = next(
        (rule for start, rule in _PLATFORM_RULES if platform.startswith(start)), "other_operating_system"
    )
    raise OutOfScope(rule, "platform", platform, "linux")


def full_rows(fields: Mapping[str, str], plans: str) -> Iterator[PriceRow]:
    """Yield the on-demand price and the price of each term, or why there is none."""
    sku = fields.get("instance_type", "")
    if not sku:
        raise RowError("instance_type", "", "empty", "a machine type")
    part = _part(fields, sku, _number_or_none(fields, "GPU"), fields.get("GPU_model", ""))
    if fields[REGION] == NOWHERE:
        raise OutOfScope("no_region", "pricing", "", "a region in which the machine is sold")
    _check_platform(fields)
    prices = _object("pricing", fields.get(PRICES) or "{}")
    reserved = _object("reserved", prices.get("reserved") or "{}")
    yield _row(fields, sku, part, "on_demand", "", _on_demand(sku, "ondemand", prices.get("ondemand", "")))
    for key, text in {**dict.fromkeys(_RESERVATIONS if PRICES in fields else (), ""), **reserved}.items():
        for term, payment, stated in _committed(key, text, plans):
            yield _row(fields, sku, part, term, payment, stated)


def _object(column: str, text: str) -> dict[str, str]:
    found = flat(text.encode())
    if BROKEN in found:
        raise RowError(column, text, "record_unreadable", "an object with named prices")
    return found


def _committed(
    key: str, text: str, plans: str
) -> Iterator[tuple[Term, Payment, tuple[PriceState, Decimal | None, str]]]:
    """Yield the term or terms that a key stands for."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise RowError(key, text, "term_unknown", "a term such as yrTerm1Standard.noUpfront")
    years, kind, payment = match[1], match[2], _PAYMENTS[match[3]]
    if kind == "Savings" and plans == PLANS_MIXED and text:
        amount = number(key, text).normalize()
        reason = f"the list gives {amount:f}, of a Compute or of an EC2 Instance plan: it does not say which"
        yield _TERMS["Savings", years], payment, ("unknown", None, reason)
        yield _TERMS["InstanceSavings", years], payment, ("unknown", None, reason)
    elif text:
        yield _TERMS[kind, years], payment, ("priced", price(key, text), "")
    else:
        yield _TERMS[kind, years], payment, ("not_sold", None, _NOT_SOLD)


def reduced_rows(fields: Mapping[str, str]) -> Iterator[PriceRow]:
    """Yield the on-demand price and that of a standard reservation of one year without upfront fee."""
    sku = fields.get("apiName", "") or fields.get("name", "")
    if not sku:
        raise RowError("apiName", "", "empty", "a machine type")
    part = _part(fields, sku, _number_or_none(fields, "gpuCount"), fields.get("gpu", ""))
    if fields[REGION] == NOWHERE:
        stated = _on_demand(sku, "onDemand", "")
        if stated[0] != "reservation_only":
            raise OutOfScope("no_region", "pricing", "", "a region in which the machine is sold")
        yield _row({**fields, REGION: _EVERYWHERE}, sku, part, "on_demand", "", stated)
        return
    prices = _object("pricing", fields[PRICES])
    yield _row(fields, sku, part, "on_demand", "", _on_demand(sku, "onDemand", prices.get("onDemand", "")))
    text = prices.get("reserved", "")
    sold: tuple[PriceState, Decimal | None, str] = ("not_sold", None, _NOT_SOLD)
    if text:
        sold = "priced", price("reserved", text), ""
    yield _row(fields, sku, part, "reserved_1y", "no_upfront", sold)

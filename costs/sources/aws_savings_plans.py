"""AWS savings plans: what an hour of a machine with accelerators costs under each plan on offer.

A plan commits to a spend per hour, not to a machine: a Compute plan on any, an EC2 Instance plan on one
family in one region. The rate is what is charged against the commitment, so it compares with an hourly
price; how much of the spend is paid at the start is the way to pay.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import BinaryIO

from costs.rows import FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError, Term

from .aws_facts import ACCELERATOR_BY_FAMILY, family_of
from .aws_filters import OFFER, RULE
from .aws_offers import COMPUTE_PLANS, offer_files
from .aws_savings_plans_fetch import NEEDS, RIGHT, fetch_rates
from .aws_savings_plans_layouts import (
    PLANS,
    check_readable,
    is_offer_json,
    may_hold_accelerators,
    read_csv,
    read_json,
)
from .aws_terms import PAYMENT_BY_OPTION
from .byte_stream import Limits, blocks_of_text
from .csv_file import complete
from .dates import moment
from .decimals import price
from .machines import Machine, machine_of
from .words import words

NAME = "aws_savings_plans"
TITLE = "AWS savings plans"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz")
# each may hold several words between commas
PARAMS: tuple[str, ...] = ("region", "instance_types")
HAS_NETWORK = True
TEMPLATE = ""
RIGHTS: tuple[str, ...] = (RIGHT,)
WHOLE = False
INCREMENTAL = False
# the file of a region has millions of rates
LIMITS = Limits(total_bytes=16 << 30, rows=50_000_000)

_TERM: dict[tuple[str, str], Term] = {
    ("ComputeSavingsPlans", "1"): "compute_plan_1y",
    ("ComputeSavingsPlans", "3"): "compute_plan_3y",
    ("EC2InstanceSavingsPlans", "1"): "instance_plan_1y",
    ("EC2InstanceSavingsPlans", "3"): "instance_plan_3y",
}
_KIND_BY_TERM = {
    "compute_plan_1y": "compute",
    "compute_plan_3y": "compute",
    "instance_plan_1y": "instance",
    "instance_plan_3y": "instance",
}
# what a usage is besides a running machine of shared tenancy
_RULE_BY_USAGE = {
    "DedicatedUsage": "dedicated_tenancy",
    "HostUsage": "dedicated_tenancy",
    "HostBoxUsage": "dedicated_tenancy",
    "UnusedDed": "dedicated_tenancy",
    "DedicatedRes": "dedicated_tenancy",
    "UnusedBox": "unused_capacity_reservation",
    "Reservation": "allocated_capacity_reservation",
}
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html
_RULE_BY_OPERATION = {
    **dict.fromkeys(("0002", "0800"), "windows"),
    **dict.fromkeys(("0102", "0006", "0202"), "windows"),  # with SQL Server
    **dict.fromkeys(("0100", "0004", "0200"), "preinstalled_software"),  # Linux with SQL Server
    **dict.fromkeys(("0010", "1010", "00g0", "000g", "0g00"), "other_operating_system"),
    **dict.fromkeys(("0014", "0110", "0210", "1014", "1110"), "other_operating_system"),
    "CB": "capacity_block",
}
_EXPECTED = {"no_accelerator": "a machine with accelerators", "other_plan": " or ".join(PLANS)}

__all__ = ["NEEDS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file that begins so holds savings plan rates, or is the index of such files."""
    start = head.lstrip("\ufeff \r\n\t")
    if start.startswith(("FormatVersion,", '"FormatVersion",')):
        return "DiscountedRate" in head
    return start.startswith(("{", "[")) and (
        ('"searchResults"' in head and '"savingsPlanOffering"' in head)
        or is_offer_json(head)
        or ('"/savingsPlan/' in head and '"/offers/' not in head)
    )


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the rates of whole regions, a file each; with `instance_types` those of these types alone."""
    if words(params.get("instance_types", "")):
        yield from fetch_rates(params, now)
    else:
        yield from offer_files(COMPUTE_PLANS, "aws_savings_plans", params, now)


def _is_json(file: BinaryIO, name: str, limits: Limits) -> bool:
    head = next(blocks_of_text(file, name, limits))
    return head.lstrip()[:1] in (b"{", b"[")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return what the file says of itself, and its rates."""
    rates = read_json(file, name, limits) if _is_json(file, name, limits) else read_csv(file, name, limits)
    only = "+".join(sorted(words(params.get("instance_types", ""))))
    return FileInfo(rates.published, {"version": rates.version, "only": only}), rates.lines


def _check_service(fields: Mapping[str, str]) -> None:
    service, plan = fields["DiscountedServiceCode"], fields["Product Family"]
    if plan not in PLANS:
        raise OutOfScope("other_plan", "Product Family", plan, _EXPECTED["other_plan"])
    if service != OFFER:
        raise OutOfScope("not_ec2", "DiscountedServiceCode", service, OFFER)


def _check_usage(fields: Mapping[str, str]) -> None:
    """Set aside what is not a running Linux machine of shared tenancy."""
    column = "DiscountedUsageType"
    used = fields[column].partition(":")[0].rpartition("-")[2]  # APN1-BoxUsage:p5.48xlarge
    if used != "BoxUsage":
        rule = _RULE_BY_USAGE.get(used, "not_a_machine")
        raise OutOfScope(rule, column, fields[column], "BoxUsage: a running machine of shared tenancy")
    column = "DiscountedOperation"
    operation, _, code = fields[column].partition(":")
    if operation != "RunInstances" or code:
        rule = _RULE_BY_OPERATION.get(code, "other_operation")
        raise OutOfScope(rule, column, fields[column], "RunInstances: Linux without a licence")


def _type(fields: Mapping[str, str]) -> str:
    return fields["DiscountedInstanceType"] or fields["DiscountedUsageType"].partition(":")[2]


def _machine(name: str) -> Machine:
    """Return the machine type; rates name no accelerators and no counts."""
    found = machine_of("aws", name)
    if found is None and not may_hold_accelerators(name):
        raise OutOfScope("no_accelerator", "DiscountedInstanceType", name, _EXPECTED["no_accelerator"])
    if found is None:
        part = ACCELERATOR_BY_FAMILY.get(family_of(name))
        known = f"its family holds {part}, but not how many is known" if part else "nothing is known of it"
        expected = f"a type in the table of machine types: {known}"
        raise RowError("DiscountedInstanceType", name, "machine_unknown", expected)
    return found


def _term(fields: Mapping[str, str]) -> Term:
    length, unit = fields["LeaseContractLength"], fields["LeaseContractLengthUnit"]
    if unit != "year" or (fields["Product Family"], length) not in _TERM:
        raise RowError("LeaseContractLength", f"{length} {unit}", "term_unknown", "1 year or 3 year")
    return _TERM[fields["Product Family"], length]


def _reference(fields: Mapping[str, str], info: FileInfo) -> str:
    if version := info.params["version"]:
        return f"AWS Price List, savings plans {version}, rate {fields['RateCode']}"
    return f"DescribeSavingsPlansOfferingRates, offering {fields['SKU']}"


def _row(fields: Mapping[str, str], info: FileInfo) -> PriceRow:
    name, option, begun = _type(fields), fields["PurchaseOption"], fields["EffectiveDate"]
    machine = _machine(name)
    if fields["Unit"] != "Hrs":
        raise RowError("Unit", fields["Unit"], "unit_unknown", "Hrs")
    if option not in PAYMENT_BY_OPTION:
        raise RowError("PurchaseOption", option, "payment_unknown", " or ".join(PAYMENT_BY_OPTION))
    if not fields["DiscountedRegionCode"]:
        raise RowError("DiscountedRegionCode", "", "region_unknown", "a region code")
    return PriceRow(
        provider="aws",
        sku=name,
        accelerator_name=ACCELERATOR_BY_FAMILY.get(family_of(name), machine.accelerator_name),
        gpu_count=machine.gpu_count,
        region=fields["DiscountedRegionCode"],
        term=_term(fields),
        state="priced",
        price_per_hour=price("DiscountedRate", fields["DiscountedRate"]),
        effective_from=moment("EffectiveDate", begun) if begun else None,
        payment=PAYMENT_BY_OPTION[option],
        currency=fields["Currency"],
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        reference=_reference(fields, info),
    )


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the price of one machine under one plan."""
    if RULE in raw.fields:
        raise OutOfScope(raw.fields[RULE], expected=_EXPECTED[raw.fields[RULE]])
    check_readable(raw.fields)
    fields = complete(raw)
    _check_service(fields)
    _check_usage(fields)
    return [_row(fields, info)]


def scope(row: Row, info: FileInfo) -> str:
    """Return kind of plan and region: a new list replaces the rates of the regions that it covers.

    An answer that was asked for some instance types only replaces what the same question gave before.
    """
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    only = info.params["only"]
    return f"{_KIND_BY_TERM[row.term]}:{row.region}" + (f":{only}" if only else "")

"""What an account holds at AWS: reserved instances, savings plans, capacity reservations and blocks.

All of them are kept, in every state and for every machine: a Compute savings plan pays for GPUs although it
names none, and a plan that ended says what the spend of a past month was for.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import BinaryIO, cast

import msgspec

from costs.rows import PRICE_STEP, CommitmentRow, FileInfo, Payment, RawLine, Row, RowError

from .aws_commitments_fetch import CAPACITY, NEEDS, PLANS, RESERVED, fetch
from .aws_commitments_json import KIND_OF, at, check_answered, needed, read_lists
from .aws_ec2 import checked_account
from .byte_stream import Limits
from .decimals import number, optional_number, to_step
from .json_records import flat, readable

NAME = "aws_commitments"
TITLE = "AWS commitments held"
KIND = "commitments"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("region", "account")
HAS_NETWORK = True
TEMPLATE = ""
RIGHTS = (RESERVED.right, CAPACITY.right, PLANS.right, "sts:GetCallerIdentity")
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(total_bytes=64 << 20, rows=100_000)

_LISTS = {
    "ReservedInstances": "reserved_instance",
    "CapacityReservations": "capacity_reservation",
    "savingsPlans": "savings_plan",
    "SavingsPlans": "savings_plan",
}
_LOOKS = re.compile(r'"(?:ReservedInstances|CapacityReservations|[sS]avingsPlans)"\s*:\s*\[')
_EXPECTED = (
    "an answer of aws ec2 describe-reserved-instances, aws ec2 describe-capacity-reservations or"
    " aws savingsplans describe-savings-plans"
)
_PAYMENTS: dict[str, Payment] = {
    "No Upfront": "no_upfront",
    "Partial Upfront": "partial_upfront",
    "All Upfront": "all_upfront",
    # offers of before 2015, which say how much a machine would run and not how it is paid
    "Heavy Utilization": "",
    "Medium Utilization": "",
    "Light Utilization": "",
}
_SECONDS_PER_HOUR = 3600
_UPFRONT_STEP = Decimal("0.000001")
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]+")
_PLAN_ACCOUNT = re.compile(r"arn:[a-z-]+:savingsplans:[a-z0-9-]*:([0-9]{12}):")
# plans that hold in every region, whatever region the answer names beside them
_PLANS_OF_A_REGION = frozenset({"EC2Instance"})
# how far the payments of a plan may be from what is committed: they are rounded
_ROUNDED = Decimal("0.01")

__all__ = ["NEEDS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is an answer about commitments."""
    return _LOOKS.search(head) is not None


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the commitments; account and region come from the answer, else from the parameters."""
    found = read_lists(file, name, _LISTS, limits, _EXPECTED)
    account = checked_account(found.account or params.get("account", "").strip())
    region = found.region or params.get("region", "").strip()
    places = {kind: "" if kind == "savings_plan" else region for kind in found.answered}
    # of a list whose place is not known nobody can say what it no longer holds
    answered = tuple(
        f"{account}:{place}:{kind}"
        for kind, place in places.items()
        if account and (place or kind == "savings_plan") and "," not in place
    )
    return FileInfo(found.as_of, {"account": account, "region": region}, answered), found.lines


def _payment(fields: Mapping[str, str], name: str) -> Payment:
    text = fields.get(name.casefold(), "")
    if text and text not in _PAYMENTS:
        raise RowError(name, text, "payment_unknown", f"one of {', '.join(_PAYMENTS)}")
    return _PAYMENTS.get(text, "")


def _place(fields: Mapping[str, str], info: FileInfo) -> tuple[str, str]:
    """Return region and zone. A reservation for a whole region does not name it: the question did."""
    zone = fields.get("availabilityzone", "") or fields.get("availabilityzoneid", "")
    match = _REGION.match(fields.get("availabilityzone", ""))
    region = match[0] if match else info.params["region"]
    if not region or "," in region:
        raise RowError(
            "region", region, "region_unknown", "the parameter region: the answer does not name it"
        )
    return region, zone


def _hours(fields: Mapping[str, str], name: str) -> Decimal:
    return number(name, needed(dict(fields), name)) / _SECONDS_PER_HOUR


def _per_hour(fields: Mapping[str, str]) -> Decimal | None:
    """Return what one reserved instance costs in every hour; an empty list says that it is nothing."""
    total = Decimal(0)
    if not fields.get("recurringcharges"):
        return None
    for record in msgspec.json.decode(fields["recurringcharges"], type=list[msgspec.Raw]):
        charge = flat(record)
        if charge.get("Frequency") != "Hourly":
            raise RowError("Frequency", charge.get("Frequency", ""), "frequency_unknown", "Hourly")
        total += number("Amount", charge.get("Amount", ""))
    return total


def _reserved_instance(fields: dict[str, str], info: FileInfo) -> CommitmentRow:
    """Return one purchase. AWS states prices of one machine, we what is due for all of it."""
    machine, count = needed(fields, "InstanceType"), number("InstanceCount", needed(fields, "InstanceCount"))
    region, zone = _place(fields, info)
    fixed, hourly = optional_number("FixedPrice", fields.get("fixedprice", "")), _per_hour(fields)
    return CommitmentRow(
        provider="aws",
        account=info.params["account"],
        commitment=needed(fields, "ReservedInstancesId"),
        kind="reserved_instance",
        plan=fields.get("offeringclass", ""),
        sku=machine,
        family=machine.partition(".")[0],
        region=region,
        zone=zone,
        product=fields.get("productdescription", ""),
        count=count,
        spend_per_hour=None,
        upfront=None if fixed is None else to_step(fixed * count, _UPFRONT_STEP),
        recurring_per_hour=None if hourly is None else to_step(hourly * count, PRICE_STEP),
        currency=fields.get("currencycode", "") or _currency(region),
        payment=_payment(fields, "OfferingType"),
        term_hours=_hours(fields, "Duration"),
        starts_at=at(fields, "Start"),
        ends_at=at(fields, "End"),
        state=needed(fields, "State"),
    )


def _currency(region: str) -> str:
    """Return the currency of a region's bills; AWS China bills in yuan."""
    return "CNY" if region.startswith("cn-") else "USD"


def _capacity_reservation(fields: dict[str, str], info: FileInfo) -> CommitmentRow:
    """Return one reservation. It states no price: it is billed like the machines it holds."""
    machine = needed(fields, "InstanceType")
    region, zone = _place(fields, info)
    starts, ends = at(fields, "StartDate") or at(fields, "CreateDate"), at(fields, "EndDate")
    is_block = fields.get("reservationtype") == "capacity-block"
    hours = Decimal((ends - starts) // timedelta(seconds=1)) / _SECONDS_PER_HOUR if starts and ends else None
    return CommitmentRow(
        provider="aws",
        account=fields.get("ownerid", "") or info.params["account"],
        commitment=needed(fields, "CapacityReservationId"),
        kind="capacity_block" if is_block else "capacity_reservation",
        plan=fields.get("reservationtype", ""),
        sku=machine,
        family=machine.partition(".")[0],
        region=region,
        zone=zone,
        product=fields.get("instanceplatform", ""),
        count=number("TotalInstanceCount", needed(fields, "TotalInstanceCount")),
        spend_per_hour=None,
        upfront=None,
        recurring_per_hour=None,
        currency=_currency(region),
        payment="all_upfront" if is_block else "",
        term_hours=hours,
        starts_at=starts,
        ends_at=ends,
        state=needed(fields, "State"),
    )


def _payments_of(
    fields: dict[str, str], committed: Decimal, hours: Decimal
) -> tuple[Decimal | None, Decimal | None, str]:
    """Return upfront and hourly payment of a plan, or why they are not known.

    Over the term they make up what is committed. Where they do not, nobody knows which of the three is
    wrong; the commitment is what the plan is named by, so it stays.
    """
    upfront = optional_number("upfrontPaymentAmount", fields.get("upfrontpaymentamount", ""))
    hourly = optional_number("recurringPaymentAmount", fields.get("recurringpaymentamount", ""))
    if upfront is None or hourly is None:
        return upfront, hourly, ""
    due, paid = committed * hours, upfront + hourly * hours
    if abs(due - paid) <= due * _ROUNDED:
        return to_step(upfront, _UPFRONT_STEP), to_step(hourly, PRICE_STEP), ""
    return (
        None,
        None,
        (
            f"payments left out: {hourly.normalize():f} per hour and {upfront.normalize():f} upfront"
            f" do not make {committed.normalize():f} per hour of {hours.normalize():f} hours"
        ),
    )


def _products(fields: dict[str, str]) -> str:
    found = msgspec.json.decode(fields.get("producttypes") or "[]", type=list[str])
    return ", ".join(found)


def _savings_plan(fields: dict[str, str], info: FileInfo) -> CommitmentRow:
    plan = needed(fields, "savingsPlanType")
    committed = number("commitment", needed(fields, "commitment"))
    hours = _hours(fields, "termDurationInSeconds")
    upfront, hourly, doubt = _payments_of(fields, committed, hours)
    arn = fields.get("savingsplanarn", "")
    owner = _PLAN_ACCOUNT.match(arn)
    region = fields.get("region", "") if plan in _PLANS_OF_A_REGION else ""
    if plan in _PLANS_OF_A_REGION and not region:
        raise RowError("region", "", "region_unknown", "the region of an EC2 Instance savings plan")
    return CommitmentRow(
        provider="aws",
        account=owner[1] if owner else info.params["account"],
        commitment=needed(fields, "savingsPlanId"),
        kind="savings_plan",
        plan=plan,
        sku="",
        family=fields.get("ec2instancefamily", ""),
        region=region,
        zone="",
        product=_products(fields),
        count=None,
        spend_per_hour=to_step(committed, PRICE_STEP),
        upfront=upfront,
        recurring_per_hour=hourly,
        currency=fields.get("currency", "") or fields.get("currencycode", "") or "USD",
        payment=_payment(fields, "paymentOption"),
        term_hours=hours,
        starts_at=at(fields, "start"),
        ends_at=at(fields, "end"),
        state=needed(fields, "state"),
        reference="; ".join(part for part in (arn, doubt) if part),
    )


_PARSERS = {
    "reserved_instance": _reserved_instance,
    "capacity_reservation": _capacity_reservation,
    "savings_plan": _savings_plan,
}


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the commitment of one record."""
    check_answered(raw, info.params["region"])
    fields = readable(raw)
    try:
        return [_PARSERS[fields[KIND_OF]](fields, info)]
    except msgspec.MsgspecError as error:
        raise RowError("(record)", str(error), "record_unreadable", "a record as AWS writes it") from error


def scope(row: Row, info: FileInfo) -> str:
    """Return account, region and kind: an answer replaces what the same question brought before.

    The plans of all regions come as one answer. Blocks come with the capacity reservations.
    """
    found = cast(CommitmentRow, row)
    kind = "capacity_reservation" if found.kind == "capacity_block" else found.kind
    region = "" if kind == "savings_plan" else found.region
    return f"{found.account}:{region}:{kind}"

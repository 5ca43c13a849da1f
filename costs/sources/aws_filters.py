"""Which products of the AWS price list are ours: plain Linux machines with accelerators.

One machine is priced a dozen ways in that list. Leave one filter out and a p5 costs $0.00 (its Capacity
Block row) or a machine has three Windows prices.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from costs.rows import OutOfScope

from .aws_facts import ACCELERATED_FAMILIES, holds_accelerators
from .csv_file import RESERVED

OFFER = "AmazonEC2"
# lines that were set aside without being parsed carry the reason's name here
RULE = RESERVED + "rule"


@dataclass(frozen=True)
class _Filter:
    rule: str
    attribute: str
    kept: frozenset[str]  # "" where lists that lack the attribute mean the same
    expected: str


def _filter(rule: str, attribute: str, *kept: str) -> _Filter:
    return _Filter(rule, attribute, frozenset(kept), " or ".join(word for word in kept if word))


_NO_ACCELERATOR = _filter("no_accelerator", "instanceFamily", *ACCELERATED_FAMILIES)
# In this order, and the first that fits names the reason.
_FILTERS = (
    _filter("not_a_machine", "productFamily", "Compute Instance", "Compute Instance (bare metal)"),
    _filter("other_operating_system", "operatingSystem", "Linux"),
    _filter("licence_included", "licenseModel", "No License required"),
    _filter("dedicated_tenancy", "tenancy", "Shared"),
    _filter("preinstalled_software", "preInstalledSw", "NA", ""),
    _filter("capacity_reservation", "capacitystatus", "Used", ""),
    _filter("other_market", "marketoption", "OnDemand", ""),
    _filter("other_operation", "operation", "RunInstances"),
)
# values that say more than their filter does
_RULE_BY_VALUE = {
    ("operatingSystem", "Windows"): "windows",
    ("capacitystatus", "UnusedCapacityReservation"): "unused_capacity_reservation",
    ("capacitystatus", "AllocatedCapacityReservation"): "allocated_capacity_reservation",
    ("marketoption", "CapacityBlock"): "capacity_block",
}
# of rules by which lines are set aside without being parsed
_EXPECTED = {
    "not_ec2": OFFER,
    "no_accelerator": _NO_ACCELERATOR.expected,
    "windows": "Linux",
    "other_operating_system": "Linux",
}


def check_product(fields: Mapping[str, str], offer: str) -> None:
    """Raise the name of the reason for which this product is not kept."""
    if RULE in fields:
        raise OutOfScope(fields[RULE], expected=_EXPECTED[fields[RULE]])
    service = fields.get("servicecode") or offer
    if service != OFFER:
        raise OutOfScope("not_ec2", "servicecode", service, OFFER)
    if not fields.get("instanceType"):
        is_trial = fields.get("group") == "FreeTrial" or fields.get("usagetype", "").endswith(":freetrial")
        rule = "free_tier" if is_trial else "not_a_machine"
        raise OutOfScope(rule, "instanceType", "", "a product with an instance type")
    found = _misfit(fields)
    if found:
        value = fields.get(found.attribute, "")
        rule = _RULE_BY_VALUE.get((found.attribute, value), found.rule)
        raise OutOfScope(rule, found.attribute, value, found.expected)


def is_ours(fields: Mapping[str, str]) -> bool:
    """Tell whether a product of EC2 with accelerators is kept."""
    is_machine = fields.get("servicecode", "") in (OFFER, "") and fields.get("instanceType", "")
    return bool(is_machine) and _misfit(fields) is None


def _misfit(fields: Mapping[str, str]) -> _Filter | None:
    """Return the first filter that the product does not pass.

    Which family a machine is of is told by the list's label or by its type: a label may be renamed, the
    type is what is rented.
    """
    has_label = fields.get("instanceFamily", "") in _NO_ACCELERATOR.kept
    if not has_label and not holds_accelerators(fields["instanceType"]):
        return _NO_ACCELERATOR
    for each in _FILTERS:
        if fields.get(each.attribute, "") not in each.kept:
            return each
    return None

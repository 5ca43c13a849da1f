"""Which products of the AWS price list are ours: plain Linux machines with accelerators.

One machine is priced a dozen ways in that list. Leave one filter out and a p5 costs $0.00 (its Capacity
Block row) or a machine has three Windows prices.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from costs.rows import OutOfScope

from .aws_facts import ACCELERATED_FAMILIES
from .csv_file import RESERVED

OFFER = "AmazonEC2"
# a line that was set aside without being parsed carries the reason's name here
RULE = RESERVED + "rule"

_MACHINES = ("Compute Instance", "Compute Instance (bare metal)")


@dataclass(frozen=True)
class _Filter:
    rule: str
    attribute: str
    kept: tuple[str, ...]  # "" where lists that lack the attribute mean the same


# In this order, and the first that fits names the reason.
_FILTERS = (
    _Filter("no_accelerator", "instanceFamily", ACCELERATED_FAMILIES),
    _Filter("not_a_machine", "productFamily", _MACHINES),
    _Filter("other_operating_system", "operatingSystem", ("Linux",)),
    _Filter("licence_included", "licenseModel", ("No License required",)),
    _Filter("dedicated_tenancy", "tenancy", ("Shared",)),
    _Filter("preinstalled_software", "preInstalledSw", ("NA", "")),
    _Filter("capacity_reservation", "capacitystatus", ("Used", "")),
    _Filter("other_market", "marketoption", ("OnDemand", "")),
    _Filter("other_operation", "operation", ("RunInstances",)),
)
# values that say more than their filter does
_RULE_BY_VALUE = {
    ("operatingSystem", "Windows"): "windows",
    ("capacitystatus", "UnusedCapacityReservation"): "unused_capacity_reservation",
    ("capacitystatus", "AllocatedCapacityReservation"): "allocated_capacity_reservation",
    ("marketoption", "CapacityBlock"): "capacity_block",
}


def check_product(fields: Mapping[str, str], offer: str) -> None:
    """Raise the name of the reason for which this product is not kept."""
    if RULE in fields:
        raise OutOfScope(fields[RULE], expected=_expected(fields[RULE]))
    service = fields.get("servicecode") or offer
    if service != OFFER:
        raise OutOfScope("not_ec2", "servicecode", service, OFFER)
    if not fields.get("instanceType"):
        is_trial = fields.get("group") == "FreeTrial" or fields.get("usagetype", "").endswith(":freetrial")
        rule = "free_tier" if is_trial else "not_a_machine"
        raise OutOfScope(rule, "instanceType", "", "a product with an instance type")
    for each in _FILTERS:
        value = fields.get(each.attribute, "")
        if value not in each.kept:
            rule = _RULE_BY_VALUE.get((each.attribute, value), each.rule)
            raise OutOfScope(rule, each.attribute, value, " or ".join(word for word in each.kept if word))


def _expected(rule: str) -> str:
    return OFFER if rule == "not_ec2" else " or ".join(ACCELERATED_FAMILIES)

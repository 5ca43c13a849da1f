"""Which EC2 quotas are about machines with accelerators, by code and by name.

A code stays, a name does not: "Running On-Demand G instances" became "… G and VT instances", and "All P Spot
Instance Requests" became "All P4, P3 and P2 …" when P5 got a quota of its own.
"""

import re

from costs.rows import OutOfScope, Purchase, RowError

# code -> what counts against it, bought how
BUCKETS: dict[str, tuple[str, Purchase]] = {
    "L-417A185B": ("P", "on_demand"),
    "L-DB2E81BA": ("G and VT", "on_demand"),
    "L-1945791B": ("Inf", "on_demand"),
    "L-2C3B7624": ("Trn", "on_demand"),
    "L-6E869C2A": ("DL", "on_demand"),
    "L-7212CCBC": ("P4, P3 and P2", "spot"),
    "L-C4BD4855": ("P5", "spot"),
    "L-3819A6DF": ("G and VT", "spot"),
    "L-B5D1601B": ("Inf", "spot"),
    "L-6B0D517C": ("Trn", "spot"),
    "L-85EED4F7": ("DL", "spot"),
}
_CODE = re.compile(r"L-[0-9A-F]{8}")
_ON_DEMAND = re.compile(r"Running On-Demand (.+) instances")
_SPOT = re.compile(r"All (.+) Spot Instance Requests")
_HOSTS = re.compile(r"Running (Dedicated|On-Demand) .+ hosts", re.IGNORECASE)
_ONE_TYPE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")
_FAMILY = re.compile(r"(P|G|VT|Trn|Inf|DL)[0-9]*[a-z]*")
_BETWEEN = re.compile(r", and |, | and ")


def _by_name(name: str) -> tuple[str, Purchase]:
    if _HOSTS.fullmatch(name):
        raise OutOfScope("dedicated_hosts", "QuotaName", name, "a limit of instances")
    match, purchase = _ON_DEMAND.fullmatch(name), "on_demand"
    if match is None:
        match, purchase = _SPOT.fullmatch(name), "spot"
    if match is None:
        raise OutOfScope("not_instances", "QuotaName", name, "a limit of running instances or Spot requests")
    if _ONE_TYPE.fullmatch(match[1]):
        raise OutOfScope("per_instance_type", "QuotaName", name, "a limit of a family, counted in vCPUs")
    if not all(_FAMILY.fullmatch(family) for family in _BETWEEN.split(match[1])):
        raise OutOfScope("other_family", "QuotaName", name, "a family with GPUs or other accelerators")
    return match[1], "spot" if purchase == "spot" else "on_demand"


def bucket_of(code: str, name: str) -> tuple[str, Purchase]:
    """Return what counts against an EC2 quota and how it is bought.

    Raise OutOfScope for a limit of something else, RowError where code and name contradict each other. A
    code that is not known yet is taken by its name.

    >>> bucket_of("L-DB2E81BA", "Running On-Demand G instances")
    ('G and VT', 'on_demand')
    """
    if not _CODE.fullmatch(code):
        raise RowError("QuotaCode", code, "code_wrong", "a quota code such as L-417A185B")
    known = BUCKETS.get(code)
    if known is None:
        return _by_name(name)
    if not name:
        return known
    try:
        purchase = _by_name(name)[1]
    except OutOfScope:
        purchase = None
    if purchase != known[1]:
        raise RowError(
            "QuotaName", name, "code_contradicts_name", f"a name of {code}: {known[0]}, {known[1]}"
        )
    return known

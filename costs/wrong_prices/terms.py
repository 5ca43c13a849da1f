"""What the trial takes for known of terms and licences, apart from the rules that it tries."""

from decimal import Decimal

# Windows Server on a virtual machine: the same fee on AWS, Azure and Google Cloud, in US dollars
WINDOWS_USD_PER_VCPU_HOUR = Decimal("0.046")
SELL_WINDOWS = frozenset({"aws", "azure", "gcp"})
LONG_FOR_SHORT = {
    "reserved_3y": "reserved_1y",
    "convertible_3y": "convertible_1y",
    "compute_plan_3y": "compute_plan_1y",
    "instance_plan_3y": "instance_plan_1y",
}
TERMS = frozenset(LONG_FOR_SHORT) | frozenset(LONG_FOR_SHORT.values())

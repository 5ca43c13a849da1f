"""Which instance types of AWS hold accelerators: the only ones whose spot prices are kept."""

import re

from costs.rows import OutOfScope, RowError

from .aws_facts import ACCELERATOR_BY_FAMILY
from .machines import machine_of

# families that AWS names for accelerators: one that is not in the tables yet is new, not out of scope
_SOUNDS_ACCELERATED = re.compile(r"(p|g|gr|inf|trn|dl|u-p)[0-9]")


def check_accelerated(column: str, instance_type: str) -> None:
    """Pass a type that holds accelerators; say by name why another is not kept."""
    family, _, size = instance_type.partition(".")
    if machine_of("aws", instance_type) or (size and family in ACCELERATOR_BY_FAMILY):
        return
    if not instance_type:
        raise RowError(column, "", "empty", "an instance type such as p5.48xlarge")
    if _SOUNDS_ACCELERATED.match(family):
        expected = "a family whose accelerator is known; add it to the facts"
        raise RowError(column, instance_type, "family_unknown", expected)
    raise OutOfScope("not_accelerated", column, instance_type, "a machine with GPUs or training chips")

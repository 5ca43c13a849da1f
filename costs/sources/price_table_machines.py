"""The machine of a price that states no more than a machine type's name."""

import re

from costs.rows import OutOfScope, RowError

from .machines import Machine, machine_of

# how AWS and Azure begin the names of types with GPUs or AI accelerators; f, vt or D are something else.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
_WITH_ACCELERATOR = {
    "aws": re.compile(r"(?:p|g|gr|trn|inf|dl|u-p)[0-9]"),
    "azure": re.compile(r"standard_n[cdvgm]", re.IGNORECASE),
}


def machine_for(provider: str, name: str, column: str) -> Machine:
    """Return the machine type; refuse one without accelerator, and one that the table should have."""
    found = machine_of(provider, name)
    if found is not None:
        return found
    starts = _WITH_ACCELERATOR.get(provider)
    if starts is not None and not starts.match(name):
        raise OutOfScope("no_accelerator", column, name, "a machine type with GPUs or AI accelerators")
    raise RowError(
        column, name, "machine_unknown", f"a machine type of {provider} that the table has; add it there"
    )

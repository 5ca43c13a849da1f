"""Which of Azure's limits are about GPU machines, and the regions that files are named for.

Azure writes one family in several ways (standardNCADSH100v5Family, StandardNCadsH100v5Family, "Standard
NDASv4_A100 Family"): compared without case, blanks and underscores. The spelling kept is that of the
machine type table.
"""

import re
from functools import cache

from costs.names import accelerator_key
from costs.rows import OutOfScope, Purchase

from .machines import machines_of

# limits over all families, which hold beside those of the family
NESTED: dict[str, tuple[str, Purchase]] = {
    "cores": ("all vCPUs", "on_demand"),
    "lowPriorityCores": ("all spot vCPUs", "spot"),
}
# the series with GPUs; NP holds FPGAs
_GPU_FAMILY = re.compile(r"standardn[cdgv].*family")
REGIONS = frozenset(
    (
        *("australiacentral", "australiacentral2", "australiaeast", "australiasoutheast", "austriaeast"),
        *("brazilsouth", "brazilsoutheast", "canadacentral", "canadaeast", "centralindia", "centralus"),
        *("chilecentral", "eastasia", "eastus", "eastus2", "francecentral", "francesouth"),
        *("germanynorth", "germanywestcentral", "indonesiacentral", "israelcentral", "italynorth"),
        *("japaneast", "japanwest", "jioindiacentral", "jioindiawest", "koreacentral", "koreasouth"),
        *("malaysiawest", "mexicocentral", "newzealandnorth", "northcentralus", "northeurope"),
        *("norwayeast", "norwaywest", "polandcentral", "qatarcentral", "southafricanorth"),
        *("southafricawest", "southcentralus", "southeastasia", "southindia", "spaincentral"),
        *("swedencentral", "swedensouth", "switzerlandnorth", "switzerlandwest", "uaecentral"),
        *("uaenorth", "uksouth", "ukwest", "usgovarizona", "usgovtexas", "usgovvirginia"),
        *("westcentralus", "westeurope", "westindia", "westus", "westus2", "westus3"),
    )
)


@cache
def _families() -> dict[str, tuple[str, str]]:
    """Return code and accelerator of each family that the machine type table names, by its compared form."""
    found: dict[str, tuple[str, set[str]]] = {}
    for machine in machines_of("azure"):
        if machine.quota_on_demand:
            key = accelerator_key(machine.quota_on_demand)
            found.setdefault(key, (machine.quota_on_demand, set()))[1].add(machine.accelerator)
    return {key: (code, parts.pop() if len(parts) == 1 else code) for key, (code, parts) in found.items()}


def family_of(name: str) -> tuple[str, str]:
    """Return the code of a family of GPU machines and what counts against it; raise OutOfScope for others.

    A family that the machine type table does not know yet counts for itself.

    >>> family_of("STANDARD NDASv4_A100 Family")
    ('Standard NDASv4_A100 Family', 'a100-sxm-40gb')
    """
    key = accelerator_key(name)
    known = _families().get(key)
    if known is not None:
        return known
    if _GPU_FAMILY.fullmatch(key):
        return key, name
    rule = "other_family" if key.endswith("family") else "not_vcpus"
    raise OutOfScope(rule, "name", name, "a family of GPU machines, cores or lowPriorityCores")

"""Which of Google's quota metrics are about GPUs and TPUs, how they are bought, and in what they count.

Limits of vCPUs are left out: which of them a GPU machine counts against, CPUS or one such as A2_CPUS, differs
by project, and no answer says which.
"""

from functools import cache

from costs.rows import OutOfScope, Purchase, QuotaUnit

from .machines import machines_of

ALL_GPUS = "GPUS_ALL_REGIONS"
PER_FAMILY = "GPUS_PER_GPU_FAMILY"
_PREFIXES: dict[str, Purchase] = {"PREEMPTIBLE_": "spot", "COMMITTED_": "committed"}
# cards that are attached to ordinary machines, which the machine type table does not hold
_ATTACHED = {
    "NVIDIA_K80": "k80-12gb",
    "NVIDIA_P100": "p100-pcie-16gb",
    "NVIDIA_P4": "p4-8gb",
    "NVIDIA_T4": "t4-16gb",
    "NVIDIA_V100": "v100-sxm-16gb",
    "TPU_LITE_PODSLICE_V5": "tpu-v5e",
    "TPU_LITE_DEVICE_V5": "tpu-v5e",
}


@cache
def _parts() -> dict[str, str]:
    """Return the accelerator of each metric without prefix and _GPUS, by the machine type table."""
    found: dict[str, set[str]] = {}
    for machine in machines_of("gcp"):
        if machine.quota_on_demand:
            found.setdefault(_stem(machine.quota_on_demand), set()).add(machine.accelerator)
    return {stem: parts.pop() for stem, parts in found.items() if len(parts) == 1} | _ATTACHED


def _stem(code: str) -> str:
    return code.removeprefix(f"{PER_FAMILY}/").removesuffix("_GPUS")


def _bought(metric: str) -> tuple[str, Purchase]:
    for prefix, purchase in _PREFIXES.items():
        if metric.startswith(prefix):
            return metric.removeprefix(prefix), purchase
    return metric, "on_demand"


def what_counts(metric: str) -> tuple[str, Purchase, QuotaUnit]:
    """Return what counts against a metric, how it is bought and the unit; raise OutOfScope for others.

    >>> what_counts("PREEMPTIBLE_NVIDIA_A100_80GB_GPUS")
    ('a100-sxm-80gb', 'spot', 'gpu')
    """
    if metric == ALL_GPUS:
        return "all GPUs", "any", "gpu"
    plain, purchase = _bought(metric)
    if plain == PER_FAMILY:
        return "GPU families without a limit of their own", purchase, "gpu"
    if plain.endswith("_GPUS") or plain.startswith(f"{PER_FAMILY}/"):
        # virtual workstations count apart from the same card without their licence
        return _parts().get(_stem(plain), _stem(plain)), purchase, "gpu"
    if "TPU" in plain:
        return _parts().get(plain, plain), purchase, "chip" if plain in _ATTACHED else "other"
    rule = "cpus" if plain.endswith("CPUS") or plain == "CPUS_ALL_REGIONS" else "not_accelerators"
    raise OutOfScope(rule, "metric", metric, "a limit of GPUs or TPUs")

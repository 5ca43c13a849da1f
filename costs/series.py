"""Write facts of which the newest statement counts: hours of use, and what accelerators are."""

from collections.abc import Iterable, Mapping
from typing import Any

from . import bulk
from .counts import Counts
from .judge import SAMPLE_SCOPE, Fact
from .models import Accelerator, Batch, Utilization
from .rows import AcceleratorRow, UtilizationRow
from .rowtext import KEYS, to_values

HOUR_KEY = ("cluster", "pool", "gpu_type", "starts_at", "is_sample")
HOUR_VALUES = (
    "period_hours",
    "gpus_installed",
    "gpus_available",
    "gpus_allocated",
    "gpus_pending",
    "active_share",
)
ORIGIN = ("source", "scope", "batch_id", "line")
ACCELERATOR_VALUES = (
    "name",
    "vendor",
    "form_factor",
    "memory_gb",
    "memory_bandwidth_gb_s",
    "power_w",
    "link_gb_s_per_direction",
    "fp32_tflops",
    "tf32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "int8_tops",
    "fp4_tflops",
    "launch_date",
    "reference",
    "reference_date",
    "aliases",
    "notes",
)


def write_hours(source: str, batches: Mapping[str, Batch], facts: Iterable[Fact], total: int) -> Counts:
    """Insert hours that are new and change those that now read otherwise."""

    def rows() -> Iterable[tuple[Any, ...]]:
        for scope, line, payload in facts:
            values = to_values(UtilizationRow, payload)
            values["is_sample"] = scope.startswith(SAMPLE_SCOPE)
            key = [values[name] for name in HOUR_KEY]
            numbers = [values[name] for name in HOUR_VALUES]
            yield *key, *numbers, source, scope, batches[scope].pk, line

    before = Utilization.objects.count()
    written = bulk.insert(
        Utilization,
        (*HOUR_KEY, *HOUR_VALUES, *ORIGIN),
        rows(),
        on_key=HOUR_KEY,
        update=(*HOUR_VALUES, *ORIGIN),
        compare=HOUR_VALUES,
    )
    added = Utilization.objects.count() - before
    return Counts(added=added, changed=written - added, unchanged=total - written)


def write_accelerators(batches: Mapping[str, Batch], facts: Iterable[Fact], total: int) -> Counts:
    """Insert accelerators that are new and change those that now read otherwise.

    One that left the file stays: SKUs and scenarios may name it.
    """

    def rows() -> Iterable[tuple[Any, ...]]:
        for scope, _, payload in facts:
            values = to_values(AcceleratorRow, payload)
            yield values["slug"], *(values[name] for name in ACCELERATOR_VALUES), batches[scope].pk

    before = Accelerator.objects.count()
    written = bulk.insert(
        Accelerator,
        (*KEYS[AcceleratorRow], *ACCELERATOR_VALUES, "batch_id"),
        rows(),
        on_key=KEYS[AcceleratorRow],
        update=(*ACCELERATOR_VALUES, "batch_id"),
        compare=ACCELERATOR_VALUES,
    )
    added = Accelerator.objects.count() - before
    return Counts(added=added, changed=written - added, unchanged=total - written)

"""TPU slices: how many chips a slice holds whose name counts cores or chips."""

import re
from decimal import Decimal

from costs.rows import OutOfScope, RowError

# cores or chips in the name of a slice, per chip: https://cloud.google.com/tpu/docs/system-architecture-tpu-vm
_SLICE = re.compile(r"(?:tpu-)?(v[0-9]+[a-z]*)-([0-9]{1,6})")
_PARTS = {
    "v2": ("TPU v2", 2),
    "v3": ("TPU v3", 2),
    "v4": ("TPU v4", 2),
    "v5litepod": ("TPU v5e", 1),
    "v5p": ("TPU v5p", 2),
    "v6e": ("TPU v6e", 1),
}
MOST_CHIPS = 1024


def is_slice(name: str) -> bool:
    """Tell whether the name is that of a slice, such as tpu-v5p-8."""
    return name.startswith("tpu-") and _SLICE.fullmatch(name) is not None


def chips_of(column: str, name: str) -> tuple[str, Decimal]:
    """Return the chip and how many of them a slice holds.

    >>> chips_of("gpu_name", "v5litepod-8"), chips_of("gpu_name", "v5p-8")
    (('TPU v5e', Decimal('8')), ('TPU v5p', Decimal('4')))
    """
    match = _SLICE.fullmatch(name)
    if not match or match[1] not in _PARTS:
        raise RowError(column, name, "tpu_unknown", f"a slice of a TPU {', '.join(sorted(_PARTS))}")
    part, per_chip = _PARTS[match[1]]
    chips = Decimal(match[2]) / per_chip
    if chips > MOST_CHIPS:
        raise OutOfScope("tpu_slice_too_large", column, name, f"at most {MOST_CHIPS} chips")
    return part, chips

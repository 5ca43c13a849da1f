"""Google Cloud in SkyPilot's layout: GPUs and hosts are priced on lines of their own.

A line with an accelerator and no instance type prices that count of GPUs alone; a line with an instance
type and no accelerator prices the host alone. A machine costs both, so this module adds them: never is a
half passed on as a price.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Literal

from costs.rows import OutOfScope, PriceRow, PriceState, RowError, Term

from .csv_file import RESERVED
from .decimals import number, optional_number, price
from .tpu import MOST_CHIPS, chips_of, is_slice

HOST_COLUMNS = ("Price", "SpotPrice", "vCPUs", "MemoryGiB")
CONTRADICTED = RESERVED + "contradicted"  # stands for the fields of a host with two prices

# which machines hold which GPUs, https://cloud.google.com/compute/docs/gpus
_MACHINES: dict[tuple[str, int], tuple[str, ...]] = {
    ("A100", 1): ("a2-highgpu-1g",),
    ("A100", 2): ("a2-highgpu-2g",),
    ("A100", 4): ("a2-highgpu-4g",),
    ("A100", 8): ("a2-highgpu-8g",),
    ("A100", 16): ("a2-megagpu-16g",),
    ("A100-80GB", 1): ("a2-ultragpu-1g",),
    ("A100-80GB", 2): ("a2-ultragpu-2g",),
    ("A100-80GB", 4): ("a2-ultragpu-4g",),
    ("A100-80GB", 8): ("a2-ultragpu-8g",),
    ("H100", 1): ("a3-highgpu-1g",),
    ("H100", 2): ("a3-highgpu-2g",),
    ("H100", 4): ("a3-highgpu-4g",),
    ("H100", 8): ("a3-highgpu-8g", "a3-edgegpu-8g", "a3-edgegpu-8g-nolssd"),
    ("H100-MEGA", 8): ("a3-megagpu-8g",),
    ("H200", 8): ("a3-ultragpu-8g", "a3-ultragpu-8g-nolssd"),
    ("B200", 8): ("a4-highgpu-8g",),
    ("L4", 1): ("g2-standard-4", "g2-standard-8", "g2-standard-12", "g2-standard-16", "g2-standard-32"),
    ("L4", 2): ("g2-standard-24",),
    ("L4", 4): ("g2-standard-48",),
    ("L4", 8): ("g2-standard-96",),
    ("RTX-PRO-6000", 1): ("g4-standard-48",),
    ("RTX-PRO-6000", 2): ("g4-standard-96",),
    ("RTX-PRO-6000", 4): ("g4-standard-192",),
    ("RTX-PRO-6000", 8): ("g4-standard-384",),
}
HOSTS = frozenset(name for names in _MACHINES.values() for name in names)
# these attach to an N1 machine of any size, so there is no one host to add: kept as the price of the GPUs
_ON_N1 = frozenset({"K80", "P4", "P100", "T4", "V100"})

# the catalogue's own code writes this where it finds no price of a v6e slice
_TPU_V6E_UNKNOWN = Decimal(700)

Priced = tuple[PriceState, Decimal | None, str]
Column = Literal["Price", "SpotPrice"]
_TERMS: tuple[tuple[Column, Term], ...] = (("Price", "on_demand"), ("SpotPrice", "spot"))


def machines_of(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the machines that hold this line's accelerator in this count, none if it is not known."""
    try:
        count = number("AcceleratorCount", fields["AcceleratorCount"])
    except RowError:
        return ()
    whole = int(count) if count == count.to_integral_value() else 0
    return _MACHINES.get((fields["AcceleratorName"], whole), ())


def is_host(fields: Mapping[str, str]) -> bool:
    """Tell whether the line prices a host without its GPUs."""
    return fields["InstanceType"] in HOSTS and not fields["AcceleratorName"]


def host_field(machine: str, column: str) -> str:
    """Return the name of the field that carries one field of a host's line to the line of its GPUs."""
    return f"{RESERVED}{machine}:{column}"


def refuse_host(fields: Mapping[str, str]) -> None:
    """Raise why a host's line gives no price of its own."""
    for column, _ in _TERMS:
        if fields[column] and number(column, fields[column]) == 0:
            raise OutOfScope(
                "host_price_zero",
                column,
                fields[column],
                "a price above 0; the machine's own line says that its price is unknown",
            )
        if fields[column]:
            price(column, fields[column])
    raise OutOfScope(
        "host_without_gpu",
        "InstanceType",
        fields["InstanceType"],
        "its price is added to that of its GPUs, whose line gives the whole machine",
    )


def _sum(column: Column, gpu: str, host: str, machine: str) -> Priced:
    """Return GPU plus host, or why there is no such sum."""
    if not gpu:
        return "not_sold", None, "the catalogue gives no such price for the GPUs"
    gpu_price = price(column, gpu)
    if not host:
        return "unknown", None, f"the catalogue prices the GPUs but not the host {machine}"
    host_price = number(column, host)
    if host_price == 0:
        return (
            "unknown",
            None,
            f"the catalogue prices the host {machine} at 0.00, which is not known to be true",
        )
    return "priced", gpu_price + price(column, host), ""


def _gpu_only(column: Column, text: str) -> Priced:
    if not text:
        return "not_sold", None, "the catalogue gives no such price"
    return "priced", price(column, text), ""


def _tpu_price(column: Column, text: str, part: str) -> Priced:
    if part == "TPU v6e" and text and number(column, text) == _TPU_V6E_UNKNOWN:
        return "unknown", None, "700 is the catalogue's placeholder for a TPU v6e price that it does not know"
    return _gpu_only(column, text)


def _row(
    fields: Mapping[str, str], sku: str, part: str, count: Decimal, term: Term, priced: Priced
) -> PriceRow:
    state, amount, reason = priced
    return PriceRow(
        provider="gcp",
        sku=sku,
        accelerator_name=part,
        gpu_count=count,
        region=fields["Region"],
        zone=fields.get("AvailabilityZone", ""),
        term=term,
        state=state,
        price_per_hour=amount,
        state_reason=reason,
    )


def _tpu_rows(fields: Mapping[str, str]) -> list[PriceRow]:
    name = fields["AcceleratorName"]
    part, chips = chips_of("AcceleratorName", name)
    chips *= number("AcceleratorCount", fields["AcceleratorCount"])
    if chips > MOST_CHIPS:
        raise OutOfScope("tpu_slice_too_large", "AcceleratorName", name, f"at most {MOST_CHIPS} chips")
    return [
        _row(fields, name, part, chips, term, _tpu_price(column, fields[column], part))
        for column, term in _TERMS
    ]


def _machine_rows(fields: Mapping[str, str], machine: str, count: Decimal) -> list[PriceRow]:
    name = fields["AcceleratorName"]
    host = {column: fields[host_field(machine, column)] for column in HOST_COLUMNS}
    if host["Price"] == CONTRADICTED:
        unknown: Priced = ("unknown", None, f"the catalogue gives two prices for the host {machine}")
        return [_row(fields, machine, name, count, term, unknown) for _, term in _TERMS]
    rows = [
        _row(fields, machine, name, count, term, _sum(column, fields[column], host[column], machine))
        for column, term in _TERMS
    ]
    vcpus = optional_number("vCPUs", host["vCPUs"])
    memory_gib = optional_number("MemoryGiB", host["MemoryGiB"])
    return [replace(row, vcpus=vcpus, memory_gib=memory_gib) for row in rows]


def gpu_rows(fields: Mapping[str, str]) -> list[PriceRow]:
    """Return the whole machines that a GPU's line makes with the hosts in its zone."""
    name = fields["AcceleratorName"]
    if is_slice(name):
        return _tpu_rows(fields)
    count = number("AcceleratorCount", fields["AcceleratorCount"])
    if name in _ON_N1:
        sku = f"N1 + {count.normalize():f}x {name} (GPU only)"
        return [_row(fields, sku, name, count, term, _gpu_only(c, fields[c])) for c, term in _TERMS]
    machines = machines_of(fields)
    if not machines:
        raise RowError("AcceleratorName", f"{count} x {name}", "host_unknown", "GPUs of a known machine type")
    present = [machine for machine in machines if host_field(machine, "Price") in fields]
    if not present:
        # in order: the catalogue lists each count of GPUs in each zone, sold there or not
        raise OutOfScope(
            "host_price_missing",
            "AcceleratorName",
            f"{count} x {name}",
            f"a line for the host {' or '.join(machines)} in {fields.get('AvailabilityZone', '')}",
        )
    return [row for machine in present for row in _machine_rows(fields, machine, count)]

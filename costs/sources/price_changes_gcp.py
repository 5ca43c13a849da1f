"""Google Cloud in a table of catalogue changes: GPUs and hosts change on lines of their own.

A machine costs both. Whoever reads the lines in the order of time knows at each moment what either half
costs; a change of one is a change of the sum, stated on the last line of that moment that touches the
machine. A half without the other is never passed on as a price.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cache

import msgspec

from costs.names import accelerator_key
from costs.rows import OutOfScope, PriceRow, PriceState, RawLine, RowError, Term

from .csv_file import RESERVED
from .decimals import number, price
from .machines import Machine, machine_of, machines_of

REMOVED = "removed"
_HALVES = RESERVED + "halves"  # the machines that a line states, as JSON
_TWICE = RESERVED + "twice"  # another line of the moment that states the same half
_KNOWN = RESERVED + "known"  # whether any machine has the half's other half
# these attach to an N1 machine of any size: there is no one host to add
_ON_N1 = frozenset({"K80", "P4", "P100", "T4", "V100"})
_TERMS: tuple[tuple[str, Term], ...] = (("price", "on_demand"), ("spot_price", "spot"))

HalfKey = tuple[str, str, str]  # host: machine, "", zone; GPUs: key of the name, count, zone
Priced = tuple[PriceState, Decimal | None, str]


class Half(msgspec.Struct, frozen=True):
    """What one half of a machine costs, as its line says."""

    accelerator: str
    price: str
    spot_price: str
    is_removed: bool


class _Stated(msgspec.Struct, frozen=True):
    """A machine and its two halves."""

    machine: str
    gpus: Half
    host: Half


@dataclass
class Together:
    """The newest line of each half so far."""

    halves: dict[HalfKey, Half] = field(default_factory=dict)

    def stated(self, lines: Sequence[RawLine]) -> Iterator[RawLine]:
        """Yield the lines of one moment, each with the machines whose new price it states."""
        keys = [_key_of(raw.fields) for raw in lines]
        twice = self._take(lines, keys)
        last = {pair: raw.line for raw, key in zip(lines, keys, strict=True) for pair in _machines_with(key)}
        for raw, key in zip(lines, keys, strict=True):
            extra = {_TWICE: twice[raw.line]} if raw.line in twice else {}
            pairs = _machines_with(key)
            if any(self._of(*pair) for pair in pairs):
                extra[_KNOWN] = "1"
            own = [self._of(*pair) for pair in pairs if last[pair] == raw.line]
            found = [stated for stated in own if stated]
            if found:
                extra[_HALVES] = msgspec.json.encode(found).decode()
            yield RawLine(raw.line, {**raw.fields, **extra})

    def _take(self, lines: Sequence[RawLine], keys: Sequence[HalfKey | None]) -> dict[int, str]:
        """Note the halves; return lines that state one of them twice: which is right is not known."""
        first: dict[HalfKey, int] = {}
        twice: dict[int, str] = {}
        for raw, key in zip(lines, keys, strict=True):
            if key is None:
                continue
            if key in first:
                twice[raw.line], twice[first[key]] = str(first[key]), str(raw.line)
                continue
            first[key] = raw.line
            self.halves[key] = _half(raw.fields)
        for key, line in first.items():
            if line in twice:
                del self.halves[key]
        return twice

    def _of(self, name: str, zone: str) -> _Stated | None:
        machine = _machine(name)
        host = self.halves.get((name, "", zone))
        gpus = self.halves.get((*_gpus_of(machine), zone))
        return _Stated(name, gpus, host) if host and gpus else None


def _half(fields: Mapping[str, str]) -> Half:
    return Half(fields["accelerator"], fields["price"], fields["spot_price"], fields["event"] == REMOVED)


def _machine(name: str) -> Machine:
    machine = machine_of("gcp", name)
    if machine is None:
        raise RowError("instance_type", name, "machine_unknown", "a machine type of the table")
    return machine


def _gpus_of(machine: Machine) -> tuple[str, str]:
    return accelerator_key(machine.accelerator_name), f"{machine.gpu_count.normalize():f}"


@cache
def _hosts() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the machines that hold so many of an accelerator."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for machine in machines_of("gcp"):
        key = _gpus_of(machine)
        found[key] = (*found.get(key, ()), machine.name)
    return found


def _key_of(fields: Mapping[str, str]) -> HalfKey | None:
    """Return which half a line prices, None where it is neither."""
    if fields["instance_type"]:
        is_host = not fields["accelerator"] and machine_of("gcp", fields["instance_type"]) is not None
        return (fields["instance_type"], "", fields["zone"]) if is_host else None
    try:
        count = number("accelerator_count", fields["accelerator_count"])
    except RowError:
        return None
    return accelerator_key(fields["accelerator"]), f"{count.normalize():f}", fields["zone"]


def _machines_with(key: HalfKey | None) -> list[tuple[str, str]]:
    """Return machine and zone of every machine that a half is part of."""
    if key is None:
        return []
    name, count, zone = key
    if not count:
        return [(name, zone)]
    return [(machine, zone) for machine in _hosts().get((name, count), ())]


def _check_half(fields: Mapping[str, str]) -> None:
    """Refuse a line that is neither half, or whose amounts are none. The mirror writes 0.0 for A4 hosts."""
    machine, name = fields["instance_type"], fields["accelerator"]
    if machine and name:
        raise RowError("accelerator", name, "host_with_accelerator", "empty on the line of a host")
    if machine and machine_of("gcp", machine) is None:
        raise OutOfScope("no_accelerator", "instance_type", machine, "a machine with an accelerator")
    for column, _ in _TERMS:
        if fields[column] and not (machine and number(column, fields[column]) == 0):
            price(column, fields[column])
    if machine:
        return
    count = number("accelerator_count", fields["accelerator_count"])
    if name in _ON_N1:
        raise OutOfScope(
            "gpu_without_host",
            "accelerator",
            name,
            "GPUs of a machine type: these attach to an N1 of any size",
        )
    if (accelerator_key(name), f"{count.normalize():f}") not in _hosts():
        raise RowError("accelerator", f"{count} x {name}", "host_unknown", "GPUs of a known machine type")


def _half_alone(fields: Mapping[str, str]) -> OutOfScope:
    """Return why a line states no machine."""
    column = "instance_type" if fields["instance_type"] else "accelerator"
    if _KNOWN in fields:
        return OutOfScope(
            "part_of_machine",
            column,
            fields[column],
            "its price is added to the other half's, on a later line of the same moment",
        )
    rule, other = (
        ("gpu_price_missing", "its GPUs") if fields["instance_type"] else ("host_price_missing", "a host")
    )
    return OutOfScope(rule, column, fields[column], f"an earlier line for {other} in {fields['zone']}")


def _sum(stated: _Stated, column: str) -> Priced:
    """Return GPUs plus host, or why there is no such sum."""
    if stated.gpus.is_removed or stated.host.is_removed:
        gone = "its GPUs" if stated.gpus.is_removed else "the host"
        return "not_sold", None, f"the catalogue lists {gone} no longer"
    gpus, host = (
        (stated.gpus.price, stated.host.price)
        if column == "price"
        else (stated.gpus.spot_price, stated.host.spot_price)
    )
    if not gpus:
        return "not_sold", None, "the catalogue gives no such price for the GPUs"
    if not host:
        return "unknown", None, f"the catalogue prices the GPUs but not the host {stated.machine}"
    if number(column, host) == 0:
        return "unknown", None, f"the catalogue prices the host {stated.machine} at 0.00, which is not so"
    return "priced", price(column, gpus) + price(column, host), ""


def _rows(stated: _Stated, fields: Mapping[str, str], at: datetime) -> Iterable[PriceRow]:
    machine = _machine(stated.machine)
    for column, term in _TERMS:
        state, amount, reason = _sum(stated, column)
        yield PriceRow(
            provider="gcp",
            sku=machine.name,
            accelerator_name=stated.gpus.accelerator,
            gpu_count=machine.gpu_count,
            region=fields["region"],
            zone=fields["zone"],
            term=term,
            state=state,
            state_reason=reason,
            price_per_hour=amount,
            effective_from=at,
            vcpus=machine.vcpus,
            memory_gib=machine.memory_gib,
        )


def machine_rows(fields: Mapping[str, str], at: datetime) -> list[PriceRow]:
    """Return the machines whose price changes with this line, or refuse a half that changes none."""
    _check_half(fields)
    if _TWICE in fields:
        raise RowError(
            "price",
            fields["price"],
            "two_prices_at_one_moment",
            f"one price at a moment; line {fields[_TWICE]} states another",
        )
    if _HALVES not in fields:
        raise _half_alone(fields)
    stated = msgspec.json.decode(fields[_HALVES], type=list[_Stated])
    return [row for each in stated for row in _rows(each, fields, at)]

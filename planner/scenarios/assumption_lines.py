"""The inputs of a plan that have a default: what they are here, and where that comes from."""

from dataclasses import dataclass
from decimal import Decimal

from planner.forms.fields import plain
from planner.models import OwnedSupply, Revision
from planner.queries import supplies_of
from planner.scenarios.assumptions import GENERAL, OWNED, POWER_SOURCE, Assumption, server_kw


@dataclass(frozen=True)
class AssumptionLine:
    """One input of the plan that has a default: what it is here, and where that comes from."""

    supply: str
    label: str
    value: str
    unit: str
    source: str
    is_default: bool


def assumption_lines(revision: Revision, gpu_power_w: Decimal | None) -> list[AssumptionLine]:
    """Return every input that has a default, with its source: the default's, or who typed it."""
    who = f"typed by {revision.author}" if revision.author else "typed"
    lines = [
        _line("", one, getattr(revision, one.field), who) for one in GENERAL if hasattr(revision, one.field)
    ]
    for supply in supplies_of(revision):
        if isinstance(supply, OwnedSupply):
            lines += [_line(supply.name, one, getattr(supply, one.field), who) for one in OWNED]
            lines += _power_lines(supply, gpu_power_w, who)
    return lines


def _line(supply: str, one: Assumption, value: Decimal | int | None, who: str) -> AssumptionLine:
    is_default = value == one.value
    shown = "unknown" if value is None else plain(Decimal(value) * (100 if one.is_share else 1))
    return AssumptionLine(supply, one.label, shown, one.unit, one.source if is_default else who, is_default)


def _power_lines(supply: OwnedSupply, gpu_power_w: Decimal | None, who: str) -> list[AssumptionLine]:
    defaults = server_kw(gpu_power_w, supply.gpus_per_server)
    found = (("Idle power", supply.idle_kw_per_server), ("Maximum power", supply.max_kw_per_server))
    return [
        _power_line(supply.name, label, value, default, who)
        for (label, value), default in zip(found, defaults, strict=True)
    ]


def _power_line(
    supply: str, label: str, value: Decimal | None, default: Decimal | None, who: str
) -> AssumptionLine:
    if value is None:
        return AssumptionLine(supply, label, "unknown", "kW per server", "not given", is_default=False)
    source = POWER_SOURCE if value == default else who
    return AssumptionLine(supply, label, plain(value), "kW per server", source, value == default)

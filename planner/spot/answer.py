"""The sentence that opens the spot page: is it worth it, and how sure is that."""

from dataclasses import dataclass

from planner.spot.days import full_day
from planner.spot.gather import Spot
from planner.spot.zones import ZoneLine
from planner.templatetags.units import NBSP, age, percent, usd_per_hour

WORTH, COSTS_NOW = "worth", "costs-now"


@dataclass(frozen=True)
class Part:
    """A piece of the sentence; `explain` names the explanation that it opens."""

    text: str
    explain: str = ""


@dataclass(frozen=True)
class Answer:
    parts: tuple[Part, ...]
    more: str

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def answer_of(spot: Spot) -> Answer | None:
    """Return the answer; None where no zone has a price."""
    line = spot.best
    if line is None:
        return None
    if spot.is_stale:
        end = full_day(spot.ends_at)
        return Answer(
            (Part(f"Prices end {end}: whether spot is worth it today is unknown."),),
            f"The newest is {age(spot.ends_at, spot.until)}, over twice the cadence of its source. "
            f"{_price(spot, line)}",
        )
    if line.on_demand_usd is None:
        return Answer(
            (Part(f"Spot is {_rate(line, spot)} in {line.label}; whether that is worth it is unknown."),),
            f"On demand is unknown: {line.on_demand_reason}. {_losses(line)}",
        )
    limit = line.pays_under.value or 0.0
    if limit <= 0:
        return Answer((Part("Not worth it: spot costs as much as on demand, or more."),), _price(spot, line))
    return _worth(spot, line, limit)


def _worth(spot: Spot, line: ZoneLine, limit: float) -> Answer:
    under = Part(percent(limit), WORTH)
    costs = line.costs_share
    more = f"{_price(spot, line)} {_dated(line)}{_losses(line)}".strip()
    start = (Part("Worth it while interruptions cost under "), under, Part(" of hours; "))
    if costs.value is None or (costs.is_bound and line.is_band_old):
        return Answer((*start, Part(_unknown(line))), more)
    now = Part(percent(costs.value), COSTS_NOW)
    if costs.is_bound:
        return Answer((*start, Part("now at least "), now, Part(".")), more)
    if costs.value < limit:
        return Answer((*start, Part("now "), now, Part(".")), more)
    no = (Part("Not worth it: interruptions cost "), now, Part(" of hours, and it pays only under "), under)
    return Answer((*no, Part(".")), more)


def _unknown(line: ZoneLine) -> str:
    if line.work is not None and line.work.refusal:
        return "machines are lost too often for that to be worked out."
    return "what they cost now is unknown."


def _price(spot: Spot, line: ZoneLine) -> str:
    text = (
        f"{line.label} is the cheapest at {_rate(line, spot)}"
        if len(spot.lines) > 1
        else (f"{line.label} is at {_rate(line, spot)}")
    )
    if line.effective.value is not None and not line.effective.is_bound:
        text = f"{line.label} is at {_rate(line, spot)}"
        text += f", {usd_per_hour(line.effective.value)} per useful {spot.unit}"
    if line.on_demand_usd is None:
        return f"{text}."
    return f"{text}; on demand {usd_per_hour(line.on_demand_usd)}."


def _dated(line: ZoneLine) -> str:
    """Return a sentence about an on-demand price of another day."""
    if line.on_demand is None or not (line.is_held_against_another_day or line.is_on_demand_old):
        return ""
    why = (
        "none is on file for these days"
        if line.is_held_against_another_day
        else "older than twice its cadence"
    )
    return f"That on-demand price is of {full_day(line.on_demand.as_of)}: {why}. "


def _losses(line: ZoneLine) -> str:
    """Return what is known of interruptions, and how far that goes."""
    evidence = line.evidence
    if line.work is not None and line.work.refusal:
        return f"Refused: {line.work.refusal} ({evidence.mtbf_hours:.2g}{NBSP}h)."
    if evidence.kind == "band" and evidence.band is not None:
        old = ", a list older than twice its cadence" if line.is_band_old else ""
        return (
            f"{evidence.band.label} of machines were interrupted in the month before "
            f"{full_day(evidence.band.as_of)}{old}: no more than a lower bound."
        )
    if evidence.kind == "none":
        return "No interruption data: neither a measured trace nor a published band."
    return ""


def _rate(line: ZoneLine, spot: Spot) -> str:
    return f"{usd_per_hour(line.now_usd)}/{spot.unit}"


def on_demand_line(spot: Spot) -> str:
    """Return what is to be said about the on-demand prices under the table, or nothing."""
    stand_ins = [line for line in spot.lines if line.is_held_against_another_day]
    old = [line for line in spot.lines if line.is_on_demand_old and line not in stand_ins]
    if old:
        days = ", ".join(sorted({full_day(line.on_demand.as_of) for line in old if line.on_demand}))
        return f"On-demand prices of {days} are used though they are older than twice their cadence."
    if stand_ins:
        days = ", ".join(sorted({full_day(line.on_demand.as_of) for line in stand_ins if line.on_demand}))
        return f"On-demand prices of {days} stand in: none is on file for the days of these spot prices."
    reasons = {line.on_demand_reason for line in spot.lines if line.on_demand is None}
    if len(reasons) == 1:
        return f"On demand: {reasons.pop()}."
    return f"On demand is unknown in {len(reasons)} regions." if reasons else ""

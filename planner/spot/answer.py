"""The sentence that opens the spot page: is it worth it, and how sure is that."""

from dataclasses import dataclass

from planner.spot.days import full_day
from planner.spot.gather import Spot
from planner.spot.keys import key_of
from planner.spot.zones import ZoneLine
from planner.templatetags.units import NBSP, age, percent, usd_per_hour

WORTH, COSTS_NOW, ON_DEMAND, MTBF = "worth", "costs-now", "on-demand", "mtbf"


@dataclass(frozen=True)
class Part:
    """A piece of the sentence; `explain` names the explanation that it opens."""

    text: str
    explain: str = ""


@dataclass(frozen=True)
class Answer:
    parts: tuple[Part, ...]
    more: tuple[Part, ...]

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
        age_words = age(spot.ends_at, spot.until)
        return Answer(
            (Part(f"Prices end {end}: whether spot is worth it today is unknown."),),
            (
                Part(f"The newest is {age_words}, over twice the cadence of its source. "),
                *_price(spot, line),
            ),
        )
    if line.on_demand_usd is None:
        rate = _rate(line, spot)
        return Answer(
            (Part("Spot is "), rate, Part(f" in {line.label}; whether that is worth it is unknown.")),
            (Part(f"On demand is unknown: {line.on_demand_reason}. "), *_losses(line)),
        )
    limit = line.pays_under.value or 0.0
    if limit <= 0:
        return Answer((Part("Not worth it: spot costs as much as on demand, or more."),), _price(spot, line))
    return _worth(spot, line, limit)


def _worth(spot: Spot, line: ZoneLine, limit: float) -> Answer:
    under = Part(percent(limit), WORTH)
    costs = line.costs_share
    more = (*_price(spot, line), Part(" "), *_dated(line), *_losses(line))
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


def _price(spot: Spot, line: ZoneLine) -> tuple[Part, ...]:
    is_known = line.effective.value is not None and not line.effective.is_bound
    is_cheapest = len(spot.lines) > 1 and not is_known
    start = Part(f"{line.label} is the cheapest at " if is_cheapest else f"{line.label} is at ")
    parts = [start, _rate(line, spot)]
    if is_known:
        useful = Part(usd_per_hour(line.effective.value), key_of("effective", spot.lines, line))
        parts += [Part(", "), useful, Part(f" per useful {spot.unit}")]
    if line.on_demand_usd is not None:
        parts += [Part("; on demand "), Part(usd_per_hour(line.on_demand_usd), ON_DEMAND)]
    return (*parts, Part("."))


def _dated(line: ZoneLine) -> tuple[Part, ...]:
    """Return a sentence about an on-demand price of another day."""
    if line.on_demand is None or not (line.is_held_against_another_day or line.is_on_demand_old):
        return ()
    why = (
        "none is on file for these days"
        if line.is_held_against_another_day
        else "older than twice its cadence"
    )
    return (Part(f"That on-demand price is of {full_day(line.on_demand.as_of)}: {why}. "),)


def _losses(line: ZoneLine) -> tuple[Part, ...]:
    """Return what is known of interruptions, and how far that goes."""
    evidence = line.evidence
    if line.work is not None and line.work.refusal:
        hours = Part(f"{evidence.mtbf_hours:.2g}{NBSP}h", MTBF)
        return (Part(f"Refused: {line.work.refusal} ("), hours, Part(")."))
    if evidence.kind == "band" and evidence.band is not None:
        old = ", a list older than twice its cadence" if line.is_band_old else ""
        text = (
            f"{evidence.band.label} of machines were interrupted in the month before "
            f"{full_day(evidence.band.as_of)}{old}: no more than a lower bound."
        )
        return (Part(text),)
    if evidence.kind == "none":
        return (Part("No interruption data: neither a measured trace nor a published band."),)
    return ()


def _rate(line: ZoneLine, spot: Spot) -> Part:
    return Part(f"{usd_per_hour(line.now_usd)}/{spot.unit}", key_of("now", spot.lines, line))


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

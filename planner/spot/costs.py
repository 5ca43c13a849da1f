"""What one job costs on spot in the zone that the page's answer is about."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.spot.gather import Spot
from planner.spot.zones import Known, ZoneLine
from planner.templatetags.units import NBSP, percent, usd_per_hour, usd_short


@dataclass(frozen=True)
class Fact:
    """One line: a name, its value as text, and what opens from it; without a value the reason stands."""

    name: str
    text: str
    reason: str = ""
    explain: str = ""
    note: str = ""


def job_facts(spot: Spot, line: ZoneLine, opens: dict[str, str]) -> list[Fact]:
    """Return what the job comes to in a zone; figures open to the explanations of the zone's row."""
    unit = f"per useful {spot.unit}"
    return [
        Fact("Price now", f"{usd_per_hour(line.now_usd)}/{spot.unit}", explain=opens["now"], note=line.label),
        _money(f"Effective, checkpoint every {_minutes(line.job.interval_hours)}", line.effective, unit,
               opens["effective"]),
        _interval(line, opens["interval"]),
        _money("Effective at the best interval", line.best_effective, unit, "best-effective"),
        *_of_job(spot, line),
        _late(line, opens["missed"]),
    ]  # fmt: skip


def interval_text(known: Known) -> str:
    """Return an interval: 22 min, 8.1 h; "at most" before a bound."""
    if known.value is None:
        return ""
    text = _minutes(known.value)
    return f"≤{NBSP}{text}" if known.is_bound else text


def money_text(known: Known) -> str:
    """Return a price, "≥" before a lower bound."""
    if known.value is None:
        return ""
    text = usd_per_hour(known.value)
    return f"≥{NBSP}{text}" if known.is_bound else text


def _minutes(hours: float) -> str:
    minutes = hours * 60
    if minutes < 120:
        return f"{minutes:.3g}{NBSP}min"
    return f"{hours:.3g}{NBSP}h" if hours < 100 else f"{hours:,.0f}{NBSP}h"


def _money(name: str, known: Known, unit: str, explain: str) -> Fact:
    if known.value is None:
        return Fact(name, "", known.reason)
    return Fact(name, money_text(known), "", explain, unit)


def _interval(line: ZoneLine, explain: str) -> Fact:
    known = line.best_interval
    text = interval_text(known)
    return Fact("Best interval", text, known.reason, explain)


def _of_job(spot: Spot, line: ZoneLine) -> Sequence[Fact]:
    """Return paid hours and money of the whole job, on spot and on demand."""
    job, gpus = line.job, float(line.gpu_count or 1) * line.job.machines
    facts = []
    usd = line.effective.value
    if usd is None or line.work is None:
        facts.append(Fact("The job on spot", "", line.effective.reason))
    else:
        least = "≥\u00a0" if line.effective.is_bound else ""
        hours = job.work_hours * line.work.paid_factor
        what = "GPU" if spot.is_per_gpu else "machine"
        note = f"{least}{hours:,.1f}{NBSP}h paid on {gpus:,.4g}{NBSP}{what}{'' if gpus == 1 else 's'}"
        facts.append(
            Fact(
                "The job on spot", f"{least}{usd_short(usd * gpus * job.work_hours)}", "", "job-on-spot", note
            )
        )
    if line.on_demand_usd is None:
        facts.append(Fact("The job on demand", "", line.on_demand_reason))
    else:
        whole = float(line.on_demand_usd) * gpus * job.work_hours
        note = "without losses or checkpoints"
        facts.append(Fact("The job on demand", usd_short(whole), "", "job-on-demand", note))
    return facts


def _late(line: ZoneLine, explain: str) -> Fact:
    known = line.missed
    text = "" if known.value is None else percent(known.value)
    return Fact("Late on spot alone", text, known.reason, explain)

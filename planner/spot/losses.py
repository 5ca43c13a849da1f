"""What stands behind the losses of a zone: the time between them, what they cost, and being late."""

import math

from planner.core.explain import Explanation, Input, context
from planner.core.spot import SpotWork
from planner.core.units import HOURS_PER_MONTH
from planner.forms.spot import Job
from planner.spot.days import full_day
from planner.spot.evidence import Evidence, Measured
from planner.spot.gather import Spot
from planner.spot.words import BAND_LIMIT, DALY, equals, text_of_hours, text_of_job, text_of_minutes
from planner.spot.zones import Known, ZoneLine
from planner.templatetags.units import count, percent, usd_per_hour, usd_short

KAPPA = "M * exp(R / M) * expm1((τ + δ) / M) / τ"
ENDLESS_KAPPA = "1 + δ / τ"


def costs_share(line: ZoneLine, work: SpotWork) -> Explanation:
    """Return the share of paid hours that losses, and the checkpoints against them, take."""
    costs = line.costs_share
    return Explanation(
        "What losses cost",
        "The share of paid hours that restarts, work done again and checkpoints take."
        + (f" {BAND_LIMIT}" if costs.is_bound else ""),
        f"{_kappa_text(work, line.job)}\n1 − 1 / κ {equals(costs.is_bound)} {percent(costs.value)}",
        _work_inputs(line, work),
        costs.value,
        "share of paid hours",
        f"1 - 1 / ({_kappa(work)})",
    )


def effective(
    spot: Spot, line: ZoneLine, work: SpotWork, known: Known, spot_inputs: tuple[Input, ...]
) -> Explanation:
    """Return dollars per useful hour at the interval of `work`; `spot_inputs` are the prices."""
    return Explanation(
        f"Effective price in {line.label}",
        f"What a {spot.unit} of useful work costs: restarts, work done again and checkpoints are paid too. "
        f"Waiting for capacity takes time and costs nothing. Losses are taken to come at random. {DALY}."
        + (f" {BAND_LIMIT}" if known.is_bound else ""),
        f"{_kappa_text(work, line.job)}\n{usd_per_hour(line.now_usd)} × κ {equals(known.is_bound)} "
        f"{usd_per_hour(known.value)} per useful {spot.unit}",
        (*spot_inputs, *_work_inputs(line, work), *_at_best(line)),
        known.value,
        f"USD per useful {spot.unit}",
        f"spot * ({_kappa(work)})",
    )


def best_interval(line: ZoneLine, mtbf_hours: float) -> Explanation:
    """Return the best hours of work between checkpoints, after Daly."""
    known, delta = line.best_interval, line.job.checkpoint_hours
    is_short = delta < 2.0 * mtbf_hours
    text = "" if known.value is None else text_of_minutes(known.value)
    formula = "√(2δM) · (1 + √(δ / 2M) / 3 + δ / 2M / 9) − δ" if is_short else "M"
    expression = "sqrt(2 * δ * M) * (1 + sqrt(δ / (2 * M)) / 3 + δ / (2 * M) / 9) - δ" if is_short else "M"
    return Explanation(
        f"Best checkpoint interval in {line.label}",
        "The work between two checkpoints that loses the least."
        + (" After a band it is the longest that can be best." if known.is_bound else "")
        + f" {DALY}.",
        f"τ = {formula} {'≤' if known.is_bound else '='} {text}",
        (_checkpoint(line.job), mtbf_input(line)),
        known.value,
        "hours",
        expression,
    )


def job_on_spot(spot: Spot, line: ZoneLine, work: SpotWork) -> Explanation:
    """Return what the whole job costs on spot."""
    usd, job, gpus = line.effective.value, line.job, gpus_of(line)
    paid = job.work_hours * work.paid_factor
    value = None if usd is None else usd * gpus * job.work_hours
    sign = equals(line.effective.is_bound)
    return Explanation(
        f"The job on spot in {line.label}",
        "The useful hours of the job at the effective price, on all its machines.",
        f"{usd_per_hour(usd)} × {gpus:,.4g} × {text_of_hours(job.work_hours)} {sign} {usd_short(value)}",
        (
            Input("Effective price", usd, f"{usd_per_hour(usd)} per useful {spot.unit}", symbol="effective"),
            *_job_inputs(spot, line),
            context("Paid hours", f"{paid:,.1f} h"),
        ),
        value,
        "USD",
        "effective * gpus * hours",
    )


def job_on_demand(spot: Spot, line: ZoneLine, price: Input) -> Explanation:
    """Return what the whole job costs on demand, without losses or checkpoints."""
    usd = None if line.on_demand_usd is None else float(line.on_demand_usd)
    value = None if usd is None else usd * gpus_of(line) * line.job.work_hours
    return Explanation(
        f"The job on demand in {line.label}",
        "The useful hours of the job at the on-demand price, without losses or checkpoints.",
        f"{usd_per_hour(usd)} × {gpus_of(line):,.4g} × {text_of_hours(line.job.work_hours)} "
        f"= {usd_short(value)}",
        (price, *_job_inputs(spot, line)),
        value,
        "USD",
        "on_demand * gpus * hours",
    )


def gpus_of(line: ZoneLine) -> float:
    """Return the GPUs of all machines of the job; the machines where their GPUs are not known."""
    return float(line.gpu_count or 1) * line.job.machines


def _job_inputs(spot: Spot, line: ZoneLine) -> tuple[Input, ...]:
    what = "GPUs" if spot.is_per_gpu else "Machines"
    hours = line.job.work_hours
    return (
        Input(what, gpus_of(line), f"{gpus_of(line):,.4g}", f"{count(line.job.machines)} machines", "gpus"),
        Input("Useful hours", hours, text_of_job(line.job.values["job"]), "of the form", "hours"),
    )


def missed(spot: Spot, line: ZoneLine, measured: Measured) -> Explanation:
    """Return how often the job would have been late on spot alone, and what moving in time would do."""
    late = sum(int((~one.alone_in_time).sum()) for one in measured.replays)
    job = line.job
    return Explanation(
        f"Late on spot alone, {line.label}",
        f"The job is replayed on measured capacity from {count(measured.starts)} starts spread over the "
        f"traces; it is late where {text_of_job(job.values['job'])} of work are not done in "
        f"{text_of_job(job.values['deadline'])}. Starts near each other see nearly the same hours: "
        "they are not independent.",
        f"late starts / starts = {count(late)} / {count(measured.starts)} = {percent(line.missed.value)}",
        (
            Input("Late starts", float(late), count(late), symbol="late"),
            Input("Starts", float(measured.starts), count(measured.starts), symbol="starts"),
            Input(
                "Traces", float(len(measured.series)), count(len(measured.series)), measured_words(measured)
            ),
            context(
                "Share of time with capacity", percent(measured.available_hours / measured.watched_hours)
            ),
            *_with_fallback(spot, line, measured),
        ),
        line.missed.value,
        "share of starts",
        "per(late, starts)",
    )


def _with_fallback(spot: Spot, line: ZoneLine, measured: Measured) -> tuple[Input, ...]:
    """Return what moving to on demand in time would do: when time left is work left and a restart."""
    switched, on_spot = measured.share_switched, measured.share_on_spot
    if switched is None or on_spot is None:
        return ()
    rule = "moved when time left ≤ work left + restart: never late"
    rows = [
        Input("Starts that end on demand", switched, percent(switched), rule),
        Input("Work done on spot then", on_spot, percent(on_spot), "a"),
    ]
    usd = fallback_usd(line, measured)
    if usd is not None:
        per = f"per useful {spot.unit}: spot paid for its hours, on demand for the rest"
        rows.append(Input("Cost with that fallback", usd, usd_per_hour(usd), per))
    return tuple(rows)


def fallback_usd(line: ZoneLine, measured: Measured) -> float | None:
    """Return dollars per useful hour with the move to on demand; None where a price is unknown or stale."""
    if line.now_usd is None or line.on_demand_usd is None or line.is_withheld or not measured.starts:
        return None
    spot_usd, on_demand_usd = float(line.now_usd), float(line.on_demand_usd)
    paid = sum(float(one.usd_per_node(spot_usd, on_demand_usd).sum()) for one in measured.replays)
    return paid / (measured.starts * line.job.work_hours)


def mtbf(line: ZoneLine) -> Explanation:
    """Return the mean time between losses of the job, from what says so."""
    evidence, job = line.evidence, line.job
    value = _finite(evidence.mtbf_hours)
    inputs, formula, expression = _mtbf_of(evidence, job)
    text = "without bound" if value is None else text_of_hours(value)
    return Explanation(
        f"Time between losses in {line.label}",
        "The mean time between losses of the whole job: it stops when any of its machines is lost."
        + (f" {BAND_LIMIT}" if evidence.is_bound else ""),
        f"M = {formula} {'≤' if evidence.is_bound else '='} {text}",
        inputs,
        value,
        "hours",
        expression,
    )


def _mtbf_of(evidence: Evidence, job: Job) -> tuple[tuple[Input, ...], str, str]:
    machines = Input("Machines", float(job.machines), count(job.machines), "of the form", "machines")
    measured, band = evidence.measured, evidence.band
    if evidence.kind == "typed" and job.mtbf_hours is not None:
        typed = Input("Of one machine", job.mtbf_hours, text_of_hours(job.mtbf_hours), "typed in", "typed")
        return (typed, machines), "of one machine / machines", "typed / machines"
    if evidence.kind == "measured" and measured is not None:
        hours = measured.available_hours
        there = Input("With capacity", hours, text_of_hours(hours), measured_words(measured), "available")
        lost = Input("Losses", float(measured.losses), count(measured.losses), symbol="losses")
        return (there, lost), "hours with capacity / losses", "available / losses"
    share = None if band is None else float(band.share_low)
    low = Input("Least share of the band", share, percent(share), says(evidence, job), "share")
    month = Input("Hours of a month", float(HOURS_PER_MONTH), f"{HOURS_PER_MONTH} h", symbol="month")
    return (
        (low, month, machines),
        "730 h / (−ln(1 − share) × machines)",
        "month / (-log1p(-share) * machines)",
    )


def mtbf_input(line: ZoneLine) -> Input:
    """Return the time between losses as an input of other figures."""
    evidence, job = line.evidence, line.job
    name = "M, mean time between losses of the job" + (", at most" if evidence.is_bound else "")
    value = _finite(evidence.mtbf_hours)
    text = "without bound" if value is None else text_of_hours(value)
    return Input(name, value, text, says(evidence, job), "M")


def _finite(hours: float | None) -> float | None:
    return None if hours is None or math.isinf(hours) else hours


def _checkpoint(job: Job) -> Input:
    return Input(
        "δ, writing one checkpoint", job.checkpoint_hours, text_of_minutes(job.checkpoint_hours),
        "of the form", "δ",
    )  # fmt: skip


def _work_inputs(line: ZoneLine, work: SpotWork) -> tuple[Input, ...]:
    job, interval = line.job, _finite(work.interval_hours)
    asked = interval is None or interval == job.interval_hours
    source = "of the form" if asked else "the best interval"
    text = "without bound" if interval is None else text_of_minutes(interval)
    restart = text_of_minutes(job.restart_hours)
    return (
        Input("τ, work between checkpoints", interval, text, source, "τ"),
        _checkpoint(job),
        Input("R, restart", job.restart_hours, restart, "of the form", "R"),
        mtbf_input(line),
    )


def _kappa(work: SpotWork) -> str:
    """Return the expression of the hours that are paid for one of useful work."""
    if not math.isinf(work.mtbf_hours):
        return KAPPA
    return "1" if math.isinf(work.interval_hours) else ENDLESS_KAPPA


def _kappa_text(work: SpotWork, job: Job) -> str:
    interval = "without bound" if math.isinf(work.interval_hours) else text_of_minutes(work.interval_hours)
    minutes = (
        f"τ {interval}, δ {text_of_minutes(job.checkpoint_hours)}, R {text_of_minutes(job.restart_hours)}"
    )
    if math.isinf(work.mtbf_hours):
        return f"{minutes}, M without bound\nκ = 1 + δ / τ = {work.paid_factor:.4f}"
    return (
        f"{minutes}, M {text_of_hours(work.mtbf_hours)}\n"
        f"κ = M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ = {work.paid_factor:.4f}"
    )


def _at_best(line: ZoneLine) -> tuple[Input, ...]:
    best, price = line.best, line.best_effective.value
    if best is None or price is None or math.isinf(best.interval_hours):
        return ()
    return (
        Input(
            "At the best interval", price, usd_per_hour(price), f"τ {text_of_minutes(best.interval_hours)}"
        ),
    )


def says(evidence: Evidence, job: Job) -> str:
    """Return what states the mean time between losses."""
    machines = f", for {count(job.machines)} machines" if job.machines > 1 else ""
    if evidence.kind == "typed":
        return f"typed in{machines}"
    if evidence.kind == "measured" and evidence.measured is not None:
        return measured_words(evidence.measured)
    if evidence.kind == "band" and evidence.band is not None:
        band = evidence.band
        return f"band {band.label} of {full_day(band.as_of)}, run {band.run_id}: {band.region}{machines}"
    return evidence.reason


def measured_words(measured: Measured) -> str:
    """Return what was measured, where and when."""
    first = min(one.starts_at[0] for one in measured.series)
    last = max(one.last_seen_at[-1] for one in measured.series)
    zones = ", ".join(sorted({one.zone for one in measured.series}))
    place = "the zone" if measured.of_zone else f"the region, zones {zones}"
    return (
        f"{count(measured.available_hours)} h of capacity and {count(measured.losses)} losses in "
        f"{count(len(measured.series))} traces of {place}, {full_day(first)} to {full_day(last)}"
    )

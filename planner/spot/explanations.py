"""What stands behind each figure of the spot page: formula, this case's numbers, inputs and their source."""

from collections.abc import Sequence

from planner.core.explain import Explanation
from planner.core.spot import TOO_OFTEN, SpotWork
from planner.forms.spot import Job, text_of
from planner.spot.answer import COSTS_NOW, WORTH
from planner.spot.days import full_day
from planner.spot.evidence import Evidence, Measured
from planner.spot.gather import Spot
from planner.spot.zones import ZoneLine
from planner.templatetags.units import count, moment, percent, usd_per_hour

Inputs = tuple[tuple[str, str, str], ...]
DALY = "J. T. Daly, FGCS 22 (2006) 303"
BAND_LIMIT = (
    "The band is the share of machines that were interrupted in the month before. Taken as a rate it needs "
    "every machine to have run the whole month; most live shorter, so the real rate is higher: a lower bound."
)


def explanations(spot: Spot) -> dict[str, Explanation]:
    """Return the explanations by their key: those of the answer, of columns, and of each zone's figures."""
    found = _columns(spot)
    if spot.best is not None:
        found |= _of_answer(spot.best)
    for number, line in enumerate(spot.lines):
        if line.effective.value is not None:
            found[f"effective-{number}"] = _effective(spot, line)
        if line.missed.value is not None and line.evidence.measured is not None:
            found[f"missed-{number}"] = _missed(spot, line, line.evidence.measured)
    return found


def _columns(spot: Spot) -> dict[str, Explanation]:
    job = spot.ask.job
    return {
        "column-spread": Explanation(
            "p50 and p95",
            "The lowest price at or below which the price was for 50 or 95 % of the watched time. Each price "
            "counts for as long as it held; gaps count for nothing.",
            "",
            (("Watched", "between the first and the last sample in the window, without gaps", ""),),
        ),
        "column-volatility": Explanation(
            "Volatility",
            "How far the price strays from its mean, weighted by time. Since auctions ended it is mostly "
            "under 10 %: the risk of spot is that capacity is taken back, not that the price jumps.",
            "standard deviation / mean",
            (),
        ),
        "column-under": Explanation(
            "Under on-demand × 0.6",
            "The share of watched time in which spot cost at most 60 % of the on-demand price of the same "
            "machine and region: cheap enough to bear losses of 40 % of the hours.",
            "time with price ≤ 0.6 × on demand / watched time",
            (),
        ),
        "column-band": Explanation(
            "Interruptions as published",
            BAND_LIMIT,
            "hazard per hour ≥ −ln(1 − share) / 730",
            (),
        ),
        "column-interval": Explanation(
            "Best checkpoint interval",
            "The work between two checkpoints that loses the least. After a band it is the longest that can "
            f"be best: losses come at least as often as the band says. {DALY}.",
            "τ = √(2δM) · (1 + √(δ / 2M) / 3 + δ / 2M / 9) − δ where δ < 2M, else M",
            (("δ, writing one checkpoint", text_of_minutes(job.checkpoint_hours), "of the form"),),
        ),
        "column-effective": Explanation(
            "Effective price",
            "What an hour of useful work costs: the price times the hours that are paid for one. "
            f"Refused where τ + R > M: {TOO_OFTEN}. {DALY}.",
            "price × κ, κ = M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ",
            (
                ("τ, work between checkpoints", text_of_minutes(job.interval_hours), "of the form"),
                ("δ, writing one checkpoint", text_of_minutes(job.checkpoint_hours), "of the form"),
                ("R, restart", text_of_minutes(job.restart_hours), "of the form"),
                ("M, mean time between losses", "by zone", "typed in, measured, or bounded by the band"),
            ),
        ),
        "column-missed": Explanation(
            "P(miss deadline)",
            "How often the job would have been late on spot alone, replayed on measured traces of the "
            "capacity of the same machines in the zone, or in its region. Without traces nothing is said: a "
            "mean hides that capacity comes in long spells.",
            "late starts / starts",
            (
                ("Work", text_of_job(job.values["job"]), "of the form"),
                ("Deadline", text_of_job(job.values["deadline"]), "of the form"),
            ),
        ),
    }


def text_of_minutes(hours: float) -> str:
    """Return hours as minutes: 20 min."""
    return f"{hours * 60:.3g} min"


def _of_answer(line: ZoneLine) -> dict[str, Explanation]:
    found: dict[str, Explanation] = {}
    limit, costs = line.pays_under.value, line.costs_share
    if limit is not None:
        found[WORTH] = Explanation(
            "What losses may cost",
            f"The share of paid hours that may be lost in {line.label} before a useful hour on spot costs as "
            "much as one on demand.",
            f"1 − spot / on demand = 1 − {usd_per_hour(line.now_usd)} / {usd_per_hour(line.on_demand_usd)} "
            f"= {percent(limit)}",
            _prices(line),
        )
    if costs.value is not None and line.work is not None:
        found[COSTS_NOW] = Explanation(
            "What losses cost",
            "The share of paid hours that restarts, work done again and checkpoints take."
            + (f" {BAND_LIMIT}" if costs.is_bound else ""),
            f"{_kappa(line.work, line.job)}\n1 − 1 / κ {_equals(costs.is_bound)} {percent(costs.value)}",
            _inputs(line),
        )
    return found


def _effective(spot: Spot, line: ZoneLine) -> Explanation:
    effective, work = line.effective, line.work
    if work is None or effective.value is None:
        raise ValueError("a line with an effective price")
    sign = _equals(effective.is_bound)
    return Explanation(
        f"Effective price in {line.label}",
        f"What a {spot.unit} of useful work costs: restarts, work done again and checkpoints are paid too. "
        f"Waiting for capacity takes time and costs nothing. Losses are taken to come at random. {DALY}."
        + (f" {BAND_LIMIT}" if effective.is_bound else ""),
        f"{_kappa(work, line.job)}\n{usd_per_hour(line.now_usd)} × κ {sign} "
        f"{usd_per_hour(effective.value)} per useful {spot.unit}",
        (*_prices(line), *_inputs(line), *_at_best(line)),
    )


def _kappa(work: SpotWork, job: Job) -> str:
    minutes = ", ".join(
        f"{name} {text_of_minutes(hours)}"
        for name, hours in (
            ("τ", work.interval_hours), ("δ", job.checkpoint_hours), ("R", job.restart_hours),
        )
    )  # fmt: skip
    if work.mtbf_hours == float("inf"):
        return f"{minutes}, M without bound\nκ = 1 + δ / τ = {work.paid_factor:.4f}"
    return (
        f"{minutes}, M {_hours(work.mtbf_hours)}\n"
        f"κ = M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ = {work.paid_factor:.4f}"
    )


def _equals(is_bound: bool) -> str:
    return "≥" if is_bound else "="


def _hours(value: float) -> str:
    return f"{value:,.0f} h" if value >= 100 else f"{value:.3g} h"


def _prices(line: ZoneLine) -> Inputs:
    series = line.series
    spot_price = (
        "Spot price",
        usd_per_hour(line.now_usd),
        f"{series.source} run {series.run_id}, last seen {moment(series.last_seen_at)}",
    )
    if line.on_demand is None:
        return (spot_price,)
    stated = line.on_demand
    said = f"{stated.source} run {stated.run_id}, as of {full_day(stated.as_of)}"
    return spot_price, ("On demand", usd_per_hour(line.on_demand_usd), said)


def _inputs(line: ZoneLine) -> Inputs:
    evidence = line.evidence
    name = "M, mean time between losses of the job" + (", at most" if evidence.is_bound else "")
    bounded = evidence.mtbf_hours is not None and evidence.mtbf_hours != float("inf")
    value = _hours(evidence.mtbf_hours) if bounded and evidence.mtbf_hours else "without bound"
    return ((name, value, says(evidence, line.job)),)


def says(evidence: Evidence, job: Job) -> str:
    """Return what states the mean time between losses."""
    machines = f", for {count(job.machines)} machines" if job.machines > 1 else ""
    if evidence.kind == "typed":
        return f"typed in{machines}"
    if evidence.kind == "measured" and evidence.measured is not None:
        return _measured(evidence.measured)
    if evidence.kind == "band" and evidence.band is not None:
        band = evidence.band
        return f"band {band.label} of {full_day(band.as_of)}, run {band.run_id}: {band.region}{machines}"
    return evidence.reason


def _measured(measured: Measured) -> str:
    first, last = _extent(measured)
    place = "the zone" if measured.of_zone else f"the region, zones {_zones(measured)}"
    return (
        f"{count(measured.available_hours)} h of capacity and {count(measured.losses)} losses in "
        f"{count(len(measured.series))} traces of {place}, {first} to {last}"
    )


def _zones(measured: Measured) -> str:
    return ", ".join(sorted({one.zone for one in measured.series}))


def _extent(measured: Measured) -> tuple[str, str]:
    first = min(one.starts_at[0] for one in measured.series)
    last = max(one.last_seen_at[-1] for one in measured.series)
    return full_day(first), full_day(last)


def _at_best(line: ZoneLine) -> Inputs:
    best, price = line.best, line.best_effective.value
    if best is None or price is None or best.interval_hours == float("inf"):
        return ()
    return (("At the best interval", usd_per_hour(price), f"τ {text_of_minutes(best.interval_hours)}"),)


def _missed(spot: Spot, line: ZoneLine, measured: Measured) -> Explanation:
    job = line.job
    missed = line.missed.value
    return Explanation(
        f"Late on spot alone, {line.label}",
        f"The job is replayed on measured capacity from {count(measured.starts)} starts spread over the "
        f"traces; it is late where {text_of_job(job.values['job'])} of work are not done in "
        f"{text_of_job(job.values['deadline'])}. Starts near each other see nearly the same hours: "
        "they are not independent.",
        f"late starts / starts = {percent(missed)}",
        (
            ("Traces", count(len(measured.series)), _measured(measured)),
            ("Share of time with capacity", percent(measured.available_hours / measured.watched_hours), ""),
            *_with_fallback(spot, line, measured),
        ),
    )


def text_of_job(value: object) -> str:
    """Return hours of the form: 72 h."""
    return f"{text_of(value)} h"  # type: ignore[arg-type] # both have defaults


def _with_fallback(spot: Spot, line: ZoneLine, measured: Measured) -> Inputs:
    """Return what moving to on demand in time would do: when time left is work left and a restart."""
    switched, on_spot = measured.share_switched, measured.share_on_spot
    if switched is None or on_spot is None:
        return ()
    rule = "moved when time left ≤ work left + restart: never late"
    rows: list[tuple[str, str, str]] = [("Starts that end on demand", percent(switched), rule)]
    rows.append(("Work done on spot then", percent(on_spot), "a"))
    usd = fallback_usd(line, measured)
    if usd is not None:
        per = f"per useful {spot.unit}: spot paid for its hours, on demand for the rest"
        rows.append(("Cost with that fallback", usd_per_hour(usd), per))
    return tuple(rows)


def fallback_usd(line: ZoneLine, measured: Measured) -> float | None:
    """Return dollars per useful hour with the move to on demand; None where a price is unknown or stale."""
    if line.now_usd is None or line.on_demand_usd is None or line.is_withheld or not measured.starts:
        return None
    spot_usd, on_demand_usd = float(line.now_usd), float(line.on_demand_usd)
    paid = sum(float(one.usd_per_node(spot_usd, on_demand_usd).sum()) for one in measured.replays)
    return paid / (measured.starts * line.job.work_hours)


def keys_of(lines: Sequence[ZoneLine]) -> list[dict[str, str]]:
    """Return, line by line, which explanations its figures open."""
    return [
        {
            "effective": f"effective-{number}" if line.effective.value is not None else "",
            "missed": f"missed-{number}" if line.missed.value is not None else "",
        }
        for number, line in enumerate(lines)
    ]

"""What stands behind each figure of the spot page: formula, this case's numbers, inputs and their source."""

from collections.abc import Sequence
from functools import partial

from planner.core.explain import Explanation
from planner.explanations import Explanations, Writers
from planner.spot import losses
from planner.spot.answer import COSTS_NOW, WORTH
from planner.spot.columns import columns
from planner.spot.gather import Spot
from planner.spot.keys import key_of
from planner.spot.watched import Watched
from planner.spot.zones import ZoneLine

FIGURES = ("now", "p50", "p95", "volatility", "under", "effective", "interval", "missed")


def explanations(spot: Spot) -> Explanations:
    """Return the explanations by their key: those of columns, of each zone's figures, and of the answer."""
    found: Writers = {key: partial(_as_is, told) for key, told in columns(spot).items()}
    for line in spot.lines:
        writers = _of_zone(spot, line)
        found |= {key_of(figure, spot.lines, line): writer for figure, writer in writers.items()}
    if spot.best is not None:
        found |= _of_best(spot, spot.best)
    return Explanations(found)


def _as_is(told: Explanation) -> Explanation:
    return told


def _of_zone(spot: Spot, line: ZoneLine) -> Writers:
    """Return the writers of the figures in a zone's row: of those that are known."""
    watched = Watched(spot, line)
    found: Writers = {}
    if line.now_usd is not None:
        found["now"] = watched.now
    if line.spread is not None:
        found["p50"] = partial(watched.quantile, "p50", 0.5)
        found["p95"] = partial(watched.quantile, "p95", 0.95)
    if line.volatility is not None:
        found["volatility"] = watched.volatility
    if line.under_share is not None:
        found["under"] = watched.under
    if line.effective.value is not None and line.work is not None:
        found["effective"] = partial(
            losses.effective, spot, line, line.work, line.effective, watched.price_inputs
        )
    if line.best_interval.value is not None and line.evidence.mtbf_hours is not None:
        found["interval"] = partial(losses.best_interval, line, line.evidence.mtbf_hours)
    if line.missed.value is not None and line.evidence.measured is not None:
        found["missed"] = partial(losses.missed, spot, line, line.evidence.measured)
    return found


def _of_best(spot: Spot, line: ZoneLine) -> Writers:
    """Return the writers of what is said of the best zone alone: the answer, and what the job costs there."""
    watched = Watched(spot, line)
    found: Writers = {}
    if line.pays_under.value is not None:
        found[WORTH] = watched.worth
    if line.costs_share.value is not None and line.work is not None:
        found[COSTS_NOW] = partial(losses.costs_share, line, line.work)
    if line.on_demand_usd is not None:
        found["on-demand"] = watched.on_demand
        found["job-on-demand"] = partial(losses.job_on_demand, spot, line, watched.on_demand_input)
    if line.effective.value is not None and line.work is not None:
        found["job-on-spot"] = partial(losses.job_on_spot, spot, line, line.work)
    if line.best_effective.value is not None and line.best is not None:
        found["best-effective"] = partial(
            losses.effective, spot, line, line.best, line.best_effective, watched.price_inputs
        )
    if line.evidence.mtbf_hours is not None:
        found["mtbf"] = partial(losses.mtbf, line)
    return found


def keys_of(lines: Sequence[ZoneLine], told: Explanations) -> list[dict[str, str]]:
    """Return, line by line, which explanations its figures open; "" for those that have none."""
    keys = [{figure: key_of(figure, lines, line) for figure in FIGURES} for line in lines]
    return [{figure: key if key in told else "" for figure, key in each.items()} for each in keys]

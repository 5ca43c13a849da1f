"""Explanations of measured use: the weeks behind its median, and a share that a slider sets."""

from costs.queries.utilization import WEEKS_OF_MEDIAN, Measured
from planner.core.explain import Explanation, Input, context
from planner.templatetags.units import count, day, percent

OF_AVAILABLE = "share of available GPU-hours"


def measured_share(measured: Measured | None) -> Explanation:
    """Return the median share of the last weeks, from the share of each."""
    weeks = () if measured is None else measured.weeks[-WEEKS_OF_MEDIAN:]
    shares = tuple(week.share for week in weeks if week.share is not None)
    value = None if measured is None else measured.share
    extent = f"{percent(min(shares))} to {percent(max(shares))}" if shares else "none is known"
    clusters = "" if measured is None else f"{', '.join(measured.clusters)}, to {day(measured.until)}"
    return Explanation(
        "Measured use of the fleet",
        f"The median over the last {WEEKS_OF_MEDIAN} weeks of the share of available GPU-hours that were "
        "allocated. A week without a report is left out.",
        f"median of {count(len(shares))} weeks, {extent} = {percent(value)}",
        (
            Input("Share by week", shares or None, extent, clusters, "shares"),
            *(context(f"Week from {day(week.start)}", percent(week.share)) for week in weeks),
        ),
        value,
        OF_AVAILABLE,
        "median(shares)",
    )


def set_share(share: float, fleet_gpus: float | None) -> Explanation:
    """Return what a moved slider sets: the GPUs busy in month 1 as a share of the measured fleet."""
    gpus = None if fleet_gpus is None else share * fleet_gpus
    return Explanation(
        "Utilization set here",
        "The share of the measured fleet that is busy in month 1, as the slider sets it.",
        f"{count(gpus)} busy GPUs / {count(fleet_gpus)} GPUs = {percent(share)}",
        (
            Input("Set", share * 100.0, percent(share), "the slider, in the address", "set_percent"),
            Input("GPUs of the fleet", fleet_gpus, f"{count(fleet_gpus)} GPUs", "measured, last 8 weeks"),
        ),
        share,
        OF_AVAILABLE,
        "set_percent / 100",
    )

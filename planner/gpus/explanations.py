"""What stands behind the figures that open a GPU's page: prices with their machine, rate and source."""

from costs.queries.fleet_share import FleetShare
from costs.queries.price_history import Priced
from costs.queries.price_steps import Step
from planner.core.explain import Explanation, Input, context
from planner.gpus.lines import place_of, source_title
from planner.gpus.subject import Subject
from planner.gpus.terms import TermRow, fleet_words, price_input
from planner.templatetags.units import age, count, day, moment, percent, usd_per_hour

PER_GPU_HOUR = "USD per GPU-hour"


def explanations(subject: Subject, commitment: TermRow | None) -> dict[str, Explanation]:
    """Return the explanations of the answer, by the key of the part that opens each."""
    found: dict[str, Explanation] = {}
    now, last = subject.history.now, last_known(subject)
    if now.lowest is not None and now.median is not None:
        found = {"lowest": _lowest(subject, now.lowest), "median": _median(subject, now.median)}
    elif last is not None:
        found = {"last": _lowest(subject, last)}
    if subject.cuts:
        move = subject.cuts[0].move
        found |= {"cut-old": _moved(subject, move.old), "cut-new": _moved(subject, move.new)}
    if commitment is not None:
        found["commitment"] = _committed(commitment)
        if commitment.fleet is not None:
            found["fleet"] = _fleet(commitment.fleet)
    return found


def last_known(subject: Subject) -> Priced | None:
    """Return the lowest price of the last days on which one was known."""
    known = [one.lowest for one in subject.history.stretches if one.lowest is not None]
    return known[-1] if known and subject.history.seen_until is not None else None


def _lowest(subject: Subject, lowest: Priced) -> Explanation:
    return Explanation(
        f"Lowest {subject.term_words} price of {subject.name}",
        "The cheapest of the offers that the filters let through and that are not stale. Where sources "
        "disagree about an offer, what was stated last counts.",
        _formula(subject, lowest.step, lowest.usd_per_gpu_hour),
        _step_inputs(subject, lowest.step),
        lowest.usd_per_gpu_hour,
        PER_GPU_HOUR,
        _expression(lowest.step),
    )


def _moved(subject: Subject, step: Step) -> Explanation:
    usd = subject.usd(step)
    value = None if usd is None else float(usd)
    return Explanation(
        f"Price of {place_of(step)} from {day(step.starts_at)}",
        "A list price of the biggest move of the window, over the GPUs of its machine.",
        _formula(subject, step, value),
        _step_inputs(subject, step),
        value,
        PER_GPU_HOUR,
        f"rounded({_expression(step)}, 9)",
    )


def _expression(step: Step) -> str:
    return "price / gpus" if step.currency == "USD" else "price / gpus * rate"


def _formula(subject: Subject, step: Step, usd: float | None) -> str:
    price = "unknown" if step.price_per_hour is None else f"{step.price_per_hour:,.2f}"
    rate = subject.rate_of(step.currency)
    times = "" if rate is None else f" × {rate.usd_per_unit.normalize():f}"
    return f"{price} / {step.gpu_count.normalize():f}{times} = {usd_per_hour(usd)} a GPU-hour"


def _step_inputs(subject: Subject, step: Step) -> tuple[Input, ...]:
    price = None if step.price_per_hour is None else float(step.price_per_hour)
    shown = "unknown" if price is None else f"{price:,.2f} {step.currency}"
    inputs = [
        context("Offer", place_of(step), step.zone),
        Input("Price per hour", price, shown, "of the whole machine", "price"),
        Input("GPUs", float(step.gpu_count), f"{step.gpu_count.normalize():f}", symbol="gpus"),
        context("Stated by", source_title(step.source), f"run {step.run_id}, line {step.line}"),
        context("Last seen", moment(step.seen_at), age(step.seen_at, subject.now)),
    ]
    if (rate := subject.rate_of(step.currency)) is not None:
        text = f"{rate.usd_per_unit.normalize():f}"
        inputs.append(Input("Exchange rate", float(rate.usd_per_unit), text, f"of {day(rate.on)}", "rate"))
    return tuple(inputs)


def _median(subject: Subject, median: float) -> Explanation:
    prices = tuple(price.usd_per_gpu_hour for price in subject.history.current())
    extent = f"{usd_per_hour(prices[0])} to {usd_per_hour(prices[-1])}"
    return Explanation(
        f"Median {subject.term_words} price of {subject.name}",
        "Half of the offers cost less. An offer is one SKU in one region on one way to pay; its zones and "
        "the sources that state it count once.",
        f"median of {count(len(prices))} offers, {extent}",
        (Input("Prices of the offers, per GPU-hour", prices, extent, symbol="prices"),),
        median,
        PER_GPU_HOUR,
        "median(prices)",
    )


def _committed(row: TermRow) -> Explanation:
    price = price_input(row, "Price per GPU-hour", "price")
    return Explanation(
        f"{row.cloud}, {row.term_words}: price",
        "The lowest price of this cloud on this term that is not stale, per GPU and hour.",
        price.text,
        (price,),
        price.value if isinstance(price.value, float) else None,
        PER_GPU_HOUR,
        "price",
    )


def _fleet(fleet: FleetShare) -> Explanation:
    shares = fleet.shares
    extent = f"{percent(min(shares))} to {percent(max(shares))}" if shares else "unknown"
    return Explanation(
        "Measured use of the fleet",
        "The median over whole weeks of the share of available GPU-hours that were allocated.",
        f"median of {count(len(shares))} weeks, {extent} = {percent(fleet.share)}",
        (Input("Share by week", shares or None, extent, fleet_words(fleet), "shares"),),
        fleet.share,
        "share of available GPU-hours",
        "median(shares)",
    )

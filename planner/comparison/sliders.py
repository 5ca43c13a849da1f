"""The what-if sliders: where they stand, what the scenarios say, and what is measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.comparison.address import BOUNDS, number_text
from planner.comparison.gather import Subject
from planner.comparison.result import LETTERS, Letter, Slider
from planner.core.plan import Owned, Plan
from planner.queries import LoadedPlan
from planner.scenarios.plan_cache import FleetUse
from planner.templatetags.units import NBSP, SYMBOLS, day, percent, percent_signed, usd

SAME = 1e-9


@dataclass(frozen=True)
class _Kind:
    """How a slider looks, and what a plan says of its input, in the unit shown; None: no such input."""

    key: str
    label: str
    minimum: float
    maximum: float
    step: float
    decimals: int
    value_of: Callable[[Plan], float | None]


def _demand(plan: Plan) -> float | None:
    return sum(workload.gpus for workload in plan.workloads) or None


def _growth(plan: Plan) -> float | None:
    """Return the growth of all workloads together in month 2, which is each one's where they agree."""
    gpus = _demand(plan)
    if gpus is None:
        return None
    return 100.0 * sum(one.gpus * one.growth_per_month for one in plan.workloads) / gpus


def _drift_year(plan: Plan) -> float | None:
    return 100.0 * float((1.0 + plan.price_drift_per_month) ** 12 - 1.0)


def _capex_gpu(plan: Plan) -> float | None:
    for supply in plan.supplies:
        if isinstance(supply, Owned) and supply.usd_capex_per_server is not None:
            return supply.usd_capex_per_server / supply.gpus_per_server
    return None


def _kwh(plan: Plan) -> float | None:
    for supply in plan.supplies:
        if isinstance(supply, Owned) and supply.usd_per_kwh is not None:
            return supply.usd_per_kwh
    return None


def sliders(
    subjects: Sequence[Subject],
    base: Letter,
    overrides: Mapping[str, float],
    use: FleetUse,
    fleet_gpus: float | None,
) -> tuple[Slider, ...]:
    """Return all sliders; an input that no scenario has gives none."""
    loaded = {one.letter: one.loaded for one in subjects}
    sign = SYMBOLS.get(loaded[base].plan.currency, loaded[base].plan.currency)
    found = [
        _slider(
            kind, {letter: kind.value_of(one.plan) for letter, one in loaded.items()}, base, overrides, sign
        )
        for kind in _kinds(None if "demand" in overrides else fleet_gpus, loaded)
    ]
    hinted = [_with_hint(slider, loaded, use, fleet_gpus) for slider in found if slider is not None]
    return tuple(_with_tick(slider) for slider in hinted)


def _kinds(fleet_gpus: float | None, loaded: Mapping[Letter, LoadedPlan]) -> list[_Kind]:
    demands = [_demand(one.plan) or 0.0 for one in loaded.values()]
    if fleet_gpus is not None and max(demands) <= fleet_gpus:

        def share(plan: Plan) -> float | None:
            demand = _demand(plan)
            return None if demand is None else 100.0 * demand / fleet_gpus

        first = _Kind("util", "Share of the fleet in use", 5, 100, 1, 0, share)
    else:
        # demand beyond the measured fleet has no share of it; nor has any where nothing is measured
        widest = max(100.0, _round_up(2.0 * max(demands, default=0.0)))
        first = _Kind("demand", "GPUs busy in month 1", 1, widest, 1, 0, _demand)
    return [
        first,
        _Kind("growth", "Demand growth a month", -2, 6, 0.1, 1, _growth),
        _Kind("drift_year", "Cloud list price change a year", -40, 20, 1, 0, _drift_year),
        _Kind("capex_gpu", "Purchase price per GPU", 10_000, 70_000, 500, 0, _capex_gpu),
        _Kind("kwh", "Electricity price", 0.02, 0.4, 0.01, 2, _kwh),
    ]


def _round_up(value: float) -> float:
    size = 10.0 ** max(0, len(str(int(value))) - 2)
    return float(-(-value // size) * size)


def _slider(
    kind: _Kind,
    values: Mapping[Letter, float | None],
    base: Letter,
    overrides: Mapping[str, float],
    sign: str,
) -> Slider | None:
    known = {letter: value for letter, value in values.items() if value is not None}
    override = overrides.get(kind.key)
    if not known and override is None:
        return None
    agreed = len(set(known.values())) == 1 or _spread(known) <= SAME
    first = known.get(base, next(iter(known.values()), None))
    value = override if override is not None else first
    # the track holds every value that it has to show
    shown = [*known.values(), *([override] if override is not None else [])]
    bounds = BOUNDS[kind.key]
    unit = bounds.unit.replace("$", sign)
    return Slider(
        key=kind.key,
        label=kind.label,
        unit=unit,
        minimum=max(bounds.minimum, min(kind.minimum, *shown)) if shown else kind.minimum,
        maximum=min(bounds.maximum, max(kind.maximum, *shown)) if shown else kind.maximum,
        step=kind.step,
        decimals=kind.decimals,
        value=value,
        saved=first if agreed else None,
        saved_text=_saved_text(kind, known, agreed, unit),
        measured=None,
        measured_at=None,
        hint="",
        is_changed=override is not None and (first is None or not agreed or abs(override - first) > SAME),
    )


def _spread(values: Mapping[Letter, float]) -> float:
    return max(values.values()) - min(values.values()) if values else 0.0


def _saved_text(kind: _Kind, known: Mapping[Letter, float], agreed: bool, unit: str) -> str:
    if not known:
        return "unknown"
    if agreed:
        return _with_unit(next(iter(known.values())), kind.decimals, unit)
    return ", ".join(f"{letter} {_with_unit(value, kind.decimals, unit)}" for letter, value in known.items())


def _with_unit(value: float, decimals: int, unit: str) -> str:
    text = f"{abs(value):,.{decimals}f}"
    sign = "−" if value < 0 and text.strip("0.,") else ""
    if kind_of_money := unit.removesuffix("/kWh") if unit not in ("%", "GPUs") else "":
        return f"{sign}{kind_of_money}{text}{unit.removeprefix(kind_of_money)}"
    return f"{sign}{text}{NBSP}{unit}"


def _with_hint(
    slider: Slider, loaded: Mapping[Letter, LoadedPlan], use: FleetUse, fleet_gpus: float | None
) -> Slider:
    """Return the slider with what is measured of it, or else with where its saved value comes from."""
    measured = use.measured
    match slider.key:
        case "util" if measured is not None and measured.share is not None:
            low, high = measured.share_low or measured.share, measured.share_high or measured.share
            hint = (
                f"Actual, last 8 weeks: median {percent(measured.share)}, "
                f"range {round(low * 100)}–{percent(high)}"
            )
            return replace(slider, measured=100.0 * measured.share, hint=hint)
        case "demand" if measured is not None:
            busy = float(measured.busy_gpus)
            hint = f"Actual, last 8 weeks: {busy:,.0f} of {fleet_gpus or busy:,.0f} GPUs busy"
            return replace(slider, measured=busy, hint=hint)
        case "growth" if measured is not None and measured.growth_per_month is not None:
            growth = measured.growth_per_month
            hint = f"Actual, last 6 months: {percent_signed(growth)} a month"
            return replace(slider, measured=100.0 * growth, hint=hint)
        case "capex_gpu":
            return replace(slider, hint=_capex_hint(loaded))
        case _:
            return replace(slider, hint=f"Saved: {slider.saved_text}; nothing is measured")


def _capex_hint(loaded: Mapping[Letter, LoadedPlan]) -> str:
    for letter in LETTERS:
        one = loaded.get(letter)
        if one is None:
            continue
        owned = {supply.name for supply in one.plan.supplies if isinstance(supply, Owned)}
        for source in one.sources:
            if source.supply in owned:
                dated = f", {day(source.as_of)}" if source.as_of is not None else ""
                return (
                    f"{letter}: {source.reason or source.text}{dated}{_other_capex(one.plan, source.supply)}"
                )
    return ""


def _other_capex(plan: Plan, name: str) -> str:
    """Return what is bought besides the servers, which the slider does not move."""
    for supply in plan.supplies:
        if isinstance(supply, Owned) and supply.name == name and supply.usd_other_capex_per_server:
            per_gpu = usd(supply.usd_other_capex_per_server / supply.gpus_per_server, plan.currency)
            return f"; network and installation come on top, {per_gpu} per GPU"
    return ""


def _with_tick(slider: Slider) -> Slider:
    """Return the slider with the place of the measured value on its track."""
    if slider.measured is None or not slider.minimum <= slider.measured <= slider.maximum:
        return slider
    track = slider.maximum - slider.minimum
    if track <= 0.0:
        return slider
    return replace(slider, measured_at=100.0 * (slider.measured - slider.minimum) / track)


def changed_text(found: Sequence[Slider]) -> str:
    """Return how far the sliders stand from the saved scenarios."""
    changed = sum(slider.is_changed for slider in found)
    if not changed:
        return "Same as the saved scenarios"
    if changed == 1:
        return "1 assumption differs from the saved scenarios"
    return f"{number_text(changed)} assumptions differ from the saved scenarios"

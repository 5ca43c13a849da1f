"""Line by line: the cost lines of every scenario with their differences to the base, and what they buy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.comparison.figures import delta, of_unit
from planner.comparison.gather import Subject
from planner.comparison.result import Cell, Letter, Row, RowKind, Unit, ViewName
from planner.comparison.training import Training
from planner.core.calendar import add_months, days_later
from planner.core.lines import RESIDUAL
from planner.core.plan import Outcome, Owned, Plan, Reserved, View
from planner.templatetags.units import percent

CORE_VIEWS: Mapping[ViewName, View] = {
    "cash": "cash_usd",
    "amortized": "amortized_usd",
    "present_value": "present_value_usd",
}
VIEW_LABELS: Mapping[ViewName, str] = {
    "cash": "Cash",
    "amortized": "Amortized",
    "present_value": "Present value",
}
# key and label of each row, in the order of the page
COST_ROWS: tuple[tuple[str, str], ...] = (
    ("hardware", "Hardware purchase"),
    ("depreciation", "Depreciation"),
    ("residual", "Resale value"),
    ("retirement", "Sale at the end of service"),
    ("loan", "Loan"),
    ("energy", "Power"),
    ("colocation", "Colocation"),
    ("maintenance", "Maintenance"),
    ("staff", "Staff"),
    ("software_insurance", "Software and insurance"),
    ("reserved", "Reserved cloud"),
    ("on_demand", "On-demand cloud"),
    ("spot", "Spot cloud"),
)
# the core's cost line to the row that shows it; a line of a rented supply goes by its kind
ROW_OF_LINE: Mapping[str, str] = {
    "hardware_deposit": "hardware",
    "hardware_delivery": "hardware",
    "depreciation": "depreciation",
    RESIDUAL: "residual",
    "retirement": "retirement",
    "loan_draw": "loan",
    "loan_payment": "loan",
    "loan_payoff": "loan",
    "loan_interest": "loan",
    "energy": "energy",
    "colocation": "colocation",
    "maintenance": "maintenance",
    "staff": "staff",
    "software": "software_insurance",
    "insurance": "software_insurance",
}
HOUR_LINES = ("served", "unmet")


@dataclass(frozen=True)
class _Value:
    """A raw value, or why there is none."""

    value: float | None
    reason: str = ""


def cost_rows_of(outcome: Outcome, view: View) -> dict[str, float]:
    """Return what each cost row holds; the rows add up to the total. Unknown money is NaN."""
    frame = outcome.monthly
    lines, kinds = frame["line"].to_numpy(), frame["kind"].to_numpy()
    values, months = frame[view].to_numpy(), outcome.plan.months
    sums: dict[str, float] = {}
    # one block of months for each line of each supply: see Outcome.monthly
    for first in range(0, len(frame), months):
        line, kind = str(lines[first]), str(kinds[first])
        if line in HOUR_LINES:
            continue
        key = row_key(line, kind)
        sums[key] = sums.get(key, 0.0) + float(values[first : first + months].sum())
    return sums


def row_key(line: str, kind: str) -> str:
    """Return the row that shows a cost line of a kind of supply."""
    if kind == "owned" or line == RESIDUAL:
        return ROW_OF_LINE.get(line, line)
    return kind


def rows(
    subjects: Sequence[Subject],
    base: Letter,
    view: ViewName,
    currencies: Mapping[Letter, str],
    runs: Mapping[Letter, Training] | None = None,
) -> tuple[Row, ...]:
    """Return every row of the table; `runs` says how long a reference run takes in each scenario."""
    table = _Table(subjects, base, currencies)
    return (*_cost_rows(table, view), *_fit_rows(table, view), *_run_rows(table, runs or {}))


@dataclass(frozen=True)
class _Table:
    """The columns of the table, and how a row of raw values becomes cells."""

    subjects: Sequence[Subject]
    base: Letter
    currencies: Mapping[Letter, str]

    def row(
        self,
        key: str,
        group: str,
        label: str,
        unit: Unit,
        kind: RowKind,
        values: Mapping[Letter, _Value],
        *,
        with_delta: bool = True,
        explain: str = "",
        more_is_better: bool = False,
    ) -> Row:
        cells = tuple(
            self._cell(one.letter, values, unit, with_delta, f"{explain or key}-{one.letter}", more_is_better)
            for one in self.subjects
        )
        return Row(key, group, label, unit, kind, cells)

    def _cell(
        self,
        letter: Letter,
        values: Mapping[Letter, _Value],
        unit: Unit,
        with_delta: bool,
        key: str,
        more_is_better: bool,
    ) -> Cell:
        currency = self.currencies[letter]
        mine, its = values[letter], values[self.base]
        figure = of_unit(mine.value, unit, currency, reason=mine.reason, explain=key)
        if letter == self.base or not with_delta:
            return Cell(letter, figure, None)
        comparable = not unit.startswith("money") or currency == self.currencies[self.base]
        if not comparable:
            return Cell(letter, figure, None)
        change = delta(mine.value, its.value, unit, currency, explain=key, more_is_better=more_is_better)
        return Cell(letter, figure, change)


def _gap_reason(outcome: Outcome) -> str:
    return "; ".join(gap.text for gap in outcome.gaps)


def _money(value: float | None, outcome: Outcome) -> _Value:
    if value is None or np.isnan(value):
        return _Value(None, _gap_reason(outcome))
    return _Value(value)


def _cost_rows(table: _Table, view: ViewName) -> list[Row]:
    core_view = CORE_VIEWS[view]
    sums = {subject.letter: cost_rows_of(subject.outcome, core_view) for subject in table.subjects}
    group = f"{VIEW_LABELS[view]} cost, {table.subjects[0].plan.months} months"
    known = dict(COST_ROWS)
    keys = [*known, *sorted({key for parts in sums.values() for key in parts} - set(known))]
    found = []
    for key in keys:
        values = {
            subject.letter: _money(sums[subject.letter].get(key, 0.0), subject.outcome)
            for subject in table.subjects
        }
        if any(value.value != 0.0 for value in values.values()):
            label = known.get(key, key.replace("_", " ").capitalize())
            found.append(table.row(key, group, label, "money", "line", values, explain=f"cost_{key}"))
    totals = {s.letter: _money(s.total(core_view), s.outcome) for s in table.subjects}
    found.append(table.row("total", group, "Total", "money", "total", totals, explain="total"))
    if view != "present_value":
        present = {s.letter: _money(s.total("present_value_usd"), s.outcome) for s in table.subjects}
        label = _present_value_label([subject.plan for subject in table.subjects])
        found.append(
            table.row(
                "present_value", group, label, "money", "figure", present, explain="total_present_value"
            )
        )
    return found


def _present_value_label(plans: Sequence[Plan]) -> str:
    rates = {plan.discount_rate_per_year for plan in plans}
    if len(rates) > 1:
        return "Present value, each at its own rate"
    return f"Present value at {percent(rates.pop())}"


def _fit_rows(table: _Table, view: ViewName) -> list[Row]:
    group = "Unit economics and fit"
    core_view = CORE_VIEWS[view]
    subjects = table.subjects

    def figures(key: str, label: str, unit: Unit, values: Mapping[Letter, _Value], explain: str = "") -> Row:
        return table.row(key, group, label, unit, "figure", values, explain=explain)

    return [
        figures(
            "usd_per_useful_gpu_hour",
            "Cost per useful GPU-h" + (", levelized" if view == "present_value" else ""),
            "money_per_gpu_hour",
            {s.letter: _money(s.outcome.usd_per_useful_gpu_hour[core_view], s.outcome) for s in subjects},
            "unit_cost",
        ),
        figures(
            "demand_gpu_hours",
            "Demand, GPU-h",
            "gpu_hours",
            {s.letter: _Value(s.outcome.demand_gpu_hours) for s in subjects},
            "demand",
        ),
        figures(
            "unmet_gpu_hours",
            "Demand not served, GPU-h",
            "gpu_hours",
            {s.letter: _Value(s.outcome.unmet_gpu_hours) for s in subjects},
            "unmet",
        ),
        figures(
            "peak_on_demand_gpus",
            "Peak on-demand GPUs needed",
            "gpus",
            {s.letter: _Value(peak_on_demand_gpus(s.outcome)) for s in subjects},
            "peak_on_demand",
        ),
        figures(
            "lead_time_days",
            "Lead time to full capacity",
            "days",
            {s.letter: _Value(float(lead_time_days(s.plan))) for s in subjects},
        ),
    ]


def _run_rows(table: _Table, runs: Mapping[Letter, Training]) -> list[Row]:
    """Return capacity in engineering terms; nothing where no scenario trains."""
    if not any(one.useful_gpu_hours for one in runs.values()):
        return []
    named = [one.run.text for one in runs.values() if one.run is not None]
    group = f"Training, in runs of {named[0]}" if named else "Training, in reference runs"
    days = {letter: _Value(one.days, one.reason) for letter, one in runs.items()}
    a_month = {letter: _Value(one.runs_a_month, one.reason) for letter, one in runs.items()}
    return [
        table.row("days_per_run", group, "Days per reference run", "run_days", "figure", days),
        table.row(
            "runs_a_month", group, "Reference runs a month", "runs_a_month", "figure", a_month,
            more_is_better=True,
        ),
    ]  # fmt: skip


def peak_on_demand_gpus(outcome: Outcome) -> float:
    """Return the most on-demand GPUs of any month, in whole instances, over all on-demand supplies."""
    frame = outcome.capacity
    peaks = frame["peak_gpus"].to_numpy(dtype=float)[frame["kind"].to_numpy() == "on_demand"]
    if not len(peaks):
        return 0.0
    return float(peaks.reshape(-1, outcome.plan.months).sum(axis=0).max())


def lead_time_days(plan: Plan) -> int:
    """Return the days from the plan's start until the last of what is owned and reserved is there."""
    return max(ready_days(plan).values(), default=0)


def ready_days(plan: Plan) -> dict[str, int]:
    """Return the days until each supply that is owned or reserved is there; 0 where it is there at once."""
    ready: dict[str, date] = {}
    for supply in plan.supplies:
        if isinstance(supply, Owned):
            delivered = days_later(supply.order_date, supply.lead_time_days + supply.burn_in_days)
            # capacity counts from the first month that begins on or after it
            first = delivered if delivered.day == 1 else add_months(delivered.replace(day=1), 1)
            ready[supply.name] = first
        if isinstance(supply, Reserved):
            ready[supply.name] = supply.start
    return {name: max(0, (day - plan.start).days) for name, day in ready.items()}

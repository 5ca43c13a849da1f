"""Explain each headline figure of an Outcome: one sentence, the formula with this case's numbers, inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.core.lines import RESIDUAL
from planner.core.plan import BreakEven, OnDemand, Outcome, Owned, Reserved, Spot, Supply, View

Figure = Literal["total", "break_even", "break_even_utilization", "unit_cost", "peak_month", "unmet"]
VIEW_NAMES: dict[View, str] = {
    "cash_usd": "cash",
    "amortized_usd": "amortized",
    "present_value_usd": "present value",
}
VIEW_SENTENCES: dict[View, str] = {
    "cash_usd": "Every payment in the month in which it is due, less what is left at the end of the plan.",
    "amortized_usd": "What the books show: depreciation, running costs, interest, commitments, used or not.",
    "present_value_usd": "Every payment discounted to the plan's first day, less what is left at the end.",
}


@dataclass(frozen=True)
class Explanation:
    """What a popover shows. `inputs` are (name, value as text, source or "")."""

    title: str
    sentence: str
    formula: str
    inputs: tuple[tuple[str, str, str], ...]


def explain(
    outcome: Outcome, view: View = "cash_usd", sources: Mapping[str, str] | None = None
) -> dict[Figure, Explanation]:
    """Return the explanation of every headline figure; `sources` says where a supply's price comes from."""
    writer = _Writer(outcome, view, sources or {})
    return {
        "total": writer.total(),
        "break_even": writer.break_even(),
        "break_even_utilization": writer.break_even_utilization(),
        "unit_cost": writer.unit_cost(),
        "peak_month": writer.peak_month(),
        "unmet": writer.unmet(),
    }


class _Writer:
    """Writes the explanations of one outcome in one view."""

    def __init__(self, outcome: Outcome, view: View, sources: Mapping[str, str]) -> None:
        self.outcome = outcome
        self.plan = outcome.plan
        self.view = view
        self.sources = sources

    def total(self) -> Explanation:
        """Explain the total: the sum over supplies, credits for what is left apart."""
        frame = self.outcome.monthly
        is_residual = (frame["line"] == RESIDUAL).to_numpy()
        values, names = frame[self.view].to_numpy(), frame["supply"].to_numpy()
        parts = [
            f"{supply.name} {self._usd(float(values[(names == supply.name) & ~is_residual].sum()))}"
            for supply in self.plan.supplies
        ]
        credit = float(values[is_residual].sum())
        if credit:
            parts.append(f"what is left at the end {self._usd(credit)}")
        answer = self._usd_or_gap(self.outcome.total[self.view])
        return Explanation(
            f"Total, {VIEW_NAMES[self.view]}",
            VIEW_SENTENCES[self.view],
            f"{' + '.join(parts) or '0'} = {answer}",
            (*self._plan_inputs(), *self._price_inputs(), *self._off_total()),
        )

    def break_even(self) -> Explanation:
        """Explain the month in which the plan overtakes staying on demand."""
        found = self.outcome.break_even[self.view]
        sentence = (
            "The first month at whose end the plan has cost no more than all its demand on the reference "
            "price without quota, searched from the first month in which the two differ. What the servers "
            "would fetch is not counted here."
        )
        credited = self._month_text(self.outcome.break_even_with_residual[self.view])
        return Explanation(
            f"Break-even month, {VIEW_NAMES[self.view]}",
            sentence,
            self._break_even_formula(found),
            (
                *self._reference_inputs(),
                ("With servers sold at that month's end", credited, ""),
                *self._plan_inputs(),
            ),
        )

    def _break_even_formula(self, found: BreakEven | None) -> str:
        if found is None:
            return "unknown: " + self._why_no_break_even()
        own, rent = self._cumulative()
        place = len(own) - 1 if found.month is None else found.month - 1
        sign = "≤" if own[place] <= rent[place] else ">"
        text = (
            f"after {place + 1} months: own {self._usd(own[place])} {sign} on demand {self._usd(rent[place])}"
        )
        if found.unmet_gpu_hours:
            text += f", with {found.unmet_gpu_hours:,.0f} GPU-hours of the demand left unserved by then"
        return f"{text}; break-even: {self._month_text(found)}"

    def _cumulative(self) -> tuple[list[float], list[float]]:
        """Return cumulative cost without the residual credit, and the baseline's."""
        frame, months = self.outcome.monthly, self.plan.months
        credit = np.where(frame["line"].to_numpy() == RESIDUAL, frame[self.view].to_numpy(), 0.0)
        credit_by_month = credit.reshape(-1, months).sum(axis=0)
        own = self.outcome.cumulative[self.view].to_numpy() - np.cumsum(credit_by_month)
        rent = self.outcome.cumulative[f"baseline_{self.view}"].to_numpy()
        return own.tolist(), rent.tolist()

    def _month_text(self, found: BreakEven | None) -> str:
        if found is None:
            return "unknown"
        if found.same_as_baseline:
            return "none, the plan is staying on demand"
        if found.month is None or found.date is None:
            return f"not within {self.plan.months} months"
        until = "" if found.until is None else f", until month {found.until}"
        return f"month {found.month} ({found.date:%b %Y}){until}"

    def _why_no_break_even(self) -> str:
        if self.outcome.reference is None:
            return "the plan has no on-demand supply to be measured against"
        if self.outcome.gaps:
            return "; ".join(gap.text for gap in self.outcome.gaps)
        return f"the price of {self.outcome.reference.name} is unknown"

    def break_even_utilization(self) -> Explanation:
        """Explain the share of use above which capacity that is paid for beats renting its hours."""
        terms, share = self.outcome.utilization_terms, self.outcome.break_even_utilization_of_available
        if terms is None or share is None:
            formula = "unknown: " + self._why_no_utilization()
        else:
            formula = (
                f"fixed costs {self._usd(terms.fixed_usd)} / rent of all available hours "
                f"{self._usd(terms.rent_of_available_usd)} = {share:.1%} of available hours"
            )
        installed = self.outcome.break_even_utilization
        planned = self.outcome.planned_utilization_of_available
        by_supply = self.outcome.break_even_utilization_by_supply.items()
        return Explanation(
            "Break-even utilization",
            "Above this share of use, capacity that is paid for costs less than renting each hour at the "
            "price path. Both sides in present value: all costs but the energy of the load, less what is "
            "left at the end, over the rent of the same hours less that energy.",
            formula,
            (
                ("Used in the plan, of available hours", _percent(planned), ""),
                ("Share of installed hours", _percent(installed), ""),
                *((f"{name}, of installed hours", _percent(value), "") for name, value in by_supply),
                *self._reference_inputs(),
                *self._plan_inputs(),
            ),
        )

    def _why_no_utilization(self) -> str:
        if not any(isinstance(supply, Owned | Reserved) for supply in self.plan.supplies):
            return "the plan owns and reserves nothing"
        if self.outcome.utilization_terms is not None:
            return "no hour inside the plan where renting costs more than the energy of the load"
        return self._why_no_break_even()

    def unit_cost(self) -> Explanation:
        """Explain the cost per useful GPU-hour."""
        unit = self.outcome.usd_per_useful_gpu_hour[self.view]
        hours = self.outcome.useful_gpu_hours
        levelized = self.view == "present_value_usd"
        total = self.outcome.total[self.view]
        if unit is None or total is None:
            formula = f"{self._usd_or_gap(total)} / {hours:,.0f} useful GPU-hours: unknown"
        else:
            # In present value the hours are discounted as the money is.
            shown, what = total / unit if unit else hours, "discounted useful" if levelized else "useful"
            formula = f"{self._usd(total)} / {shown:,.0f} {what} GPU-hours = {self._usd_fine(unit)}"
        return Explanation(
            "Cost per useful GPU-hour" + (", levelized" if levelized else ""),
            "The total over the hours in which demand was served; idle and lost hours are paid for by them.",
            formula,
            (
                ("Useful GPU-hours", f"{hours:,.0f}", ""),
                ("Demand", f"{self.outcome.demand_gpu_hours:,.0f} GPU-hours", ""),
                *self._price_inputs(),
            ),
        )

    def peak_month(self) -> Explanation:
        """Explain the month with the highest cash need."""
        frame, peak = self.outcome.monthly, self.outcome.peak_month
        if peak is None:
            formula = "unknown: " + "; ".join(gap.text for gap in self.outcome.gaps)
            inputs: tuple[tuple[str, str, str], ...] = ()
        else:
            rows = frame[(frame["month"] == peak) & (frame["cash_usd"] != 0.0)]
            amounts = list(zip(rows["supply"], rows["line"], rows["cash_usd"], strict=True))
            parts = [f"{supply} {_words(line)} {self._usd(usd)}" for supply, line, usd in amounts]
            formula = f"{' + '.join(parts) or '0'} = {self._usd_or_gap(self.outcome.peak_month_cash_usd)}"
            inputs = tuple((f"{s}, {_words(line)}", self._usd(usd), "") for s, line, usd in amounts)
        return Explanation(
            "Dearest month in cash" + ("" if peak is None else f", {peak:%b %Y}"),
            "The month in which the most money leaves the account.",
            formula,
            inputs,
        )

    def unmet(self) -> Explanation:
        """Explain the demand that no supply could serve."""
        out = self.outcome
        return Explanation(
            "Unmet demand",
            "Hours of demand that found no supply: quotas were full and what is owned or reserved was busy. "
            "They cost nothing here, so totals of plans with different unmet hours are not comparable.",
            f"demand {out.demand_gpu_hours:,.0f} − served {out.useful_gpu_hours:,.0f} "
            f"= {out.unmet_gpu_hours:,.0f} GPU-hours",
            tuple((f"Quota, {s.name}", _quota_text(s), "") for s in self.plan.supplies if _has_quota(s)),
        )

    def _plan_inputs(self) -> tuple[tuple[str, str, str], ...]:
        return (
            ("Months", f"{self.plan.months} from {self.plan.start:%b %Y}", ""),
            ("Discount rate", f"{self.plan.discount_rate_per_year:.1%} a year, effective", ""),
            ("Drift of rental prices", f"{self.plan.price_drift_per_month:+.2%} a month from month 2", ""),
        )

    def _price_inputs(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(
            (supply.name, self._price_text(supply), self.sources.get(supply.name, ""))
            for supply in self.plan.supplies
        )

    def _reference_inputs(self) -> tuple[tuple[str, str, str], ...]:
        reference = self.outcome.reference
        if reference is None:
            return ()
        name = f"Reference price, {reference.name}"
        return ((name, self._price_text(reference), self.sources.get(reference.name, "")),)

    def _off_total(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(
            (f"{_words(name.removesuffix('_usd'))}, in no total", self._usd_or_gap(value), "")
            for name, value in self.outcome.off_total.items()
            if value != 0.0
        )

    def _price_text(self, supply: Supply) -> str:
        match supply:
            case Owned():
                price = supply.usd_capex_per_server
                return "unknown" if price is None else f"{self._usd(price)} per server"
            case Reserved():
                upfront = "" if supply.payment == "no_upfront" else f" + {_upfront_text(supply)}"
                if supply.payment == "all_upfront":
                    return upfront.removeprefix(" + ")
                return f"{self._usd_per_hour(supply.usd_per_gpu_hour)}{upfront}"
            case OnDemand() | Spot():
                return self._usd_per_hour(supply.usd_per_gpu_hour)

    def _usd_per_hour(self, value: float | None) -> str:
        return "unknown" if value is None else f"{self._usd_fine(value)} per GPU-hour"

    def _usd(self, value: float) -> str:
        return "unknown" if np.isnan(value) else f"{value:,.0f} {self.plan.currency}".replace("-", "−")

    def _usd_fine(self, value: float) -> str:
        return f"{value:,.4f} {self.plan.currency}".replace("-", "−")

    def _usd_or_gap(self, value: float | None) -> str:
        if value is not None:
            return self._usd(value)
        return "unknown (" + "; ".join(gap.text for gap in self.outcome.gaps) + ")"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _words(line: str) -> str:
    return line.replace("_", " ")


def _upfront_text(reserved: Reserved) -> str:
    upfront = reserved.usd_upfront_per_gpu
    return "unknown upfront" if upfront is None else f"{upfront:,.0f} per GPU upfront"


def _has_quota(supply: Supply) -> bool:
    return isinstance(supply, OnDemand | Spot)


def _quota_text(supply: Supply) -> str:
    quota = supply.quota_gpus if isinstance(supply, OnDemand | Spot) else None
    return "no limit known" if quota is None else f"{quota:,g} GPUs"

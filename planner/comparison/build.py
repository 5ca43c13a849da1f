"""compare(): the one function that puts a comparison together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from planner.comparison.address import Address, Chosen
from planner.comparison.answer import answer, cheapest, second_of
from planner.comparison.cards import card
from planner.comparison.explanations import comparison_explanations
from planner.comparison.gather import (
    NothingToCompareError,
    Subject,
    fleet_gpus_of,
    gather,
    sound_overrides,
    within_reach,
)
from planner.comparison.origins import gap_lines, source_lines
from planner.comparison.price_dates import correction_notices, dates_notice, heading, price_date, recompute
from planner.comparison.published_runs import only_if_other, published_for, run_for
from planner.comparison.result import (
    Column,
    Comparison,
    Letter,
    ViewName,
)
from planner.comparison.rows import VIEW_LABELS, rows
from planner.comparison.series import series
from planner.comparison.sliders import changed_text, sliders
from planner.comparison.training import trainings
from planner.models import Revision, Scenario
from planner.scenarios.plan_cache import DataDate, FleetUse, data_date, fleet_use, loaded_plans

FEWEST = 2


def compare(
    scenarios: Sequence[Scenario],
    *,
    as_of: datetime | None = None,
    one_date: bool = False,
    view: ViewName = "cash",
    base: str = "",
    overrides: Mapping[str, float] | None = None,
    revisions: Mapping[str, int] | None = None,
    run_gpu_hours: float | None = None,
    now: datetime | None = None,
    notices: Sequence[str] = (),
) -> Comparison:
    """Return the comparison of 2 to 4 scenarios, in the order given.

    `as_of` None is live, and then `now` is needed. `one_date` reads the prices of all at that date, whatever
    the scenarios keep. `base` is the address (slug) of the scenario that
    deltas are against, or its letter; "" is the first. `overrides` are what-if values as in the address.
    `revisions` names older revisions by slug; without, the newest counts. `run_gpu_hours` is the training run
    that capacity is counted in; without, one that is published for the base's GPU.
    """
    if not FEWEST <= len(scenarios) <= 4:
        raise ValueError(f"{len(scenarios)} scenarios; right would be 2 to 4")
    said = list(notices)
    date = data_date(now or as_of or datetime.now(UTC), as_of, for_all=one_date)
    chosen = _of_one_kind(scenarios, said)
    chosen, loaded = within_reach(chosen, loaded_plans(_revisions(chosen, revisions or {}, said), date), said)
    if not chosen:
        raise NothingToCompareError(said)
    use = fleet_use(sample=chosen[0].is_sample, date=date)
    fleet_gpus = fleet_gpus_of(use)
    values = sound_overrides(loaded, _usable(overrides or {}, fleet_gpus, said), fleet_gpus, said)
    subjects = gather(chosen, loaded, values, fleet_gpus, said)
    base_subject = _base(subjects, base, said)
    address = Address(
        scenarios=tuple(Chosen(one.slug, (revisions or {}).get(one.slug)) for one in chosen),
        view=view,
        base=base_subject.scenario.slug,
        as_of=date.as_of if date.is_frozen else None,
        one_date=one_date,
        overrides=values,
        run_gpu_hours=only_if_other(base_subject.plan.gpu_model, run_gpu_hours),
    )
    return _Builder(subjects, base_subject, view, date, use, fleet_gpus, values).build(
        address, tuple(dict.fromkeys(said))
    )


def _of_one_kind(scenarios: Sequence[Scenario], notices: list[str]) -> list[Scenario]:
    """Return the scenarios that are sample or own as the first is: the two never stand side by side."""
    kept = [one for one in scenarios if one.is_sample == scenarios[0].is_sample]
    if len(kept) < len(scenarios):
        left_out = ", ".join(one.name for one in scenarios if one not in kept)
        notices.append(
            f"Sample scenarios and your own are not compared with each other; left out: {left_out}."
        )
    return kept


def _revisions(
    scenarios: Sequence[Scenario], wanted: Mapping[str, int], notices: list[str]
) -> list[Revision]:
    """Return the wanted or newest revision of each scenario, in one query."""
    found: dict[int, dict[int, Revision]] = {}
    known = ("pk", "uid", "number", "scenario", "prices_as_of")
    for revision in Revision.objects.filter(scenario__in=scenarios).only(*known):
        found.setdefault(revision.scenario_id, {})[revision.number] = revision
    chosen = []
    for scenario in scenarios:
        numbers = found[scenario.pk]
        number = wanted.get(scenario.slug)
        if number is not None and number not in numbers:
            notices.append(f"{scenario.name} has no revision {number}; the newest is shown.")
        chosen.append(numbers.get(number or 0, numbers[max(numbers)]))
    return chosen


def _usable(overrides: Mapping[str, float], fleet_gpus: float | None, notices: list[str]) -> dict[str, float]:
    if "util" in overrides and fleet_gpus is None:
        notices.append("util is not used: no fleet is measured that it could be a share of; use demand.")
    return {key: value for key, value in overrides.items() if key != "util" or fleet_gpus is not None}


def _base(subjects: Sequence[Subject], wanted: str, notices: list[str]) -> Subject:
    for subject in subjects:
        if wanted == subject.scenario.slug:
            return subject
    for subject in subjects:
        if wanted.upper() == subject.letter:
            return subject
    if wanted:
        notices.append("base names none of the scenarios compared; deltas are against A.")
    return subjects[0]


class _Builder:
    """Holds what every part of a comparison is made from."""

    def __init__(
        self,
        subjects: Sequence[Subject],
        base: Subject,
        view: ViewName,
        date: DataDate,
        use: FleetUse,
        fleet_gpus: float | None,
        overrides: Mapping[str, float],
    ) -> None:
        self.subjects, self.base, self.view, self.date = subjects, base, view, date
        self.use, self.fleet_gpus, self.overrides = use, fleet_gpus, overrides
        self.best = cheapest(subjects, base, view)
        self.currencies: dict[Letter, str] = {one.letter: one.plan.currency for one in subjects}

    def build(self, address: Address, notices: tuple[str, ...]) -> Comparison:
        """Return the whole comparison."""
        plan, base = self.base.plan, self.base
        columns = tuple(self._column(one) for one in self.subjects)
        cards = tuple(
            card(one, column, base, self.view, plan.currency)
            for one, column in zip(self.subjects, columns, strict=True)
        )
        runs = trainings(self.subjects, base, address.run_gpu_hours)
        table = rows(self.subjects, base.letter, self.view, self.currencies, runs)
        found = sliders(self.subjects, base.letter, self.overrides, self.use, self.fleet_gpus)
        models = {one.loaded.gpu_name for one in self.subjects}
        util = self.overrides.get("util")
        set_to = None if util is None else util / 100.0
        return Comparison(
            view=self.view,
            view_label=VIEW_LABELS[self.view],
            base=base.letter,
            as_of=self.date.as_of,
            is_frozen=self.date.is_frozen,
            prices_text=heading(self.subjects, self.date),
            is_sample=base.scenario.is_sample,
            currency=plan.currency,
            gpu_model=base.loaded.gpu_name if len(models) == 1 else "",
            start=plan.start,
            months=plan.months,
            columns=columns,
            answer=answer(self.subjects, base, self.view, self.use, set_to),
            cards=cards,
            rows=table,
            series=series(
                self.subjects, self.view, self.currencies, self.use, self.fleet_gpus, base.scenario.is_sample
            ),
            sliders=found,
            overrides=dict(self.overrides),
            changed_text=changed_text(found),
            gaps=tuple(gap for one in self.subjects for gap in gap_lines(one)),
            notes=tuple(f"{one.letter}: {note}" for one in self.subjects for note in one.outcome.notes),
            notices=(*notices, *_currency_notice(self.subjects, base), *correction_notices(self.subjects)),
            dates_notice=dates_notice(self.subjects, self.date),
            recompute=recompute(self.subjects, self.date, address),
            sources=tuple(line for one in self.subjects for line in source_lines(one)),
            runs=tuple(sorted({run for one in self.subjects for run in one.loaded.runs})),
            query=address.query(),
            frozen_query=self._frozen(address).query(),
            explanations=comparison_explanations(
                self.subjects,
                self.view,
                self._saving(),
                self.use,
                set_to,
                self.fleet_gpus,
                runs,
                cards,
                table,
            ),
            reference_run=run_for(plan.gpu_model, address.run_gpu_hours),
            reference_runs=published_for(plan.gpu_model),
            typed_run=address.run_gpu_hours,
        )

    def _column(self, subject: Subject) -> Column:
        scenario = subject.scenario
        return Column(
            letter=subject.letter,
            slug=scenario.slug,
            name=scenario.name,
            revision=subject.loaded.revision.number,
            is_base=subject is self.base,
            is_cheapest=subject is self.best,
            is_plan_of_record=scenario.is_plan_of_record,
            is_sample=scenario.is_sample,
            currency=subject.plan.currency,
            prices=price_date(subject.loaded, self.date),
        )

    def _frozen(self, address: Address) -> Address:
        pinned = tuple(Chosen(one.scenario.slug, one.loaded.revision.number) for one in self.subjects)
        return replace(address, scenarios=pinned, as_of=self.date.as_of)

    def _saving(self) -> tuple[Subject, Subject] | None:
        """Return the two scenarios whose difference the answer names."""
        if self.best is None:
            return None
        if self.best is not self.base:
            return self.best, self.base
        return self.best, second_of(self.subjects, self.base, self.view)


def _currency_notice(subjects: Sequence[Subject], base: Subject) -> list[str]:
    others = sorted({one.plan.currency for one in subjects} - {base.plan.currency})
    if not others:
        return []
    return [
        f"The scenarios are in {base.plan.currency} and {', '.join(others)}. No exchange rate is on file: "
        "money is shown in each one's currency without deltas, and hours are compared."
    ]

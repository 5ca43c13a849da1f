"""Explanations of figures, written only when one is read: a slider drag shows none of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from planner.comparison.gather import Subject
from planner.comparison.origins import source_lines, source_text
from planner.comparison.result import ViewName
from planner.comparison.rows import CORE_VIEWS, VIEW_LABELS
from planner.core.explain import Explanation, explain
from planner.core.explain import Figure as ExplainedFigure
from planner.templatetags.units import usd

FIGURES: tuple[str, ...] = get_args(ExplainedFigure)
SAVING = "saving"


class Explanations(Mapping[str, Explanation]):
    """By "figure-letter", such as "total-A", and "saving" where the answer names one."""

    def __init__(
        self, subjects: Sequence[Subject], view: ViewName, saving: tuple[Subject, Subject] | None
    ) -> None:
        self._subjects = {one.letter: one for one in subjects}
        self._view, self._saving = view, saving
        self._written: dict[str, Explanation] = {}

    def __contains__(self, key: object) -> bool:
        if key == SAVING:
            return self._saving is not None
        figure, _, letter = str(key).rpartition("-")
        return figure in FIGURES and letter in self._subjects

    def __iter__(self) -> Iterator[str]:
        for letter in self._subjects:
            yield from (f"{figure}-{letter}" for figure in FIGURES)
        if self._saving is not None:
            yield SAVING

    def __len__(self) -> int:
        return len(FIGURES) * len(self._subjects) + (self._saving is not None)

    def __getitem__(self, key: str) -> Explanation:
        if key not in self:
            raise KeyError(key)
        if key not in self._written:
            self._written |= self._write(key)
        return self._written[key]

    def _write(self, key: str) -> dict[str, Explanation]:
        if key == SAVING and self._saving is not None:
            return {SAVING: _saving_explained(*self._saving, self._view)}
        subject = next(one for letter, one in self._subjects.items() if key.endswith(f"-{letter}"))
        return explained(subject, self._view)


def explained(subject: Subject, view: ViewName) -> dict[str, Explanation]:
    """Return every explanation of one scenario, by "figure-letter"."""
    texts = {source.supply: source_text(source) for source in source_lines(subject)}
    found = explain(subject.outcome, CORE_VIEWS[view], texts)
    return {f"{figure}-{subject.letter}": one for figure, one in found.items()}


def _saving_explained(one: Subject, other: Subject, view: ViewName) -> Explanation:
    """Explain the difference between the totals of two scenarios."""
    core_view, currency = CORE_VIEWS[view], one.plan.currency
    cost, against = one.total(core_view), other.total(core_view)
    change = None if cost is None or against is None else cost - against
    return Explanation(
        f"{one.letter} against {other.letter}",
        f"Total of {one.letter} less total of {other.letter}, {VIEW_LABELS[view].lower()}, "
        f"over {one.plan.months} months. Both serve the same demand.",
        f"{usd(cost, currency)} − {usd(against, currency)} = {usd(change, currency)}",
        (
            (f"Total of {one.letter}", usd(cost, currency), ""),
            (f"Total of {other.letter}", usd(against, currency), ""),
        ),
    )

"""Put a wrong file before the gate, one day after the true one, and say what became of it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from costs.gate import check_row
from costs.judge import Judge
from costs.quarantine_rules import Before, Key, ScopeBefore, Verdict, check_history, check_scope
from costs.rows import OutOfScope, PriceRow, RawLine, RowError
from costs.rowtext import Payload, key_of, to_values
from costs.sources import SOURCES

from .catalogues import Catalogue, Reference
from .corpus import Case
from .payloads import price_of, words

A_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Outcome:
    """What became of one wrong file."""

    case: Case
    rules: Counter[str]  # that caught something wrong
    missed: tuple[str, ...]  # wrong facts that would have been published
    beside: int  # right facts that were held with them

    @property
    def is_caught(self) -> bool:
        return not self.missed


class Trial:
    """The gate as wrong files meet it. What it says of the true files is found out once."""

    def __init__(self, ref: Reference) -> None:
        self.ref = ref
        self._first: dict[str, Verdict] = {}

    def first_batch(self, catalogue: Catalogue) -> Verdict:
        """Return what the gate says of the true file when nothing stands."""
        if catalogue.name not in self._first:
            self._first[catalogue.name] = first_batch(catalogue, self.ref)
        return self._first[catalogue.name]

    def tried(self, case: Case) -> Outcome:
        """Return what becomes of a wrong file."""
        if case.wrong.lines:
            return self._tried_lines(case)
        facts, rules = self._kept(case)
        indices = list(facts)
        verdict = self._verdict(case.catalogue, [facts[at] for at in indices])
        held = {indices[at]: suspicion.rule for at, suspicion in verdict.facts.items()}
        wrong = case.wrong.wrong & set(facts)
        if verdict.whole is not None:
            rules[verdict.whole.rule] += 1
            right = 0 if case.wrong.is_whole else len(set(facts) - wrong)
            return Outcome(case, rules, (), right)
        rules.update(held[at] for at in wrong & set(held))
        beside = set(held) - wrong - set(self.first_batch(case.catalogue).facts)
        return Outcome(case, rules, self._missed(case, facts, wrong - set(held)), len(beside))

    def _missed(self, case: Case, facts: dict[int, Payload], wrong: Collection[int]) -> tuple[str, ...]:
        if case.wrong.is_whole:
            return case.wrong.touched
        is_history = case.catalogue.mode == "history"
        return tuple(f"{words(facts[at], moment=is_history)}: {price_of(facts[at])}" for at in sorted(wrong))

    def _verdict(self, catalogue: Catalogue, facts: Sequence[Payload]) -> Verdict:
        machines, known = self.ref.machines, self.ref.known
        if catalogue.mode == "history":
            return check_history(facts, machines, known)
        held = self.first_batch(catalogue).facts
        before = ScopeBefore(len(catalogue.facts), standing(catalogue.facts, catalogue.as_of, held))
        complete = catalogue.mode == "snapshot"
        as_of = catalogue.as_of + A_DAY
        return check_scope(facts, before, as_of, machines, known, complete=complete)

    def _kept(self, case: Case) -> tuple[dict[int, Payload], Counter[str]]:
        """Return the facts of the wrong file that are rows at all, by their place, and why others are not."""
        kept, rules = {}, Counter[str]()
        for at, fact in enumerate(case.wrong.facts):
            if at in case.wrong.wrong:
                try:
                    check_row(PriceRow(**to_values(PriceRow, fact)), self.ref.known)
                except RowError as error:
                    rules[error.rule] += 1
                    continue
            kept[at] = fact
        return kept, rules

    def _tried_lines(self, case: Case) -> Outcome:
        rules, missed = Counter[str](), []
        catalogue = case.catalogue
        for at, line in case.wrong.lines:
            now = catalogue.as_of + A_DAY
            judge = Judge(SOURCES[catalogue.source], catalogue.info, {}, self.ref.known, now)
            rule = _refusal(judge, catalogue.stated[at].raw, line)
            if rule is None:
                missed.append(f"{words(catalogue.stated[at].payload)} on line {line.line}")
            else:
                rules[rule] += 1
        return Outcome(case, rules, tuple(missed), 0)


def standing(facts: Sequence[Payload], since: datetime, without: Collection[int] = ()) -> dict[Key, Before]:
    """Return the facts of a file as what stands once they are published."""
    return {
        key_of(PriceRow, fact): Before(price_of(fact), fact["state"], fact["currency"], since, None)
        for at, fact in enumerate(facts)
        if at not in without
    }


def first_batch(catalogue: Catalogue, ref: Reference) -> Verdict:
    """Return what the gate says of the true file when nothing stands."""
    if catalogue.mode == "history":
        return check_history(catalogue.facts, ref.machines, ref.known)
    return check_scope(catalogue.facts, None, catalogue.as_of, ref.machines, ref.known)


def _refusal(judge: Judge, true: RawLine, line: RawLine) -> str | None:
    """Return the rule by which a line is refused, None where it is taken."""
    try:
        if line.line != true.line:
            judge.check(*judge.read(true))  # the same fact is stated already
        judge.check(*judge.read(line))
    except (RowError, OutOfScope) as error:
        return error.rule
    return None

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


def tried(case: Case, ref: Reference) -> Outcome:
    """Return what becomes of a wrong file."""
    if case.wrong.lines:
        return _tried_lines(case, ref)
    facts, rules = _kept(case, ref)
    indices = list(facts)
    verdict = _verdict(case.catalogue, [facts[at] for at in indices], ref)
    held = {indices[at]: suspicion.rule for at, suspicion in verdict.facts.items()}
    if verdict.whole is not None:
        rules[verdict.whole.rule] += 1
        return Outcome(case, rules, (), len(facts) - len(case.wrong.wrong & set(facts)))
    wrong = case.wrong.wrong & set(facts)
    rules.update(held[at] for at in wrong & set(held))
    if case.wrong.is_whole:
        missed = case.wrong.touched
    else:
        missed = tuple(
            f"{words(facts[at], moment=case.catalogue.mode == 'history')}: {price_of(facts[at])}"
            for at in sorted(wrong - set(held))
        )
    return Outcome(case, rules, missed, len(set(held) - wrong))


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


def _verdict(catalogue: Catalogue, facts: Sequence[Payload], ref: Reference) -> Verdict:
    if catalogue.mode == "history":
        return check_history(facts, ref.machines, ref.known)
    held = first_batch(catalogue, ref).facts
    before = ScopeBefore(len(catalogue.facts), standing(catalogue.facts, catalogue.as_of, held))
    complete = catalogue.mode == "snapshot"
    as_of = catalogue.as_of + A_DAY
    return check_scope(facts, before, as_of, ref.machines, ref.known, complete=complete)


def _kept(case: Case, ref: Reference) -> tuple[dict[int, Payload], Counter[str]]:
    """Return the facts of the wrong file that are rows at all, by their place, and why others are not."""
    kept, rules = {}, Counter[str]()
    for at, fact in enumerate(case.wrong.facts):
        if at in case.wrong.wrong:
            try:
                check_row(PriceRow(**to_values(PriceRow, fact)), ref.known)
            except RowError as error:
                rules[error.rule] += 1
                continue
        kept[at] = fact
    return kept, rules


def _tried_lines(case: Case, ref: Reference) -> Outcome:
    rules, missed = Counter[str](), []
    catalogue = case.catalogue
    for at, line in case.wrong.lines:
        judge = Judge(SOURCES[catalogue.source], catalogue.info, {}, ref.known, catalogue.as_of + A_DAY)
        rule = _refusal(judge, catalogue.stated[at].raw, line)
        if rule is None:
            missed.append(f"{words(catalogue.stated[at].payload)} on line {line.line}")
        else:
            rules[rule] += 1
    return Outcome(case, rules, tuple(missed), 0)


def _refusal(judge: Judge, true: RawLine, line: RawLine) -> str | None:
    """Return the rule by which a line is refused, None where it is taken."""
    try:
        if line.line != true.line:
            judge.check(*judge.read(true))  # the same fact is stated already
        judge.check(*judge.read(line))
    except (RowError, OutOfScope) as error:
        return error.rule
    return None

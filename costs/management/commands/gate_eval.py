"""Try the quarantine rules: on wrong prices that they must catch, and on ordinary ones that they must not."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from costs.wrong_prices.catalogues import Catalogue, catalogues, reference
from costs.wrong_prices.corpus import CASES, Case, corpus, digest
from costs.wrong_prices.replay import Tally, replayed
from costs.wrong_prices.trial import Trial
from costs.wrong_prices.year import ordinary_year

MOST_FALSE_SHARE = 0.01
EXAMPLES = 10


class Command(BaseCommand):
    help = (
        "Write down wrong price lists made from every real one, see whether the gate catches them all, and "
        "count what it holds back in an ordinary year. Needs no database; ends with 1 where it fails."
    )
    requires_system_checks = []  # needs no page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--catalogues", type=Path, required=True, help="a folder of real price lists")
        parser.add_argument("--seed", type=int, default=1, help="of the draw of wrong prices")
        parser.add_argument("--cases", type=int, default=CASES, help="how many wrong files")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["catalogues"].is_dir():
            raise CommandError(f"{options['catalogues']}: no such folder")
        now = datetime.now(UTC)
        ref = reference(now)
        lists = [each for each in catalogues(options["catalogues"], ref, now, self._note) if each.stated]
        cases = corpus(lists, ref, options["seed"], options["cases"])
        self._write_down(lists, cases, options["seed"])
        trial = Trial(ref)
        caught = self._try(cases, trial)
        year, replay = self._ordinary(lists, trial, options["seed"])
        shares = [self._tell(year, "a simulated year"), self._tell(replay, "the real histories, replayed")]
        if caught < options["cases"] or max(shares) > MOST_FALSE_SHARE:
            raise CommandError("the gate is not good enough")
        self.stdout.write("the gate is good enough")

    def _note(self, line: str) -> None:
        self.stderr.write(line)

    def _write_down(self, lists: Sequence[Catalogue], cases: Sequence[Case], seed: int) -> None:
        facts = sum(len(each.stated) for each in lists)
        files = len({each.file for each in lists})
        self.stdout.write(f"{facts:,} true prices of {files} files in {len(lists)} scopes")
        for case in cases:
            self.stdout.write(str(case))
        self.stdout.write(f"{len(cases)} wrong files of seed {seed}, SHA-256 {digest(cases)}")

    def _try(self, cases: Sequence[Case], trial: Trial) -> int:
        caught, beside, rules = 0, 0, Counter[str]()
        for case in cases:
            outcome = trial.tried(case)
            beside += outcome.beside
            rules.update(set(outcome.rules))
            if outcome.is_caught:
                caught += 1
            else:
                self.stdout.write(f"MISSED {case}")
                self.stdout.write(
                    f"       {len(outcome.missed):,} of its wrong prices, as {outcome.missed[0]}"
                )
            self._note(f"{case.number} of {len(cases)} tried")
        self.stdout.write(f"caught {caught} of {len(cases)} wrong files, by")
        for rule, count in rules.most_common():
            self.stdout.write(f"  {rule}: {count}")
        self.stdout.write(f"  {beside:,} right prices were held with them")
        return caught

    def _ordinary(self, lists: Sequence[Catalogue], trial: Trial, seed: int) -> tuple[Tally, Tally]:
        year, replay = Tally(), Tally()
        for each in lists:
            self._note(f"ordinary: {each.name}")
            first = trial.first_batch(each).facts
            by_rule = Counter(suspicion.rule for suspicion in first.values())
            if by_rule and each.mode != "history":
                told = ", ".join(f"{rule}: {count}" for rule, count in by_rule.items())
                self.stdout.write(f"a first batch of {each.name} would be held in part: {told}")
            if each.mode == "history":
                replay += replayed(each, trial.ref)
            else:
                year += ordinary_year(each, trial.ref, f"{seed} {each.name}")
        return year, replay

    def _tell(self, tally: Tally, name: str) -> float:
        """Say how many right prices were held; return their share among those that said something new."""
        false = sum(tally.false.values())
        of_changed = false / tally.changed if tally.changed else 0.0
        of_judged = false / tally.judged if tally.judged else 0.0
        self.stdout.write(
            f"{name}: {false:,} right prices held of {tally.judged:,} judged ({of_judged:.3%}), "
            f"{of_changed:.2%} of the {tally.changed:,} that said something new"
        )
        for rule, count in tally.false.most_common():
            self.stdout.write(f"  {rule}: {count}")
        for example in tally.examples[:: max(1, len(tally.examples) // EXAMPLES)][:EXAMPLES]:
            self.stdout.write(f"    {example}")
        if tally.true or tally.passed:
            held = sum(tally.true.values())
            self.stdout.write(f"  of prices known to be wrong {held:,} were held, {tally.passed:,} passed")
        return of_changed

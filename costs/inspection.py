"""Hold the staged facts of a file against what stands, and keep back what looks wrong.

Done before any lock is taken. What stood then is remembered: where another file of the same scope was
published meanwhile, the file is staged and inspected again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from types import ModuleType

from . import jobs, quarantine
from .dated import DATED, standing
from .jobs import Claim
from .judge import FactKey, fact_digest
from .kinds import BY_ROW
from .models import Batch, IngestRun, MachineType, Price, StagedRow
from .quarantine import Decisions, Held
from .quarantine_rules import (
    Before,
    MachineFacts,
    ScopeBefore,
    Suspicion,
    Verdict,
    check_history,
    check_scope,
)
from .rows import PriceRow
from .rowtext import KEY_SEPARATOR, Payload, fact_key, key_of, row_digest, to_values
from .skus import key_of_values
from .staging import Staged, known_accelerators
from .stepwise import STEPS, stored_steps

Key = tuple[str, ...]
PRIOR_DAYS = timedelta(days=60)  # how far back a price before the last one is worth comparing
DELETE_CHUNK = 1_000


@dataclass
class Inspected:
    """What the inspection kept back, and what stood when it looked."""

    stood: dict[str, int | None] = field(default_factory=dict)  # scope -> its current batch, None if none
    held_scopes: set[str] = field(default_factory=set)
    # scopes of which nothing is left: somebody confirmed it, or the source answered that there is none
    vanished: set[str] = field(default_factory=set)
    held: set[FactKey] = field(default_factory=set)


@dataclass(frozen=True)
class _StagedFact:
    pk: int
    line: int
    payload: Payload
    key: Key
    digest: str


class Inspection:
    """One look at the staged facts of one file."""

    def __init__(self, claim: Claim, run: IngestRun, source: ModuleType, staged: Staged) -> None:
        self.claim, self.run, self.source, self.staged = claim, run, source, staged
        self.kind = BY_ROW[staged.kind]
        self.is_history = source.MODE == "history"
        self.moment = self.kind.moment if self.kind.shape == "steps" or self.is_history else ""
        self.decided: Decisions = quarantine.decisions(run.source)
        self.result = Inspected()
        self.lines: set[int] = set()
        self.facts = 0

    def look(self) -> Inspected:
        """Inspect every scope of the file, and record what is kept back."""
        batches = current_batches(self.run.source)
        own = StagedRow.objects.filter(job=self.claim.job.pk, lease_token=self.claim.token)
        scopes = list(own.order_by("scope").values_list("scope", flat=True).distinct())
        for scope in scopes:
            jobs.progress(self.claim, "check", self.facts, self.run.facts)
            batch = batches.get(scope)
            self.result.stood[scope] = batch.pk if batch else None
            if self.kind.row is PriceRow:
                self._prices(scope, batch, self._facts(scope))
            elif self.kind.shape == "steps":
                self._steps(scope, self._facts(scope))
        self._emptied(set(scopes), batches)
        if self.kind.row is PriceRow and getattr(self.source, "WHOLE", False):
            self._vanished(set(scopes), batches)
        self._count()
        return self.result

    def _facts(self, scope: str) -> list[_StagedFact]:
        rows = StagedRow.objects.filter(job=self.claim.job.pk, lease_token=self.claim.token, scope=scope)
        found = []
        for pk, line, payload in rows.order_by("line", "pk").values_list("pk", "line", "payload"):
            key = fact_key(self.kind.row, payload, self.moment)
            said = row_digest(self.kind.row, payload)
            digest = fact_digest(self.run.source, scope, key, said)
            found.append(_StagedFact(pk, line, payload, key, digest))
        return found

    def _prices(self, scope: str, batch: Batch | None, facts: Sequence[_StagedFact]) -> None:
        verdict = self._verdict(scope, batch, facts)
        whole = verdict.whole
        if whole and not self._is_released(scope, whole.rule):
            self._hold_scope(scope, whole, len(facts))
            self._drop(facts, scope)
            return
        held = {i: verdict.facts[i] for i in verdict.facts if facts[i].digest not in self.decided.released}
        for i, fact in enumerate(facts):
            if fact.digest in self.decided.kept_out and i not in held:
                held[i] = Suspicion("kept_out_before", "", "", "somebody here refused this very fact before")
        self._hold(scope, [(facts[i], suspicion) for i, suspicion in sorted(held.items())])

    def _verdict(self, scope: str, batch: Batch | None, facts: Sequence[_StagedFact]) -> Verdict:
        payloads = [fact.payload for fact in facts]
        vouched = {i for i, fact in enumerate(facts) if fact.digest in self.decided.released}
        before = scope_before(self.run.source, scope, batch, self.staged.as_of) if batch else None
        known, machines = known_accelerators(), machine_facts()
        if self.is_history:
            return check_history(payloads, machines, known, before=before, vouched=vouched)
        complete = self.source.MODE == "snapshot"
        return check_scope(
            payloads, before, self.staged.as_of, machines, known, complete=complete, vouched=vouched
        )

    def _steps(self, scope: str, facts: Sequence[_StagedFact]) -> None:
        """Keep back observations that say otherwise than what is stored of the very same moment."""
        table = STEPS[self.kind.row]
        stored: dict[tuple[Key, datetime], tuple[object, ...]] = {}
        keys = {key_of(self.kind.row, fact.payload) for fact in facts}
        for key, steps in stored_steps(table, self.run.source, scope, keys).items():
            for step in steps.values():
                for at in (step.run.starts_at, step.run.last_seen_at):
                    stored[key, at] = step.run.value  # type: ignore[assignment]
        held = []
        for fact in facts:
            values = to_values(self.kind.row, fact.payload)
            at, said = values[self.moment], tuple(values[name] for name in table.value)
            there = stored.get((key_of(self.kind.row, fact.payload), at), said)
            if there != said and fact.digest not in self.decided.released:
                evidence = f"{_shown(said)} at {at:%Y-%m-%d %H:%M:%S}, where {_shown(there)} is stored"
                held.append(
                    (fact, Suspicion("two_values_at_one_moment", table.value[0], _shown(said), evidence))
                )
        self._hold(scope, held)

    def _emptied(self, scopes: set[str], batches: Mapping[str, Batch]) -> None:
        """Let the facts of a scope end where the source answered that it has none."""
        if self.kind.shape != "dated" or self.source.MODE != "snapshot":
            return
        for scope in self.staged.scopes:
            if scope in scopes or scope not in batches or self.staged.unreadable_lines:
                continue
            self.result.stood[scope] = batches[scope].pk
            self.result.vanished.add(scope)

    def _vanished(self, scopes: set[str], batches: Mapping[str, Batch]) -> None:
        """Ask about scopes that a file of all scopes no longer names; their prices stay meanwhile."""
        params = self.run.job.params["params"]
        for scope, batch in batches.items():
            if scope in scopes or not batch.rows or batch.params != params:
                continue
            self.result.stood[scope] = batch.pk
            suspicion = Suspicion(
                "scope_vanished",
                "",
                "",
                f"the file no longer names {scope}, of which {batch.rows:,} rows stand",
            )
            if self._is_released(scope, suspicion.rule):
                self.result.vanished.add(scope)
            else:
                self._hold_scope(scope, suspicion, batch.rows)

    def _is_released(self, scope: str, rule: str) -> bool:
        return self._whole_digest(scope, rule) in self.decided.released

    def _whole_digest(self, scope: str, rule: str) -> str:
        return quarantine.whole_digest(self.run.source, scope, rule, self.staged.raw.sha256)

    def _hold_scope(self, scope: str, whole: Suspicion, rows: int) -> None:
        self.result.held_scopes.add(scope)
        held = Held(
            scope, None, f"all of {scope}", self._whole_digest(scope, whole.rule), whole.rule, whole.column,
            whole.value, whole.evidence, None, rows,
        )  # fmt: skip
        quarantine.store(self.run, [held], self.decided)

    def _hold(self, scope: str, held: Sequence[tuple[_StagedFact, Suspicion]]) -> None:
        if not held:
            return
        quarantine.store(self.run, (_record(scope, fact, why) for fact, why in held), self.decided)
        self.result.held |= {(scope, fact.key) for fact, _ in held}
        self._drop([fact for fact, _ in held], scope)

    def _drop(self, facts: Sequence[_StagedFact], scope: str) -> None:
        self.lines |= {fact.line for fact in facts}
        self.facts += len(facts)
        keys = iter([fact.pk for fact in facts])
        while chunk := list(islice(keys, DELETE_CHUNK)):
            StagedRow.objects.filter(pk__in=chunk).delete()

    def _count(self) -> None:
        run = self.run
        run.lines_kept -= len(self.lines)
        run.lines_quarantined += len(self.lines)
        run.facts -= self.facts
        run.save(update_fields=["lines_kept", "lines_quarantined", "facts"])


def _record(scope: str, fact: _StagedFact, why: Suspicion) -> Held:
    return Held(
        scope, fact.line, KEY_SEPARATOR.join(fact.key), fact.digest, why.rule, why.column, why.value,
        why.evidence, fact.payload,
    )  # fmt: skip


def _shown(value: tuple[object, ...]) -> str:
    return ", ".join(f"{part.normalize():f}" if isinstance(part, Decimal) else str(part) for part in value)


def current_batches(source: str) -> dict[str, Batch]:
    """Return the current batch of every scope of a source."""
    return {batch.scope: batch for batch in Batch.objects.filter(source=source, is_current=True)}


def machine_facts() -> dict[tuple[str, str], MachineFacts]:
    """Return what the table of machine types says, by provider and name."""
    rows = MachineType.objects.values_list("provider", "name", "gpu_count", "vcpus", "accelerator")
    return {
        (provider, name): MachineFacts(count, vcpus, accelerator)
        for provider, name, count, vcpus, accelerator in rows
    }


def scope_before(source: str, scope: str, batch: Batch, as_of: datetime) -> ScopeBefore:
    """Return the prices that stand in a scope, each with the one before it."""
    prior = dict(_priors(source, scope, as_of))
    table = DATED[PriceRow]
    state, price, currency = (table.said.index(name) for name in ("state", "price_per_hour", "currency"))
    return ScopeBefore(
        rows=batch.rows,
        prices={
            key: Before(there.said[price], there.said[state], there.said[currency], there.effective_from,
                        prior.get(key))
            for key, there in standing(table, source, scope).items()
        },
    )  # fmt: skip


def _priors(source: str, scope: str, as_of: datetime) -> Iterator[tuple[Key, Decimal | None]]:
    """Yield the price of each key that ended last; the later of two wins."""
    lookups = DATED[PriceRow].lookups
    ended = Price.objects.filter(source=source, scope=scope, effective_to__gt=as_of - PRIOR_DAYS)
    for *key, price in ended.order_by("effective_to").values_list(*lookups, "price_per_hour"):
        yield key_of_values(key), price

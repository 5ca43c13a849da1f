"""Read a stored file line by line and stage its sound lines for publishing.

Everything is written in chunks, each in one short transaction that renews the lease first: a worker that
lost its job writes nothing more.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType
from typing import BinaryIO

from django.conf import settings
from django.db import transaction

from . import bulk, jobs, quarantine
from .gate import Known
from .jobs import Claim
from .judge import Fact, FactKey, Judge, contradiction
from .models import Accelerator, Alias, IngestRun, RawObject, RejectedRow, StagedRow
from .names import accelerator_key
from .quarantine import Held
from .quarantine_rules import QUARANTINE_RULES
from .raw import open_raw
from .rows import KEY_IN_DOUBT, FileError, OutOfScope, RawLine, RowError
from .rowtext import KEY_SEPARATOR, Payload, key_of
from .text import printable

OUT_OF_SCOPE_KEPT = 10_000  # rows per rule; the counts are exact all the same
SAMPLE_ROWS = 20
CHUNK_SECONDS = 1.0
WRONG, OUT = RejectedRow.Kind.WRONG, RejectedRow.Kind.OUT_OF_SCOPE


@dataclass
class Staged:
    """What staging learnt of the file besides its staged rows."""

    raw: RawObject
    as_of: datetime  # the file's own date, or the moment its run began
    kind: type
    # refused lines whose fact is not known: any fact missing from the file may have been theirs
    unreadable_lines: int = 0
    # facts that stand on a refused line
    held: set[FactKey] = field(default_factory=set)
    sample_rows: list[Payload] = field(default_factory=list)
    scopes: tuple[str, ...] = ()  # that the file speaks of, with or without a fact


@dataclass
class Chunk:
    """Lines judged since the last write."""

    facts: list[Fact] = field(default_factory=list)
    rejected: list[tuple[str, int, str, str, str, str]] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)  # facts, or lines without one, for the quarantine
    held_lines: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    kept: int = 0
    began: float = field(default_factory=time.monotonic)

    def is_full(self) -> bool:
        longest = min(CHUNK_SECONDS, settings.JOB_LEASE_SECONDS / 4)
        return self.lines >= settings.INGEST_CHUNK_ROWS or time.monotonic() - self.began >= longest


class Stage:
    """One pass over one file."""

    def __init__(self, claim: Claim, run: IngestRun, source: ModuleType, raw: RawObject) -> None:
        self.claim, self.run, self.source, self.raw = claim, run, source, raw
        self.params: dict[str, str] = dict(claim.params["params"])
        self.stored_rules: Counter[str] = Counter()
        self.decided = quarantine.decisions(run.source)
        self.chunk = Chunk()

    def take(self) -> Staged:
        """Stage the file; raise FileError where it is not what it says."""
        self._forget_earlier_attempt()
        size = self.raw.size_bytes
        with open_raw(self.raw, lambda at: jobs.progress(self.claim, "stage", at, size)) as file:
            info, lines = self.source.read(file, self.run.origin, self.params)
            judge = Judge(
                self.source,
                info,
                self.params,
                known_accelerators(),
                self.claim.job.created_at,
                self.decided.released,
            )
            staged = Staged(self.raw, info.as_of or self.run.started_at, judge.kind, scopes=info.scopes)
            try:
                for line in lines:
                    self._line(line, judge, staged)
                    if self.chunk.is_full():
                        self._write(file)
            except FileError:
                self.chunk.facts.clear()
                self._write(file)  # the lines refused so far are known: the failed run shows them
                raise
            self._write(file)
        if not self.run.lines_read:
            raise FileError("no_lines", "at least one line below the header")
        self._drop_contradicted(judge, staged)
        return staged

    def _forget_earlier_attempt(self) -> None:
        with transaction.atomic():
            jobs.renew(self.claim, "stage", 0, self.raw.size_bytes)
            StagedRow.objects.filter(job=self.claim.job.pk).delete()
            self.run.rejected.all().delete()
            self.run.quarantined.all().delete()
            self.run.lines_read = self.run.lines_kept = self.run.lines_rejected = self.run.facts = 0
            self.run.lines_quarantined = 0
            self.run.rejected_by_rule = {}
            self.run.save()

    def _line(self, line: RawLine, judge: Judge, staged: Staged) -> None:
        chunk = self.chunk
        chunk.lines += line.lines
        try:
            rows, facts = judge.read(line)
        except RowError as error:
            staged.unreadable_lines += 1
            return self._refuse(line.line, error, judge, [])
        except OutOfScope as reason:
            return self._reject(OUT, line.line, reason, line.lines)
        except Exception as error:
            error.add_note(f"{self.run.origin}, line {line.line}")
            raise
        try:
            fresh = judge.check(rows, facts)
        except RowError as error:
            if error.rule in KEY_IN_DOUBT:
                staged.unreadable_lines += 1
            else:
                staged.held.update(judge.key(fact) for fact in facts)
            return self._refuse(line.line, error, judge, facts)
        except OutOfScope as reason:
            return self._reject(OUT, line.line, reason)
        chunk.kept += 1
        chunk.facts += fresh
        room = SAMPLE_ROWS - len(staged.sample_rows)
        staged.sample_rows += [{"line": line.line, **payload} for _, _, payload in fresh[:room]]
        return None

    def _refuse(self, line: int, error: RowError, judge: Judge, facts: list[Fact]) -> None:
        """Put a line that breaks a rule where it belongs: to the wrong ones, or before a person."""
        if error.rule not in QUARANTINE_RULES:
            return self._reject(WRONG, line, error)
        # the value of a whole key is which fact it is, and that is said beside the evidence
        there = "" if error.column == "(key)" else f"{error.value or 'nothing'} stands there; "
        evidence = f"{there}expected {error.expected}"
        said = (error.rule, error.column, error.value, evidence)
        self.chunk.held_lines += 1
        self.chunk.held += [
            Held(scope, line, KEY_SEPARATOR.join(judge.key(fact)[1]), judge.digest(fact), *said, fact[2])
            for fact in facts
            for scope in (fact[0],)
        ]
        if not facts:
            digest = quarantine.line_digest(self.run.source, error.rule, error.column, error.value)
            self.chunk.held.append(Held("", line, f"line {line}", digest, *said, None))
        return None

    def _reject(self, kind: str, line: int, error: RowError | OutOfScope, lines: int = 1) -> None:
        rule = printable(error.rule, 60)
        self.chunk.rules[rule] += lines
        if kind == OUT and self.stored_rules[rule] >= OUT_OF_SCOPE_KEPT:
            return
        self.stored_rules[rule] += 1
        column, value = printable(error.column, 120), printable(error.value, 500)
        self.chunk.rejected.append((kind, line, column, value, rule, printable(error.expected, 300)))

    def _write(self, file: BinaryIO) -> None:
        chunk, self.chunk = self.chunk, Chunk()
        with transaction.atomic():
            jobs.renew(self.claim, "stage", _position(file, self.raw.size_bytes), self.raw.size_bytes)
            job, token = self.claim.job.pk, self.claim.token
            bulk.insert(
                StagedRow,
                ("job", "lease_token", "scope", "line", "payload"),
                ((job, token, scope, line, payload) for scope, line, payload in chunk.facts),
            )
            self._store_rejected(chunk.rejected)
            quarantine.store(self.run, chunk.held, self.decided)
            self._count(chunk.lines, chunk.kept, chunk.held_lines, len(chunk.facts), chunk.rules)
        if settings.INGEST_CHUNK_PAUSE_SECONDS:
            time.sleep(settings.INGEST_CHUNK_PAUSE_SECONDS)

    def _store_rejected(self, rejected: list[tuple[str, int, str, str, str, str]]) -> None:
        columns = ("run", "kind", "line", "column", "value", "rule", "expected")
        bulk.insert(RejectedRow, columns, ((self.run.pk, *row) for row in rejected))

    def _count(self, lines: int, kept: int, held: int, facts: int, rules: Counter[str]) -> None:
        run = self.run
        run.lines_read += lines
        run.lines_kept += kept
        run.lines_rejected += rules.total()
        run.lines_quarantined += held
        run.facts += facts
        run.rejected_by_rule = dict(Counter(run.rejected_by_rule) + rules)
        run.save(
            update_fields=[
                "lines_read", "lines_kept", "lines_rejected", "lines_quarantined", "facts", "rejected_by_rule"
            ]
        )  # fmt: skip

    def _drop_contradicted(self, judge: Judge, staged: Staged) -> None:
        """Take back lines that a later line contradicts: which of the two is right is not known."""
        for line, other in judge.contradicted.items():
            rows = StagedRow.objects.filter(job=self.claim.job.pk, lease_token=self.claim.token, line=line)
            with transaction.atomic():
                jobs.renew(self.claim, "check", 0, None)
                facts = [(scope, line, payload) for scope, payload in rows.values_list("scope", "payload")]
                staged.held.update(judge.key(fact) for fact in facts)
                rows.delete()
                key = ", ".join(part for part in key_of(judge.kind, facts[0][2]) if part)
                self._refuse(line, contradiction(key, other), judge, facts)
                chunk, self.chunk = self.chunk, Chunk()
                self._store_rejected(chunk.rejected)
                quarantine.store(self.run, chunk.held, self.decided)
                self._count(0, -1, chunk.held_lines, -len(facts), chunk.rules)


def known_accelerators() -> Known:
    """Return every spelling of every accelerator."""
    slug_by_key: dict[str, str] = {}
    # what people here call it first: where it clashes with the table's own spellings, those stand
    for spelling, slug in Alias.objects.values_list("spelling", "accelerator"):
        slug_by_key[accelerator_key(spelling)] = slug
    for slug, name, aliases in Accelerator.objects.values_list("slug", "name", "aliases"):
        for spelling in (slug, name, *aliases):
            slug_by_key[accelerator_key(spelling)] = slug
    return Known(slug_by_key)


def _position(file: BinaryIO, otherwise: int) -> int:
    try:
        return file.tell()
    except ValueError:  # its reader has closed it
        return otherwise

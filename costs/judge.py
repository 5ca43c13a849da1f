"""Judge the lines of one file, one after the other, remembering what earlier lines said."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from hashlib import blake2b, sha256
from types import ModuleType

from .gate import SCOPE_LIMIT, Known, check_row
from .kinds import BY_ROW
from .rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError, UtilizationRow
from .rowtext import KINDS, Payload, fact_key, row_digest, to_payload

AHEAD = timedelta(days=1)  # a date that has begun elsewhere, a clock that is off
SAMPLE_SCOPE = "sample:"  # before the scope of made-up data, which never mixes with an organisation's own

Fact = tuple[str, int, Payload]  # scope, line, what the row says
FactKey = tuple[str, tuple[str, ...]]  # scope and natural key


class Judge:
    """What the lines of a file say, and whether it may be taken."""

    def __init__(
        self,
        source: ModuleType,
        info: FileInfo,
        params: Mapping[str, str],
        known: Known,
        now: datetime,
        vouched: Collection[str] = (),
    ) -> None:
        self.source, self.info, self.known = source, info, known
        self.vouched = vouched  # digests of facts that somebody released
        self.latest = now + AHEAD
        if info.as_of is not None and info.as_of > self.latest:
            # it would stand for good: every later file would seem older
            raise FileError(
                "dated_in_future", f"a file of {now:%Y-%m-%d} or before", value=f"{info.as_of:%Y-%m-%d}"
            )
        self.prefix = SAMPLE_SCOPE if params.get("sample") == "1" else ""
        self.kind: type = KINDS[source.KIND]
        shape = BY_ROW[self.kind].shape
        # of these a file states one fact at many moments, and an older file adds to what a newer one said
        self.moment = BY_ROW[self.kind].moment if shape == "steps" or source.MODE == "history" else ""
        self.is_per_scope = shape != "series"
        # short digest of a fact's key -> the line that stated it and the digest of what it said
        self.stated: dict[bytes, tuple[int, bytes]] = {}
        self.currency: dict[str, tuple[str, int]] = {}  # scope -> its currency and the first line with it
        self.contradicted: dict[int, int] = {}  # a line taken before -> the line that says otherwise

    def read(self, raw: RawLine) -> tuple[list[Row], list[Fact]]:
        """Return the rows of a line, as they are and as they are staged; raise RowError or OutOfScope."""
        rows: list[Row] = self.source.parse(raw, self.info)
        if not rows:
            raise OutOfScope("no_fact", expected="at least one fact")
        return rows, [(self._scope(row), raw.line, to_payload(row)) for row in rows]

    def check(self, rows: list[Row], facts: list[Fact]) -> list[Fact]:
        """Return the facts that are new in this file; raise RowError when the line breaks a rule."""
        for row, (scope, line, _) in zip(rows, facts, strict=True):
            check_row(row, self.known)
            if isinstance(row, PriceRow):
                self._check_currency(row, scope, line)
            elif isinstance(row, UtilizationRow) and row.starts_at > self.latest:
                raise RowError("starts_at", row.starts_at, "hour_in_future", "an hour that is over")
            if self.moment and getattr(row, self.moment) > self.latest:
                raise RowError(
                    self.moment, getattr(row, self.moment), "time_in_future", "a moment that is past"
                )
        said = [(self._short(fact), row_digest(self.kind, fact[2])) for fact in facts]
        for fact, (short, says) in zip(facts, said, strict=True):
            self._check_agreement(fact, short, says)
        fresh = []
        for fact, (short, says) in zip(facts, said, strict=True):
            if short not in self.stated:
                self.stated[short] = (fact[1], says)
                fresh.append(fact)
        if not fresh:
            raise OutOfScope("repeated_line", expected="each fact once: an earlier line says the same")
        return fresh

    def key(self, fact: Fact) -> FactKey:
        """Return scope and natural key of a fact, with its moment where the file states many."""
        return fact[0], fact_key(self.kind, fact[2], self.moment)

    def _scope(self, row: Row) -> str:
        scope: str = self.prefix + self.source.scope(row, self.info)
        if len(scope) > SCOPE_LIMIT:
            raise RowError("scope", scope, "text_too_long", f"at most {SCOPE_LIMIT} characters")
        return scope

    def _check_currency(self, row: PriceRow, scope: str, line: int) -> None:
        currency, first = self.currency.setdefault(scope, (row.currency, line))
        if row.currency != currency:
            # which of the two is right is not known, and the first may have been the wrong one
            raise FileError(
                "currency_mixed",
                f"one currency for all prices of {scope}: {currency} as on line {first}",
                line=line,
                column="currency",
                value=row.currency,
            )

    def digest(self, fact: Fact) -> str:
        """Return what a decision about a fact stands for."""
        return self._digest(fact, row_digest(self.kind, fact[2]))

    def _digest(self, fact: Fact, said: bytes) -> str:
        scope, key = self.key(fact)
        return fact_digest(self.source.NAME, scope, key, said)

    def _check_agreement(self, fact: Fact, short: bytes, says: bytes) -> None:
        line, said = self.stated.get(short, (0, says))
        if said == says:
            return
        if self._digest(fact, says) in self.vouched:
            # somebody chose this one: the earlier line is taken back
            self.contradicted.setdefault(line, fact[1])
            del self.stated[short]
            return
        if self._digest(fact, said) not in self.vouched:
            self.contradicted.setdefault(line, fact[1])
        key = ", ".join(part for part in self.key(fact)[1] if part)
        raise contradiction(key, line)

    def _short(self, fact: Fact) -> bytes:
        scope, key = self.key(fact)
        # an hour of a pool is one fact wherever it stands; a price is one fact per scope
        parts = (scope, *key) if self.is_per_scope else key
        return blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=12).digest()


def fact_digest(source: str, scope: str, key: tuple[str, ...], said: bytes) -> str:
    """Return what a decision about one fact stands for: which fact it is, and what it says."""
    return sha256("\x1f".join((source, scope, *key, said.hex())).encode("utf-8", "replace")).hexdigest()


def contradiction(key: str, other_line: int) -> RowError:
    """Return the error of a line whose fact another line states with other values."""
    return RowError(
        "(key)",
        key,
        "contradicting_lines",
        f"one line per fact; line {other_line} says otherwise, so neither is taken",
    )

"""Read an accepted file again from its stored bytes, without the code that published it."""

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from .kinds import BY_ROW
from .models import IngestRun, RejectedRow
from .raw import open_raw
from .rows import KEY_IN_DOUBT, OutOfScope, RowError
from .rowtext import KEY_SEPARATOR, KINDS, Payload, amount_of, fact_key, row_digest, rows_digest, to_payload
from .sources import SOURCES

Key = tuple[str, ...]


@dataclass
class Replay:
    """What a file says, scope by scope, less the lines that its run refused and the facts it holds back."""

    kind: type
    mode: str
    facts: dict[str, dict[Key, Payload]] = field(default_factory=dict)
    line_of: dict[tuple[str, Key], int] = field(default_factory=dict)
    held: set[tuple[str, Key]] = field(default_factory=set)  # facts on refused lines, or in quarantine
    lines: int = 0
    unreadable: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def moment(self) -> str:
        """Return the field that tells many statements of one fact apart, "" where a file makes one."""
        kind = BY_ROW[self.kind]
        return kind.moment if kind.shape == "steps" or self.mode == "history" else ""

    def rows(self, scope: str) -> int:
        return len(self.facts.get(scope, {}))

    def total(self, scope: str) -> Decimal:
        return sum((amount_of(self.kind, p) for p in self.facts.get(scope, {}).values()), Decimal(0))

    def sha256(self, scope: str) -> str:
        return rows_digest(row_digest(self.kind, payload) for payload in self.facts.get(scope, {}).values())


@dataclass
class _HeldBack:
    """What a run's quarantine keeps out: whole scopes, facts, and lines that gave no fact."""

    scopes: set[str] = field(default_factory=set)
    keys: dict[int, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    lines: set[int] = field(default_factory=set)


def _held_back(run: IngestRun) -> _HeldBack:
    found = _HeldBack()
    for line, scope, key, payload in run.quarantined.values_list("line", "scope", "key", "payload"):
        if line is None:
            found.scopes.add(scope)
        elif payload is None:
            found.lines.add(line)
        else:
            found.keys[line].add((scope, key))
    return found


def replay(run: IngestRun) -> Replay:
    """Return what the run's bytes say when read now."""
    source, params = SOURCES[run.source], dict(run.job.params["params"])
    prefix = "sample:" if params.get("sample") == "1" else ""
    refused = dict(run.rejected.filter(kind=RejectedRow.Kind.WRONG).values_list("line", "rule"))
    back = _held_back(run)
    result = Replay(KINDS[source.KIND], source.MODE)
    is_per_scope = BY_ROW[result.kind].shape != "series"
    stated: dict[Key, Payload] = {}
    if run.raw is None:
        result.problems.append(f"run {run.pk}: no stored bytes")
        return result
    with open_raw(run.raw) as file:
        info, lines = source.read(file, run.origin, params)
        for line in lines:
            result.lines += line.lines
            try:
                rows = source.parse(line, info)
            except OutOfScope:
                continue
            except RowError as error:
                result.unreadable += 1
                if line.line not in refused and line.line not in back.lines:
                    result.problems.append(f"run {run.pk}: line {line.line} is wrong ({error}), not recorded")
                continue
            if refused.get(line.line) in KEY_IN_DOUBT:
                result.unreadable += 1
                continue
            for row in rows:
                scope, payload = prefix + source.scope(row, info), to_payload(row)
                key = fact_key(result.kind, payload, result.moment)
                is_back = (scope, KEY_SEPARATOR.join(key)) in back.keys.get(line.line, ())
                if line.line in refused or is_back:
                    result.held.add((scope, key))
                    continue
                if scope in back.scopes:
                    continue
                whole = (scope, *key) if is_per_scope else key
                first = stated.setdefault(whole, payload)
                if row_digest(result.kind, first) != row_digest(result.kind, payload):
                    result.problems.append(f"run {run.pk}: line {line.line} contradicts a line before it")
                if first is payload:
                    result.facts.setdefault(scope, {})[key] = payload
                    result.line_of[scope, key] = line.line
    return result

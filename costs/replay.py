"""Read an accepted file again from its stored bytes, without the code that published it."""

from dataclasses import dataclass, field
from decimal import Decimal

from .models import IngestRun, RejectedRow
from .raw import open_raw
from .rows import KEY_IN_DOUBT, OutOfScope, PriceRow, RowError
from .rowtext import KINDS, Payload, amount_of, key_of, row_digest, rows_digest, to_payload
from .sources import SOURCES

Key = tuple[str, ...]


@dataclass
class Replay:
    """What a file says, scope by scope, less the lines that its run refused."""

    kind: type
    facts: dict[str, dict[Key, Payload]] = field(default_factory=dict)
    held: set[tuple[str, Key]] = field(default_factory=set)  # facts on refused lines
    lines: int = 0
    unreadable: int = 0
    problems: list[str] = field(default_factory=list)

    def rows(self, scope: str) -> int:
        return len(self.facts.get(scope, {}))

    def total(self, scope: str) -> Decimal:
        return sum((amount_of(self.kind, p) for p in self.facts.get(scope, {}).values()), Decimal(0))

    def sha256(self, scope: str) -> str:
        return rows_digest(row_digest(self.kind, payload) for payload in self.facts.get(scope, {}).values())


def replay(run: IngestRun) -> Replay:
    """Return what the run's bytes say when read now."""
    source, params = SOURCES[run.source], dict(run.job.params["params"])
    prefix = "sample:" if params.get("sample") == "1" else ""
    refused = dict(run.rejected.filter(kind=RejectedRow.Kind.WRONG).values_list("line", "rule"))
    result = Replay(KINDS[source.KIND])
    stated: dict[tuple[str, ...], Payload] = {}
    if run.raw is None:
        result.problems.append(f"run {run.pk}: no stored bytes")
        return result
    with open_raw(run.raw) as file:
        info, lines = source.read(file, run.origin, params)
        for line in lines:
            result.lines += 1
            try:
                rows = source.parse(line, info)
            except OutOfScope:
                continue
            except RowError as error:
                result.unreadable += 1
                if line.line not in refused:
                    result.problems.append(f"run {run.pk}: line {line.line} is wrong ({error}), not recorded")
                continue
            if refused.get(line.line) in KEY_IN_DOUBT:
                result.unreadable += 1
                continue
            for row in rows:
                scope, payload = prefix + source.scope(row, info), to_payload(row)
                key = key_of(result.kind, payload)
                if line.line in refused:
                    result.held.add((scope, key))
                    continue
                whole = (scope, *key) if result.kind is PriceRow else key
                if row_digest(result.kind, stated.setdefault(whole, payload)) != row_digest(
                    result.kind, payload
                ):
                    result.problems.append(f"run {run.pk}: line {line.line} contradicts a line before it")
                if stated[whole] is payload:
                    result.facts.setdefault(scope, {})[key] = payload
    return result

"""One sentence about a run, for the page, the shell and the log."""

from .fact_words import in_words, rule_words
from .models import IngestRun, RejectedRow
from .quarantine import rules_of
from .rows import FileError
from .text import printable


def place(line: int | None, column: str, value: str, expected: str) -> str:
    """Return where something is wrong, what stands there and what would be right."""
    value = printable(" ".join(value.split()), 120)
    parts = [f"line {line}" if line else "", _column(column), f"value '{value}'"]
    return ", ".join([part for part in parts if part and part != "value ''"] + [f"expected {expected}"])


def _column(column: str) -> str:
    """Return where on the line; a name in parentheses is that of no column."""
    if column == "(key)":
        return "several columns"
    return f"the {column.strip('()')}" if column.startswith("(") else f"column {column}" if column else ""


def sentence(run: IngestRun) -> str:
    """Return what became of the lines of a run and what changed."""
    wrong = run.rejected.filter(kind=RejectedRow.Kind.WRONG)
    wrong_count, first = wrong.count(), wrong.order_by("line").first()
    out = dict(run.rejected_by_rule)
    for rule in wrong.values_list("rule", flat=True).distinct():
        out.pop(rule, None)
    parts = [f"{run.lines_kept:,} lines kept of {run.lines_read:,}"]
    parts += [f"{count:,} {rule_words(rule)}" for rule, count in sorted(out.items())]
    if first:
        where = place(first.line, first.column, first.value, first.expected)
        parts.append(f"{wrong_count:,} wrong: {where}" if wrong_count == 1 else
                     f"{wrong_count:,} wrong, the first: {where}")  # fmt: skip
    held = run.quarantined.order_by("line", "pk").first()
    if held:
        total = sum(rows for _, rows in rules_of(run))
        parts.append(f"{total:,} held in quarantine, the first: {in_words(held)}: {held.evidence}")
    return ", ".join(parts)


def changes(run: IngestRun) -> str:
    """Return what publishing did, or would do."""
    if not run.facts:
        return "no line could be taken; what was known before stays"
    counts = {
        "added": run.added,
        "changed": run.changed,
        "unchanged": run.unchanged,
        "closed": run.closed,
        "missing but kept because of wrong lines": run.held,
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def failure(origin: str, error: FileError) -> str:
    """Return why a file was not taken: file, place, value and what would be right."""
    return f"{origin}: {rule_words(error.code)}: " + place(
        error.line, error.column, error.value, error.expected
    )

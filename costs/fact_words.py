"""Which fact a record is about, and which rule it broke, in words: for the pages, the shell and the log."""

from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from .kinds import BY_NAME
from .models import Price, QuarantinedFact
from .sources import SOURCES

RULE_WORDS = {  # rules whose name does not read well
    "no_accelerator": "without an accelerator",
    "no_fact": "without a fact",
    "repeated_line": "repeated",
}


def rule_words(rule: str) -> str:
    """Return the name of a rule for reading: "price jump"."""
    return RULE_WORDS.get(rule, rule.replace("_", " "))


def in_words(fact: QuarantinedFact) -> str:
    """Return which fact it is: who sells what, where, on which terms."""
    if fact.payload is None:
        return fact.key
    kind = BY_NAME[SOURCES[fact.source].KIND] if fact.source in SOURCES else None
    if kind is None:
        return fact.key
    parts = _of_price(fact.payload) if kind.name == "prices" else _of_key(fact.payload, kind.key)
    moment = fact.payload.get(kind.moment) if kind.shape == "steps" else None
    words = ", ".join(part for part in (*parts, _moment(moment)) if part)
    return words or fact.key


def _of_price(payload: dict[str, Any]) -> Iterator[str]:
    yield f"{payload.get('provider', '')} {payload.get('sku', '')}".strip()
    yield f"{_number(payload.get('gpu_count'))} × {payload.get('accelerator_name', '')}"
    yield payload.get("zone") or payload.get("region") or ""
    yield _label(Price.Term, payload.get("term"))
    if payload.get("payment"):
        yield _label(Price.Payment, payload["payment"])
    if payload.get("effective_from"):
        yield f"from {_moment(payload['effective_from'])}"


def _of_key(payload: dict[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        value = payload.get(name)
        if value not in (None, ""):
            yield _number(value) if name == "gpu_count" else str(value)


def _label(choices: Any, value: Any) -> str:
    return str(dict(choices.choices).get(value, value or ""))


def _number(value: Any) -> str:
    try:
        return format(Decimal(str(value)).normalize(), "f")
    except InvalidOperation:
        return str(value)


def _moment(text: Any) -> str:
    """Return a stored moment to the minute, as far as it is one.

    >>> _moment("2026-11-30T12:00:00+00:00")
    '2026-11-30 12:00'
    """
    return str(text or "").replace("T", " ")[:16]

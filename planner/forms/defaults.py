"""Defaults of fields, with their source under the field."""

from typing import Any

from planner.scenarios.assumptions import assumption, default


def help_of(field: str) -> str:
    """Return what stands under a field that has a default: the default and its source."""
    one = assumption(field)
    shown = one.value * 100 if one.is_share else one.value
    text = f"{shown.normalize():f}".replace("-", "−")
    return f"Default {text} {one.unit}: {one.source}"


def defaulted(field: str) -> dict[str, Any]:
    """Return initial value and help text of a field that has a default."""
    return {"initial": default(field), "help_text": help_of(field)}

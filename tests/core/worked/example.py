"""One worked example: inputs and expected numbers, with their source."""

from typing import Any, NamedTuple

Values = dict[str, Any]


class Example(NamedTuple):
    """One example. `tolerance` is relative or absolute, as `kind` says."""

    id: str
    source: str
    inputs: Values
    expected: Values
    kind: str
    tolerance: float

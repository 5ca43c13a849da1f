"""A linear program, some of whose columns are whole, in sparse arrays."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from planner.core.calendar import FloatArray, IntArray
from planner.core.ranges import ANY, AT_LEAST_0, COUNT, endless, takes

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Bounds:
    """Bounds of some rows or columns; minus infinity and infinity where there is none."""

    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Program:
    """Minimise cost @ x + constant subject to row_lower <= matrix @ x <= row_upper and bounds on x."""

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    whole: BoolArray
    matrix: sparse.csc_array
    row_lower: FloatArray
    row_upper: FloatArray
    constant: float = 0.0

    @property
    def columns(self) -> int:
        """Return how many columns there are."""
        return len(self.cost)

    def relaxed(self) -> "Program":
        """Return the same without the demand for whole numbers."""
        return replace(self, whole=np.zeros_like(self.whole))

    @takes(values=ANY)
    def fixed(self, values: FloatArray) -> "Program":
        """Return the linear program in which the whole columns hold these values, rounded."""
        held = np.round(values)
        return replace(
            self.relaxed(),
            lower=np.where(self.whole, held, self.lower),
            upper=np.where(self.whole, held, self.upper),
        )

    def with_rows(self, rows: sparse.csr_array, bounds: "Bounds") -> "Program":
        """Return the program with more rows below its own."""
        return replace(
            self,
            matrix=sparse.vstack([self.matrix, rows], format="csc"),
            row_lower=np.concatenate([self.row_lower, bounds.lower]),
            row_upper=np.concatenate([self.row_upper, bounds.upper]),
        )

    @takes(cost=ANY, upper=endless(AT_LEAST_0))
    def with_columns(
        self, columns: sparse.csc_array, cost: FloatArray, upper: FloatArray, whole: bool = False
    ) -> "Program":
        """Return the program with more columns, each from 0 up to `upper`, right of its own."""
        return replace(
            self,
            cost=np.concatenate([self.cost, cost]),
            lower=np.concatenate([self.lower, np.zeros(len(cost))]),
            upper=np.concatenate([self.upper, upper]),
            whole=np.concatenate([self.whole, np.full(len(cost), whole)]),
            matrix=sparse.hstack([self.matrix, columns], format="csc"),
        )


@dataclass(frozen=True)
class Rows:
    """Rows of one kind, not yet in a matrix: entries (row, column, value) and bounds.

    `labels` says what each row is about: arrays of indices by name, such as option and block.
    `limit` names what stands behind each row in words, "" where it is no limit that could be eased.
    """

    kind: str
    row: IntArray
    column: IntArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    labels: dict[str, IntArray]
    limit: tuple[str, ...] = ()


@takes(columns=COUNT)
def stacked(
    parts: list[Rows], columns: int
) -> tuple[sparse.csc_array, FloatArray, FloatArray, dict[str, slice]]:
    """Return the matrix of all rows, their bounds, and where each kind stands."""
    places: dict[str, slice] = {}
    offset = 0
    row = []
    for part in parts:
        places[part.kind] = slice(offset, offset + len(part.lower))
        row.append(part.row + offset)
        offset += len(part.lower)
    matrix = sparse.csc_array(
        (
            np.concatenate([part.value for part in parts]),
            (np.concatenate(row), np.concatenate([part.column for part in parts])),
        ),
        shape=(offset, columns),
    )
    lower = np.concatenate([part.lower for part in parts])
    return matrix, lower, np.concatenate([part.upper for part in parts]), places

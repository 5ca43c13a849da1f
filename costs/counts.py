"""What publishing did to the tables, counted."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Counts:
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    closed: int = 0  # prices that the file no longer states
    held: int = 0  # the same, but kept: a refused line may have been theirs

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def touched(self) -> int:
        return self.added + self.changed + self.closed

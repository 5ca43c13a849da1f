"""The corpus: 200 wrong files, drawn from a seed and written down before any rule is asked.

What is left out when a case is drawn, not after a miss:

- a change that changes nothing (equal prices swapped, a region without prices);
- a price that may be a real one: within three times the true one and breaking no order among its neighbours
  (a host that costs a third of its machine, a bid floor near the price, one of two GPUs for both);
- a count that the list itself gives for the same name: each of them may be right;
- a line whose own source documents 0.00 as unknown: it states no price;
- half a file where a file is an addition and not the whole list; a whole history scaled alike; in a history,
  an observation without four others of the same price to tell by;
- Windows meters of providers that sell no Windows by the vCPU.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from .catalogues import Catalogue, Reference
from .scaled import SCALED
from .swapped import SWAPPED
from .torn import TORN
from .wrong import Mutation, Wrong

CASES = 200
TURNS = 3  # times that a mutation may come back to a list, each time with other rows
MUTATIONS: dict[str, Mutation] = {**SCALED, **SWAPPED, **TORN}


@dataclass(frozen=True)
class Case:
    """One wrong file."""

    number: int
    mutation: str
    catalogue: Catalogue
    wrong: Wrong

    def __str__(self) -> str:
        touched = self.wrong.touched
        more = f" and {len(touched) - 1:,} more" if len(touched) > 1 else ""
        return f"{self.number:03} {self.mutation:<26} {self.catalogue.name}: {touched[0]}{more}"

    @property
    def written(self) -> str:
        """Return the case with everything that it touches and every wrong price."""
        prices = [str(self.wrong.facts[at]["price_per_hour"]) for at in sorted(self.wrong.wrong)]
        parts = (str(self.number), self.mutation, self.catalogue.name, *self.wrong.touched, *prices)
        return "|".join(parts)


def corpus(lists: Sequence[Catalogue], ref: Reference, seed: int, cases: int = CASES) -> list[Case]:
    """Return the wrong files: every mutation in turn, each time on the next list where it applies."""
    rng = Random(seed)  # noqa: S311 - a draw that can be repeated
    used: Counter[str] = Counter()
    turns = [_of_mutation(name, lists, ref, rng, used) for name in MUTATIONS]
    found: list[Case] = []
    while turns and len(found) < cases:
        for turn in list(turns):
            drawn = next(turn, None)
            if drawn is None:
                turns.remove(turn)
            elif len(found) < cases:
                found.append(Case(len(found) + 1, *drawn))
    return found


def digest(cases: Sequence[Case]) -> str:
    """Return one SHA-256 over the written corpus."""
    return sha256("\n".join(case.written for case in cases).encode()).hexdigest()


def _of_mutation(
    name: str, lists: Sequence[Catalogue], ref: Reference, rng: Random, used: Counter[str]
) -> Iterator[tuple[str, Catalogue, Wrong]]:
    """Yield the mutation on one list after the other: first the files that were drawn from least so far."""
    for _ in range(TURNS):
        left = list(lists)
        while left:
            rng.shuffle(left)
            left.sort(key=lambda each: (used[each.file], used[each.name]))
            catalogue = left.pop(0)
            wrong = MUTATIONS[name](catalogue, rng, ref)
            if wrong is not None:
                used.update((catalogue.file, catalogue.name))
                yield name, catalogue, wrong

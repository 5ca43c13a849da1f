"""Explanations by the key of the figure they belong to, each written when it is first read."""

from collections.abc import Callable, Iterator, Mapping

from planner.core.explain import Explanation

Writers = dict[str, Callable[[], Explanation]]


class Explanations(Mapping[str, Explanation]):
    """Written on reading and kept: a page that shows a figure and not its popover pays nothing for it."""

    def __init__(self, writers: Writers) -> None:
        self._writers = writers
        self._written: dict[str, Explanation] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._writers

    def __iter__(self) -> Iterator[str]:
        return iter(self._writers)

    def __len__(self) -> int:
        return len(self._writers)

    def __getitem__(self, key: str) -> Explanation:
        if key not in self._written:
            self._written[key] = self._writers[key]()
        return self._written[key]

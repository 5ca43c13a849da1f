"""The keys under which the figures of a zone's row are explained."""

from collections.abc import Sequence

from planner.spot.zones import ZoneLine


def key_of(figure: str, lines: Sequence[ZoneLine], line: ZoneLine) -> str:
    """Return "effective-0": a figure and the place of its row."""
    # by identity: lines are equal only when every price of theirs is, which is slow to find out
    return f"{figure}-{next(place for place, one in enumerate(lines) if one is line)}"

"""The date of a page of prices: what was believed then, or now where the address names none."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time

from planner.comparison.address import moment_text
from planner.moments import EXAMPLE, day_in, end_of, moment_in
from planner.params import Pairs, shortened
from planner.templatetags.units import day, moment

NAME = "as_of"


@dataclass(frozen=True)
class AsOf:
    """A moment, and how the address names it; "" is live."""

    moment: datetime
    text: str = ""
    notice: str = ""  # about a value that was ignored

    @property
    def is_frozen(self) -> bool:
        return bool(self.text)

    @property
    def words(self) -> str:
        """Return the date as people read it."""
        return moment(self.moment) if "T" in self.text else day(self.moment)

    def pairs(self) -> Pairs:
        return [(NAME, self.text)] if self.text else []


def read_as_of(parameters: Mapping[str, str], now: datetime) -> AsOf:
    """Return the date that an address asks for. A day is taken at its end, today at this moment.

    What is no date, or lies ahead, is named and the live page shown.
    """
    text = parameters.get(NAME, "").strip()
    if not text:
        return AsOf(now)
    asked = day_in(text) or moment_in(text)
    if asked is None:
        return AsOf(now, notice=f"Prices of: “{shortened(text)}” was ignored: write {EXAMPLE}.")
    starts = asked if isinstance(asked, datetime) else datetime.combine(asked, time.min, UTC)
    if starts > now:
        return AsOf(now, notice=f"Prices of: “{shortened(text)}” lies ahead and was ignored: live is shown.")
    if isinstance(asked, datetime):
        return AsOf(asked, moment_text(asked))
    return AsOf(min(end_of(asked), now), asked.isoformat())

"""What is held back, in words: which fact, why, and what a decision would do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from costs.fact_words import in_words, rule_words
from costs.models import QuarantinedFact
from costs.queries.quarantine import ANY, RuleCount, may_be_decided, may_be_released
from costs.sources import SOURCES
from planner.csv_cells import Column
from planner.params import Pairs, shortened, whole_number
from planner.source_words import title_of

STATUSES = {
    "open": "waiting",
    "kept_out": "kept out",
    "released": "released",
    "superseded": "replaced by a later file",
    ANY: "all",
}
TONES = {"open": "warn", "kept_out": "bad", "released": "good", "superseded": ""}
# what the rule means to a reader, and what would make the fact right after all
RULES = {
    "zero_price": "A price of 0. Nobody gives a GPU away: there is no price to let in.",
    "negative_price": "A price below 0: there is no price to let in.",
    "price_out_of_bounds": "A price that no table could hold.",
    "gpu_count_out_of_bounds": "A number of GPUs that no machine has.",
    "contradicting_lines": "Two lines of one file state one fact with other values. Release the right one.",
    "two_prices_for_one_offer": "One offer with two prices in one file.",
    "price_per_gpu_hour_absurd": "A GPU-hour far from all that this model was ever sold for.",
    "gpu_count_contradicts_machine": "Another number of GPUs than this machine type has.",
    "price_jump": "More than three times, or less than a third of, the price that stood before.",
    "linux_windows_flapping": "The difference is that of a Windows licence: the list mixes two systems.",
    "spot_above_on_demand": "Spot costs more than the same machine on demand.",
    "term_not_below_on_demand": "A commitment costs as much as on demand, or more.",
    "long_term_above_short_term": "Three years cost more an hour than one year.",
    "more_gpus_for_less": "A larger machine of the family costs less than a smaller one.",
    "scope_vanished": "The list no longer names all of this. Release it if it is sold no more.",
    "scope_shrank": "The list has under half of its rows. Release it if that is how it is now.",
    "currency_changed": "The list is in another currency than before.",
    "scope_in_doubt": "Half of what stood before looks wrong in this file, so all of it waits.",
    "two_values_at_one_moment": "Another value is stored for the very same moment.",
    "kept_out_before": "Somebody refused this very fact before.",
}
COLUMNS = (
    Column("status"),
    Column("rule"),
    Column("source"),
    Column("scope"),
    Column("fact"),
    Column("evidence"),
    Column("column"),
    Column("value"),
    Column("line", "number"),
    Column("rows_held", "number"),
    Column("file"),
    Column("decided_by"),
    Column("decided_at", "time"),
    Column("note"),
    Column("source_run", "number"),
)
FILTERS = ("status", "rule", "source", "run")


@dataclass(frozen=True)
class HeldLine:
    """One record of the list."""

    fact: QuarantinedFact
    words: str

    @property
    def title(self) -> str:
        return title_of(self.fact.source)

    @property
    def status(self) -> str:
        return STATUSES.get(self.fact.status, self.fact.status)

    @property
    def tone(self) -> str:
        return TONES.get(self.fact.status, "")

    @property
    def may_be_decided(self) -> bool:
        return may_be_decided(self.fact)

    @property
    def may_be_released(self) -> bool:
        return may_be_released(self.fact)

    @property
    def cells(self) -> list[Any]:
        """Return the values of the file's columns."""
        fact = self.fact
        return [
            fact.status,
            fact.rule,
            fact.source,
            fact.scope,
            self.words,
            fact.evidence,
            fact.column,
            fact.value,
            fact.line,
            fact.rows,
            fact.run.origin,
            fact.decided_by,
            fact.decided_at,
            fact.note,
            fact.run_id,
        ]


@dataclass(frozen=True)
class HeldFilter:
    """What the list can be narrowed to. Values that are no choice are ignored and named."""

    status: str = "open"
    rule: str = ""
    source: str = ""
    run: int | None = None
    notices: tuple[str, ...] = ()

    def pairs(self, **changes: Any) -> Pairs:
        """Return the values as parameters, in the order of the form; defaults stay out."""
        usual = {"status": "open", "rule": "", "source": "", "run": None}
        values = {name: getattr(self, name) for name in FILTERS} | changes
        return [(name, str(value)) for name, value in values.items() if value != usual.get(name, "")]


def read_filter(query: QueryDict) -> HeldFilter:
    """Return what the address asks for. A rule is not checked: rules come and go with versions."""
    notices = []
    status = query.get("status", "").strip() or "open"
    if status not in STATUSES:
        notices.append(f"No status “{shortened(status)}”; there are {', '.join(STATUSES)}: ignored.")
        status = "open"
    source = query.get("source", "").strip()
    if source and source not in SOURCES:
        notices.append(f"No source “{shortened(source)}”: ignored.")
        source = ""
    asked = query.get("run", "").strip()
    run = whole_number(asked, default=0, most=10**9)
    if asked and not run:
        notices.append(f"No run “{shortened(asked)}”: ignored.")
    rule = query.get("rule", "").replace("\0", "").strip()[:60]
    return HeldFilter(status, rule, source, run or None, tuple(notices))


def lines(facts: Iterable[QuarantinedFact]) -> list[HeldLine]:
    """Return records as lines of the list."""
    return [HeldLine(fact, in_words(fact)) for fact in facts]


def in_rules(shown: Iterable[HeldLine], counts: Iterable[RuleCount]) -> list[dict[str, Any]]:
    """Return lines under their rules, each with how many there are on all pages."""
    number = {count.rule: count.records for count in counts}
    groups: list[dict[str, Any]] = []
    for line in shown:
        if not groups or groups[-1]["rule"] != line.fact.rule:
            rule = line.fact.rule
            groups.append(
                {
                    "rule": rule,
                    "words": rule_words(rule),
                    "meaning": RULES.get(rule, ""),
                    "records": number.get(rule, 0),
                    "lines": [],
                }
            )
        groups[-1]["lines"].append(line)
    return groups

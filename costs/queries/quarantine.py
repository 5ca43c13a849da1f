"""Read what was held back: what waits for a person, what was decided, and by which rule."""

from dataclasses import dataclass

from django.db.models import Count, Max, QuerySet, Sum

from costs.models import IngestRun, QuarantinedFact

Status = QuarantinedFact.Status
# runs that were published, or would have been but for what they hold: checks ask nothing
TAKEN = (IngestRun.Status.PARTIAL, IngestRun.Status.DONE)
DECIDED = (Status.RELEASED, Status.KEPT_OUT)
ANY = "any"


@dataclass(frozen=True)
class RuleCount:
    """How many records of one rule there are, and how many rows they hold back."""

    rule: str
    records: int
    rows: int


def held_facts(
    *, status: str = Status.OPEN, rule: str = "", source: str = "", run: int | None = None
) -> QuerySet[QuarantinedFact]:
    """Return what is or was held back, by rule, with its run; `status` may be "any".

    A fact that was decided stands there once, however many later files stated it again. With a run its own
    records come as they are, those of a check too.
    """
    rows = QuarantinedFact.objects.select_related("run")
    rows = rows.filter(run__status__in=TAKEN) if run is None else rows.filter(run=run)
    if run is None and status in DECIDED:
        decided = QuarantinedFact.objects.filter(status__in=DECIDED, run__status__in=TAKEN)
        rows = rows.filter(pk__in=decided.values("digest").annotate(newest=Max("pk")).values("newest"))
    if status != ANY:
        rows = rows.filter(status=status)
    if rule:
        rows = rows.filter(rule=rule)
    if source:
        rows = rows.filter(source=source)
    return rows.order_by("rule", "source", "-run", "line", "pk")


def rules_of(rows: QuerySet[QuarantinedFact]) -> list[RuleCount]:
    """Return the rules that hold these facts back, the one with the most records first."""
    counted = rows.order_by().values("rule").annotate(records=Count("pk"), held=Sum("rows"))
    found = [RuleCount(row["rule"], row["records"], row["held"]) for row in counted]
    return sorted(found, key=lambda each: (-each.records, each.rule))


def waiting_by_source() -> dict[str, int]:
    """Return how many records of each source wait for a person."""
    waiting = QuarantinedFact.objects.filter(status=Status.OPEN, run__status__in=TAKEN)
    return dict(
        waiting.order_by().values("source").annotate(count=Count("pk")).values_list("source", "count")
    )


def decidable(rows: QuerySet[QuarantinedFact]) -> QuerySet[QuarantinedFact]:
    """Return those of the records that a person may still decide about."""
    return rows.filter(status__in=(Status.OPEN, Status.KEPT_OUT), run__status__in=TAKEN)


def may_be_decided(fact: QuarantinedFact) -> bool:
    """Return whether a person has something to decide about a record."""
    return fact.status in (Status.OPEN, Status.KEPT_OUT) and fact.run.status in TAKEN


def may_be_released(fact: QuarantinedFact) -> bool:
    """Return whether there is something to let in: a line that gave no fact has none."""
    return may_be_decided(fact) and (fact.payload is not None or fact.line is None)

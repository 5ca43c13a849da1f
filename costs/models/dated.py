"""The columns that every dated fact has beside what it says."""

from django.db import models
from django.db.models import F, Q

from .jobs import Batch


class Dated(models.Model):
    """A fact that holds from one moment to another. `effective_to` is empty for what holds now.

    Only costs/ingest.py writes such rows. Each table repeats the two rules of `dated_rules` for its key.
    """

    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120)
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    # the newest date of which a source stated this: of its file, or of the row where it has one
    as_of = models.DateTimeField()
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="%(class)s_rows")
    line = models.PositiveBigIntegerField()  # in that batch's file

    class Meta:
        abstract = True


def dated_rules(table: str, *key: str) -> list[models.BaseConstraint]:
    """Return what holds for every dated table: one statement at a moment, and no end before a start."""
    fields = ["source", "scope", *key]
    return [
        models.UniqueConstraint(fields=[*fields, "effective_from"], name=f"{table}_natural_key"),
        models.UniqueConstraint(
            fields=fields, condition=Q(effective_to__isnull=True), name=f"one_current_{table}"
        ),
        models.CheckConstraint(
            condition=Q(effective_to__isnull=True) | Q(effective_to__gt=F("effective_from")),
            name=f"{table}_ends_after_start",
        ),
    ]

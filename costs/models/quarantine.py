"""Facts that were read well and look wrong: kept out of the tables until a person decides."""

from django.db import models

from .jobs import IngestRun


class QuarantinedFact(models.Model):
    """One fact, or everything that one file says of a scope, that a rule of the gate held back.

    Only costs/ingest.py and costs/quarantine.py write here.
    """

    class Status(models.TextChoices):
        OPEN = "open"
        RELEASED = "released"  # a person vouched for it: it passes from now on
        KEPT_OUT = "kept_out"  # a person refused it: it stays out without being asked about again
        SUPERSEDED = "superseded"  # a later run of the same scope said something else, or the same again

    run = models.ForeignKey(IngestRun, on_delete=models.CASCADE, related_name="quarantined")
    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120)
    line = models.PositiveBigIntegerField(null=True)  # empty where a whole scope is held
    rows = models.PositiveBigIntegerField(default=1)  # facts that this record holds back
    key = models.CharField(max_length=600)  # which fact, in words
    digest = models.CharField(max_length=64)  # of rule and what the fact says: a decision stands for it
    rule = models.CharField(max_length=60)
    column = models.CharField(max_length=120, blank=True)
    value = models.CharField(max_length=500, blank=True)
    evidence = models.CharField(max_length=500)  # why it looks wrong, with the figures compared
    payload = models.JSONField(null=True)  # the fact; empty where there is none that the tables could hold
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPEN)
    note = models.CharField(max_length=500, blank=True)
    decided_by = models.CharField(max_length=254, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["status", "source", "scope"], name="quarantined_status"),  # sources page
            models.Index(fields=["digest", "-id"], name="quarantined_digest"),  # gate: was it decided before
            models.Index(fields=["run", "line"], name="quarantined_run_line"),  # run page
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.key}"

"""When each source is fetched: rows that the tick reads and people edit."""

from django.db import models
from django.db.models import Q


class Schedule(models.Model):
    """One source with one set of parameters, fetched again and again. Only costs/schedule.py writes here."""

    source = models.CharField(max_length=40)
    params = models.JSONField(default=dict)
    params_key = models.CharField(max_length=200, blank=True)  # the parameters in one order: what is unique
    every_minutes = models.PositiveIntegerField()
    jitter_seconds = models.PositiveIntegerField(default=0)  # spread, so that not all ask at the same moment
    is_enabled = models.BooleanField(default=True)
    changed_by = models.CharField(max_length=254, blank=True)
    changed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["source", "params_key"]
        constraints = [
            models.UniqueConstraint(fields=["source", "params_key"], name="schedule_natural_key"),
            models.CheckConstraint(
                condition=Q(every_minutes__gte=5, every_minutes__lte=525_600), name="schedule_every_in_bounds"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} every {self.every_minutes} min"

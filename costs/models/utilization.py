"""What the fleet really did, hour by hour."""

from django.db import models
from django.db.models import Q

from .jobs import Batch


class Utilization(models.Model):
    """Mean GPUs of one pool and GPU model over one period, an hour unless the source counts in days.

    Empty is unknown, never zero. Allocated may exceed available: that is kept and flagged, not cut.
    Only costs/ingest.py writes here.
    """

    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120)
    is_sample = models.BooleanField(default=False)
    cluster = models.CharField(max_length=80)
    pool = models.CharField(max_length=80)
    gpu_type = models.CharField(max_length=80)  # as the source writes it
    starts_at = models.DateTimeField()
    period_hours = models.DecimalField(max_digits=5, decimal_places=2, default=1)
    gpus_installed = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    gpus_available = models.DecimalField(max_digits=12, decimal_places=4, null=True)  # installed less down
    gpus_allocated = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    gpus_pending = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    active_share = models.DecimalField(max_digits=7, decimal_places=6, null=True)  # of allocated GPUs, 0..1
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="utilization")
    line = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "pool", "gpu_type", "starts_at", "is_sample"],
                name="utilization_natural_key",
            ),
            models.CheckConstraint(
                condition=Q(gpus_allocated__isnull=True)
                | Q(gpus_allocated__gte=0, gpus_allocated__lte=10_000_000),
                name="allocated_in_bounds",
            ),
            models.CheckConstraint(
                condition=Q(active_share__isnull=True) | Q(active_share__gte=0, active_share__lte=1),
                name="active_share_in_bounds",
            ),
        ]
        indexes = [models.Index(fields=["is_sample", "starts_at"], name="utilization_sample_start")]  # weekly

    def __str__(self) -> str:
        return f"{self.cluster} {self.pool} {self.starts_at:%Y-%m-%dT%H}"

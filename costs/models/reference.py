"""Machine types, spellings of accelerators, zones and exchange rates: what other facts are held against."""

from django.db import models
from django.db.models import Q

from .jobs import Batch


class MachineType(models.Model):
    """One machine type as its provider states it."""

    provider = models.CharField(max_length=40)
    name = models.CharField(max_length=160)
    accelerator = models.CharField(max_length=60)  # slug of the accelerator table
    gpu_count = models.DecimalField(max_digits=8, decimal_places=3)
    vcpus = models.DecimalField(max_digits=8, decimal_places=2, null=True)
    memory_gib = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    quota_on_demand = models.CharField(max_length=80, blank=True)  # code of the limit it counts against
    quota_spot = models.CharField(max_length=80, blank=True)
    reference = models.CharField(max_length=400)
    reference_date = models.DateField(null=True)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="machine_types")

    class Meta:
        ordering = ["provider", "name"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "name"], name="machine_type_natural_key"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.name}"


class Alias(models.Model):
    """A spelling of an accelerator that people here added to those of the accelerator table."""

    spelling = models.CharField(max_length=80, unique=True)
    accelerator = models.CharField(max_length=60)  # slug
    note = models.CharField(max_length=400, blank=True)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="aliases")

    def __str__(self) -> str:
        return f"{self.spelling} = {self.accelerator}"


class Zone(models.Model):
    """What one account calls a zone, and the zone's own id."""

    provider = models.CharField(max_length=40)
    account = models.CharField(max_length=80, blank=True)
    region = models.CharField(max_length=80)
    zone_name = models.CharField(max_length=80)
    zone_id = models.CharField(max_length=80)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="zones")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "account", "region", "zone_name"], name="zone_natural_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account} {self.zone_name} = {self.zone_id}"


class FxRate(models.Model):
    """How many units of a currency one euro bought on a day."""

    currency = models.CharField(max_length=3)
    on = models.DateField()
    per_euro = models.DecimalField(max_digits=19, decimal_places=9)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="fx_rates")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["currency", "on"], name="fx_rate_natural_key"),
            models.CheckConstraint(condition=Q(per_euro__gt=0, per_euro__lte=10**9), name="fx_rate_bounds"),
        ]

    def __str__(self) -> str:
        return f"{self.on} {self.per_euro} {self.currency}"

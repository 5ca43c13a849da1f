"""Plans as people typed them: a scenario, its immutable revisions, and the demand and supplies of each.

Money columns are in the currency of the revision; the core calls every currency usd.
Empty means unknown and is never read as zero. Inputs that a what-if slider can set keep so many decimals
that a saved scenario costs what its preview said, to the cent. Only planner/scenarios/revisions.py
writes here.
"""

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q

MAX_GPUS = 100_000
MAX_USD = 100_000_000  # of one server or one GPU


class Scenario(models.Model):
    """A named plan. What it says stands in its newest revision."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="scenarios"
    )
    is_sample = models.BooleanField(default=False)
    is_plan_of_record = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["-is_plan_of_record", "created_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["is_plan_of_record"],
                condition=Q(is_plan_of_record=True),
                name="one_plan_of_record",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Revision(models.Model):
    """One saved state of a scenario. Never changed after it is saved."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    # names this revision for good: a restored database may give its row number to another
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    note = models.CharField(max_length=200, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()
    start = models.DateField()  # first of a month
    months = models.PositiveSmallIntegerField(default=36)
    gpu_model = models.CharField(max_length=60)  # slug of an accelerator
    currency = models.CharField(max_length=3, default="USD")
    discount_rate_per_year = models.DecimalField(max_digits=7, decimal_places=6)  # effective, 0.10 is 10 %
    # share by which on-demand and spot list prices change in a year; -0.10 is 10 % cheaper
    price_change_per_year = models.DecimalField(max_digits=14, decimal_places=12, default=0)
    # the moment at which listed prices are read; empty follows the newest
    prices_as_of = models.DateTimeField(null=True)
    # what each listed price was when that moment was chosen: lists that come later, imports taken back and
    # rates published since do not reach it
    kept_quotes = models.JSONField(null=True, editable=False)

    class Meta:
        ordering = ["scenario", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "number"], name="revision_number"),
            models.CheckConstraint(condition=Q(months__gte=1, months__lte=120), name="revision_months"),
            models.CheckConstraint(condition=Q(start__day=1), name="revision_starts_on_a_first"),
            models.CheckConstraint(
                condition=Q(discount_rate_per_year__gte=0, discount_rate_per_year__lte=1),
                name="revision_discount_rate",
            ),
            models.CheckConstraint(
                condition=Q(price_change_per_year__gte=Decimal("-0.9"), price_change_per_year__lte=1),
                name="revision_price_change",
            ),
            models.CheckConstraint(
                condition=Q(prices_as_of__isnull=True, kept_quotes__isnull=True)
                | Q(prices_as_of__isnull=False, kept_quotes__isnull=False),
                name="revision_keeps_prices_of_a_date",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scenario} r{self.number}"


class Workload(models.Model):
    """One class of demand."""

    class Kind(models.TextChoices):
        INFERENCE = "inference", "inference"
        TRAINING = "training", "training"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="workloads")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    gpus = models.DecimalField(max_digits=16, decimal_places=9)  # mean of month 1
    growth_per_month = models.DecimalField(max_digits=14, decimal_places=12, default=0)  # 0.015 is 1.5 %
    profile = models.JSONField(null=True)  # 168 hourly factors from Monday 00:00 UTC, mean 1; empty is flat
    deferrable_hours = models.PositiveSmallIntegerField(default=0)
    interruptible = models.BooleanField(default=False)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(gpus__gte=0, gpus__lte=MAX_GPUS), name="workload_gpus"),
            models.CheckConstraint(
                condition=Q(growth_per_month__gte=Decimal("-0.5"), growth_per_month__lte=Decimal("0.5")),
                name="workload_growth",
            ),
            models.CheckConstraint(
                condition=Q(deferrable_hours__gte=0, deferrable_hours__lte=8760), name="workload_deferrable"
            ),
        ]

    def __str__(self) -> str:
        return self.name

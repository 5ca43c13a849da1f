"""What spot capacity cost, whether there was any, and what providers publish about interruptions."""

from django.db import models
from django.db.models import F, Q

from .dated import Dated, dated_rules
from .jobs import Batch


class Steps(models.Model):
    """One change point of a step function.

    The value holds from `starts_at`; it was last observed at `last_seen_at`. After a gap nothing is known
    of the time between the row before and this one. Only costs/ingest.py writes such rows.
    """

    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120)
    starts_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    follows_gap = models.BooleanField()  # True for the first row of a stretch that was watched
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="%(class)s_rows")
    line = models.PositiveBigIntegerField()  # in that batch's file

    class Meta:
        abstract = True


class SpotPrice(Steps):
    """The spot price of one machine type in one zone from one moment on. Zone ids and names never mix."""

    provider = models.CharField(max_length=40)
    sku = models.CharField(max_length=160)
    region = models.CharField(max_length=80)
    zone = models.CharField(max_length=80)
    zone_kind = models.CharField(max_length=8)  # id, name or region
    account = models.CharField(max_length=80, blank=True)  # whose zone names these are
    product = models.CharField(max_length=80)
    price_per_hour = models.DecimalField(max_digits=18, decimal_places=9)
    currency = models.CharField(max_length=3, default="USD")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "source",
                    "scope",
                    "provider",
                    "sku",
                    "region",
                    "zone",
                    "zone_kind",
                    "account",
                    "product",
                    "starts_at",
                ],
                name="spot_price_natural_key",
            ),
            models.CheckConstraint(
                condition=Q(price_per_hour__gt=0, price_per_hour__lte=100_000), name="spot_price_in_bounds"
            ),
            models.CheckConstraint(
                condition=Q(last_seen_at__gte=F("starts_at")), name="spot_price_seen_after_start"
            ),
        ]
        # read by the spot page: one machine type, all its zones
        indexes = [models.Index(fields=["sku", "product", "starts_at"], name="spot_price_sku_start")]

    def __str__(self) -> str:
        return f"{self.sku} {self.zone} {self.starts_at:%Y-%m-%dT%H:%M} {self.price_per_hour}"


class SpotCapacity(Steps):
    """How many spot machines could be had, or kept, in one zone from one moment of a trace on."""

    provider = models.CharField(max_length=40)
    trace = models.CharField(max_length=160)
    region = models.CharField(max_length=80)
    zone = models.CharField(max_length=80)
    accelerator_name = models.CharField(max_length=80)
    gpu_count = models.DecimalField(max_digits=8, decimal_places=3)
    nodes_wanted = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    measures = models.CharField(max_length=16)  # availability or preemption
    nodes = models.DecimalField(max_digits=10, decimal_places=2)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "source",
                    "scope",
                    "provider",
                    "trace",
                    "region",
                    "zone",
                    "accelerator_name",
                    "gpu_count",
                    "measures",
                    "starts_at",
                ],
                name="spot_capacity_natural_key",
            ),
            models.CheckConstraint(
                condition=Q(last_seen_at__gte=F("starts_at")), name="spot_capacity_seen_after_start"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.trace} {self.starts_at:%Y-%m-%dT%H:%M} {self.nodes}"


class Interruption(Dated):
    """What a provider publishes about interruptions of one machine type in one region."""

    provider = models.CharField(max_length=40)
    sku = models.CharField(max_length=160)
    region = models.CharField(max_length=80)
    product = models.CharField(max_length=80)
    band = models.PositiveSmallIntegerField()
    band_label = models.CharField(max_length=40)
    share_low = models.DecimalField(max_digits=6, decimal_places=4)
    share_high = models.DecimalField(max_digits=6, decimal_places=4, null=True)
    saving_share = models.DecimalField(max_digits=7, decimal_places=4, null=True)

    class Meta:
        constraints = dated_rules("interruption", "provider", "sku", "region", "product")

    def __str__(self) -> str:
        return f"{self.sku} {self.region} {self.band_label}"

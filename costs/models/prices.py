"""Accelerators, what is sold with them, and at which price."""

from django.db import models
from django.db.models import F, Q

from .jobs import Batch


class Accelerator(models.Model):
    """One model of accelerator and what its maker states about it. Rates are dense, not with sparsity."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    vendor = models.CharField(max_length=40)
    form_factor = models.CharField(max_length=40, blank=True)
    memory_gb = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    memory_bandwidth_gb_s = models.DecimalField(max_digits=9, decimal_places=1, null=True)
    power_w = models.DecimalField(max_digits=7, decimal_places=1, null=True)
    link_gb_s_per_direction = models.DecimalField(max_digits=9, decimal_places=2, null=True)
    fp32_tflops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    tf32_tflops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    fp16_tflops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    bf16_tflops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    fp8_tflops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    int8_tops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    fp4_tflops = models.DecimalField(max_digits=10, decimal_places=3, null=True)
    launch_date = models.DateField(null=True)
    reference = models.CharField(max_length=400)
    reference_date = models.DateField(null=True)
    aliases = models.JSONField(default=list)  # spellings of providers
    notes = models.CharField(max_length=600, blank=True)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="accelerators")

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Sku(models.Model):
    """One thing that a provider sells: an instance type or an offer with a fixed number of accelerators."""

    provider = models.CharField(max_length=40)
    name = models.CharField(max_length=160)
    accelerator_name = models.CharField(max_length=80)  # as the provider writes it
    accelerator = models.ForeignKey(Accelerator, null=True, on_delete=models.PROTECT, related_name="skus")
    gpu_count = models.DecimalField(max_digits=8, decimal_places=3)  # fractions are sold (A10: 0.167)
    vcpus = models.DecimalField(max_digits=8, decimal_places=2, null=True)
    memory_gib = models.DecimalField(max_digits=10, decimal_places=2, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "name", "accelerator_name", "gpu_count"], name="sku_natural_key"
            ),
            models.CheckConstraint(condition=Q(gpu_count__gt=0, gpu_count__lte=1024), name="sku_gpu_count"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.name}"


class Price(models.Model):
    """What a SKU cost per hour from one moment to another, as one source states it.

    `effective_to` is empty for the current price. Only costs/ingest.py writes here.
    """

    class Term(models.TextChoices):
        ON_DEMAND = "on_demand", "on demand"
        SPOT = "spot", "spot"
        RESERVED_1Y = "reserved_1y", "1 year"
        RESERVED_3Y = "reserved_3y", "3 years"
        CONVERTIBLE_1Y = "convertible_1y", "1 year, convertible"
        CONVERTIBLE_3Y = "convertible_3y", "3 years, convertible"
        COMPUTE_PLAN_1Y = "compute_plan_1y", "savings plan, 1 year"
        COMPUTE_PLAN_3Y = "compute_plan_3y", "savings plan, 3 years"
        INSTANCE_PLAN_1Y = "instance_plan_1y", "family savings plan, 1 year"
        INSTANCE_PLAN_3Y = "instance_plan_3y", "family savings plan, 3 years"
        CAPACITY_BLOCK = "capacity_block", "capacity block"

    class Payment(models.TextChoices):
        NONE = "", "—"
        NO_UPFRONT = "no_upfront", "no upfront"
        PARTIAL_UPFRONT = "partial_upfront", "partial upfront"
        ALL_UPFRONT = "all_upfront", "all upfront"

    class State(models.TextChoices):
        PRICED = "priced", "priced"
        NOT_SOLD = "not_sold", "not sold here"
        RESERVATION_ONLY = "reservation_only", "reservation only"
        UNKNOWN = "unknown", "unknown"

    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120)
    sku = models.ForeignKey(Sku, on_delete=models.PROTECT, related_name="prices")
    region = models.CharField(max_length=80)
    zone = models.CharField(max_length=80, blank=True)
    term = models.CharField(max_length=16, choices=Term.choices)
    payment = models.CharField(max_length=16, choices=Payment.choices, blank=True, default="")
    state = models.CharField(max_length=16, choices=State.choices)
    state_reason = models.CharField(max_length=200, blank=True)  # why there is no price
    # effective hourly price of the whole SKU in `currency`; null unless priced
    price_per_hour = models.DecimalField(max_digits=18, decimal_places=9, null=True)
    # total due at the start of the term, where the source states it
    upfront = models.DecimalField(max_digits=18, decimal_places=6, null=True)
    currency = models.CharField(max_length=3, default="USD")
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    # the newest date of which a source stated this price: of its file, or of the row where it has one
    as_of = models.DateTimeField()
    # of a price history: nobody watched between the last sight of the price before and this one
    follows_gap = models.BooleanField(default=False, db_default=False)
    reference = models.CharField(max_length=400, blank=True)  # the row's own source, where it names one
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="prices")  # that brought it
    line = models.PositiveBigIntegerField()  # in that batch's file

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "scope", "sku", "region", "zone", "term", "payment", "effective_from"],
                name="price_natural_key",
            ),
            models.UniqueConstraint(
                fields=["source", "scope", "sku", "region", "zone", "term", "payment"],
                condition=Q(effective_to__isnull=True),
                name="one_current_price",
            ),
            # two-sided: on PostgreSQL NaN > 0 is true, and only an upper bound stops it
            models.CheckConstraint(
                condition=Q(price_per_hour__isnull=True)
                | Q(price_per_hour__gt=0, price_per_hour__lte=100_000),
                name="price_in_bounds",
            ),
            models.CheckConstraint(
                condition=Q(state="priced", price_per_hour__isnull=False)
                | (~Q(state="priced") & Q(price_per_hour__isnull=True)),
                name="price_only_when_priced",
            ),
            models.CheckConstraint(
                condition=Q(effective_to__isnull=True) | Q(effective_to__gt=F("effective_from")),
                name="price_ends_after_start",
            ),
        ]
        indexes = [
            models.Index(fields=["sku", "term", "region"], name="price_sku_term_region"),  # prices explorer
        ]

    def __str__(self) -> str:
        return f"{self.sku} {self.region} {self.term} {self.price_per_hour} {self.currency}"

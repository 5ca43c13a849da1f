"""Ways to get GPUs in a revision of a scenario: one table per kind, and where each price comes from."""

from django.db import models
from django.db.models import Q

from .scenarios import MAX_GPUS, MAX_USD, Revision


class SupplyPrice(models.Model):
    """A price of a rented supply: typed by a person, or the key of a price fact. Neither is "unknown".

    A key is (provider, sku, region, zone, term, payment). Its value is read from the price facts at the date
    that the revision keeps, or at the data date of the page where it follows the newest prices.
    """

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="prices")
    # typed
    usd_per_gpu_hour = models.DecimalField(max_digits=14, decimal_places=6, null=True)  # the recurring part
    usd_upfront_per_gpu = models.DecimalField(max_digits=16, decimal_places=4, null=True)
    source = models.CharField(max_length=200, blank=True)  # "quote 2207 of the vendor"
    source_date = models.DateField(null=True)
    # key
    provider = models.CharField(max_length=40, blank=True)
    sku = models.CharField(max_length=160, blank=True)
    region = models.CharField(max_length=80, blank=True)
    zone = models.CharField(max_length=80, blank=True)
    term = models.CharField(max_length=16, blank=True)
    payment = models.CharField(max_length=16, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(provider="") | Q(usd_per_gpu_hour__isnull=True, usd_upfront_per_gpu__isnull=True),
                name="supply_price_typed_or_key",
            ),
            models.CheckConstraint(
                condition=Q(usd_per_gpu_hour__isnull=True)
                | Q(usd_per_gpu_hour__gte=0, usd_per_gpu_hour__lte=10_000),
                name="supply_price_in_bounds",
            ),
            models.CheckConstraint(
                condition=Q(usd_upfront_per_gpu__isnull=True)
                | Q(usd_upfront_per_gpu__gte=0, usd_upfront_per_gpu__lte=MAX_USD),
                name="supply_upfront_in_bounds",
            ),
        ]

    def __str__(self) -> str:
        return self.source if not self.is_key else f"{self.provider} {self.sku} {self.region} {self.term}"

    @property
    def is_key(self) -> bool:
        return bool(self.provider)


class OwnedSupply(models.Model):
    """Servers bought. The defaults and where they come from stand in planner/scenarios/assumptions.py."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="owned")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=80)
    servers = models.PositiveIntegerField()
    gpus_per_server = models.PositiveSmallIntegerField(default=8)
    spare_servers = models.PositiveIntegerField(default=0)
    order_date = models.DateField()
    lead_time_days = models.PositiveSmallIntegerField()
    burn_in_days = models.PositiveSmallIntegerField()
    usd_capex_per_server = models.DecimalField(max_digits=18, decimal_places=6, null=True)
    # network, storage, racks, installation: 0 where the price above holds them; no maintenance is due on them
    usd_other_capex_per_server = models.DecimalField(max_digits=16, decimal_places=2, null=True, default=0)
    capex_source = models.CharField(max_length=200, blank=True)
    capex_source_date = models.DateField(null=True)
    deposit_share = models.DecimalField(max_digits=7, decimal_places=6)
    idle_kw_per_server = models.DecimalField(max_digits=9, decimal_places=4, null=True)
    max_kw_per_server = models.DecimalField(max_digits=9, decimal_places=4, null=True)
    pue = models.DecimalField(max_digits=5, decimal_places=3)
    usd_per_kwh = models.DecimalField(max_digits=12, decimal_places=9, null=True)
    usd_colocation_per_kw_month = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    colocation_includes_energy = models.BooleanField(default=False)
    maintenance_share_per_year = models.DecimalField(max_digits=7, decimal_places=6)
    warranty_months = models.PositiveSmallIntegerField()
    fte_minimum = models.DecimalField(max_digits=7, decimal_places=2, default=0)
    servers_per_fte = models.DecimalField(max_digits=7, decimal_places=2)
    usd_staff_per_fte_year = models.DecimalField(max_digits=12, decimal_places=2, default=0)
    usd_software_per_server_month = models.DecimalField(max_digits=12, decimal_places=2, default=0)
    usd_insurance_per_server_month = models.DecimalField(max_digits=12, decimal_places=2, default=0)
    availability = models.DecimalField(max_digits=7, decimal_places=6)
    accounting_life_months = models.PositiveSmallIntegerField()
    economic_life_months = models.PositiveSmallIntegerField(null=True)
    residual_share = models.DecimalField(max_digits=7, decimal_places=6, null=True)  # empty: by age
    loan_share = models.DecimalField(max_digits=7, decimal_places=6, default=0)
    loan_rate_per_year = models.DecimalField(max_digits=7, decimal_places=6, default=0)
    loan_months = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(servers__gte=1, servers__lte=MAX_GPUS)
                & Q(gpus_per_server__gte=1, gpus_per_server__lte=1024)
                & Q(spare_servers__lte=MAX_GPUS),
                name="owned_servers",
            ),
            models.CheckConstraint(
                condition=Q(usd_capex_per_server__isnull=True)
                | Q(usd_capex_per_server__gt=0, usd_capex_per_server__lte=MAX_USD),
                name="owned_capex",
            ),
            models.CheckConstraint(
                condition=Q(usd_other_capex_per_server__isnull=True)
                | Q(usd_other_capex_per_server__gte=0, usd_other_capex_per_server__lte=MAX_USD),
                name="owned_other_capex",
            ),
            models.CheckConstraint(
                condition=Q(deposit_share__gte=0, deposit_share__lte=1)
                & Q(maintenance_share_per_year__gte=0, maintenance_share_per_year__lte=1)
                & Q(availability__gt=0, availability__lte=1)
                & Q(loan_share__gte=0, loan_share__lte=1)
                & (Q(residual_share__isnull=True) | Q(residual_share__gte=0, residual_share__lte=1)),
                name="owned_shares",
            ),
            models.CheckConstraint(condition=Q(pue__gte=1, pue__lte=3), name="owned_pue"),
            models.CheckConstraint(condition=Q(servers_per_fte__gt=0), name="owned_servers_per_fte"),
            models.CheckConstraint(condition=Q(accounting_life_months__gte=1), name="owned_accounting_life"),
            models.CheckConstraint(condition=Q(loan_share=0) | Q(loan_months__gte=1), name="owned_loan_term"),
        ]

    def __str__(self) -> str:
        return self.name


class ReservedSupply(models.Model):
    """A commitment to GPUs for a term, paid whether used or not."""

    class Payment(models.TextChoices):
        NO_UPFRONT = "no_upfront", "no upfront"
        PARTIAL_UPFRONT = "partial_upfront", "partial upfront"
        ALL_UPFRONT = "all_upfront", "all upfront"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="reserved")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=80)
    gpus = models.PositiveIntegerField()
    gpus_per_instance = models.PositiveSmallIntegerField(default=1)
    start = models.DateField()
    term_months = models.PositiveSmallIntegerField()
    payment = models.CharField(max_length=16, choices=Payment.choices, default=Payment.NO_UPFRONT)
    salvage_share = models.DecimalField(max_digits=7, decimal_places=6, default=0)
    price = models.OneToOneField(SupplyPrice, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(gpus__gte=1, gpus__lte=MAX_GPUS), name="reserved_gpus"),
            models.CheckConstraint(
                condition=Q(gpus_per_instance__gte=1, gpus_per_instance__lte=1024), name="reserved_instance"
            ),
            models.CheckConstraint(
                condition=Q(term_months__gte=1, term_months__lte=120), name="reserved_term"
            ),
            models.CheckConstraint(
                condition=Q(salvage_share__gte=0, salvage_share__lte=1), name="reserved_salvage"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class OnDemandSupply(models.Model):
    """Rented by the hour up to a quota. One of a revision is the reference: plans are measured against it."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="on_demand")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=80)
    quota_gpus = models.DecimalField(max_digits=12, decimal_places=3, null=True)  # empty: no limit known
    gpus_per_instance = models.PositiveSmallIntegerField(default=1)
    is_reference = models.BooleanField(default=False)
    price = models.OneToOneField(SupplyPrice, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(quota_gpus__isnull=True) | Q(quota_gpus__gte=0, quota_gpus__lte=MAX_GPUS),
                name="on_demand_quota",
            ),
            models.UniqueConstraint(
                fields=["revision"], condition=Q(is_reference=True), name="one_reference_price"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SpotSupply(models.Model):
    """Rented by the hour, may be taken back."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="spot")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=80)
    quota_gpus = models.DecimalField(max_digits=12, decimal_places=3, null=True)  # empty: no limit known
    gpus_per_instance = models.PositiveSmallIntegerField(default=1)
    # useful hours of one paid GPU-hour, after restarts and lost work
    useful_work_factor = models.DecimalField(max_digits=7, decimal_places=6)
    price = models.OneToOneField(SupplyPrice, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(useful_work_factor__gt=0, useful_work_factor__lte=1), name="spot_useful_work"
            ),
            models.CheckConstraint(
                condition=Q(quota_gpus__isnull=True) | Q(quota_gpus__gte=0, quota_gpus__lte=MAX_GPUS),
                name="spot_quota",
            ),
        ]

    def __str__(self) -> str:
        return self.name

"""What was bought for a term, and what sellers offer to us alone."""

from django.db import models

from .dated import Dated, dated_rules


class Commitment(Dated):
    """One commitment that an account holds, as it stood from one moment to another."""

    provider = models.CharField(max_length=40)
    account = models.CharField(max_length=80, blank=True)
    commitment = models.CharField(max_length=160)
    kind = models.CharField(max_length=24)
    plan = models.CharField(max_length=60, blank=True)
    sku = models.CharField(max_length=160, blank=True)
    family = models.CharField(max_length=80, blank=True)
    region = models.CharField(max_length=80, blank=True)
    zone = models.CharField(max_length=80, blank=True)
    product = models.CharField(max_length=80, blank=True)
    count = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    spend_per_hour = models.DecimalField(max_digits=22, decimal_places=9, null=True)
    upfront = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    recurring_per_hour = models.DecimalField(max_digits=22, decimal_places=9, null=True)
    currency = models.CharField(max_length=3)
    payment = models.CharField(max_length=16, blank=True)
    term_hours = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    starts_at = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=40)
    reference = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = dated_rules("commitment", "provider", "account", "commitment")

    def __str__(self) -> str:
        return f"{self.provider} {self.kind} {self.commitment}"


class Quote(Dated):
    """What one seller offers for a limited time, as it stood from one moment to another."""

    provider = models.CharField(max_length=40)
    quote = models.CharField(max_length=160)
    kind = models.CharField(max_length=16)  # rental, server or capacity_block
    item = models.CharField(max_length=160)
    accelerator_name = models.CharField(max_length=80)
    gpu_count = models.DecimalField(max_digits=8, decimal_places=3)
    region = models.CharField(max_length=80, blank=True)
    zone = models.CharField(max_length=80, blank=True)
    units_min = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    units_max = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    starts_at = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(null=True)
    term_months = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    price_per_hour = models.DecimalField(max_digits=22, decimal_places=9, null=True)
    price_per_unit = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    upfront = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    deposit = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    take_or_pay_share = models.DecimalField(max_digits=6, decimal_places=4, null=True)
    lead_time_days = models.DecimalField(max_digits=8, decimal_places=2, null=True)
    warranty_years = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    power_w = models.DecimalField(max_digits=9, decimal_places=1, null=True)
    currency = models.CharField(max_length=3)
    quoted_on = models.DateField()
    valid_until = models.DateField(null=True)
    reference = models.CharField(max_length=400, blank=True)
    note = models.CharField(max_length=600, blank=True)

    class Meta:
        constraints = dated_rules("quote", "provider", "quote")

    def __str__(self) -> str:
        return f"{self.provider} {self.quote}"

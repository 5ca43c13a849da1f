"""What accounts may run, and what was asked of their providers."""

from django.db import models

from .dated import Dated, dated_rules


class Quota(Dated):
    """One limit of one account in one region, in the provider's own unit. It is permission, not capacity."""

    provider = models.CharField(max_length=40)
    account = models.CharField(max_length=80, blank=True)
    region = models.CharField(max_length=80)
    code = models.CharField(max_length=80)
    name = models.CharField(max_length=200)
    bucket = models.CharField(max_length=80, blank=True)  # what counts against it
    purchase = models.CharField(max_length=12)  # on_demand, spot, committed or any
    unit = models.CharField(max_length=12)
    limit = models.DecimalField(max_digits=20, decimal_places=4, null=True)  # empty: unlimited or unknown
    is_unlimited = models.BooleanField()
    used = models.DecimalField(max_digits=20, decimal_places=4, null=True)
    default_limit = models.DecimalField(max_digits=20, decimal_places=4, null=True)
    is_adjustable = models.BooleanField(null=True)
    usage_metric = models.CharField(max_length=300, blank=True)
    reference = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = dated_rules("quota", "provider", "account", "region", "code")

    def __str__(self) -> str:
        return f"{self.provider} {self.region} {self.code} {self.limit}"


class QuotaRequest(Dated):
    """One request to raise a limit, as it stood from one moment to another."""

    provider = models.CharField(max_length=40)
    account = models.CharField(max_length=80, blank=True)
    region = models.CharField(max_length=80)
    code = models.CharField(max_length=80)
    request = models.CharField(max_length=120)
    name = models.CharField(max_length=200, blank=True)
    asked = models.DecimalField(max_digits=20, decimal_places=4)
    status = models.CharField(max_length=16)  # open, granted, partly_granted, denied or cancelled
    requested_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    granted = models.DecimalField(max_digits=20, decimal_places=4, null=True)
    case = models.CharField(max_length=80, blank=True)
    note = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = dated_rules("quota_request", "provider", "account", "region", "request")

    def __str__(self) -> str:
        return f"{self.provider} {self.region} {self.code} {self.asked} {self.status}"

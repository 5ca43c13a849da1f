"""Servers bought: what they cost, when they come, what they draw and how they leave."""

from decimal import Decimal
from typing import Any

from django import forms

from planner.forms.defaults import defaulted
from planner.forms.fields import DayField, NumberField, PercentField, TextField


class OwnedForm(forms.Form):
    """Servers bought."""

    name = TextField(label="Name", max_length=80)
    servers = forms.IntegerField(label="Servers", min_value=1, max_value=10_000)
    gpus_per_server = forms.IntegerField(
        label="GPUs per server",
        min_value=1,
        max_value=1024,
        **defaulted("gpus_per_server"),
    )
    spare_servers = forms.IntegerField(label="Spare servers", min_value=0, max_value=10_000, initial=0)
    order_date = DayField(label="Order date")
    lead_time_days = forms.IntegerField(
        label="Lead time, days",
        min_value=0,
        max_value=1500,
        **defaulted("lead_time_days"),
    )
    burn_in_days = forms.IntegerField(
        label="Burn-in, days",
        min_value=0,
        max_value=365,
        **defaulted("burn_in_days"),
    )
    usd_capex_per_server = NumberField(
        label="Price per server",
        least=1,
        most=100_000_000,
        required=False,
        help_text="Empty: unknown. Every total of the plan is then unknown, too.",
    )
    usd_other_capex_per_server = NumberField(
        label="Network, storage, installation per server",
        least=0,
        most=100_000_000,
        required=False,
        initial=Decimal(0),
        help_text="0 where the price above holds them. Empty: unknown.",
    )
    capex_source = TextField(label="Source of the price", required=False, max_length=200)
    capex_source_date = DayField(label="Date of the price", required=False)
    deposit_share = PercentField(
        label="Deposit at order, %",
        least=0,
        most=100,
        **defaulted("deposit_share"),
    )
    idle_kw_per_server = NumberField(
        label="Idle power, kW per server", least=0, most=1000, decimals=4, required=False
    )
    max_kw_per_server = NumberField(
        label="Maximum power, kW per server", least=0, most=1000, decimals=4, required=False
    )
    pue = NumberField(
        label="PUE",
        least=1,
        most=3,
        decimals=3,
        **defaulted("pue"),
    )
    usd_per_kwh = NumberField(
        label="Electricity per kWh",
        least=0,
        most=2,
        decimals=9,
        required=False,
        **defaulted("usd_per_kwh"),
    )
    usd_colocation_per_kw_month = NumberField(
        label="Colocation per kW and month",
        least=0,
        most=10_000,
        decimals=2,
        **defaulted("usd_colocation_per_kw_month"),
    )
    colocation_includes_energy = forms.BooleanField(label="Colocation includes energy", required=False)
    maintenance_share_per_year = PercentField(
        label="Maintenance after warranty, % of the server price a year",
        least=0,
        most=100,
        **defaulted("maintenance_share_per_year"),
    )
    warranty_months = forms.IntegerField(
        label="Warranty, months",
        min_value=0,
        max_value=120,
        **defaulted("warranty_months"),
    )
    fte_minimum = NumberField(
        label="Least staff, people",
        least=0,
        most=1000,
        decimals=2,
        **defaulted("fte_minimum"),
    )
    servers_per_fte = NumberField(
        label="Servers per person",
        least=1,
        most=10_000,
        decimals=2,
        **defaulted("servers_per_fte"),
    )
    usd_staff_per_fte_year = NumberField(
        label="Staff, per person and year",
        least=0,
        most=10_000_000,
        decimals=2,
        **defaulted("usd_staff_per_fte_year"),
    )
    usd_software_per_server_month = NumberField(
        label="Software per server and month", least=0, most=1_000_000, decimals=2, initial=Decimal(0)
    )
    usd_insurance_per_server_month = NumberField(
        label="Insurance per server and month", least=0, most=1_000_000, decimals=2, initial=Decimal(0)
    )
    availability = PercentField(
        label="Availability, %",
        least=1,
        most=100,
        **defaulted("availability"),
    )
    accounting_life_months = forms.IntegerField(
        label="Accounting life, months",
        min_value=1,
        max_value=240,
        **defaulted("accounting_life_months"),
    )
    economic_life_months = forms.IntegerField(
        label="Economic life, months",
        min_value=1,
        max_value=240,
        required=False,
        help_text="Empty: in service until the plan ends.",
    )
    residual_share = PercentField(
        label="Resale at the end, % of the price",
        least=0,
        most=100,
        required=False,
        help_text="Empty: by age, 25 % after 36 months and 10 % after 60.",
    )
    loan_share = PercentField(label="Paid by a loan, %", least=0, most=100, initial=Decimal(0))
    loan_rate_per_year = PercentField(
        label="Loan rate, % a year",
        least=0,
        most=100,
        initial=Decimal(0),
        help_text="Nominal, compounded monthly, as banks quote it.",
    )
    loan_months = forms.IntegerField(label="Loan, months", min_value=0, max_value=240, initial=0)

    def clean(self) -> dict[str, Any]:
        """Refuse power and loans that contradict themselves."""
        values: dict[str, Any] = self.cleaned_data
        idle, most = values.get("idle_kw_per_server"), values.get("max_kw_per_server")
        if idle is not None and most is not None and idle > most:
            self.add_error("idle_kw_per_server", f"At most the maximum power, {most.normalize():f} kW.")
        if values.get("loan_share") and not values.get("loan_months"):
            self.add_error("loan_months", "A loan needs a term of at least 1 month.")
        return values

"""The editor's forms: the plan, its demand, the servers bought, what is rented."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django import forms

from planner.forms.defaults import defaulted, help_of
from planner.forms.fields import LONGEST_NAME, DayField, MonthField, NumberField, PercentField, TextField
from planner.forms.listed_price import ListedPriceField
from planner.forms.owned import OwnedForm
from planner.models import ReservedSupply, Workload
from planner.moments import end_of
from planner.scenarios.kept_prices import on_day

CURRENCIES = [("USD", "USD"), ("EUR", "EUR"), ("GBP", "GBP")]
KINDS = [("on_demand", "on demand"), ("reserved", "reserved"), ("spot", "spot")]
MOST_GPUS = 100_000
MOST_ROWS = 20
KEEP, TODAY, NEWEST, DAY = "keep", "today", "newest", "day"


class PlanForm(forms.Form):
    """What holds for the whole plan."""

    name = TextField(label="Name", max_length=LONGEST_NAME)
    note = forms.CharField(
        label="Note", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )
    gpu_model = forms.ChoiceField(label="GPU")
    start = MonthField(label="First month")
    months = forms.IntegerField(label="Months", min_value=1, max_value=120, help_text=help_of("months"))
    currency = forms.ChoiceField(label="Currency", choices=CURRENCIES)
    discount_rate_per_year = PercentField(
        label="Discount rate, % a year", least=0, most=100, help_text=help_of("discount_rate_per_year")
    )
    price_change_per_year = PercentField(
        label="Cloud list price change, % a year",
        least=-60,
        most=60,
        decimals=10,
        help_text=help_of("price_change_per_year"),
    )
    prices = forms.ChoiceField(
        label="Prices as of", help_text="What is kept stays as it is, whatever lists come later."
    )
    prices_day = DayField(label="Day of the prices", required=False, help_text="Taken at its end, in UTC.")
    revision_note = TextField(label="What changed", required=False, max_length=200)
    edited = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, gpu_models: list[tuple[str, str]], kept: datetime | None, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.fields["gpu_model"] = forms.ChoiceField(label="GPU", choices=gpu_models)
        help_text = self.fields["prices"].help_text
        self.fields["prices"] = forms.ChoiceField(
            label="Prices as of", choices=_price_choices(kept), help_text=help_text
        )

    def clean(self) -> dict[str, Any]:
        """Ask for the day where one is to be given, and for none elsewhere."""
        values: dict[str, Any] = self.cleaned_data
        day, asked = values.get("prices_day"), values.get("prices") == DAY
        if asked and day is None and "prices_day" not in self.errors:
            self.add_error("prices_day", "Give the day whose prices are to be used.")
        if day is not None and values.get("prices") and not asked:
            self.add_error("prices", "A day of the prices is given: choose another day, or empty it.")
        return values

    def prices_as_of(self, kept: datetime | None, as_of: datetime) -> datetime | None:
        """Return the moment whose prices are kept, None for the newest; the form must be valid."""
        asked = self.cleaned_data["prices"]
        if asked == DAY:
            return min(end_of(self.cleaned_data["prices_day"]), as_of)
        return {KEEP: kept, TODAY: as_of, NEWEST: None}[asked]


def _price_choices(kept: datetime | None) -> list[tuple[str, str]]:
    first = [(KEEP, on_day(kept))] if kept is not None else []
    return [*first, (NEWEST, "newest, always"), (TODAY, "today"), (DAY, "another day")]


class WorkloadForm(forms.Form):
    """One class of demand."""

    was = forms.CharField(required=False, widget=forms.HiddenInput)  # the name before: keeps its hourly shape
    name = TextField(label="Name", max_length=80)
    kind = forms.ChoiceField(label="Kind", choices=Workload.Kind.choices, initial="inference")
    gpus = NumberField(label="GPUs busy in month 1", least="0.001", most=MOST_GPUS, decimals=9)
    growth_per_month = PercentField(
        label="Growth, % a month",
        least=-10,
        most=20,
        decimals=10,
        **defaulted("growth_per_month"),
    )
    deferrable_hours = forms.IntegerField(
        label="May wait, hours",
        min_value=0,
        max_value=8760,
        initial=0,
        help_text="0: served in its hour. Training only.",
    )
    interruptible = forms.BooleanField(label="May run on spot", required=False)

    def clean(self) -> dict[str, Any]:
        """Refuse what only training can do."""
        values: dict[str, Any] = self.cleaned_data
        if values.get("kind") == Workload.Kind.INFERENCE:
            if values.get("deferrable_hours"):
                self.add_error("deferrable_hours", "Inference is served in its hour: 0.")
            if values.get("interruptible"):
                self.add_error("interruptible", "Inference never runs on spot.")
        return values


class RentedForm(forms.Form):
    """GPUs of a cloud: on demand, reserved or spot. Each kind uses its own fields."""

    name = TextField(label="Name", max_length=80)
    kind = forms.ChoiceField(label="Kind", choices=KINDS, initial="on_demand")
    listed = ListedPriceField(label="Listed price", help_text="Read at the date of the plan’s prices.")
    usd_per_gpu_hour = NumberField(label="or price per GPU-hour", least=0, most=10_000, required=False)
    usd_upfront_per_gpu = NumberField(
        label="and upfront per GPU", least=0, most=100_000_000, decimals=4, required=False
    )
    source = TextField(label="Source of a typed price", required=False, max_length=200)
    source_date = DayField(label="Date of a typed price", required=False)
    gpus_per_instance = forms.IntegerField(label="GPUs per instance", min_value=1, max_value=1024, initial=1)
    is_reference = forms.BooleanField(
        label="Plans are measured against this price", required=False, help_text="On demand only."
    )
    quota_gpus = NumberField(
        label="Quota, GPUs",
        least=0,
        most=MOST_GPUS,
        decimals=3,
        required=False,
        help_text="On demand and spot. Empty: no limit known.",
    )
    useful_work_factor = PercentField(
        label="Useful work of a spot hour, %",
        least=1,
        most=100,
        required=False,
        **defaulted("useful_work_factor"),
    )
    gpus = forms.IntegerField(
        label="GPUs reserved", min_value=1, max_value=MOST_GPUS, required=False, help_text="Reserved only."
    )
    start = DayField(label="Term starts", required=False)
    term_months = forms.IntegerField(label="Term, months", min_value=1, max_value=120, required=False)
    payment = forms.ChoiceField(
        label="Payment", choices=ReservedSupply.Payment.choices, initial="no_upfront", required=False
    )
    salvage_share = PercentField(
        label="Salvage, % of what is prepaid at the end", least=0, most=100, initial=Decimal(0)
    )

    def clean(self) -> dict[str, Any]:
        """Ask each kind for what it needs, and let a price be listed or typed, not both."""
        values: dict[str, Any] = self.cleaned_data
        typed = values.get("usd_per_gpu_hour") is not None or values.get("usd_upfront_per_gpu") is not None
        if values.get("listed") and typed:
            self.add_error("usd_per_gpu_hour", "Give a listed price or type one, not both.")
        if values.get("kind") == "reserved":
            self._clean_reserved(values)
        elif values.get("listed") and values["listed"].term not in ("on_demand", "spot"):
            self.add_error("listed", "This is the price of a commitment: choose the kind reserved.")
        if values.get("kind") != "on_demand" and values.get("is_reference"):
            self.add_error("is_reference", "Only an on-demand price can be the reference.")
        return values

    def _clean_reserved(self, values: dict[str, Any]) -> None:
        for name in ("gpus", "start", "term_months"):
            if values.get(name) is None and name not in self.errors:
                self.add_error(name, "A reserved supply needs this.")
        gpus, size = values.get("gpus"), values.get("gpus_per_instance")
        if gpus and size and gpus % size:
            below = gpus // size * size
            right = f"{below} or {below + size}" if below else str(size)
            self.add_error("gpus", f"Whole instances of {size} GPUs: {right}.")
        payment = values.get("payment") or ReservedSupply.Payment.NO_UPFRONT
        if payment == ReservedSupply.Payment.NO_UPFRONT and values.get("usd_upfront_per_gpu"):
            self.add_error("usd_upfront_per_gpu", "Nothing is due upfront with this payment: 0 or empty.")
        if payment == ReservedSupply.Payment.ALL_UPFRONT and values.get("usd_per_gpu_hour"):
            self.add_error("usd_per_gpu_hour", "Nothing is due by the hour with this payment: 0 or empty.")
        self._clean_listed_term(values)

    def _clean_listed_term(self, values: dict[str, Any]) -> None:
        listed = values.get("listed")
        if listed is None:
            return
        months = {"reserved_1y": 12, "reserved_3y": 36}.get(listed.term)
        if months is None:
            self.add_error("listed", "Choose a price of 1 or 3 years, or type the price.")
        elif values.get("term_months") not in (None, months):
            self.add_error("term_months", f"The listed price is for {months} months.")
        payment = values.get("payment") or ReservedSupply.Payment.NO_UPFRONT
        if months is not None and (listed.payment or ReservedSupply.Payment.NO_UPFRONT) != payment:
            self.add_error("payment", f"The listed price is paid {listed.payment or 'without upfront'}.")


ROWS: dict[str, Any] = {"extra": 1, "can_delete": True, "max_num": MOST_ROWS, "validate_max": True}
WorkloadSet = forms.formset_factory(WorkloadForm, **ROWS)
OwnedSet = forms.formset_factory(OwnedForm, **ROWS)
RentedSet = forms.formset_factory(RentedForm, **ROWS)

"""The editor as one form: plan, demand, servers and rented supplies, read from and written to a revision."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.forms import BaseFormSet
from django.http import QueryDict

from planner.forms.listed_price import text_of, unknown_keys
from planner.forms.scenario import KEEP, NEWEST, OwnedSet, PlanForm, RentedForm, RentedSet, WorkloadSet
from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    ReservedSupply,
    Revision,
    SpotSupply,
    SupplyPrice,
    Workload,
)
from planner.queries import rented
from planner.scenarios.kept_prices import keep_at, kept_quotes
from planner.scenarios.revisions import Draft, Supply

PLAN_FIELDS = ("gpu_model", "start", "months", "currency", "discount_rate_per_year", "price_change_per_year")
TYPED_FIELDS = ("usd_per_gpu_hour", "usd_upfront_per_gpu", "source", "source_date")


class Editor:
    """Every form of the page. `base` is the revision that is edited, `added` more rented rows."""

    def __init__(
        self,
        base: Revision,
        gpu_models: list[tuple[str, str]],
        data: QueryDict | None = None,
        added: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.base, self._data = base, data
        options: dict[str, Any] = {"data": data} if data is not None else {}
        self.plan = PlanForm(
            gpu_models=gpu_models, kept=base.prices_as_of, initial=_plan_initial(base), label_suffix="",
            **options,
        )  # fmt: skip
        options["form_kwargs"] = {"label_suffix": ""}
        self.workloads = WorkloadSet(prefix="workload", initial=_workloads_initial(base), **options)
        self.owned = OwnedSet(prefix="owned", initial=_owned_initial(base), **options)
        self.rented = RentedSet(prefix="rented", initial=[*_rented_initial(base), *added], **options)
        self._prices_as_of: datetime | None = None

    def is_valid(self, as_of: datetime) -> bool:
        """Return whether all forms hold; errors stand at their fields. `as_of` dates today's prices."""
        sets = (self.workloads, self.owned, self.rented)
        if not all([self.plan.is_valid(), *(one.is_valid() for one in sets)]):
            return False
        self._check_names([self.workloads], "Two workloads have this name.")
        self._check_names([self.owned, self.rented], "Two supplies have this name.")
        self._check_reference()
        self._choose_prices(as_of)
        self._check_listed(as_of)
        if not _rows(self.workloads):
            self.plan.add_error(None, "A plan needs some demand: add a workload.")
        if not [*_rows(self.owned), *_rows(self.rented)]:
            self.plan.add_error(None, "A plan needs some supply: add servers or rented GPUs.")
        return not self.plan.errors and not any(any(form.errors for form in one) for one in sets)

    def draft(self) -> Draft:
        """Return the rows of the next revision; the forms must be valid."""
        values = self.plan.cleaned_data
        revision = Revision(note=values["revision_note"], **{name: values[name] for name in PLAN_FIELDS})
        keep_at(revision, self._prices_as_of)
        if self._keeps_as_it_is():
            revision.kept_quotes = self.base.kept_quotes
        profiles = {row.name: row.profile for row in self.base.workloads.all()}
        workloads = [_workload(form.cleaned_data, profiles) for form in _rows(self.workloads)]
        supplies: list[Supply] = [_owned(form.cleaned_data) for form in _rows(self.owned)]
        supplies += [_rented(form.cleaned_data) for form in _rows(self.rented)]
        return Draft(revision, workloads, supplies)

    def accept_newest(self, newest: Revision) -> None:
        """Let the next save stand on a revision that somebody else made; what was typed here stays."""
        if self._data is not None:
            data = self._data.copy()
            data["edited"] = str(newest.number)
            self.plan.data = data

    def _choose_prices(self, as_of: datetime) -> None:
        day = self.plan.cleaned_data["prices_day"]
        if day is not None and day > as_of.astimezone(UTC).date():
            self.plan.add_error("prices_day", "No prices of a day to come are known: today at the latest.")
            return
        self._prices_as_of = self.plan.prices_as_of(self.base.prices_as_of, as_of)

    def _keeps_as_it_is(self) -> bool:
        """Return whether the next revision keeps the very prices of the one that is edited."""
        return self._prices_as_of is not None and self.plan.cleaned_data["prices"] == KEEP

    def _check_names(self, sets: Iterable["BaseFormSet[Any]"], text: str) -> None:
        forms_of = [form for one in sets for form in _rows(one)]
        counts = Counter(form.cleaned_data["name"] for form in forms_of)
        for form in forms_of:
            if counts[form.cleaned_data["name"]] > 1:
                form.add_error("name", text)

    def _check_reference(self) -> None:
        marked = [form for form in _rows(self.rented) if form.cleaned_data.get("is_reference")]
        for form in marked[1:]:
            form.add_error("is_reference", "One price alone can be the reference.")

    def _check_listed(self, as_of: datetime) -> None:
        kept = kept_quotes(self.base) if self._keeps_as_it_is() else {}
        listed = [form for form in _rows(self.rented) if form.cleaned_data.get("listed") not in (None, *kept)]
        keys = [form.cleaned_data["listed"] for form in listed]
        unknown = unknown_keys(keys, self._prices_as_of or as_of)
        for form in listed:
            reason = unknown.get(form.cleaned_data["listed"])
            if reason is not None:
                form.add_error("listed", f"{reason[:1].upper()}{reason[1:]}.")


def _rows(one: "BaseFormSet[Any]") -> list[forms.Form]:
    """Return the forms that somebody filled in and did not take out."""
    return [form for form in one if form.cleaned_data and not form.cleaned_data.get("DELETE")]


def _plan_initial(base: Revision) -> dict[str, Any]:
    values = {name: getattr(base, name) for name in PLAN_FIELDS}
    prices = NEWEST if base.prices_as_of is None else KEEP
    return values | {
        "name": base.scenario.name, "note": base.scenario.note, "edited": base.number, "prices": prices,
    }  # fmt: skip


def _values(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names if hasattr(row, name)}


def _workloads_initial(base: Revision) -> list[dict[str, Any]]:
    names = WorkloadSet.form.base_fields
    return [_values(row, names) | {"was": row.name} for row in base.workloads.all()]


def _owned_initial(base: Revision) -> list[dict[str, Any]]:
    return [_values(row, OwnedSet.form.base_fields) for row in base.owned.all()]


def _rented_initial(base: Revision) -> list[dict[str, Any]]:
    rows = sorted(rented(base), key=lambda row: row.position)
    return [
        _values(row, RentedForm.base_fields)
        | {"kind": _kind(row), "listed": text_of(row.price)}
        | _values(row.price, TYPED_FIELDS)
        for row in rows
    ]


def _kind(row: ReservedSupply | OnDemandSupply | SpotSupply) -> str:
    match row:
        case ReservedSupply():
            return "reserved"
        case SpotSupply():
            return "spot"
        case OnDemandSupply():
            return "on_demand"


def _workload(values: dict[str, Any], profiles: dict[str, Any]) -> Workload:
    kept = {name: value for name, value in values.items() if name not in ("was", "DELETE")}
    return Workload(**kept, profile=profiles.get(values["was"]))


def _owned(values: dict[str, Any]) -> OwnedSupply:
    return OwnedSupply(**{name: value for name, value in values.items() if name != "DELETE"})


def _rented(values: dict[str, Any]) -> Supply:
    price = _price(values)
    shared = {"name": values["name"], "gpus_per_instance": values["gpus_per_instance"], "price": price}
    if values["kind"] == "reserved":
        names = ("gpus", "start", "term_months", "salvage_share")
        payment = values["payment"] or ReservedSupply.Payment.NO_UPFRONT
        return ReservedSupply(**shared, **{name: values[name] for name in names}, payment=payment)
    if values["kind"] == "spot":
        factor = values["useful_work_factor"]
        if factor is None:
            factor = RentedForm.base_fields["useful_work_factor"].initial
        return SpotSupply(**shared, quota_gpus=values["quota_gpus"], useful_work_factor=factor)
    return OnDemandSupply(**shared, quota_gpus=values["quota_gpus"], is_reference=values["is_reference"])


def _price(values: dict[str, Any]) -> SupplyPrice:
    key = values["listed"]
    if key is None:
        return SupplyPrice(**{name: values[name] for name in TYPED_FIELDS})
    return SupplyPrice(
        provider=key.provider,
        sku=key.sku,
        region=key.region,
        term=key.term,
        payment=key.payment,
        zone=key.zone,
    )

"""Filters of list pages: a GET form whose values live in the address."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import django_filters
from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from costs.models import Price
from costs.queries import prices
from planner.params import Pairs, shortened
from planner.prices.as_of import NAME as AS_OF
from planner.prices.as_of import AsOf

LONGEST_QUERY = 100
NUMBERS = ("min_gpus", "link")


@dataclass(frozen=True)
class Chip:
    """One filter that applies: what it says, and the value that its × takes away."""

    name: str
    value: str
    text: str


class OfferFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter ships no types
    """What the prices page can be narrowed to. Values that are no choice are ignored and named."""

    gpu = django_filters.MultipleChoiceFilter(label="GPU")
    cloud = django_filters.MultipleChoiceFilter(label="Cloud")
    region = django_filters.CharFilter(label="Region starts with", max_length=LONGEST_QUERY)
    term = django_filters.MultipleChoiceFilter(label="Term", choices=Price.Term.choices)
    state = django_filters.MultipleChoiceFilter(label="State", choices=Price.State.choices)
    min_gpus = django_filters.NumberFilter(label="GPUs, at least", min_value=0, max_value=1024)
    link = django_filters.NumberFilter(label="Link GB/s, at least", min_value=0, max_value=100_000)
    q = django_filters.CharFilter(label="Search", max_length=LONGEST_QUERY)

    FIELDS = ("gpu", "cloud", "region", "term", "state", "min_gpus", "link", "q")
    NAMES = (*FIELDS, AS_OF)

    def __init__(self, data: QueryDict, offered: list[prices.Offered], as_of: AsOf) -> None:
        filled = QueryDict(mutable=True)
        for name, values in data.lists():
            # a form sends every field: an empty one is no filter
            filled.setlist(name, [value for value in values if value.strip()])
        super().__init__(filled, queryset=Price.objects.none())
        self.as_of = as_of
        self.filters["gpu"].extra["choices"] = sorted(
            {row.slug: row.name for row in offered}.items(), key=lambda pair: pair[1]
        )
        clouds = sorted({row.provider for row in offered})
        self.filters["cloud"].extra["choices"] = [(cloud, cloud) for cloud in clouds]

    @cached_property
    def values(self) -> prices.Filters:
        """Return the values that hold; a field with an error keeps the choices that are sound."""
        form: forms.Form = self.form
        form.is_valid()
        kept = {name: form.cleaned_data.get(name) for name in self.FIELDS if name in form.cleaned_data}
        for name in form.errors:
            field = form.fields[name]
            if isinstance(field, forms.MultipleChoiceField):
                kept[name] = [value for value in form[name].value() or [] if field.valid_value(value)]
        once = {n: list(dict.fromkeys(v)) if isinstance(v, list) else v for n, v in kept.items()}
        return cast(prices.Filters, {n: value for n, value in once.items() if value not in (None, "", [])})

    @cached_property
    def every(self) -> QuerySet[Price]:
        """Return the offers of the date without any filter, at exchange rates that are read once."""
        return prices.offers(self.as_of.moment)

    @cached_property
    def offers(self) -> QuerySet[Price]:
        """Return the offers that the values let through."""
        return prices.narrowed(self.every, **self.values)

    @property
    def matching(self) -> QuerySet[Price]:
        """Return the same as `offers`, bare: to count them."""
        return prices.narrowed(prices.held_on(self.as_of.moment), **self.values)

    @property
    def notices(self) -> list[str]:
        """Return one sentence for each value that was ignored, and what would be right."""
        form: forms.Form = self.form
        form.is_valid()
        found = [f"{form.fields[name].label}: {_complaint(form, name)}" for name in form.errors]
        return [*found, self.as_of.notice] if self.as_of.notice else found

    def pairs(self) -> Pairs:
        """Return the values as parameters, in the order of the form."""
        return [(chip.name, chip.value) for chip in self.chips()]

    def chips(self) -> list[Chip]:
        """Return one chip for each value."""
        chips = []
        for name, value in self.values.items():
            field = self.form.fields[name]
            if isinstance(value, list):
                words = dict(field.choices)
                chips += [Chip(name, one, f"{field.label}: {words[one]}") for one in value]
            else:
                text = plain_number(value) if name in NUMBERS else str(value)
                chips.append(Chip(name, text, f"{field.label}: {text}"))
        chips += [Chip(name, text, f"Prices of: {self.as_of.words}") for name, text in self.as_of.pairs()]
        return chips


def plain_number(value: Any) -> str:
    """Return a number as the address writes it: no exponent, no trailing zeros."""
    return format(value.normalize(), "f")


def _complaint(form: forms.Form, name: str) -> str:
    values = form[name].value() or []
    given = ", ".join(f"“{shortened(str(v))}”" for v in (values if isinstance(values, list) else [values]))
    if isinstance(form.fields[name], forms.MultipleChoiceField):
        return f"{given} is not among the choices of the list and was ignored."
    why = " ".join(str(error) for error in form.errors[name])
    return f"{given} was ignored. {why}"

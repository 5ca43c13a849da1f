"""Count the prices that wait in quarantine, for the filters of a list of offers."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Unpack

from django.db.models import Exists, FloatField, OuterRef, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from costs.models import QuarantinedFact, Sku

from .prices import Filters
from .quarantine import held_facts
from .runs import cadences

_LOOKUPS = {
    "cloud": "payload__provider__in",
    "region": "payload__region__istartswith",
    "term": "payload__term__in",
    "state": "payload__state__in",
}


def held_by_rule(**filters: Unpack[Filters]) -> dict[str, int]:
    """Return how many prices each rule holds back, the rule with the most first; one query.

    A line that gave no fact, or a whole scope, says neither cloud nor GPU: it counts without filters only.
    """
    rows = held_facts().filter(source__in=cadences("prices"))
    lookups = {lookup: filters[name] for name, lookup in _LOOKUPS.items() if filters.get(name)}  # type: ignore[literal-required]
    rows = rows.filter(**lookups)
    if (min_gpus := filters.get("min_gpus")) is not None:
        count = Cast(KeyTextTransform("gpu_count", "payload"), FloatField())
        rows = rows.alias(gpu_count=count).filter(gpu_count__gte=float(min_gpus))
    if filters.get("gpu") or filters.get("link") is not None:
        rows = _of_accelerators(rows, filters.get("gpu", ()), filters.get("link"))
    for word in filters.get("q", "").split():
        rows = rows.filter(key__icontains=word)
    sums = rows.order_by().values("rule").annotate(held=Sum("rows")).order_by("-held", "rule")
    return {row["rule"]: row["held"] for row in sums}


def _of_accelerators(
    rows: QuerySet[QuarantinedFact], gpu: Sequence[str], link: Decimal | int | None
) -> QuerySet[QuarantinedFact]:
    """Keep the facts about these accelerators: by their SKU where it is on file, else by its spelling."""
    rows = rows.alias(
        of_provider=KeyTextTransform("provider", "payload"),
        of_sku=KeyTextTransform("sku", "payload"),
        of_spelling=KeyTextTransform("accelerator_name", "payload"),
    )
    meant = Q()
    if gpu:
        meant &= Q(accelerator__slug__in=gpu)
    if link is not None:
        meant &= Q(accelerator__link_gb_s_per_direction__gte=link)
    same = Sku.objects.filter(provider=OuterRef("of_provider"), name=OuterRef("of_sku"))
    spelt = Sku.objects.filter(accelerator_name=OuterRef("of_spelling"))
    return rows.filter(Exists(same.filter(meant)) | (~Exists(same) & Exists(spelt.filter(meant))))

"""Save plans: the only writer of scenarios, revisions and what they hold. A revision is never changed."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet
from django.utils.text import slugify

from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    Person,
    ReservedSupply,
    Revision,
    Scenario,
    SpotSupply,
    SupplyPrice,
    Workload,
)
from planner.queries import supplies_of
from planner.scenarios.kept_prices import keep_prices

Supply = OwnedSupply | ReservedSupply | OnDemandSupply | SpotSupply
# the newest revision of each scenario is found by these; order is the order of the page
SUPPLY_SETS = ("owned", "reserved", "on_demand", "spot")
MOST_TRIES = 50  # for an address that nobody else takes at the same moment


@dataclass(frozen=True)
class Draft:
    """What a revision will hold: rows that are not saved yet. A rented supply carries an unsaved `price`.

    A revision with `prices_as_of` keeps the prices of that moment; what of them it does not hold yet is
    read when it is saved.
    """

    revision: Revision
    workloads: Sequence[Workload]
    supplies: Sequence[Supply] = field(default_factory=tuple)


class StaleEditError(Exception):
    """Somebody saved a newer revision while this one was edited."""

    def __init__(self, newest: Revision) -> None:
        super().__init__(f"revision {newest.number} was saved meanwhile")
        self.newest = newest


@transaction.atomic
def create_scenario(
    name: str, draft: Draft, *, owner: Person | None, now: datetime, is_sample: bool = False, note: str = ""
) -> Scenario:
    """Save a new scenario with its first revision."""
    scenario = Scenario(
        name=name, note=note, owner=owner, is_sample=is_sample, created_at=now, updated_at=now
    )
    _insert(scenario)
    _save(scenario, draft, 1, owner, now)
    return scenario


def _insert(scenario: Scenario) -> None:
    """Store a scenario under a free address, another one where somebody takes it at the same moment."""
    for _ in range(MOST_TRIES):
        scenario.slug = free_slug(scenario.name)
        with suppress(IntegrityError), transaction.atomic():
            scenario.save(force_insert=True)
            return
    raise TimeoutError(f"no free address for {scenario.name!r} in {MOST_TRIES} tries")


@transaction.atomic
def add_revision(
    scenario: Scenario, draft: Draft, *, edited: int, author: Person | None, now: datetime
) -> Revision:
    """Save a draft as the next revision; refused where `edited` is no longer the newest number."""
    locked = Scenario.objects.select_for_update().get(pk=scenario.pk)
    newest = locked.revisions.order_by("-number").first()
    if newest is not None and newest.number != edited:
        raise StaleEditError(newest)
    revision = _save(locked, draft, edited + 1, author, now)
    locked.updated_at = now
    locked.name, locked.note = scenario.name, scenario.note
    locked.save(update_fields=["updated_at", "name", "note"])
    return revision


@transaction.atomic
def make_plan_of_record(scenario: Scenario) -> None:
    """Make this the one plan that the organisation follows."""
    Scenario.objects.filter(is_plan_of_record=True).exclude(pk=scenario.pk).update(is_plan_of_record=False)
    Scenario.objects.filter(pk=scenario.pk).update(is_plan_of_record=True)
    scenario.is_plan_of_record = True


def remove_scenarios(scenarios: QuerySet[Scenario]) -> int:
    """Remove scenarios with everything they hold; return how many."""
    return scenarios.delete()[1].get("planner.Scenario", 0)


def free_slug(name: str) -> str:
    """Return an address for a name that no scenario has yet: "own-96", "own-96-2"."""
    stem = slugify(name)[:70].strip("-") or "scenario"
    taken = set(Scenario.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    # addresses of pages that stand where a scenario's address would
    taken |= {"new", "compare"}
    number = 2
    slug = stem
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug


def _save(scenario: Scenario, draft: Draft, number: int, author: Person | None, now: datetime) -> Revision:
    revision = draft.revision
    revision.scenario, revision.number = scenario, number
    revision.author, revision.created_at = author, now
    keep_prices(revision, [supply.price for supply in draft.supplies if not isinstance(supply, OwnedSupply)])
    revision.save(force_insert=True)
    for position, workload in enumerate(draft.workloads):
        workload.revision, workload.position = revision, position
        workload.save(force_insert=True)
    for position, supply in enumerate(draft.supplies):
        supply.revision, supply.position = revision, position
        if not isinstance(supply, OwnedSupply):
            price = supply.price
            price.revision = revision
            price.save(force_insert=True)
            supply.price = price
        supply.save(force_insert=True)
    return revision


# what a copy does not take over: each row gets its own
_OWN_FIELDS = {"id", "uid", "scenario", "number", "revision", "price", "author", "created_at", "note"}


def copy_of(revision: Revision) -> Draft:
    """Return a draft that holds what a revision holds, in rows of its own."""
    return Draft(
        Revision(**_fields_of(revision)),
        [Workload(**_fields_of(row)) for row in revision.workloads.all()],
        [_copied(row) for row in supplies_of(revision)],
    )


def _copied(row: Supply) -> Supply:
    match row:
        case OwnedSupply():
            return OwnedSupply(**_fields_of(row))
        case ReservedSupply():
            return ReservedSupply(**_fields_of(row), price=SupplyPrice(**_fields_of(row.price)))
        case OnDemandSupply():
            return OnDemandSupply(**_fields_of(row), price=SupplyPrice(**_fields_of(row.price)))
        case SpotSupply():
            return SpotSupply(**_fields_of(row), price=SupplyPrice(**_fields_of(row.price)))


def _fields_of(row: Model) -> dict[str, Any]:
    return {
        each.attname: getattr(row, each.attname)
        for each in row._meta.concrete_fields
        if each.name not in _OWN_FIELDS
    }

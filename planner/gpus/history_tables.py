"""The tables behind a GPU's price chart: what changed, every step of it, and the lines day by day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from costs.queries.price_history import Stretch
from costs.queries.price_moves import Move
from costs.queries.price_steps import Origin, Step
from planner.charts.price_history import PriceHistory, price_history_table
from planner.gpus.subject import Subject
from planner.gpus.tables import Table, TableColumn, date_cell, money, on_screen, provenance, run_cell, text
from planner.templatetags.units import day, percent_signed

MOST_ON_SCREEN = 50
LONGEST_BLINK = timedelta(days=2)


@dataclass(frozen=True)
class ChangeRow:
    """One change of one SKU in all regions where it is the same, with dollars at today's rate."""

    move: Move  # in the first of the regions
    regions: tuple[str, ...]
    old_usd: Decimal | None
    new_usd: Decimal | None

    @property
    def new(self) -> Step:
        return self.move.new


@dataclass(frozen=True)
class StepRow:
    """One price from one moment to another, with its dollars at today's rate."""

    step: Step
    usd: Decimal | None


def change_rows(subject: Subject) -> list[ChangeRow]:
    """Return every change of the window, the newest first."""
    same: dict[tuple[object, ...], list[Move]] = {}
    for move in subject.moves:
        provider, sku, _, payment = move.offer
        amounts = (move.old.price_per_hour, move.new.price_per_hour, move.new.currency)
        same.setdefault((move.at, provider, sku, payment, *amounts), []).append(move)
    rows = []
    for found in same.values():
        first = min(found, key=lambda move: move.offer)
        regions = tuple(sorted({move.offer.region for move in found}))
        rows.append(ChangeRow(first, regions, subject.usd(first.old), subject.usd(first.new)))
    return rows


def step_rows(subject: Subject) -> list[StepRow]:
    """Return every price of the term that reaches into the window, the newest first."""
    steps = [step for step in subject.steps if step.term == subject.chosen.term]
    steps.sort(key=lambda step: (step.starts_at, step.offer, step.zone, step.source), reverse=True)
    return [StepRow(step, subject.usd(step)) for step in steps]


def change_columns(origins: Mapping[int, Origin]) -> tuple[TableColumn[ChangeRow], ...]:
    """Return the columns of the changes."""
    columns: tuple[TableColumn[ChangeRow], ...] = (
        TableColumn("changed_at", "Date", attrgetter("move.at"), "time", _date),
        _rate("old_usd_per_gpu_h", "Old, $/GPU-h", attrgetter("old_usd")),
        _rate("new_usd_per_gpu_h", "New, $/GPU-h", attrgetter("new_usd")),
        TableColumn(
            "change_share", "Change", attrgetter("move.share"), "number",
            lambda row: percent_signed(row.move.share),
        ),
        _text("cloud", "Cloud", attrgetter("move.offer.provider")),
        _text("sku", "SKU", attrgetter("move.offer.sku")),
        TableColumn("regions", "Region", lambda row: " ".join(row.regions), shown=_regions),
        _text("zones", "", lambda row: " ".join(row.move.zones)),
        TableColumn("term", "", attrgetter("new.term")),
        TableColumn("payment", "", attrgetter("new.payment")),
        TableColumn("old_last_seen", "", attrgetter("move.seen_before"), "time"),
        TableColumn("old_price_per_h", "", attrgetter("move.old.price_per_hour"), "number"),
        TableColumn("new_price_per_h", "", attrgetter("new.price_per_hour"), "number"),
        TableColumn("currency", "", attrgetter("new.currency")),
        TableColumn("seen_by", "", lambda row: " ".join(row.move.sources)),
        TableColumn("run", "Run", lambda row: f"{row.new.source} run {row.new.run_id}", shown=_run),
    )  # fmt: skip
    return (*columns, *provenance(attrgetter("new"), origins))


def step_columns(origins: Mapping[int, Origin]) -> tuple[TableColumn[StepRow], ...]:
    """Return the columns of the steps; they are in a file only."""
    step = "step."
    columns: tuple[TableColumn[StepRow], ...] = (
        TableColumn("cloud", "", attrgetter(f"{step}provider")),
        TableColumn("sku", "", attrgetter(f"{step}sku")),
        TableColumn("region", "", attrgetter(f"{step}region")),
        TableColumn("zone", "", attrgetter(f"{step}zone")),
        TableColumn("term", "", attrgetter(f"{step}term")),
        TableColumn("payment", "", attrgetter(f"{step}payment")),
        TableColumn("holds_from", "", attrgetter(f"{step}starts_at"), "time"),
        TableColumn("holds_until", "", attrgetter(f"{step}ends_at"), "time"),
        TableColumn("last_seen", "", attrgetter(f"{step}seen_at"), "time"),
        TableColumn("counts_until", "", attrgetter(f"{step}counts_until"), "time"),
        TableColumn("usd_per_gpu_h", "", attrgetter("usd"), "number"),
        TableColumn("price_per_h", "", attrgetter(f"{step}price_per_hour"), "number"),
        TableColumn("currency", "", attrgetter(f"{step}currency")),
        TableColumn("gpus", "", attrgetter(f"{step}gpu_count"), "number"),
        TableColumn("state_reason", "", attrgetter(f"{step}state_reason")),
        TableColumn("reference", "", attrgetter(f"{step}reference")),
    )
    return (*columns, *provenance(attrgetter("step"), origins))


def line_columns(origins: Mapping[int, Origin]) -> tuple[TableColumn[Stretch], ...]:
    """Return the columns of the lines: one row for each stretch of days on which nothing changed."""

    def lowest(row: Stretch) -> Step | None:
        return row.lowest.step if row.lowest else None

    def of(name: str) -> Any:
        return lambda row: getattr(lowest(row), name, None)

    columns: tuple[TableColumn[Stretch], ...] = (
        TableColumn("from_day", "", attrgetter("first"), "time"),
        TableColumn("to_day", "", attrgetter("last"), "time"),
        TableColumn(
            "lowest_usd_per_gpu_h", "",
            lambda row: _exact(row.lowest.usd_per_gpu_hour if row.lowest else None), "number",
        ),
        TableColumn("median_usd_per_gpu_h", "", lambda row: _exact(row.median), "number"),
        TableColumn("offers", "", attrgetter("offers"), "number"),
        TableColumn("lowest_cloud", "", of("provider")),
        TableColumn("lowest_sku", "", of("sku")),
        TableColumn("lowest_region", "", of("region")),
    )  # fmt: skip
    return (*columns, *provenance(lowest, origins))


def change_table(rows: Sequence[ChangeRow], term: str) -> Table:
    """Return the newest changes on screen."""
    title = f"Changes of {term} prices, the newest first"
    return on_screen(title, change_columns({}), rows[:MOST_ON_SCREEN])


def line_table(shown: PriceHistory, offers: Sequence[tuple[date, int]]) -> Table:
    """Return the lines of the chart as a table."""
    found = price_history_table(shown, offers)
    columns = [TableColumn[Any]("from", "From", _first, shown=_first)]
    columns += [
        TableColumn(head, head, partial(_cell, place), "number") for place, head in enumerate(found.heads[1:])
    ]
    return on_screen(found.title, columns, found.rows)


def _first(row: tuple[str, Any]) -> str:
    return row[0]


def _cell(place: int, row: tuple[str, Sequence[str]]) -> str:
    return row[1][place]


def _exact(usd: float | None) -> float | None:
    """Return a rate of the sweep to the nine decimals that prices have: 4.935, not 4.9350000000000005."""
    return None if usd is None else round(usd, 9)


def _text(key: str, title: str, value: Any) -> TableColumn[ChangeRow]:
    return TableColumn(key, title, value, shown=lambda row: text(value(row)))


def _rate(key: str, title: str, value: Any) -> TableColumn[ChangeRow]:
    return TableColumn(
        key, title, value, "number", lambda row: money(value(row), "no exchange rate is on file")
    )


def _date(row: ChangeRow) -> SafeString:
    """Return the day of a change; where it was long before that anybody had looked, since when it may be."""
    move = row.move
    if move.at - move.seen_before <= LONGEST_BLINK:
        return date_cell(move.at)
    seen = day(move.seen_before)
    return format_html('{} <small class="muted nowrap">old seen {}</small>', date_cell(move.at), seen)


def _regions(row: ChangeRow) -> SafeString:
    if len(row.regions) == 1:
        return text(row.regions[0])
    return format_html('<span title="{}">{} regions</span>', ", ".join(row.regions), len(row.regions))


def _run(row: ChangeRow) -> SafeString | str:
    return run_cell(row.new.source, row.new.run_id)

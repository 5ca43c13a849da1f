"""Columns of list pages, each declared once: its place in the address, on screen and in the file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import django_tables2
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from costs.models import Price
from costs.queries import prices
from planner.csv_cells import Column, Kind
from planner.templatetags.units import day, usd_per_hour

DEFAULT_SORT = "usd_per_gpu_h"
STATE_TONES = {"not_sold": "", "reservation_only": "info", "unknown": "warn"}


@dataclass(frozen=True)
class OfferColumn:
    """One column of the prices table. `value` is what the file holds, `shown` what the eye sees."""

    key: str
    title: str
    value: Callable[[Price], Any]
    order: str
    kind: Kind = "text"
    shown: Callable[[Price], Any] | None = None
    by_default: bool = True
    header: str = ""  # in files, where it is not the key

    @property
    def file_column(self) -> Column:
        return Column(self.header or self.key, self.kind)

    @property
    def is_number(self) -> bool:
        return self.kind == "number"


def _gpu_name(price: Price) -> str:
    return price.sku.accelerator.name if price.sku.accelerator else price.sku.accelerator_name


def _memory_gb(price: Price) -> Any:
    return price.sku.accelerator.memory_gb if price.sku.accelerator else None


def _plain(value: Any) -> str:
    """Return a number as it is, without trailing zeros: 8, 0.167."""
    return "unknown" if value is None else f"{value.normalize():,f}"


def _money(price: Price, usd: Any) -> SafeString | str:
    on = prices.fx_date(price)
    if usd is not None and on is not None:
        note = f"from {price.currency}, rate of {day(on)}"
        return format_html('{} <small class="muted">{}</small>', usd_per_hour(usd), note)
    if usd is not None:
        return usd_per_hour(usd)
    if price.price_per_hour is not None:
        return format_html('<span class="unknown">in {}</span>', price.currency)
    return format_html('<span class="unknown">{}</span>', "—" if price.state == "not_sold" else "unknown")


def _state(price: Price) -> SafeString | str:
    if price.state == Price.State.PRICED and not price.state_reason:
        return price.get_state_display()
    pill = format_html(
        '<span class="pill {}">{}</span>', STATE_TONES.get(price.state, ""), price.get_state_display()
    )
    if not price.state_reason:
        return pill
    return format_html('{} <small class="muted reason">{}</small>', pill, price.state_reason)


def _as_of(price: Price) -> SafeString:
    return format_html('<span class="nowrap">{}</span>', day(price.as_of))


def _run(price: Price) -> SafeString:
    href = reverse("run_detail", args=[price.batch.run_id])
    return format_html('<a href="{}">{} run {}</a>', href, price.source, price.batch.run_id)


def _reference(price: Price) -> SafeString | str:
    text = price.reference
    if text.startswith(("https://", "http://")):
        return format_html('<a href="{}" rel="noreferrer noopener">{}</a>', text, text)
    return text or "—"


def _usd_per_gpu(price: Price) -> SafeString | str:
    return _money(price, prices.usd_per_gpu_hour(price))


def _usd_per_machine(price: Price) -> SafeString | str:
    return _money(price, prices.usd_per_hour(price))


def _exchange_rate(price: Price) -> str:
    rate = prices.fx_rate(price)
    return "" if rate is None else _plain(rate)


def _exchanged_on(price: Price) -> str:
    on = prices.fx_date(price)
    return "" if on is None else day(on)


def _holds_from(price: Price) -> str:
    return day(price.effective_from)


def _number(key: str, title: str, value: Callable[[Price], Any], order: str, **options: Any) -> OfferColumn:
    return OfferColumn(key, title, value, order, "number", lambda price: _plain(value(price)), **options)


_hidden = partial(OfferColumn, by_default=False)

OFFER_COLUMNS = (
    OfferColumn("gpu", "GPU", _gpu_name, "sku__accelerator__name"),
    OfferColumn("cloud", "Cloud", attrgetter("sku.provider"), "sku__provider"),
    OfferColumn("region", "Region", attrgetter("region"), "region"),
    OfferColumn("zone", "Zone", attrgetter("zone"), "zone"),
    OfferColumn("sku", "SKU", attrgetter("sku.name"), "sku__name"),
    _number("gpus", "GPUs", attrgetter("sku.gpu_count"), "sku__gpu_count"),
    _number("memory_gb_per_gpu", "GB per GPU", _memory_gb, "sku__accelerator__memory_gb"),
    OfferColumn("term", "Term", attrgetter("term"), "term", shown=Price.get_term_display),
    _hidden("payment", "Payment", attrgetter("payment"), "payment", shown=Price.get_payment_display),
    OfferColumn("usd_per_gpu_h", "$/GPU-h", prices.usd_per_gpu_hour, "per_gpu_hour", "number", _usd_per_gpu),
    OfferColumn("usd_per_h", "$/h", prices.usd_per_hour, "usd_hour", "number", _usd_per_machine),
    _number("upfront", "Upfront, in its currency", attrgetter("upfront"), "upfront", by_default=False),
    OfferColumn("state", "State", attrgetter("state"), "state", shown=_state, header="price_state"),
    OfferColumn("as_of", "As of", attrgetter("as_of"), "as_of", "time", _as_of),
    OfferColumn(
        "run", "Run", attrgetter("batch.run_id"), "batch__run_id", "number", _run, header="source_run"
    ),
    _number("vcpus", "vCPUs", attrgetter("sku.vcpus"), "sku__vcpus", by_default=False),
    _number("memory_gib", "RAM, GiB", attrgetter("sku.memory_gib"), "sku__memory_gib", by_default=False),
    _number(
        "price_per_h", "Price per hour, in its currency", attrgetter("price_per_hour"), "price_per_hour",
        by_default=False,
    ),
    _hidden("currency", "Currency", attrgetter("currency"), "currency"),
    _hidden("fx_rate", "$ per unit of it", prices.fx_rate, "usd_per_unit", "number", _exchange_rate),
    _hidden("fx_date", "Exchange rate of", prices.fx_date, "usd_per_unit", shown=_exchanged_on),
    _hidden(
        "effective_from", "Holds from", attrgetter("effective_from"), "effective_from", "time", _holds_from
    ),
    _hidden("reference", "Reference", attrgetter("reference"), "reference", shown=_reference),
)  # fmt: skip
BY_KEY = {column.key: column for column in OFFER_COLUMNS}
DEFAULT_COLUMNS = tuple(column.key for column in OFFER_COLUMNS if column.by_default)
# every file ends with these, whatever the screen shows
ALWAYS_IN_FILES = (
    BY_KEY["state"],
    OfferColumn("state_reason", "", attrgetter("state_reason"), ""),
    OfferColumn("source", "", attrgetter("source"), ""),
    BY_KEY["currency"],
    BY_KEY["as_of"],
    OfferColumn("fetched_at", "", attrgetter("batch.published_at"), "", "time"),
    BY_KEY["run"],
    BY_KEY["fx_rate"],
    BY_KEY["fx_date"],
)


class OfferCell(django_tables2.Column):  # type: ignore[misc] # django-tables2 ships no types
    """A cell that comes from an OfferColumn."""

    def __init__(self, column: OfferColumn) -> None:
        self.of = column
        super().__init__(verbose_name=column.title, empty_values=(), accessor="pk", orderable=False)

    def render(self, record: Price) -> Any:
        shown = self.of.shown or self.of.value
        text = shown(record)
        return "—" if text in (None, "") else text


def in_order(offers: QuerySet[Price], sort: str) -> QuerySet[Price]:
    """Sort by a column's key, "-" before it turns the order around.

    Rows without a value come last; equal rows keep one order, so that pages do not mix. The column need
    not be on screen.
    """
    field = F(BY_KEY[sort.removeprefix("-")].order)
    first = field.desc(nulls_last=True) if sort.startswith("-") else field.asc(nulls_last=True)
    return prices.listed(offers).order_by(first, "sku__provider", "region", "sku__name", "pk")


def offer_table(offers: QuerySet[Price], columns: Sequence[OfferColumn]) -> django_tables2.Table:
    """Return the table of the offers, with the columns in the order given."""
    cells = [(column.key, OfferCell(column)) for column in columns]
    return django_tables2.Table(offers, extra_columns=cells)


def file_columns(columns: Sequence[OfferColumn]) -> list[OfferColumn]:
    """Return the columns of a file: those on screen in their order, then what every row must say."""
    shown = {column.key for column in columns}
    return [*columns, *(column for column in ALWAYS_IN_FILES if column.key not in shown)]

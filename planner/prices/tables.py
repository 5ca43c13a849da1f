"""Columns of the prices table, each declared once: its place in the address, on screen and in the file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from django.db.models import F, FloatField, QuerySet
from django.db.models.functions import Cast, NullIf

from costs.models import Price
from costs.queries import prices
from planner.csv_cells import Column, Kind
from planner.prices import cells
from planner.prices.rows import OfferRow

DEFAULT_SORT = "usd_per_gpu_h"


@dataclass(frozen=True)
class OfferColumn:
    """One column of the prices table. `value` is what the file holds, `shown` what the eye sees."""

    key: str
    title: str
    value: Callable[[OfferRow], Any]
    order: Any = ""  # a field or an expression to sort by; "" where it cannot be sorted
    kind: Kind = "text"
    shown: Callable[[OfferRow], Any] | None = None
    by_default: bool = True
    header: str = ""  # in files, where it is not the key
    turned: bool = False  # the order of the field is the reverse of the column's

    @property
    def file_column(self) -> Column:
        return Column(self.header or self.key, self.kind)

    @property
    def is_number(self) -> bool:
        return self.kind == "number"

    def cell(self, row: OfferRow) -> Any:
        """Return what the eye sees."""
        text = (self.shown or self.value)(row)
        return cells.NOTHING if text in (None, "") else text


def _price(name: str) -> Callable[[OfferRow], Any]:
    return attrgetter(f"price.{name}")


def _text(key: str, title: str, name: str, order: str, **options: Any) -> OfferColumn:
    value = _price(name)
    return OfferColumn(key, title, value, order, shown=lambda row: cells.foreign(value(row)), **options)


def _number(
    key: str, title: str, value: Callable[[OfferRow], Any], order: Any, **options: Any
) -> OfferColumn:
    options.setdefault("shown", lambda row: cells.plain(value(row)))
    return OfferColumn(key, title, value, order, "number", **options)


def _float(name: str) -> NullIf:
    """Return a field to divide by: SQLite keeps 80.0 as the integer 80, and PostgreSQL refuses a zero."""
    return NullIf(Cast(name, FloatField()), 0.0)


def _share(row: OfferRow) -> Any:
    return row.change.share if row.change else None


def _hours_old(row: OfferRow) -> float:
    return round(row.age.total_seconds() / 3600, 2)


_hidden = partial(OfferColumn, by_default=False)
_hidden_number = partial(_number, by_default=False)
_MEMORY, _RATE = _float("sku__accelerator__memory_gb"), _float("sku__accelerator__bf16_tflops")

OFFER_COLUMNS = (
    OfferColumn(
        "gpu", "GPU", lambda row: cells.gpu_name(row.price), "sku__accelerator__name", shown=cells.gpu
    ),
    _text("cloud", "Cloud", "sku.provider", "sku__provider"),
    OfferColumn("region", "Region", _price("region"), "region", shown=cells.region),
    _text("zone", "Zone", "zone", "zone", by_default=False),
    _text("sku", "SKU", "sku.name", "sku__name"),
    _number("gpus", "GPUs", _price("sku.gpu_count"), "sku__gpu_count"),
    _number("memory_gb_per_gpu", "GB per GPU", attrgetter("memory_gb"), "sku__accelerator__memory_gb"),
    _hidden_number(
        "memory_gb_per_node", "GB of all its GPUs", attrgetter("node_memory_gb"),
        _float("sku__gpu_count") * _MEMORY,
    ),
    _hidden_number(
        "link_gb_s", "Link, GB/s a direction", attrgetter("link_gb_s"),
        "sku__accelerator__link_gb_s_per_direction",
    ),
    OfferColumn(
        "term", "Term", _price("term"), "term", shown=cells.term
    ),
    OfferColumn(
        "payment", "Payment", _price("payment"), "payment", by_default=False,
        shown=lambda row: cells.PAYMENTS.get(row.price.payment),
    ),
    _number(
        "usd_per_gpu_h", "$/GPU-h", attrgetter("usd_per_gpu_hour"), "per_gpu_hour", shown=cells.usd_per_gpu
    ),
    _number("usd_per_h", "$/h", attrgetter("usd_per_hour"), "usd_hour", shown=cells.usd_per_machine),
    _hidden_number("upfront", "Upfront", _price("upfront"), "upfront", shown=cells.upfront),
    _hidden_number(
        "usd_per_gb_h", "$/GB-h", attrgetter("usd_per_gb_hour"), F("per_gpu_hour") / _MEMORY,
        shown=cells.per_gb,
    ),
    _hidden_number(
        "usd_per_bf16_tflop_h", "$/TFLOP-h, dense bf16", attrgetter("usd_per_tflop_hour"),
        F("per_gpu_hour") / _RATE, shown=cells.per_tflop,
    ),
    OfferColumn(
        "change_12m", "12 months", _share, kind="number", shown=cells.change, header="change_12_months"
    ),
    OfferColumn("state", "State", _price("state"), "state", shown=cells.state, header="price_state"),
    OfferColumn("as_of", "As of", _price("as_of"), "as_of", "time", cells.as_of),
    OfferColumn(
        "age", "Age", _hours_old, "as_of", "number", cells.how_old, header="age_hours",
        turned=True, by_default=False
    ),
    OfferColumn(
        "run", "Run", _price("batch.run_id"), "batch__run_id", "number", cells.run, header="source_run"
    ),
    _hidden_number(
        "vcpus", "vCPUs", _price("vcpus"), "vcpus",
        shown=lambda row: cells.of_machine(row.price.vcpus, row.price.sku.vcpus),
    ),
    _hidden_number(
        "memory_gib", "RAM, GiB", _price("memory_gib"), "memory_gib",
        shown=lambda row: cells.of_machine(row.price.memory_gib, row.price.sku.memory_gib),
    ),
    _hidden_number("price_per_h", "$/h in its currency", _price("price_per_hour"), "price_per_hour"),
    _hidden("currency", "Currency", _price("currency"), "currency"),
    _hidden(
        "fx_rate", "$ per unit of it", lambda row: prices.fx_rate(row.price), "usd_per_unit", "number",
        cells.exchange_rate,
    ),
    _hidden(
        "fx_date", "Exchange rate of", lambda row: prices.fx_date(row.price), "usd_per_unit",
        shown=lambda row: cells.day_or_nothing(prices.fx_date(row.price)),
    ),
    _hidden(
        "effective_from", "Holds from", _price("effective_from"), "effective_from", "time",
        lambda row: cells.day_or_nothing(row.price.effective_from),
    ),
    _hidden("reference", "Reference", _price("reference"), "reference", shown=cells.reference),
    _hidden("content_sha256", "Content", _price("batch.raw.sha256"), shown=cells.digest),
    _hidden("line", "Line", _price("line"), "line", "number"),
)  # fmt: skip
BY_KEY = {column.key: column for column in OFFER_COLUMNS}
DEFAULT_COLUMNS = tuple(column.key for column in OFFER_COLUMNS if column.by_default)
# every file ends with these, whatever the screen shows
ALWAYS_IN_FILES = (
    BY_KEY["zone"],
    BY_KEY["payment"],
    BY_KEY["state"],
    OfferColumn("state_reason", "", _price("state_reason")),
    OfferColumn("age_state", "", attrgetter("age_state")),
    BY_KEY["price_per_h"],
    BY_KEY["currency"],
    BY_KEY["fx_rate"],
    BY_KEY["fx_date"],
    BY_KEY["as_of"],
    OfferColumn("source", "", _price("source")),
    BY_KEY["run"],
    OfferColumn("fetched_at", "", _price("batch.raw.fetched_at"), kind="time"),
    BY_KEY["content_sha256"],
    BY_KEY["line"],
    BY_KEY["reference"],
    OfferColumn("prices_on", "", attrgetter("now"), kind="time"),
)


def in_order(offers: QuerySet[Price], sort: str) -> QuerySet[Price]:
    """Sort by a column's key, "-" before it turns the order around.

    Rows without a value come last; equal rows keep one order, so that pages do not mix. The column need
    not be on screen.
    """
    column = BY_KEY[sort.removeprefix("-")]
    field = F(column.order) if isinstance(column.order, str) else column.order
    descends = sort.startswith("-") != column.turned
    first = field.desc(nulls_last=True) if descends else field.asc(nulls_last=True)
    return prices.listed(offers).order_by(first, "sku__provider", "region", "sku__name", "pk")


def file_columns(columns: Sequence[OfferColumn]) -> list[OfferColumn]:
    """Return the columns of a file: those on screen in their order, then what every row must say."""
    shown = {column.key for column in columns}
    return [*columns, *(column for column in ALWAYS_IN_FILES if column.key not in shown)]

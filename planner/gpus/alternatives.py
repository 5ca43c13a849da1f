"""What other accelerators cost on the same scale: by GPU-hour, by rated arithmetic, by memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import attrgetter

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from costs.models import Accelerator
from costs.queries.accelerator_prices import Cheapest, Sold, sold
from costs.queries.price_steps import Origin
from planner.gpus.facts import plain
from planner.gpus.filters import Chosen
from planner.gpus.tables import Table, TableColumn, date_cell, on_screen, provenance, run_cell, unknown
from planner.params import Pairs, address
from planner.templatetags.units import count, usd_per_hour

TFLOPS_PER_PFLOPS = 1000
RATE_STEP = Decimal("0.000001")
NOT_RATED = "the maker's rate is not on file"
NOT_SOLD = "no offer on file"
ALL_STALE = "every price on file is too old to count"


@dataclass(frozen=True)
class GpuRow:
    """One accelerator with its cheapest offer that is not stale."""

    accelerator: Accelerator
    sold: Sold
    is_this: bool
    pairs: Pairs  # of the address that its link keeps

    @property
    def best(self) -> Cheapest | None:
        return self.sold.cheapest

    @property
    def usd_per_gpu_hour(self) -> Decimal | None:
        return self.best.usd_per_gpu_hour if self.best else None

    @property
    def usd_per_pflop_hour(self) -> Decimal | None:
        """Return $/GPU-h over the rated dense bf16 PFLOP/s; None where either is not known."""
        return self._per(self.accelerator.bf16_tflops, TFLOPS_PER_PFLOPS)

    @property
    def usd_per_gb_hour(self) -> Decimal | None:
        return self._per(self.accelerator.memory_gb, 1)

    def _per(self, amount: Decimal | None, factor: int) -> Decimal | None:
        if self.usd_per_gpu_hour is None or not amount:
            return None
        return (self.usd_per_gpu_hour * factor / amount).quantize(RATE_STEP)

    @property
    def why_unknown(self) -> str:
        """Return why there is no price."""
        if self.best is not None:
            return NOT_RATED
        return ALL_STALE if self.sold.offers else NOT_SOLD

    @property
    def as_of(self) -> datetime | None:
        return self.best.as_of if self.best else None


@dataclass(frozen=True)
class Scale:
    """The longest bar of each column: the same axis for all rows."""

    gpu_hour: Decimal
    pflop_hour: Decimal
    gb_hour: Decimal


WITHOUT_BARS = Scale(Decimal(0), Decimal(0), Decimal(0))


def gpu_rows(
    accelerators: Iterable[Accelerator], term: str, now: datetime, this: str = "", pairs: Pairs | None = None
) -> list[GpuRow]:
    """Return all accelerators, the cheapest rated arithmetic first.

    Beside one of them only those count that are sold.
    """
    found = sold(term, now)
    rows = [
        GpuRow(one, found.get(one.slug, Sold()), one.slug == this, pairs or [])
        for one in accelerators
        if not this or one.slug in found or one.slug == this
    ]
    never = Decimal("Infinity")

    def order(row: GpuRow) -> tuple[Decimal, Decimal, str]:
        return row.usd_per_pflop_hour or never, row.usd_per_gpu_hour or never, row.accelerator.name

    return sorted(rows, key=order)


def accelerators() -> list[Accelerator]:
    """Return every accelerator by name."""
    return list(Accelerator.objects.order_by("name"))


def beside(slug: str, term: str, now: datetime) -> list[GpuRow]:
    """Return the accelerators that are sold on a term, and the one that this is about."""
    return gpu_rows(accelerators(), term, now, this=slug, pairs=Chosen(term=term).pairs())


def nearest(accelerator: Accelerator, rows: Iterable[GpuRow], most: int = 6) -> list[GpuRow]:
    """Return the GPUs that are sold and come nearest: of the same vendor first, then by memory."""
    others = [row for row in rows if row.best is not None and row.accelerator.slug != accelerator.slug]

    def distance(row: GpuRow) -> tuple[bool, Decimal, str]:
        other, own = row.accelerator.memory_gb, accelerator.memory_gb
        gap = Decimal("Infinity") if other is None or own is None else abs((other / own).ln())
        return row.accelerator.vendor != accelerator.vendor, gap, row.accelerator.name

    return sorted(others, key=distance)[:most]


def gpu_columns(
    origins: Mapping[int, Origin], scale: Scale = WITHOUT_BARS
) -> tuple[TableColumn[GpuRow], ...]:
    """Return the columns of accelerators; with a scale the figures have bars."""
    columns: tuple[TableColumn[GpuRow], ...] = (
        TableColumn("gpu", "GPU", attrgetter("accelerator.name"), shown=_name),
        TableColumn("slug", "", attrgetter("accelerator.slug")),
        _rated("memory_gb", "Memory, GB"),
        _rated("bf16_tflops", "bf16 dense, TFLOPS"),
        _money("usd_per_gpu_h", "$/GPU-h", attrgetter("usd_per_gpu_hour"), scale.gpu_hour),
        _money("usd_per_bf16_pflop_h", "$/bf16 PFLOP-h", attrgetter("usd_per_pflop_hour"), scale.pflop_hour),
        _money("usd_per_gb_h", "$/GB-h", attrgetter("usd_per_gb_hour"), scale.gb_hour),
        TableColumn("cloud", "Where", lambda row: row.best.provider if row.best else "", shown=_where),
        TableColumn("sku", "", lambda row: row.best.sku if row.best else ""),
        TableColumn("region", "", lambda row: row.best.region if row.best else ""),
        TableColumn("offers", "Offers", attrgetter("sold.offers"), "number", _offers),
        TableColumn("stale_offers", "", attrgetter("sold.stale"), "number"),
        TableColumn("clouds", "Clouds", lambda row: len(row.sold.providers), "number"),
        TableColumn("as_of", "As of", attrgetter("as_of"), "time", _as_of),
        TableColumn("reference", "", attrgetter("accelerator.reference")),
        TableColumn("run", "Run", _run_text, shown=_run),
    )
    return (*columns, *provenance(_priced, origins))


def _rated(column: str, title: str) -> TableColumn[GpuRow]:
    value = attrgetter(f"accelerator.{column}")

    def shown(row: GpuRow) -> SafeString | str:
        rate = value(row)
        return unknown(NOT_RATED) if rate is None else plain(rate)

    return TableColumn(column, title, value, "number", shown)


def _money(
    key: str, title: str, value: Callable[[GpuRow], Decimal | None], longest: Decimal
) -> TableColumn[GpuRow]:
    return TableColumn(key, title, value, "number", lambda row: _bar(row, value(row), longest))


def gpu_table(rows: Sequence[GpuRow], title: str) -> Table:
    """Return accelerators on screen, with bars on one scale for each column."""
    return on_screen(title, gpu_columns({}, _scale(rows)), rows, lambda row: "total" if row.is_this else "")


def _scale(rows: Sequence[GpuRow]) -> Scale:
    def longest(values: Iterable[Decimal | None]) -> Decimal:
        return max((value for value in values if value is not None), default=Decimal(1))

    return Scale(
        longest(row.usd_per_gpu_hour for row in rows),
        longest(row.usd_per_pflop_hour for row in rows),
        longest(row.usd_per_gb_hour for row in rows),
    )


@dataclass(frozen=True)
class _Priced:
    """The cheapest offer with the word that files have about a price."""

    source: str
    run_id: int
    batch_id: int
    line: int
    state: str = "priced"


@dataclass(frozen=True)
class _Unpriced:
    state: str = "unknown"


def _priced(row: GpuRow) -> _Priced | _Unpriced:
    best = row.best
    return _Priced(best.source, best.run_id, best.batch_id, best.line) if best else _Unpriced()


def _name(row: GpuRow) -> SafeString:
    name = row.accelerator.name
    if row.is_this:
        return format_html("{} <span class='pill'>this one</span>", name)
    href = address(reverse("gpu_detail", args=[row.accelerator.slug]), row.pairs)
    return format_html('<a href="{}">{}</a>', href, name)


def _as_of(row: GpuRow) -> SafeString | str:
    return date_cell(row.as_of) if row.best else ""


def _bar(row: GpuRow, usd: Decimal | None, longest: Decimal) -> SafeString | str:
    if usd is None:
        return unknown(row.why_unknown)
    if not longest:
        return usd_per_hour(usd)
    width = f"{100 * usd / longest:.1f}"
    return format_html(
        '{}<svg class="cell-bar" aria-hidden="true"><rect width="{}%" height="4"/></svg>',
        usd_per_hour(usd),
        width,
    )


def _where(row: GpuRow) -> SafeString | str:
    if row.best is None:
        return ""
    return format_html('<bdi>{}</bdi> <bdi class="muted nowrap">{}</bdi>', row.best.provider, row.best.region)


def _offers(row: GpuRow) -> SafeString | str:
    if not row.sold.stale:
        return count(row.sold.offers)
    return format_html(
        '{} <small class="muted">{} stale</small>', count(row.sold.offers), count(row.sold.stale)
    )


def _run(row: GpuRow) -> SafeString | str:
    return run_cell(row.best.source, row.best.run_id) if row.best else ""


def _run_text(row: GpuRow) -> str:
    return f"{row.best.source} run {row.best.run_id}" if row.best else ""

"""Columns of a GPU's tables, each declared once: what the eye sees and what the file holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from costs.queries.price_steps import Origin
from planner.csv_cells import Column, Kind
from planner.templatetags.units import UNKNOWN, day, usd_per_hour

Row = TypeVar("Row")


@dataclass(frozen=True)
class TableColumn(Generic[Row]):
    """One column: `value` is what the file holds, `shown` what the eye sees.

    A column without a title is in files only.
    """

    key: str
    title: str
    value: Callable[[Row], Any]
    kind: Kind = "text"
    shown: Callable[[Row], Any] | None = None

    @property
    def is_number(self) -> bool:
        return self.kind == "number"

    @property
    def is_on_screen(self) -> bool:
        return bool(self.title)

    @property
    def file_column(self) -> Column:
        return Column(self.key, self.kind)

    def cell(self, row: Row) -> Any:
        """Return what the eye sees."""
        shown = (self.shown or self.value)(row)
        return "—" if shown is None or shown == "" else shown


@dataclass(frozen=True)
class Table:
    """A table on screen: its name, its heads, and its rows as they are written."""

    title: str
    heads: Sequence[tuple[bool, str]]  # whether it is a number, and its words
    body: SafeString
    count: int


def on_screen(
    title: str,
    columns: Sequence[TableColumn[Row]],
    rows: Sequence[Row],
    mark: Callable[[Row], str] = lambda row: "",
) -> Table:
    """Return the rows as HTML; `mark` gives a row's class. A template takes five times as long for cells."""
    shown = [one for one in columns if one.is_on_screen]
    body = format_html_join("\n", "{}", ((_line(shown, row, mark(row)),) for row in rows))
    return Table(title, [(one.is_number, one.title) for one in shown], body, len(rows))


def _line(columns: Sequence[TableColumn[Row]], row: Row, mark: str) -> SafeString:
    first, *others = columns
    cells = ((_kind("number" if one.is_number else ""), one.cell(row)) for one in others)
    rest = format_html_join("", "<td{}>{}</td>", cells)
    return format_html('<tr{}><th scope="row">{}</th>{}</tr>', _kind(mark), first.cell(row), rest)


@cache
def _kind(name: str) -> SafeString | str:
    return format_html(' class="{}"', name) if name else ""


def text(value: Any) -> SafeString:
    """Return foreign text that cannot turn the line around it."""
    return format_html("<bdi>{}</bdi>", value)


def money(usd: Any, reason: str = "") -> SafeString | str:
    """Return a rate, or the word unknown with its reason."""
    if usd is not None:
        return usd_per_hour(usd)
    return unknown(reason)


def unknown(reason: str = "") -> SafeString:
    """Return the word unknown; its reason is there for the eye that rests on it and for readers aloud."""
    if not reason:
        return format_html('<span class="unknown">{}</span>', UNKNOWN)
    return format_html(
        '<span class="unknown" title="{}">{}</span><span class="visually-hidden">: {}</span>',
        reason,
        UNKNOWN,
        reason,
    )


def date_cell(value: Any) -> SafeString:
    """Return a day that does not break."""
    return format_html('<span class="nowrap">{}</span>', day(value))


def run_cell(source: str, run_id: int | None) -> SafeString | str:
    """Return a link to the run that brought a fact."""
    if run_id is None:
        return ""
    href = reverse("run_detail", args=[run_id])
    return format_html('<a class="nowrap" href="{}">{} run {}</a>', href, source, run_id)


def provenance(facts: Callable[[Row], Any], origins: Mapping[int, Origin]) -> tuple[TableColumn[Row], ...]:
    """Return the columns that say where a row comes from; `facts` gives its source, run, batch and line."""

    def of(name: str) -> Callable[[Row], Any]:
        return lambda row: getattr(facts(row), name, None)

    def origin(name: str) -> Callable[[Row], Any]:
        return lambda row: getattr(origins.get(getattr(facts(row), "batch_id", None) or 0), name, None)

    return (
        TableColumn("price_state", "", of("state")),
        TableColumn("source", "", of("source")),
        TableColumn("source_run", "", of("run_id"), "number"),
        TableColumn("fetched_at", "", origin("fetched_at"), "time"),
        TableColumn("content_sha256", "", origin("sha256")),
        TableColumn("line", "", of("line"), "number"),
    )

"""The list itself: which columns, order and page an address asks for, and the rows that answer it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import QueryDict

from costs.models import Price
from costs.queries.long_lists import Beside, bare
from costs.queries.offers import Offer
from costs.queries.price_changes import Change, changes
from planner import params
from planner.prices import tables
from planner.prices.as_of import AsOf
from planner.prices.rows import OfferRow

PAGE_SIZES = (25, 50, 100, 200)
DEFAULT_PAGE_SIZE = 50
SCALES = ("log", "linear")
FIRST_READ, ROWS_PER_READ = 200, 1000
NAMES = ("cols", "sort", "page", "per", "scale")
_CHANGE = "change_12m"


@dataclass(frozen=True)
class ListState:
    """What the address says besides the filters: which columns, in which order, which page."""

    columns: Sequence[tables.OfferColumn]
    sort: str
    page: int
    per: int
    scale: str
    notices: list[str]

    def pairs(self, **changes: Any) -> params.Pairs:
        """Return the parameters; what is as it is by default stays out of the address."""
        keys = [column.key for column in self.columns]
        chosen = {"sort": self.sort, "page": self.page, "per": self.per, "scale": self.scale} | changes
        usual = {"sort": tables.DEFAULT_SORT, "page": 1, "per": DEFAULT_PAGE_SIZE, "scale": SCALES[0]}
        cols = [] if keys == list(tables.DEFAULT_COLUMNS) else [("cols", ",".join(keys))]
        return cols + [(name, str(value)) for name, value in chosen.items() if value != usual[name]]

    @property
    def shows_change(self) -> bool:
        return any(column.key == _CHANGE for column in self.columns)


def read_state(query: QueryDict) -> ListState:
    """Return the columns, order and page that the address asks for; what makes no sense is named."""
    notices: list[str] = []
    asked = [key for value in query.getlist("cols") for key in value.split(",") if key]
    unknown = [key for key in asked if key not in tables.BY_KEY]
    if unknown:
        notices.append(f"No column “{params.shortened(unknown[0])}”: ignored.")
    keys = list(dict.fromkeys(key for key in asked if key in tables.BY_KEY)) or tables.DEFAULT_COLUMNS
    per = params.whole_number(query.get("per", ""), default=DEFAULT_PAGE_SIZE)
    scale = query.get("scale", SCALES[0])
    if scale not in SCALES:
        notices.append(f"No scale “{params.shortened(scale)}”: log or linear.")
        scale = SCALES[0]
    return ListState(
        columns=[tables.BY_KEY[key] for key in keys],
        sort=_sort(query, notices),
        page=params.whole_number(query.get("page", ""), default=1, most=10**8),
        per=per if per in PAGE_SIZES else DEFAULT_PAGE_SIZE,
        scale=scale,
        notices=notices,
    )


def _sort(query: QueryDict, notices: list[str]) -> str:
    sort = query.get("sort", tables.DEFAULT_SORT)
    column = tables.BY_KEY.get(sort.removeprefix("-"))
    if column is not None and column.order:
        return sort
    notices.append(f"No order by “{params.shortened(sort)}”: sorted by price instead.")
    return tables.DEFAULT_SORT


def page_of(count: int, state: ListState, notices: list[str]) -> "Page[int]":
    """Return the places of the rows on the page that is asked for; where there are fewer, on the last one."""
    paginator = Paginator(range(count), state.per)
    if state.page > paginator.num_pages:
        notices.append(f"There is no page {state.page}: this is the last one, {paginator.num_pages}.")
    return paginator.get_page(state.page)


def prices_on(page: "Page[int]", offers: QuerySet[Price], sort: str) -> list[Price]:
    """Return the prices of a page: sorted by their keys alone, and only then read."""
    if not page.paginator.count:
        return []
    start, stop, count = page.start_index() - 1, page.end_index(), page.paginator.count
    ordered = tables.in_order(offers, sort).values("pk")
    # what lies nearer to the end is counted from there: the database sorts no more than it must pass over
    keys = ordered.reverse()[count - stop : count - start] if start > count / 2 else ordered[start:stop]
    return list(tables.in_order(offers.filter(pk__in=keys), sort))


def in_rows(
    found: Sequence[Price], as_of: AsOf, state: ListState, also: Sequence[Offer] = ()
) -> tuple[list[OfferRow], dict[int, Change]]:
    """Return the rows of prices, and what prices did: those of the rows and of `also`."""
    asked = found if state.shows_change else ()
    moved = changes(asked, as_of.moment, also) if asked or also else {}
    return [OfferRow(price, as_of.moment, moved.get(price.pk)) for price in found], moved


def every_row(offers: QuerySet[Price], as_of: AsOf, state: ListState) -> Iterator[OfferRow]:
    """Yield all rows in order, some at a time: the first need not wait for the last."""
    ordered = tables.in_order(offers, state.sort).values_list("pk", flat=True)
    first, beside = list(ordered[:FIRST_READ]), Beside()
    yield from _read(first, beside, offers, as_of, state)
    sent = set(first)
    rest = [key for key in ordered if key not in sent] if len(first) == FIRST_READ else []
    for start in range(0, len(rest), ROWS_PER_READ):
        yield from _read(rest[start : start + ROWS_PER_READ], beside, offers, as_of, state)


def _read(
    keys: Sequence[int], beside: Beside, offers: QuerySet[Price], as_of: AsOf, state: ListState
) -> list[OfferRow]:
    by_key = {price.pk: price for price in beside.filled(bare(offers).filter(pk__in=keys))}
    # one that was taken back since the keys were read is gone
    rows, _ = in_rows([by_key[key] for key in keys if key in by_key], as_of, state)
    return rows

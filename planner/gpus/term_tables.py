"""Columns of the terms of a GPU: what the page shows of each cloud and term, and what the file adds."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from django.utils.html import format_html
from django.utils.safestring import SafeString

from costs.queries.price_steps import Origin
from planner.core.explain import Explanation
from planner.gpus.tables import (
    Table,
    TableColumn,
    date_cell,
    money,
    on_screen,
    provenance,
    run_cell,
    text,
    unknown,
)
from planner.gpus.terms import NO_ON_DEMAND, PAYMENTS, STATES, TermRow, explanation
from planner.templatetags.units import percent

STATE_TONES = {"reservation_only": "info", "unknown": "warn"}


def term_columns(origins: Mapping[int, Origin]) -> tuple[TableColumn[TermRow], ...]:
    """Return the columns of the terms."""
    columns: tuple[TableColumn[TermRow], ...] = (
        TableColumn("cloud", "Cloud", attrgetter("cloud"), shown=lambda row: text(row.cloud)),
        TableColumn("term", "Term", attrgetter("term"), shown=_term),
        TableColumn("usd_per_gpu_h", "$/GPU-h", attrgetter("usd_per_gpu_hour"), "number", _price),
        TableColumn("sku", "Where", attrgetter("sku"), shown=_where),
        TableColumn("region", "", attrgetter("region")),
        TableColumn("zone", "", attrgetter("zone")),
        TableColumn("payment", "Payment", attrgetter("payment"), shown=lambda row: PAYMENTS[row.payment]),
        TableColumn("discount_share", "Under on demand", attrgetter("discount"), "number", _discount),
        TableColumn("break_even_share", "Pays above a use of", attrgetter("break_even"), "number", _use),
        TableColumn("on_demand_usd_per_gpu_h", "", attrgetter("on_demand"), "number"),
        TableColumn(
            "measured_use_share", "", lambda row: row.fleet.share if row.fleet else None, "number"
        ),
        TableColumn("as_of", "As of", attrgetter("as_of"), "time", _as_of),
        TableColumn("is_stale", "", attrgetter("is_stale")),
        TableColumn("state_reason", "", attrgetter("reason")),
        TableColumn("run", "Run", _run_text, shown=lambda row: run_cell(row.source, row.run_id)),
    )  # fmt: skip
    return (*columns, *provenance(lambda row: row, origins))


def term_table(rows: Sequence[TermRow]) -> Table:
    """Return the terms on screen."""
    return on_screen("Terms by cloud", term_columns({}), rows, lambda row: "late" if row.is_stale else "")


def term_whys(rows: Sequence[TermRow]) -> dict[str, Explanation]:
    """Return the explanation of each break-even by the key of its button."""
    return {key_of(row): explanation(row) for row in rows if row.break_even is not None}


def key_of(row: TermRow) -> str:
    """Return under which key a row's break-even is explained."""
    return f"term-{row.cloud}-{row.term}".replace(" ", "-")


def _term(row: TermRow) -> SafeString:
    return format_html('<span class="nowrap">{}</span>', row.term_words)


def _price(row: TermRow) -> SafeString | str:
    if row.usd_per_gpu_hour is not None:
        return money(row.usd_per_gpu_hour)
    return format_html('<span class="pill {}">{}</span>', STATE_TONES.get(row.state, ""), STATES[row.state])


def _where(row: TermRow) -> SafeString | str:
    """Return where the price is had, or why there is none."""
    if row.reason:
        return format_html('<small class="muted">{}</small>', row.reason)
    if not row.sku:
        return ""
    place = f"{row.region}, {row.zone}" if row.zone else row.region
    return format_html('<bdi>{}</bdi> <bdi class="muted">{}</bdi>', row.sku, place)


def _discount(row: TermRow) -> SafeString | str:
    if row.discount is not None:
        return percent(row.discount)
    is_base = row.term == "on_demand" or row.usd_per_gpu_hour is None
    return "" if is_base else unknown(NO_ON_DEMAND)


def _use(row: TermRow) -> SafeString | str:
    """Return the break-even; what is paid by use has none."""
    if row.break_even is None:
        return unknown(NO_ON_DEMAND) if row.is_committed and row.usd_per_gpu_hour is not None else ""
    button = format_html(
        '<button type="button" class="why" popovertarget="why-{}">{}</button>',
        key_of(row),
        percent(row.break_even),
    )
    if row.break_even >= 1:
        return format_html('{} <span class="pill bad">never</span>', button)
    if row.pays is None:
        return button
    tone, word = ("good", "pays") if row.pays else ("warn", "does not pay")
    return format_html('{} <span class="pill {}">{}</span>', button, tone, word)


def _as_of(row: TermRow) -> SafeString | str:
    if row.as_of is None:
        return ""
    if not row.is_stale:
        return date_cell(row.as_of)
    return format_html('{} <span class="pill warn">stale</span>', date_cell(row.as_of))


def _run_text(row: TermRow) -> str:
    return "" if row.run_id is None else f"{row.source} run {row.run_id}"

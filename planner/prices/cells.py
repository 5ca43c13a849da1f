"""How the cells of the prices table look: words for what is unknown, links to where a figure comes from."""

from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from costs.models import Price
from costs.queries import prices
from planner.prices.rows import OfferRow
from planner.templatetags.pictures import sparkline
from planner.templatetags.units import age, day, percent_signed, small_rate, usd_per_hour

TERMS: dict[str, str] = dict(Price.Term.choices)
PAYMENTS: dict[str, str] = dict(Price.Payment.choices)
STATES: dict[str, str] = dict(Price.State.choices)
STATE_TONES = {"not_sold": "", "reservation_only": "info", "unknown": "warn"}
NOTHING = "—"
LONGEST_ON_A_LINE = 24


@lru_cache(maxsize=2048)
def _address(route: str, of: int | str) -> str:
    """Return the address of a run or a GPU: a page names a few of them on hundreds of rows."""
    return reverse(route, args=[of])


def plain(value: Decimal | None) -> SafeString | str:
    """Return a number as it is, without trailing zeros: 8, 0.167."""
    return _unknown("not on file") if value is None else f"{value.normalize():,f}"


def foreign(text: str) -> SafeString | str:
    """Return text that others wrote, kept from turning the line around; short names stay on one line."""
    if not text:
        return NOTHING
    if len(text) > LONGEST_ON_A_LINE:
        return format_html("<bdi>{}</bdi>", text)
    return format_html('<bdi class="nowrap">{}</bdi>', text)


def region(row: OfferRow) -> SafeString | str:
    """Return the region, and the zone where the price is of one alone."""
    price = row.price
    if not price.zone:
        return foreign(price.region)
    return format_html('{} <small class="muted">{}</small>', foreign(price.region), foreign(price.zone))


def term(row: OfferRow) -> SafeString | str:
    return foreign(TERMS.get(row.price.term, row.price.term))


def gpu_name(price: Price) -> str:
    return price.sku.accelerator.name if price.sku.accelerator else price.sku.accelerator_name


def gpu(row: OfferRow) -> SafeString:
    """Return the GPU's name, as a link where it has a page."""
    name, known = gpu_name(row.price), row.accelerator
    if known is None:
        return format_html("<bdi>{}</bdi>", name)
    return format_html('<a href="{}">{}</a>', _address("gpu_detail", known.slug), name)


def _unknown(why: str) -> SafeString:
    return format_html('<span class="unknown" title="{}">unknown</span>', why)


def money(row: OfferRow, usd: Decimal | None) -> SafeString | str:
    """Return dollars an hour; the currency and the date of its rate where the list states another."""
    price = row.price
    on = prices.fx_date(price)
    if usd is not None and on is not None:
        note = f"from {price.currency}, rate of {day(on)}"
        return format_html('{} <small class="muted">{}</small>', usd_per_hour(usd), note)
    if usd is not None:
        return usd_per_hour(usd)
    if price.price_per_hour is not None:
        why = f"no exchange rate of {price.currency} is on file"
        return format_html('<span class="unknown" title="{}">in {}</span>', why, price.currency)
    return (
        NOTHING if price.state == Price.State.NOT_SOLD else _unknown(price.state_reason or "no price stated")
    )


def usd_per_gpu(row: OfferRow) -> SafeString | str:
    return money(row, row.usd_per_gpu_hour)


def usd_per_machine(row: OfferRow) -> SafeString | str:
    return money(row, row.usd_per_hour)


def per_gb(row: OfferRow) -> SafeString | str:
    return _derived(row, row.usd_per_gb_hour, "the memory of this GPU is not on file")


def per_tflop(row: OfferRow) -> SafeString | str:
    return _derived(row, row.usd_per_tflop_hour, "the dense bf16 rate of this GPU is not on file")


def _derived(row: OfferRow, value: Decimal | None, missing: str) -> SafeString | str:
    if value is not None:
        return small_rate(value)
    return _unknown("there is no price in dollars" if row.usd_per_gpu_hour is None else missing)


def upfront(row: OfferRow) -> SafeString | str:
    """Return what is due at the start, as stated; on demand and spot there is nothing to state."""
    price = row.price
    if price.upfront is not None:
        return f"{price.upfront.normalize():,f} {price.currency}"
    if price.payment in (Price.Payment.PARTIAL_UPFRONT, Price.Payment.ALL_UPFRONT):
        return _unknown("the list does not say how much is due at the start")
    return NOTHING


def of_machine(value: Decimal | None, stated: Decimal | None) -> SafeString | str:
    """Return a number of the SKU, with a mark where it is from the table of machine types."""
    if value is None or stated is not None:
        return plain(value)
    return format_html('<span title="from the table of machine types">{}*</span>', plain(value))


def change(row: OfferRow) -> SafeString | str:
    """Return the course of twelve months as a small line, and what it comes to."""
    found = row.change
    if found is None:
        return NOTHING
    share, since = found.share, "" if found.is_whole else f"since {day(found.first_seen)}"
    if share is None:
        return format_html('<span class="muted">no price now</span>')
    if not found.moved:
        words = f"unchanged {since or 'for 12 months'}"
        return format_html('<span class="muted nowrap" title="{}">{}</span>', words, since or "0 %")
    first, last = usd_text(row, found.first.price_per_hour), usd_text(row, found.spans[-1].price_per_hour)
    words = f"from {first} on {day(found.first_seen)} to {last}"
    return format_html(
        '<span class="change" title="{}">{}<span>{}</span></span>',
        words,
        sparkline(found.samples()),
        "0 %" if share == 0 else percent_signed(share),
    )


def usd_text(row: OfferRow, price_per_hour: Decimal | None) -> str:
    """Return a price of the machine as one GPU's share of it, in the currency of the list."""
    if price_per_hour is None:
        return "unknown"
    return f"{usd_per_hour(price_per_hour / row.price.sku.gpu_count, row.price.currency)}/GPU-h"


def state(row: OfferRow) -> SafeString | str:
    """Return the word of the state, and why there is no price."""
    price = row.price
    words = STATES.get(price.state, price.state)
    if price.state == Price.State.PRICED and not price.state_reason:
        return words
    pill = format_html('<span class="pill {}">{}</span>', STATE_TONES.get(price.state, ""), words)
    if not price.state_reason:
        return pill
    return format_html('{} <small class="muted reason"><bdi>{}</bdi></small>', pill, price.state_reason)


def how_old(row: OfferRow) -> SafeString:
    """Return the age with its word where it is more than it should be."""
    word = row.age_state
    text = age(row.age)
    if word == "fresh":
        return format_html('<span class="nowrap">{}</span>', text)
    return format_html(
        '<span class="nowrap"><span class="dot {}"></span>{}, <b>{}</b></span>', word, text, word
    )


def as_of(row: OfferRow) -> SafeString:
    """Return the date of a price, with the word where it is older than it should be."""
    word, date = row.age_state, day(row.price.as_of)
    if word == "fresh":
        return format_html('<span class="nowrap" title="{}">{}</span>', age(row.age), date)
    dot = format_html('<span class="dot {}"></span>', word)
    return format_html('<span class="nowrap" title="{}">{} {}<b>{}</b></span>', age(row.age), date, dot, word)


def run(row: OfferRow) -> SafeString:
    number = row.price.batch.run_id
    href = _address("run_detail", number)
    return format_html('<a class="nowrap" href="{}">{} run {}</a>', href, row.price.source, number)


def reference(row: OfferRow) -> SafeString | str:
    """Return the row's own source, as a link only where it is an address of the web."""
    text = row.price.reference
    if text.startswith(("https://", "http://")):
        return format_html('<a href="{}" rel="noreferrer noopener">{}</a>', text, text)
    return foreign(text)


def digest(row: OfferRow) -> SafeString:
    text = row.price.batch.raw.sha256
    return format_html('<code title="{}">{}</code>', text, text[:12])


def exchange_rate(row: OfferRow) -> str:
    rate = prices.fx_rate(row.price)
    return "" if rate is None else f"{rate.normalize():,f}"


def day_or_nothing(value: Any) -> str:
    return "" if value is None else day(value)

"""The price terms of one AWS product, as the bulk offer file writes them, to hourly prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import msgspec

from costs.rows import PRICE_STEP, OutOfScope, Payment, RowError, Term

from .dates import day, midnight, moment
from .decimals import number, price, to_step

_HOURS_PER_YEAR = 8760
_UPFRONT_STEP = Decimal("0.000001")
_YEARS_BY_LENGTH = {"1yr": 1, "1 yr": 1, "3yr": 3, "3 yr": 3}
# a convertible reservation may be exchanged for another machine during its term
_TERM: dict[tuple[str, int], Term] = {
    ("standard", 1): "reserved_1y",
    ("standard", 3): "reserved_3y",
    ("convertible", 1): "convertible_1y",
    ("convertible", 3): "convertible_3y",
}
PAYMENT_BY_OPTION: dict[str, Payment] = {
    "No Upfront": "no_upfront",
    "Partial Upfront": "partial_upfront",
    "All Upfront": "all_upfront",
}


class Dimension(msgspec.Struct):
    """One amount of a term: per hour, or once at its start."""

    unit: str = ""
    pricePerUnit: dict[str, str] = {}
    description: str = ""
    beginRange: str = "0"


class OfferTerm(msgspec.Struct):
    """One way to pay for a product."""

    priceDimensions: dict[str, Dimension] = {}
    effectiveDate: str = ""
    termAttributes: dict[str, str] = {}


Terms = dict[str, dict[str, OfferTerm]]  # OnDemand or Reserved -> code of the term -> the term


@dataclass(frozen=True)
class Rate:
    """One price of a machine."""

    term: Term
    payment: Payment
    per_hour: Decimal  # in `currency`
    upfront: Decimal | None
    currency: str
    effective_from: datetime | None


@dataclass(frozen=True)
class _Amount:
    text: str
    currency: str


def decode_terms(text: str) -> Terms:
    """Return the terms, or refuse text that is no such thing."""
    try:
        return msgspec.json.decode(text, type=Terms)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise RowError(
            "terms", text[:200], "terms_unreadable", f"terms as AWS writes them ({error})"
        ) from error


def encode_terms(terms: Terms) -> str:
    """Return terms as text."""
    return msgspec.json.encode(terms).decode()


def _amount(dimension: Dimension) -> _Amount:
    if len(dimension.pricePerUnit) != 1:
        shown = ", ".join(sorted(dimension.pricePerUnit)) or "none"
        raise RowError("pricePerUnit", shown, "currencies", "one currency in each price dimension")
    ((currency, text),) = dimension.pricePerUnit.items()
    return _Amount(text, currency)


def _amounts(term: OfferTerm) -> dict[str, _Amount]:
    """Return the amounts by unit; refuse tiers and units that are not those of a machine."""
    found: dict[str, _Amount] = {}
    for dimension in term.priceDimensions.values():
        if dimension.unit not in ("Hrs", "Quantity"):
            raise RowError("unit", dimension.unit, "unit_unknown", "Hrs, or Quantity for an upfront fee")
        if dimension.unit in found or dimension.beginRange not in ("0", ""):
            raise RowError(
                "priceDimensions", dimension.unit, "price_tiers", "one price for any number of hours"
            )
        found[dimension.unit] = _amount(dimension)
    if len({amount.currency for amount in found.values()}) > 1:
        shown = ", ".join(sorted(amount.currency for amount in found.values()))
        raise RowError("pricePerUnit", shown, "currencies", "fee and hourly price in one currency")
    return found


def _start(term: OfferTerm) -> datetime | None:
    text = term.effectiveDate
    if not text:
        return None
    return midnight(day("effectiveDate", text)) if len(text) == 10 else moment("effectiveDate", text)


def _on_demand(term: OfferTerm) -> Rate:
    amounts = _amounts(term)
    if set(amounts) != {"Hrs"}:
        raise RowError("unit", ", ".join(sorted(amounts)), "unit_unknown", "one price per hour")
    hourly = amounts["Hrs"]
    return Rate("on_demand", "", price("PricePerUnit", hourly.text), None, hourly.currency, _start(term))


def _fee(amounts: dict[str, _Amount], payment: Payment) -> Decimal:
    """Return the upfront fee that the way to pay promises: none, or one above zero."""
    text = amounts["Quantity"].text if "Quantity" in amounts else ""
    fee = number("PricePerUnit", text) if text else Decimal(0)
    if (fee > 0) != (payment != "no_upfront") or fee < 0:
        expected = "no upfront fee" if payment == "no_upfront" else "an upfront fee above 0"
        raise RowError(
            "PricePerUnit", text, "upfront_fee_wrong", f"{expected} for {payment.replace('_', ' ')}"
        )
    return fee


def _hourly(amounts: dict[str, _Amount], payment: Payment) -> Decimal:
    """Return what is due each hour: nothing where all is paid at the start, else above zero."""
    text = amounts["Hrs"].text if "Hrs" in amounts else ""
    hourly = number("PricePerUnit", text) if text else Decimal(0)
    if (hourly > 0) != (payment != "all_upfront") or hourly < 0:
        expected = "0 per hour" if payment == "all_upfront" else "an hourly price above 0"
        raise RowError(
            "PricePerUnit", text, "hourly_price_wrong", f"{expected} for {payment.replace('_', ' ')}"
        )
    return hourly


def _reserved(term: OfferTerm) -> Rate:
    """Return the effective hourly price: what is due per hour, and the fee over the hours of the term."""
    attributes = term.termAttributes
    length, option = attributes.get("LeaseContractLength", ""), attributes.get("PurchaseOption", "")
    if length not in _YEARS_BY_LENGTH:
        raise RowError("LeaseContractLength", length, "term_unknown", "1yr or 3yr")
    if option not in PAYMENT_BY_OPTION:
        raise RowError("PurchaseOption", option, "payment_unknown", " or ".join(PAYMENT_BY_OPTION))
    years = _YEARS_BY_LENGTH[length]
    name = _TERM[_offering(attributes), years]
    payment, amounts = PAYMENT_BY_OPTION[option], _amounts(term)
    fee, hourly = _fee(amounts, payment), _hourly(amounts, payment)
    effective = to_step(hourly + fee / (_HOURS_PER_YEAR * years), PRICE_STEP)
    currency = next(iter(amounts.values())).currency
    upfront = to_step(fee, _UPFRONT_STEP) if fee else None
    return Rate(name, payment, effective, upfront, currency, _start(term))


def _offering(attributes: Mapping[str, str]) -> str:
    """Return the class of a reservation; lists before 2017 know one and do not name it."""
    offering = attributes.get("OfferingClass", "") or "standard"
    if offering not in ("standard", "convertible"):
        raise RowError("OfferingClass", offering, "offering_unknown", "standard or convertible")
    return offering


def rates(terms: Terms) -> list[Rate]:
    """Return every price that the terms give; set aside a product without any."""
    found = [_on_demand(term) for term in terms.get("OnDemand", {}).values()]
    found += [_reserved(term) for term in terms.get("Reserved", {}).values()]
    if not found:
        raise OutOfScope("no_terms", "terms", "", "an on-demand price or a reservation")
    return found

"""Join the two lines that a bulk CSV gives to one reserved term: its hourly amount and its upfront fee."""

from collections.abc import Iterator

from costs.rows import FileError, OutOfScope, RawLine

from .aws_json import TERMS
from .aws_terms import OfferTerm, decode_terms, encode_terms
from .csv_file import RESERVED

# the line whose price this line's amount went into
JOINED = RESERVED + "joined"
_MOST_HELD = 200_000  # halves that wait for the other half

Half = tuple[str, str]  # SKU and code of the term


def _join(first: RawLine, second: RawLine) -> Iterator[RawLine]:
    """Yield the two halves of a term as one line that has both amounts, and one that was used up."""
    amounts = {}
    for raw in (first, second):
        ((_, terms),) = decode_terms(raw.fields[TERMS]).items()
        ((code, term),) = terms.items()
        amounts.update(term.priceDimensions)
    whole = OfferTerm(amounts, term.effectiveDate, term.termAttributes)
    yield RawLine(first.line, {**first.fields, JOINED: str(second.line)})
    yield RawLine(second.line, {**second.fields, TERMS: encode_terms({"Reserved": {code: whole}})})


def joined(lines: Iterator[tuple[RawLine, Half | None]]) -> Iterator[RawLine]:
    """Yield the lines, those that state one half of a term once the other half is there."""
    held: dict[Half, RawLine] = {}
    for raw, key in lines:
        if key is None:
            yield raw
        elif key in held:
            yield from _join(held.pop(key), raw)
        else:
            held[key] = raw
            if len(held) > _MOST_HELD:
                expected = "both amounts of a reserved term near each other"
                raise FileError("terms_incomplete", expected, line=raw.line)
    yield from held.values()  # one amount only: right for some terms, refused for others when parsed


def check_joined(raw: RawLine) -> None:
    """Set aside the half of a reserved term whose amount another line carries now."""
    if JOINED in raw.fields:
        line = raw.fields[JOINED]
        raise OutOfScope(
            "joined_line", "SKU", raw.fields["sku"], f"its amount is part of the price on line {line}"
        )

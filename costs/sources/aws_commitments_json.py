"""The answers about commitments in whatever wrapping they were saved: ours, the command line's, placebo's."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import BinaryIO

import msgspec

from costs.rows import FileError, OutOfScope, RawLine, RowError

from .byte_stream import Limits
from .csv_file import RESERVED
from .dates import day_in_name, moment
from .json_records import BROKEN, decode, flat, text_of, whole_text

KIND_OF = RESERVED + "kind"  # the list that a record stands in
EMPTY = RESERVED + "empty"  # a list without records
REFUSED = RESERVED + "refused"  # what AWS answered instead of a list
RIGHT = RESERVED + "right"
_PLACEBO_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")


@dataclass(frozen=True)
class Document:
    """What a saved answer says of itself, and its records."""

    account: str
    region: str
    as_of: datetime | None
    lines: Iterator[RawLine]
    answered: tuple[str, ...] = ()  # the kinds whose list the answer holds, with or without a record
    asked: Mapping[str, str] = field(default_factory=dict)


def _as_of(fields: dict[str, msgspec.Raw], name: str) -> datetime | None:
    """Return when the answer was given: as we noted, as its HTTP headers say, or as the file's name says."""
    if "AsOf" in fields:
        try:
            return moment("AsOf", text_of(fields["AsOf"]))
        except RowError as error:
            raise FileError(error.rule, error.expected, column="AsOf", value=error.value) from error
    meta = flat(fields.get("ResponseMetadata", msgspec.Raw(b"{}")))
    headers = flat(meta.get("HTTPHeaders", "{}").encode())
    try:
        found = parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return day_in_name(name)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _unwrapped(text: bytes, expected: str) -> dict[str, msgspec.Raw]:
    """Return the answer's own fields; placebo writes them beside the status of the call."""
    fields = decode(text, dict[str, msgspec.Raw], expected)
    if "status_code" not in fields or "data" not in fields:
        return fields
    status = text_of(fields["status_code"])
    if status != "200":
        raise FileError(
            "answer_failed", "a recorded answer of status 200", column="status_code", value=status
        )
    return decode(fields["data"], dict[str, msgspec.Raw], expected)


def _check_last(fields: dict[str, msgspec.Raw]) -> None:
    for key in ("NextToken", "nextToken"):
        if key in fields and text_of(fields[key]):
            raise FileError(
                "pages_missing",
                "the whole answer: this one has a further page (ask without --max-items or --no-paginate)",
                column=key,
            )


def read_lists(file: BinaryIO, name: str, lists: dict[str, str], limits: Limits, expected: str) -> Document:
    """Return the records of the lists that the answer holds; `lists` gives the kind of each by its key."""
    fields = _unwrapped(whole_text(file, name, limits), expected)
    held = {key: decode(fields[key], list[msgspec.Raw], expected) for key in lists if key in fields}
    if not held:
        raise FileError("json_wrong", expected, value=", ".join(sorted(fields))[:200])
    _check_last(fields)
    plain = {key: text_of(fields[key]) for key in ("Account", "Region", "Right", "Refused") if key in fields}

    def lines() -> Iterator[RawLine]:
        count = 0
        for key, records in held.items():
            mark = {KIND_OF: lists[key], RIGHT: plain.get("Right", "")}
            if not records:
                count += 1
                state = {REFUSED: plain["Refused"]} if plain.get("Refused") else {EMPTY: key}
                yield RawLine(count, {**mark, **state})
            for record in records:
                count += 1
                if count > limits.rows:
                    raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=count)
                yield RawLine(count, {**_small_keys(flat(record)), **mark})

    answered = () if plain.get("Refused") else tuple(lists[key] for key in held)
    asked = flat(fields["Asked"]) if "Asked" in fields else {}
    account, region = plain.get("Account", ""), plain.get("Region", "")
    return Document(account, region, _as_of(fields, name), lines(), answered, asked)


def _small_keys(fields: dict[str, str]) -> dict[str, str]:
    """Return the fields by names without capitals: the command line and placebo write them in two ways."""
    return {key if key == BROKEN else key.casefold(): value for key, value in fields.items()}


def check_answered(raw: RawLine, region: str) -> None:
    """Refuse what stands for no record: an answer that was refused, and one that was empty."""
    if REFUSED in raw.fields:
        _refuse(raw.fields[REFUSED], raw.fields[RIGHT], region or "the account")
    if EMPTY in raw.fields:
        expected = "at least one; AWS answered that there is none"
        raise OutOfScope("none_held", raw.fields[EMPTY], region, expected)


def _refuse(refusal: str, right: str, place: str) -> None:
    """Say what would open an answer that AWS refused to give."""
    if refusal.startswith(("AccessDenied", "UnauthorizedOperation")):
        rule, expected = "right_missing", f"the right {right}, which unlocks this list of {place}"
    elif refusal.startswith("OptInRequired"):
        rule, expected = "region_not_enabled", f"a region that the account has turned on, not {place}"
    else:
        rule, expected = "question_refused", f"a question that AWS answers in {place}"
    raise RowError(right or "(right)", refusal, rule, expected)


def needed(fields: dict[str, str], name: str) -> str:
    """Return a field that every record has."""
    text = fields.get(name.casefold(), "")
    if not text:
        raise RowError(name, "", "empty", f"the {name} that AWS states")
    return text


def at(fields: dict[str, str], name: str) -> datetime | None:
    """Return a moment, written as text or as placebo's object; None where there is none."""
    text = fields.get(name.casefold(), "")
    if not text:
        return None
    if not text.startswith("{"):
        return moment(name, text)
    parts = flat(text.encode())
    try:
        year, month, day, hour, minute, second, microsecond = (
            int(parts.get(part, "0")) for part in _PLACEBO_PARTS
        )
        # placebo drops the zone; AWS answers in UTC
        return datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise RowError(name, text, "not_a_time", "a moment with its zone, or placebo's datetime") from error

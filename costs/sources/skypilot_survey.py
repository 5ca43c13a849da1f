"""The first pass over a SkyPilot catalogue: which lines repeat or contradict each other, which hosts it has.

A parser that sees one line at a time can know neither. The pass holds one short entry per priced line, and
a catalogue is capped at fewer lines than other files, so the memory it takes is bounded.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from costs.rows import OutOfScope, RawLine, RowError

from .csv_file import FIELD_COUNT, RESERVED
from .decimals import number
from .skypilot_gcp import CONTRADICTED, HOST_COLUMNS, host_field, is_host, machines_of

VERDICT = RESERVED + "verdict"  # "rule|line of the other one"
# A marketplace lists many machines of one kind, each with its owner's price: the cheapest is the price at
# which one can rent now, and the others are dearer copies. A cloud has one price per offer: two of them
# contradict each other, and neither is taken.
_MARKETPLACES = frozenset({"vast"})
_CHEAPER, _SAME, _TWO = "cheaper_offer_listed", "duplicate_line", "two_prices_for_one_offer"

Key = tuple[str, ...]


@dataclass
class Survey:
    """What the whole file says about single lines of it."""

    verdicts: dict[int, str] = field(default_factory=dict)
    # (machine, zone) -> the host's fields; those of a host with two prices say so instead
    hosts: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)


def _plain(text: str) -> str:
    """Return a number's text so that "8" and "8.0" are one, and any other text as it is."""
    try:
        value = number("", text)
    except RowError:
        return text
    return f"{value.normalize():f}"


def _key(raw: RawLine) -> Key:
    names = ("InstanceType", "AcceleratorName", "Region", "AvailabilityZone")
    return (*(raw.fields.get(name, "") for name in names), _plain(raw.fields["AcceleratorCount"]))


def _amount(price: str) -> Decimal:
    """Return a price for comparing; one that cannot be read is dearer than any other."""
    try:
        value = number("", price)
    except RowError:
        return Decimal("Infinity")
    return value if value > 0 else Decimal("Infinity")


def _note_price(seen: dict[Key, tuple[int, str, str]], raw: RawLine, survey: Survey, market: bool) -> None:
    key, fields = _key(raw), raw.fields
    own = (raw.line, _plain(fields["Price"]), _plain(fields["SpotPrice"]))
    first = seen.setdefault(key, own)
    if first is own:
        return
    if first[1:] == own[1:]:
        survey.verdicts[raw.line] = f"{_SAME}|{first[0]}"
    elif not market:
        survey.verdicts[raw.line] = f"{_TWO}|{first[0]}"
        survey.verdicts[first[0]] = f"{_TWO}|{raw.line}"
    else:
        best, other = sorted((first, own), key=lambda entry: (_amount(entry[1]), entry[0]))
        seen[key] = best
        survey.verdicts.pop(best[0], None)
        survey.verdicts[other[0]] = f"{_CHEAPER}|{best[0]}"


def _note_host(raw: RawLine, survey: Survey) -> None:
    place = (raw.fields["InstanceType"], raw.fields.get("AvailabilityZone", ""))
    own = tuple(raw.fields[column] for column in HOST_COLUMNS)
    if survey.hosts.setdefault(place, own) != own:
        survey.hosts[place] = (CONTRADICTED,) * len(HOST_COLUMNS)


def survey_of(lines: Iterable[RawLine], provider: str) -> Survey:
    """Return what to know of the whole file before its lines are parsed one by one."""
    survey, seen = Survey(), dict[Key, tuple[int, str, str]]()
    for raw in lines:
        if FIELD_COUNT in raw.fields:
            continue
        if provider == "gcp" and is_host(raw.fields):
            _note_host(raw, survey)
        elif raw.fields["AcceleratorName"]:
            _note_price(seen, raw, survey, provider in _MARKETPLACES)
    return survey


def surveyed(lines: Iterable[RawLine], survey: Survey, provider: str) -> Iterator[RawLine]:
    """Yield the lines with what the survey found about each."""
    for raw in lines:
        extra = {VERDICT: survey.verdicts[raw.line]} if raw.line in survey.verdicts else {}
        if provider == "gcp" and FIELD_COUNT not in raw.fields:
            zone = raw.fields.get("AvailabilityZone", "")
            for machine in machines_of(raw.fields):
                host = survey.hosts.get((machine, zone), ())
                names = (host_field(machine, column) for column in HOST_COLUMNS)
                extra.update(zip(names, host, strict=False))
        yield RawLine(raw.line, {**raw.fields, **extra}) if extra else raw


def obey(raw: RawLine) -> None:
    """Raise what the survey found against this line, if anything."""
    verdict = raw.fields.get(VERDICT)
    if verdict is None:
        return
    rule, line = verdict.split("|")
    price = raw.fields["Price"]
    if rule == _TWO:
        raise RowError("Price", price, rule, f"one price per offer; line {line} states another")
    expected = f"line {line} states the same" if rule == _SAME else f"line {line} offers the same for less"
    raise OutOfScope(rule, "Price", price, expected)

"""What the address of the spot page asks for, and how it is written back in one order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.http import QueryDict

from costs.queries.spot_machines import SpotMachine
from planner.comparison.address import moment_text
from planner.forms.spot import NAMES as JOB_NAMES
from planner.forms.spot import Job, read_job
from planner.params import Pairs, shortened

WINDOWS = {"30d": "30 days", "90d": "90 days", "12mo": "12 months", "all": "all"}
LENGTHS = {"30d": timedelta(days=30), "90d": timedelta(days=90), "12mo": timedelta(days=365)}
DEFAULT_WINDOW = "90d"
USUAL_PRODUCT = "Linux/UNIX"
# which on-demand price spot is held against
HELD, NEAREST = "held", "nearest"
AGAINST = {HELD: "that held then", NEAREST: "nearest on file"}
NAMES = ("gpu", "product", "region", "zone", "window", "against", "as_of", *JOB_NAMES)
# what a sample at the last moment of a history needs in order to lie in a window that excludes its end
A_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True)
class Ask:
    """What is to be shown. Region and zones are those of the address: whether they exist is seen later."""

    machine: SpotMachine
    product: str
    regions: tuple[str, ...]
    zones: tuple[str, ...]
    window: str
    against: str
    as_of: datetime | None  # None is live
    job: Job
    is_usual_machine: bool
    notices: tuple[str, ...]

    def until(self, now: datetime) -> datetime:
        """Return up to when facts are looked at."""
        return now if self.as_of is None else min(self.as_of, now)

    def span(self, now: datetime) -> tuple[datetime, datetime]:
        """Return the window: it is counted back from the newest sample, which may be years old."""
        (stored,) = [each for each in self.machine.on_file if each.product == self.product]
        end = min(stored.last_seen_at + A_MOMENT, self.until(now) + A_MOMENT)
        length = LENGTHS.get(self.window)
        return (min(stored.first_at, end) if length is None else end - length), end

    def pairs(self, *, regions: Sequence[str], zones: Sequence[str]) -> Pairs:
        """Return the parameters, with the places that exist; defaults stay out."""
        pairs = [] if self.is_usual_machine else [("gpu", self.machine.key)]
        if self.product != usual_product(self.machine):
            pairs.append(("product", self.product))
        pairs += [("region", region) for region in regions] + [("zone", zone) for zone in zones]
        if self.window != DEFAULT_WINDOW:
            pairs.append(("window", self.window))
        if self.against != HELD:
            pairs.append(("against", self.against))
        if self.as_of is not None:
            pairs.append(("as_of", moment_text(self.as_of)))
        return pairs + self.job.pairs()


def usual_machine(machines: Sequence[SpotMachine]) -> SpotMachine:
    """Return the machine that is shown where none is asked for: seen last, then the first of the list."""
    newest = max(machine.last_seen_at for machine in machines)
    return next(machine for machine in machines if machine.last_seen_at == newest)


def usual_product(machine: SpotMachine) -> str:
    """Return Linux, or what there is instead."""
    products = [each.product for each in machine.on_file]
    return USUAL_PRODUCT if USUAL_PRODUCT in products else products[0]


def read_ask(data: QueryDict, machines: Sequence[SpotMachine]) -> Ask:
    """Return what an address asks for; what makes no sense is named and left out."""
    notices: list[str] = []
    last = {name: data.get(name, "").strip() for name in NAMES}
    usual = usual_machine(machines)
    machine = _machine(last["gpu"], machines, notices) or usual
    products = [each.product for each in machine.on_file]
    # another machine may not be sold with this system: no reason for a notice, so the product comes after it
    product = _chosen("Product", last["product"], products, usual_product(machine), notices)
    job, complaints = read_job(last)
    return Ask(
        machine=machine,
        product=product,
        regions=_several(data, "region"),
        zones=_several(data, "zone"),
        window=_chosen("Window", last["window"], list(WINDOWS), DEFAULT_WINDOW, notices),
        against=_chosen("On-demand price", last["against"], list(AGAINST), HELD, notices),
        as_of=_moment(last["as_of"], notices),
        job=job,
        is_usual_machine=machine == usual,
        notices=tuple(notices + complaints),
    )


def kept(asked: Sequence[str], known: Sequence[str], word: str, notices: list[str]) -> list[str]:
    """Return the places that exist; the others are named."""
    notices += [
        f"{word} “{shortened(each)}” has no prices on file for this machine and product: ignored."
        for each in asked
        if each not in known
    ]
    return [each for each in asked if each in known]


def _several(data: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip() for value in data.getlist(name) if value.strip()))


def _machine(text: str, machines: Sequence[SpotMachine], notices: list[str]) -> SpotMachine | None:
    """Return the machine of a key, of a machine's name, or of an accelerator: then the one seen last."""
    if not text:
        return None
    meant = [machine for machine in machines if text in (machine.key, machine.sku)]
    meant = meant or [machine for machine in machines if text == machine.accelerator]
    if not meant:
        notices.append(f"GPU: of “{shortened(text)}” there is no spot history on file; ignored.")
        return None
    return usual_machine(meant)


def _chosen(label: str, text: str, choices: Sequence[str], usual: str, notices: list[str]) -> str:
    if not text:
        return usual
    if text in choices:
        return text
    notices.append(f"{label}: “{shortened(text)}” is none of {', '.join(choices)}; {usual} is shown.")
    return usual


def _moment(text: str, notices: list[str]) -> datetime | None:
    """Return a moment; a day without an hour is the end of that day, so that its prices are seen."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if len(text) <= len("2026-11-30"):
            aware += timedelta(days=1) - A_MOMENT
    except (ValueError, OverflowError):
        aware = None
    if aware is None or not 2000 <= aware.year < 2100:
        notices.append(
            f"as_of: “{shortened(text)}” is no date such as 2026-11-30 or 2026-11-30T09:40Z; live is shown."
        )
        return None
    return aware

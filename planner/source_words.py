"""Sources in words: what kinds of facts there are, how a file counts, what a person may say besides it."""

from collections.abc import Iterable
from datetime import timedelta
from inspect import getdoc
from types import ModuleType

from costs.sources import SOURCES

KINDS = {
    "prices": "prices",
    "spot_prices": "spot prices",
    "spot_capacity": "spot capacity",
    "interruptions": "spot interruptions",
    "commitments": "commitments",
    "quotes": "quotes",
    "quotas": "limits",
    "quota_requests": "limit requests",
    "utilization": "use",
    "accelerators": "GPU models",
    "machine_types": "machine types",
    "aliases": "GPU spellings",
    "zones": "zones",
    "fx_rates": "exchange rates",
}
# the order of the question: what it costs, what may be had, what is held, what is used
AREAS = (
    ("Prices", ("prices", "fx_rates")),
    ("Spot", ("spot_prices", "spot_capacity", "interruptions")),
    ("Commitments and quotes", ("commitments", "quotes")),
    ("Limits", ("quotas", "quota_requests")),
    ("Use of the fleet", ("utilization",)),
    ("Names and machines", ("accelerators", "aliases", "machine_types", "zones")),
)
MODES = {
    "snapshot": "A file is the whole list of each of its scopes: what it no longer names is closed.",
    "amend": "A file adds to what is there or changes it; what it does not name stays as it is.",
    "history": "A file holds dated observations: changes are kept with their days, in any order of loading.",
    "steps": "A file holds observations: the moments of change are kept, in any order of loading.",
    "series": "The newest statement of each fact counts; what a file does not name stays as it is.",
}
# set for the sample fleet alone, never by a person
HIDDEN_PARAMS = frozenset({"sample"})
# what only a fetch asks its provider for: a file has its answer already
FETCH_PARAMS = frozenset({"start", "products", "instance_count", "duration_hours"})
PARAM_LABELS = {
    "accelerator": "GPU",
    "account": "Account",
    "as_of": "As of",
    "cluster": "Cluster",
    "currency": "Currency",
    "duration_hours": "Hours of a block",
    "gpu_count": "GPUs in a machine",
    "instance_count": "Machines in a block",
    "instance_types": "Machine types",
    "measures": "What was measured",
    "nodes_wanted": "Machines wanted",
    "products": "Systems",
    "provider": "Cloud",
    "region": "Region",
    "start": "First day",
    "starts_on": "First day",
    "time_unit": "Unit of time",
    "trace": "Name of the measurement",
    "zone": "Zone",
}
PARAM_HINTS = {
    "accelerator": "In each machine, such as V100.",
    "account": "The account, subscription or project, where the file does not say it.",
    "as_of": "The day of the answer, 2026-11-30, where neither the file nor its name says it.",
    "cluster": "Replaces what the file says. Leave it empty to keep that.",
    "currency": "Three capitals such as USD.",
    "duration_hours": "Whole hours with commas between them: 24, 336.",
    "gpu_count": "How many one machine holds.",
    "instance_count": "Whole numbers with commas between them: 1, 8.",
    "instance_types": "Only these, with commas between them: p5.48xlarge, p4d.24xlarge.",
    "measures": "availability or preemption.",
    "nodes_wanted": "How many were asked for, where the measurement asked for a number.",
    "products": "Such as Linux/UNIX, with commas between them.",
    "provider": "Small letters such as lambda, where the file’s name does not say it.",
    "region": "Such as us-east-1, where the file does not say it.",
    "start": "Rates from this day on: 2026-01-01.",
    "starts_on": "The day of the first tick: 2023-02-15.",
    "time_unit": "seconds, minutes or hours: what the first column of a log counts.",
    "trace": "So that two measurements of one zone stay apart, such as aws-02-15-2023.",
    "zone": "That was measured, such as us-east-1a.",
}


def kind_words(kind: str) -> str:
    """Return a kind of facts in words."""
    return KINDS.get(kind, kind.replace("_", " "))


def area_of(kind: str) -> str:
    """Return the heading that sources of a kind stand under."""
    return next((area for area, kinds in AREAS if kind in kinds), "Other")


def by_area(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return names of sources under their headings, in the order of the areas; no heading is empty."""
    found: dict[str, list[str]] = {area: [] for area, _ in AREAS}
    for name in names:
        found.setdefault(area_of(SOURCES[name].KIND), []).append(name)
    return [(area, listed) for area, listed in found.items() if listed]


def title_of(name: str) -> str:
    """Return the title of a source; of one that this version does not know, its name."""
    source = SOURCES.get(name)
    return str(source.TITLE) if source else name


def about(source: ModuleType) -> str:
    """Return what a source is: the first paragraph that its own file says of itself."""
    words = (getdoc(source) or "").partition("\n\n")[0]
    return " ".join(words.split())


def parameters(source: ModuleType, *, of_file: bool) -> list[str]:
    """Return the names of what a person may say besides a file, or to a fetch."""
    left_out = HIDDEN_PARAMS | FETCH_PARAMS if of_file else HIDDEN_PARAMS
    return [name for name in source.PARAMS if name not in left_out]


def param_label(name: str) -> str:
    return PARAM_LABELS.get(name, name.replace("_", " ").capitalize())


def param_hint(name: str) -> str:
    return PARAM_HINTS.get(name, "")


def needs_of(source: ModuleType) -> str:
    """Return which key or right is missing without which nothing is fetched, "" where none is needed."""
    return str(getattr(source, "NEEDS", ""))


def without_key() -> list[str]:
    """Return the sources of list prices, and of what turns them into dollars, that need no key to fetch."""
    return [
        name
        for name, source in SOURCES.items()
        if area_of(source.KIND) == "Prices"
        and (source.HAS_NETWORK or name == "list_prices")
        and getattr(source, "NEEDS", None) == ""
    ]


def every(span: timedelta | None) -> str:
    """Return how often something comes, in words.

    >>> every(timedelta(days=7)), every(timedelta(hours=1)), every(timedelta(minutes=90)), every(None)
    ('every 7 days', 'every hour', 'every 90 minutes', 'when it changes')
    """
    if span is None:
        return "when it changes"
    minutes = span // timedelta(minutes=1)
    for size, word in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes % size == 0 and minutes >= size:
            number = minutes // size
            return f"every {word}" if number == 1 else f"every {number:,} {word}s"
    return f"every {minutes:,} minutes"

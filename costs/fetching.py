"""The files of a job: those that it names, or those that its source fetches, each stored before it is read.

A fetch comes in pieces, a region or a page range each. What is stored is noted in the job: a worker that
takes the job over asks only for the pieces that are missing.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from types import ModuleType

from django.db import InterfaceError, OperationalError
from django.db.models import Max
from django.utils import timezone

from . import jobs
from .jobs import Cancelled, Claim, HandedBack, LeaseLost, TryAgain
from .kinds import BY_NAME
from .models import RawObject
from .raw import store
from .rows import FileError
from .tables import TABLES
from .text import printable

# not the file's fault: the job goes on later, or with another worker
PASSING = (LeaseLost, HandedBack, TryAgain, OperationalError, InterfaceError, OSError)

GONE_AFTER = timedelta(days=30)  # without a sight of it


def files_of(claim: Claim, source: ModuleType) -> list[tuple[RawObject, str]]:
    """Return the stored files of the job; fetch them when it names none. Done once per job."""
    if claim.params.get("raw"):
        wanted = [(claim.params["raw"], claim.params["name"])]
    elif "fetched" in claim.params:
        wanted = [(sha256, name) for sha256, name in claim.params["fetched"]]
    else:
        wanted = _fetch(claim, source)
        jobs.remember(claim, fetched=wanted)
    found = RawObject.objects.in_bulk([sha256 for sha256, _ in wanted], field_name="sha256")
    for sha256, name in wanted:
        if sha256 not in found:
            raise FileError("bytes_missing", f"the stored bytes of {name}; load the file again", value=sha256)
    return [(found[sha256], printable(name or found[sha256].name, 500)) for sha256, name in wanted]


def _fetch(claim: Claim, source: ModuleType) -> list[tuple[str, str]]:
    now = claim.job.created_at
    pieces: dict[str, str] = dict(claim.params.get("pieces", {}))
    wanted: list[tuple[str, str]] = []
    received = 0

    def counted(chunks: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal received
        for chunk in chunks:
            received += len(chunk)
            jobs.progress(claim, "fetch", received)
            yield chunk

    jobs.progress(claim, "fetch", 0)
    asked = {**claim.params["params"], **_since(source)}
    try:
        for name, chunks in source.fetch(asked, now):
            if name not in pieces:
                pieces[name] = store(counted(chunks), name, timezone.now()).sha256
                jobs.remember(claim, pieces=pieces)
            wanted.append((pieces[name], name))
    except (FileError, Cancelled, *PASSING):
        raise
    except Exception as error:
        # a provider's client has its own errors: what it says may pass, so the job is tried again
        raise TryAgain(f"{source.TITLE}: {type(error).__name__}: {error}") from error
    if not wanted:
        raise FileError("nothing_fetched", "a file name with --file or an upload: this source fetches none")
    return wanted


def _since(source: ModuleType) -> dict[str, str]:
    """Return up to when each scope of an incremental source is known, as parameters for its fetch.

    A scope holds many series, and a file may have brought one of them alone: what counts is the one that is
    known least far, less those that nobody has seen for so long that they are gone.
    """
    if not getattr(source, "INCREMENTAL", False):
        return {}
    kind = BY_NAME[source.KIND]
    rows = TABLES[kind.row]._default_manager.filter(source=source.NAME)
    newest: dict[str, list[datetime]] = {}
    for scope, *_, last in rows.values_list("scope", *kind.key).annotate(last=Max("last_seen_at")):
        newest.setdefault(scope, []).append(last)
    found = {}
    for scope, moments in newest.items():
        alive = [moment for moment in moments if moment >= max(moments) - GONE_AFTER]
        found[f"since.{scope}"] = min(alive).astimezone(UTC).isoformat()
    return found

"""Take files of a source, or fetch its own: the same path as an upload and the schedule."""

import logging
import stat
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from costs.ingest import ingest
from costs.jobs import TryAgain
from costs.models import IngestRun
from costs.recognize import the_source_of
from costs.rows import FileError
from costs.sources import SOURCES
from costs.text import has_steering, printable

AUTO = "auto"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the log of jobs off the terminal: the summary says it all."""
    log = logging.getLogger("costs")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _check_readable(path: Path) -> None:
    """Refuse what cannot be read to an end, before anything is stored."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISREG(kind):
            path.open("rb").close()
    except (OSError, ValueError) as error:
        # a name of thousands of letters is no name to repeat
        name, why = printable(path, 200), str(getattr(error, "strerror", None) or error)
        raise CommandError(f"{name}: {why[:1].lower()}{why[1:]}; expected a file that can be read") from error
    if not stat.S_ISREG(kind):
        what = "a directory" if stat.S_ISDIR(kind) else "no regular file"
        raise CommandError(f"{path}: this is {what}; expected a file")


def _source_of(path: Path) -> str:
    """Return the source that a file is for, by its first bytes and its name."""
    try:
        with path.open("rb") as file:
            return the_source_of(file, path.name)
    except FileError as error:
        found = f": it may be {error.value}" if error.code == "several_sources" else ""
        what = error.code.replace("_", " ")
        raise CommandError(
            f"{printable(path.name, 255)}: {what}{found}; expected {error.expected}"
        ) from error


def _came_to_nothing(run: IngestRun) -> bool:
    """Return whether no line of a file was taken, and not because all were out of scope."""
    wrong = run.lines_quarantined or run.rejected.filter(kind="wrong").exists()
    return run.status == IngestRun.Status.PARTIAL and not run.lines_kept and bool(wrong)


class Command(BaseCommand):
    help = (
        "Take files of a source into the database, or fetch what the source itself offers. Ends with 1 where "
        "a file was not taken, or no line of it."
    )
    requires_system_checks = []  # needs no page

    def add_arguments(self, parser: ArgumentParser) -> None:
        told = f"which source; {AUTO}: each file says itself what it is"
        parser.add_argument("source", choices=[AUTO, *sorted(SOURCES)], help=told)
        parser.add_argument("--file", type=Path, action="append", default=[], help="a file; may be repeated")
        parser.add_argument("--provider", default="", help="provider, where the file's name does not say")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")

    def handle(self, *args: Any, **options: Any) -> None:
        source, params = options["source"], self._params(options)
        for path in options["file"]:
            _check_readable(path)
        if source == AUTO and not options["file"]:
            raise CommandError(f"{AUTO}: name at least one file with --file")
        if source != AUTO:
            self._check_names(source, params)
        failed = []
        for path in options["file"] or [None]:
            try:
                failed += self._take_one(source, path, params)
            except CommandError as error:
                if source != AUTO:
                    raise
                failed.append(str(error))  # what this file is nobody knows; the others are taken
        if failed:
            raise CommandError("\n".join(failed))

    def _take_one(self, source: str, path: Path | None, params: dict[str, str]) -> list[str]:
        """Take a file, or fetch; return why what of it was not taken."""
        name = source
        if source == AUTO and path is not None:
            name = _source_of(path)
            self._check_names(name, params)
            self.stdout.write(f"{printable(path.name, 255)}: read as {name}")
        try:
            runs = self._take(name, path, params)
        except TryAgain as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:  # a worker takes the job up when its lease is over
            raise CommandError(f"{path or name}: the database: {error}") from error
        except OSError as error:  # the file went away, or the disk is full
            raise CommandError(f"{path or name}: {error.strerror or error}") from error
        failed = []
        for run in runs:
            if run.status in (IngestRun.Status.FAILED, IngestRun.Status.CANCELLED):
                failed.append(run.message)
            elif _came_to_nothing(run):
                failed.append(f"{run.origin}: {run.message}")
            else:
                self.stdout.write(f"{run.origin}: {run.get_status_display().lower()}: {run.message}")
        return failed

    def _params(self, options: dict[str, Any]) -> dict[str, str]:
        params = {"provider": options["provider"]} if options["provider"] else {}
        for text in options["param"]:
            name, equals, value = text.partition("=")
            if not equals:
                raise CommandError(f"--param {text}: write NAME=VALUE")
            params[name] = value
        for name, value in params.items():
            if has_steering(value):
                raise CommandError(f"{name}={printable(value, 80)}: write text without control characters")
        return params

    def _check_names(self, source: str, params: dict[str, str]) -> None:
        known = SOURCES[source].PARAMS
        unknown = sorted(set(params) - set(known) - {"sample"})
        if unknown:
            told = ", ".join(known) or "none"
            raise CommandError(f"{source} has no parameter {', '.join(unknown)}; it has: {told}")

    def _take(self, source: str, path: Path | None, params: dict[str, str]) -> list[IngestRun]:
        with _quiet():
            last = ingest(
                source,
                file=path,
                name=printable(path.name, 255) if path else "",
                params=params,
                requested_by="shell",
                now=timezone.now(),
                on_progress=self._progress if sys.stderr.isatty() else None,
            )
        if sys.stderr.isatty():
            self.stderr.write("\r\033[K", ending="")
        return list(last.job.runs.order_by("pk"))

    def _progress(self, phase: str, done: int, total: int | None) -> None:
        share = f"{done / total:4.0%}" if total else f"{done:,}"
        self.stderr.write(f"\r\033[K{phase} {share}", ending="")
        self.stderr.flush()

"""Write the file of a page from the shell: the same bytes as the browser's download."""

from argparse import ArgumentParser
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from planner.comparison import Comparison, answer_address, read_address
from planner.comparison.address import BOUNDS, ONE_DATE, VIEW_NAMES
from planner.comparison.gather import NothingToCompareError
from planner.csv_cells import DECIMAL_MARKS, SEPARATORS
from planner.exports import FORMATS, Style, comparison_file
from planner.queries import UnknownScenarioError


class Command(BaseCommand):
    help = "Write the comparison of 2 to 4 scenarios as CSV or JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=["compare"])
        parser.add_argument("slugs", nargs="+", metavar="SLUG", help="a scenario's address, or own-96~3")
        parser.add_argument("--format", choices=list(FORMATS), default="csv")
        parser.add_argument("--view", choices=list(VIEW_NAMES), default="cash")
        parser.add_argument("--base", default="", help="the scenario that deltas are against")
        parser.add_argument("--as-of", default="", help="data date, such as 2026-11-30T09:40Z")
        parser.add_argument(
            "--one-date",
            action="store_true",
            help="read the prices of all at that date, also of scenarios that keep those of another",
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a what-if value"
        )
        parser.add_argument("--sep", choices=list(SEPARATORS), default=",")
        parser.add_argument("--dec", choices=list(DECIMAL_MARKS), default=".")
        parser.add_argument("--bom", action="store_true")
        parser.add_argument("--out", type=Path, help="a file; without, the standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sep"] == options["dec"]:
            raise CommandError("--sep and --dec are the same character: choose --sep ';' with --dec ','")
        comparison = _comparison(options)
        for notice in (*comparison.notices, *filter(None, [comparison.dates_notice])):
            self.stderr.write(notice)
        style = Style(options["sep"], options["dec"], options["bom"])
        self._write(comparison_file(comparison, options["format"], style), options["out"])

    def _write(self, content: bytes, out: Path | None) -> None:
        # bytes, so that no platform turns line ends or the encoding into its own
        stream: Any = getattr(self.stdout, "buffer", None)
        if out is not None:
            out.write_bytes(content)
        elif stream is not None:
            stream.write(content)
            stream.flush()
        else:
            self.stdout.write(content.decode(), ending="")


def _comparison(options: dict[str, Any]) -> Comparison:
    address = read_address(_parameters(options))
    # what a page shows as a notice is an error here: nobody reads notices in a pipe
    if address.notices:
        raise CommandError(" ".join(address.notices))
    if len(address.scenarios) < 2:
        raise CommandError("name 2 to 4 scenarios")
    try:
        return answer_address(address, timezone.now())
    except UnknownScenarioError as error:
        raise CommandError(f"no scenario {error.args[0]!r}") from None
    except NothingToCompareError as error:
        raise CommandError(str(error)) from None


def _parameters(options: dict[str, Any]) -> dict[str, list[str]]:
    parameters: dict[str, list[str]] = defaultdict(list)
    parameters["s"] = options["slugs"]
    parameters["view"] = [options["view"]]
    parameters["base"] = [options["base"]]
    parameters["as_of"] = [options["as_of"]]
    parameters["prices"] = [ONE_DATE] if options["one_date"] else []
    for pair in options["set"]:
        name, mark, value = pair.partition("=")
        if not mark or name not in BOUNDS:
            raise CommandError(f"--set {pair}: write NAME=VALUE with one of {', '.join(BOUNDS)}")
        parameters[name].append(value)
    return parameters

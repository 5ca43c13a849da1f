import hashlib
import sys
from importlib import resources

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from costs.models import Batch
from costs.sources import SOURCES
from planner.accounts import new_first_admin_token
from planner.static import collected_state

BUNDLED = {
    "accelerators": "accelerators.csv",
    "machine_types": "machine_types.csv",
    "list_prices": "list_prices.csv",
}


class Command(BaseCommand):
    help = (
        "Bring the database, the static files and the bundled reference data up to date, before each start. "
        "Run twice, it changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        text = "while there is no user: print, alone, a new one-time token for the first administrator"
        parser.add_argument("--first-admin", action="store_true", help=text)

    def handle(self, *args: object, first_admin: bool, **options: object) -> None:
        try:
            self._prepare(first_admin=first_admin)
        except DatabaseError as error:
            # SQLite names no file itself; a PostgreSQL error names its server
            name = settings.DATABASES["default"]["NAME"]
            why = " ".join(str(error).split())
            raise CommandError(f"the database {name} cannot be used: {why}") from error
        except OSError as error:
            raise CommandError(f"{error.filename or settings.VAR_DIR}: {error.strerror or error}") from error

    def _prepare(self, *, first_admin: bool) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        call_command("clearsessions")
        self._static()
        for source, file in BUNDLED.items():
            if not _is_loaded(source, file):
                self.stderr.write(f"Loading the bundled {SOURCES[source].TITLE} ...")
                call_command("ingest", source, stdout=sys.stderr)
        token = new_first_admin_token(timezone.now()) if first_admin else None
        if token is not None:
            self.stdout.write(token)

    def _static(self) -> None:
        state, note = collected_state(), settings.STATIC_ROOT / ".collected"
        if note.exists() and note.read_text() == state:
            return
        call_command("collectstatic", verbosity=0, interactive=False)
        note.write_text(state)


def _is_loaded(source: str, file: str) -> bool:
    """Return whether these very bytes were published, read by today's parser."""
    packaged = resources.files("costs") / "data" / file
    sha256 = hashlib.sha256(packaged.read_bytes()).hexdigest()
    version = SOURCES[source].PARSER_VERSION
    return Batch.objects.filter(source=source, raw__sha256=sha256, parser_version=version).exists()

import hashlib
import sys
from importlib import resources

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from costs.models import Batch
from costs.sources import SOURCES
from planner.accounts import new_first_admin_token
from planner.static import collected_state

BUNDLED = {"accelerators": "accelerators.csv", "list_prices": "list_prices.csv"}


class Command(BaseCommand):
    help = (
        "Bring the database, the static files and the bundled reference data up to date, before each start. "
        "Run twice, it changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        text = "while there is no user: print, alone, a new one-time token for the first administrator"
        parser.add_argument("--first-admin", action="store_true", help=text)

    def handle(self, *args: object, first_admin: bool, **options: object) -> None:
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

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from planner.accounts import new_first_admin_token


class Command(BaseCommand):
    help = "Print the one-time address that creates the first administrator. An older one ends."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--address", default="http://127.0.0.1:8000", help="where the pages are served")

    def handle(self, *args: object, address: str, **options: object) -> None:
        token = new_first_admin_token(timezone.now())
        if token is None:
            raise CommandError("There are users already: the administrator adds more. See createsuperuser.")
        self.stdout.write(address.rstrip("/") + reverse("first_admin", args=[token]))

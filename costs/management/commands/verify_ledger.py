"""Prove that the tables hold what the accepted files said, no more and no less."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from costs.ledger import verify


class Command(BaseCommand):
    help = "Read every accepted file again and compare it with the tables; end with 1 if anything is off."
    requires_system_checks = []  # needs no page

    def handle(self, *args: Any, **options: Any) -> None:
        report = verify()
        for problem in report.problems:
            self.stdout.write(problem)
        for note in report.notes:
            self.stdout.write(note)
        told = f"{report.batches:,} batches, {report.rows:,} rows"
        if report.problems:
            raise CommandError(f"{len(report.problems)} problems in {told}")
        self.stdout.write(f"ledger exact: {told}")

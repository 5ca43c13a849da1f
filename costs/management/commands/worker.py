"""The job loop without Redis: the same jobs, the same tick, one process."""

import signal
import time
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import InterfaceError, OperationalError, close_old_connections
from django.utils import timezone

from costs import jobs, upkeep


def _stop(number: int, frame: FrameType | None) -> None:
    jobs.STOP.set()


class Command(BaseCommand):
    help = "Run queued jobs and the tick until told to stop (SIGTERM or Ctrl-C)."
    requires_system_checks = []  # needs no page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="end when nothing is left to do")

    def handle(self, *args: Any, **options: Any) -> None:
        jobs.STOP.clear()
        stop = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self._loop(once=options["once"])
        finally:
            for number, handler in stop.items():
                signal.signal(number, handler)

    def _loop(self, *, once: bool) -> None:
        ticked_at = float("-inf")
        while not jobs.STOP.is_set():
            try:
                close_old_connections()
                if time.monotonic() - ticked_at >= settings.JOB_TICK_SECONDS:
                    ticked_at = time.monotonic()
                    upkeep.tick(timezone.now())
                found = self._run_one()
            except (OperationalError, InterfaceError) as error:
                # the database restarts: the lease of the job in hand runs out, and it is taken up again
                self.stderr.write(f"database: {error}")
                jobs.STOP.wait(1)
                continue
            if not found and once:
                return
            if not found:
                jobs.STOP.wait(settings.JOB_POLL_SECONDS)

    def _run_one(self) -> bool:
        claim = jobs.claim()
        if claim is None:
            return False
        jobs.run(claim)
        return True

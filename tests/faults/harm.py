"""Work that goes wrong in ways that real work does."""

import os
import signal
import time

from costs import jobs
from costs.jobs import Claim


def kill_own_worker(claim: Claim) -> None:
    """Die as by a segmentation fault or the kernel's killer of memory hogs."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_and_renew(claim: Claim) -> None:
    """Take as many seconds as asked, holding on to the job."""
    end = time.monotonic() + claim.params["seconds"]
    while time.monotonic() < end:
        jobs.renew(claim, "stage", 0, None)
        time.sleep(0.1)

"""The product's settings, and two kinds of jobs that do harm."""

from planner.settings import *  # noqa: F403 # all of them
from planner.settings import JOB_KINDS as PRODUCT_KINDS

# small steps: a job takes long enough to be hit at many different moments, on a fast machine too
INGEST_CHUNK_ROWS = 250
JOB_KINDS = {
    **PRODUCT_KINDS,
    "kills_its_worker": "tests.faults.harm.kill_own_worker",
    "sleeps": "tests.faults.harm.sleep_and_renew",
}

"""The product's settings, and two kinds of jobs that do harm."""

from planner.settings import *  # noqa: F403 # all of them
from planner.settings import JOB_KINDS as PRODUCT_KINDS

JOB_KINDS = {
    **PRODUCT_KINDS,
    "kills_its_worker": "tests.faults.harm.kill_own_worker",
    "sleeps": "tests.faults.harm.sleep_and_renew",
}

"""Put work in the queue of the copy of the product that the environment names, as a page would.

Called as `python -m tests.faults.order KIND JSON KEY...`; with a path in the parameters under "file" the
file is stored first. Prints the ids of the jobs, one for each key.
"""

import json
import sys
from pathlib import Path

import django

django.setup()

from django.utils import timezone  # noqa: E402 # after the set-up

from costs import jobs  # noqa: E402
from costs.raw import blocks, store  # noqa: E402


def main() -> None:
    kind, params, keys = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    if "file" in params:
        path = Path(params.pop("file"))
        with path.open("rb") as file:
            params |= {"raw": store(blocks(file), path.name, timezone.now()).sha256, "name": path.name}
    for key in keys:
        job = jobs.enqueue(kind, params, key=key, requested_by="test", now=timezone.now())
        print(job.pk)  # noqa: T201 # that is what it is for


main()

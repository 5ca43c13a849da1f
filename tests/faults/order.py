"""Put work in the queue of the copy of the product that the environment names, as a page would.

Called as `python -m tests.faults.order KIND JSON KEY...`. With paths in the parameters under "files",
each is stored and gets a job for each key. Prints the ids of the jobs.
"""

import json
import sys
from pathlib import Path
from typing import Any

import django

django.setup()

from django.utils import timezone  # noqa: E402 # after the set-up

from costs import jobs  # noqa: E402
from costs.raw import blocks, store  # noqa: E402


def stored(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"raw": store(blocks(file), path.name, timezone.now()).sha256, "name": path.name}


def main() -> None:
    kind, params, keys = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    work = [(path, params | stored(Path(path))) for path in params.pop("files", [])] or [("", params)]
    for name, asked in work:
        for key in keys:
            job = jobs.enqueue(kind, asked, key=name + key, requested_by="test", now=timezone.now())
            print(job.pk)  # noqa: T201 # that is what it is for


main()

"""What the prices page costs on the server at 50,000 prices: the page, its swaps, the start of its file.

Run as `python -m benchmarks.prices_page`, on SQLite in a temporary folder. The rows are the bundled list,
repeated in made-up regions. Beside the time on the clock stands that of the processor, which other work on
the machine disturbs less.
"""

import os
import tempfile
import time
from itertools import count

ROWS = 50_000
ROUNDS = 21
SWAP = {"HX-Request": "true"}
ADDRESSES = (
    ("whole page", "/prices/", {}),
    ("swap, all", "/prices/", SWAP),
    ("swap, one GPU", "/prices/?gpu=h100-sxm-80gb", SWAP),
    ("swap, one cloud", "/prices/?cloud=gcp", SWAP),
    ("swap, search", "/prices/?q=h100+us-east", SWAP),
    ("swap, dearest first", "/prices/?sort=-usd_per_gpu_h", SWAP),
    ("swap, page 900", "/prices/?page=900", SWAP),
    ("CSV, first chunk", "/prices.csv", {}),
)


def grow() -> int:
    """Repeat the prices in regions of their own until there are enough; return how many there are."""
    from django.utils import timezone

    from costs.models import Price

    originals = list(Price.objects.filter(effective_to=None))
    missing = ROWS - len(originals)
    made: list[Price] = []
    for copy in count(1):
        for price in originals[: missing - len(made)]:
            names = [field.attname for field in Price._meta.fields if field.attname != "id"]
            values = {name: getattr(price, name) for name in names}
            values |= {
                "region": f"{price.region}-{copy}",
                "as_of": timezone.now() if copy % 2 else price.as_of,
            }
            made.append(Price(**values))
        if len(made) == missing:
            break
    Price.objects.bulk_create(made, batch_size=2000)
    return Price.objects.count()


def measure() -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client

    from planner.models import Person

    call_command("migrate", verbosity=0, skip_checks=True)
    call_command("collectstatic", verbosity=0, interactive=False)
    for source in ("accelerators", "machine_types", "list_prices"):
        call_command("ingest", source, verbosity=0)
    print(f"{grow():,} prices; milliseconds on the clock and of the processor")
    client = Client()
    client.force_login(Person.objects.create_user("bench@example.com"))
    for name, address, headers in ADDRESSES:
        clock, processor = [], []
        for _ in range(ROUNDS):
            began, began_cpu = time.perf_counter(), time.process_time()
            answer = client.get(address, headers=headers)
            assert answer.status_code == 200, address
            if answer.streaming:
                next(iter(answer.streaming_content))
            clock.append((time.perf_counter() - began) * 1e3)
            processor.append((time.process_time() - began_cpu) * 1e3)
            answer.close()
        print(f"{name:20} clock {_spread(clock)}   processor {_spread(processor)}")


def _spread(times: list[float]) -> str:
    ordered = sorted(times[1:])  # the first round fills the caches
    return f"p50 {ordered[len(ordered) // 2]:6.1f}  p95 {ordered[int(len(ordered) * 0.95)]:6.1f}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
        os.environ |= {"VAR_DIR": folder, "LOG_LEVEL": "ERROR", "ALLOWED_HOSTS": "testserver"}
        measure()


if __name__ == "__main__":
    main()

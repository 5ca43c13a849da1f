"""What the pages cost on the server, against the evaluation of the same plans and the fetch of the same rows.

Run as `python -m benchmarks.pages`, on SQLite in a temporary folder with the sample fleet loaded.
"""

import os
import tempfile
import time
from collections.abc import Callable


def median_ms(work: Callable[[], object], rounds: int = 11) -> float:
    work()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1e3)
    return sorted(times)[rounds // 2]


def prepare() -> tuple[float, str]:
    """Load the sample; return the seconds it took and the query of its comparison."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from costs import jobs
    from planner.sample import load as sample

    call_command("migrate", verbosity=0, skip_checks=True)
    call_command("collectstatic", verbosity=0, interactive=False)
    for source in sample.REFERENCE_DATA:
        call_command("ingest", source, verbosity=0)
    began = time.perf_counter()
    job = jobs.enqueue("sample", {}, key="bench", requested_by="bench", now=timezone.now())
    claim = jobs.claim(job.pk)
    assert claim is not None
    jobs.run(claim)
    return time.perf_counter() - began, "&".join(f"s={slug}" for slug in sample.scenario_slugs())


def measure() -> None:
    seconds, query = prepare()
    from django.test import Client
    from django.utils import timezone

    from costs.queries import prices
    from planner.core.evaluate import evaluate
    from planner.models import Person, Scenario
    from planner.queries import load_plans, newest_revisions

    client = Client()
    client.force_login(Person.objects.create_user("bench@example.com", role="planner"))
    plans = [each.plan for each in load_plans(newest_revisions(Scenario.objects.all()), timezone.now())]
    floor = median_ms(lambda: [evaluate(plan) for plan in plans])
    print(f"{'sample fleet and plans loaded':42} {seconds:8.1f} s")
    print(f"{'evaluate four plans':42} {floor:8.1f} ms  1.0x")

    def get(address: str) -> None:
        assert client.get(address).status_code == 200, address

    moves = iter(range(10_000))
    for name, address in (
        ("slider drag, a new value each time", lambda: f"/compare/preview/?{query}&kwh=0.1{next(moves):04}"),
        ("Compare, whole page", lambda: f"/compare/?{query}"),
        ("Compare, CSV", lambda: f"/compare.csv?{query}"),
        ("Overview", lambda: "/"),
    ):
        took = median_ms(lambda address=address: get(address()))
        print(f"{name:42} {took:8.1f} ms  {took / floor:3.1f}x the evaluation")
    rows = median_ms(lambda: list(prices.offers(as_of=timezone.now())[:50]))
    took = median_ms(lambda: get("/prices/"))
    print(f"{'Prices, 50 rows':42} {took:8.1f} ms  {took / rows:3.1f}x the fetch of its rows")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
        os.environ |= {"VAR_DIR": folder, "LOG_LEVEL": "ERROR", "ALLOWED_HOSTS": "testserver"}
        measure()


if __name__ == "__main__":
    main()

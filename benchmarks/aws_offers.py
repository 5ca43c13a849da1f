"""How fast AWS's bulk price lists are read, and in how much memory, against gpuhunt and json.load.

Run as `python -m benchmarks.aws_offers [CSV_MB] [JSON_MB]`. Each reading is a process of its own, in turns,
so that a busy machine is busy for all of them; the best of three turns counts. `wc -l` is the floor.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .aws_lists import write_csv, write_json

TURNS = 3
MOST_MB, TIMES_AS_FAST, SHARE_OF_MEMORY = 120, 3, 1 / 3


Found = tuple[int, int]  # lines or products gone through, and prices
Reader = Callable[[Path], Found]


def product() -> Reader:
    """Return the product's own reader, which goes through every line."""
    from costs.rows import OutOfScope, RowError
    from costs.sources import aws_prices

    def read(path: Path) -> Found:
        lines = prices = 0
        with path.open("rb") as file:
            info, raw_lines = aws_prices.read(file, path.name, {})
            for raw in raw_lines:
                lines += raw.lines
                try:
                    prices += len(aws_prices.parse(raw, info))
                except (OutOfScope, RowError):
                    continue
        return lines, prices

    return read


def gpuhunt() -> Reader:
    """Return gpuhunt's reader of the same file, without what it asks AWS beside."""
    from gpuhunt.providers.aws import AWSProvider

    provider: Any = AWSProvider(cache_path="set below")
    provider._fill_gpu_details = lambda offers: None
    provider._with_spot_offers = lambda offers: offers

    def read(path: Path) -> Found:
        provider.cache_path = str(path)
        return 0, len(provider.get())

    return read


def json_load() -> Reader:
    def read(path: Path) -> Found:
        with path.open("rb") as file:
            return len(json.load(file)["products"]), 0

    return read


def wc() -> Reader:
    def read(path: Path) -> Found:
        answer = subprocess.run(["wc", "-l", str(path)], check=True, capture_output=True, text=True)
        return int(answer.stdout.split()[0]), 0

    return read


READERS: dict[str, Callable[[], Reader]] = {
    "product": product, "gpuhunt": gpuhunt, "json.load": json_load, "wc -l": wc,
}  # fmt: skip


def read_here(name: str, path: Path) -> None:
    """Read in this process and print what it took; imports take memory, but are no part of the time."""
    read = READERS[name]()
    began, cpu = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    lines, prices = read(path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {
        "seconds": time.perf_counter() - began,
        "cpu": used.ru_utime + used.ru_stime - cpu + children.ru_utime + children.ru_stime,
        "mb": used.ru_maxrss / 1024,
        "lines": lines,
        "prices": prices,
    }
    print(json.dumps(found))


def child(*words: str) -> str:
    """Return what a process of its own prints. This one stays small: its peak would count as the child's."""
    command = [sys.executable, "-m", "benchmarks.aws_offers", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(path: Path, names: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return the best turn of each reader, by its CPU time."""
    print(f"{path.name}: {path.stat().st_size / 1e6:,.0f} MB")
    turns: list[dict[str, dict[str, float]]] = [
        {name: json.loads(child("--read", name, str(path))) for name in names} for _ in range(TURNS)
    ]
    best = {name: min((turn[name] for turn in turns), key=lambda each: each["cpu"]) for name in names}
    for name, took in best.items():
        ratio = took["cpu"] / best["product"]["cpu"]
        print(
            f"  {name:10} {took['cpu']:7.2f} s of CPU, {took['seconds']:6.2f} s in all, {took['mb']:6.0f} MB"
            f" at most  {ratio:5.2f}x the product  {took['lines']:10,} lines {took['prices']:7,} prices"
        )
    return best


def main() -> int:
    if sys.argv[1:2] == ["--read"]:
        read_here(sys.argv[2], Path(sys.argv[3]))
        return 0
    if sys.argv[1:2] == ["--write"]:
        write = write_csv if sys.argv[2].endswith(".csv") else write_json
        write(Path(sys.argv[2]), int(sys.argv[3]) * 1_000_000)
        return 0
    csv_mb, json_mb = (*(int(text) for text in sys.argv[1:3]), *(1_000, 300)[len(sys.argv) - 1 :])[:2]
    with tempfile.TemporaryDirectory() as name:
        offers_csv, offers_json = Path(name) / "ec2.csv", Path(name) / "ec2.json"
        child("--write", str(offers_csv), str(csv_mb))
        child("--write", str(offers_json), str(json_mb))
        of_csv = compare(offers_csv, ("product", "gpuhunt", "wc -l"))
        of_json = compare(offers_json, ("product", "json.load", "wc -l"))
    faster, memory = of_csv["gpuhunt"]["cpu"] / of_csv["product"]["cpu"], of_csv["product"]["mb"]
    faster_json = of_json["json.load"]["cpu"] / of_json["product"]["cpu"]
    share = of_json["product"]["mb"] / of_json["json.load"]["mb"]
    print(f"CSV: {faster:.1f} times as fast as gpuhunt, {memory:.0f} MB at most")
    print(f"JSON: {faster_json:.1f} times as fast as json.load, {share:.2f} of its memory")
    assert faster >= TIMES_AS_FAST, f"less than {TIMES_AS_FAST} times as fast as gpuhunt"
    assert memory < MOST_MB, f"more than {MOST_MB} MB"
    assert faster_json >= TIMES_AS_FAST, f"less than {TIMES_AS_FAST} times as fast as json.load"
    assert share < SHARE_OF_MEMORY, "more than a third of the memory of json.load"
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run every benchmark, each in a process of its own: `make bench`."""

import subprocess
import sys

NAMES = ("evaluate", "uncertainty", "optimizer", "ingest", "pages", "prices_page", "aws_offers")


def main() -> int:
    failed = 0
    for name in NAMES:
        print(f"\n== {name}", flush=True)
        failed |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())

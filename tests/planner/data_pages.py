"""What tests of the data pages share: files of one made-up catalogue, and the jobs done as a worker does."""

import csv
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone

from costs import jobs
from costs.ingest import ingest
from costs.models import IngestRun

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n"
# one machine of each size in one region: a catalogue of five on-demand prices
SIZES = (1, 2, 4, 8, 16)
USD_PER_GPU = 3


def catalogue(**changes: str) -> str:
    """Return a catalogue in SkyPilot's layout; `changes` are whole lines by the name of their machine."""
    lines = {
        f"gpu{n}": f"gpu-{n}x-h100,H100,{n},24,200,,{USD_PER_GPU * n}.00,,eu-north1\n" for n in SIZES
    } | changes
    return HEADER + "".join(lines.values())


def line(name: str, gpu: str, count: int, price: str) -> str:
    return f"{name},{gpu},{count},24,200,,{price},,eu-north1\n"


def load(source: str, text: str | None = None, name: str = "", folder: Path | None = None) -> IngestRun:
    """Take a text as a file of a source, or what the source brings along."""
    path = None
    if text is not None and folder is not None:
        path = folder / name
        path.write_text(text)
    now = timezone.now()
    return ingest(source, file=path, name=name, params={}, requested_by="shell", now=now)


def work_off() -> None:
    """Do all queued jobs, as a worker does."""
    while claim := jobs.claim():
        jobs.run(claim)


def text_of(response: Any) -> str:
    """Return the words of a page, one blank between them."""
    body = re.sub(r"<[^>]+>", " ", response.content.decode())
    return re.sub(r"\s+", " ", unescape(body)).replace("\u00a0", " ")


def body_of(client: Client, address: str) -> str:
    return b"".join(client.get(address).streaming_content).decode()  # type: ignore[attr-defined]


def rows_of(client: Client, address: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file that a page offers."""
    return list(csv.DictReader(io.StringIO(body_of(client, address))))

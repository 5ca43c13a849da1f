"""The bytes of every file read, each stored once under its SHA-256."""

import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from .models import IngestRun, Job, RawObject
from .rows import FileError
from .text import printable

KEEP_UNUSED = timedelta(days=7)
BLOCK_BYTES = 1024 * 1024


def blocks(file: BinaryIO) -> Iterable[bytes]:
    """Yield a file's bytes block by block."""
    while block := file.read(BLOCK_BYTES):
        yield block


def store(chunks: Iterable[bytes], name: str, now: datetime) -> RawObject:
    """Write the bytes once under their hash; the same bytes again only renew the date."""
    folder = Path(settings.RAW_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    handle, temporary = tempfile.mkstemp(prefix="part-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        # the row first and the name inside its transaction: a clean-up of the same bytes waits for us
        with transaction.atomic():
            raw, _ = RawObject.objects.update_or_create(
                sha256=digest.hexdigest(),
                defaults={"fetched_at": now},
                create_defaults={
                    "fetched_at": now,
                    "size_bytes": size,
                    "name": printable(Path(name).name, 255),
                },
            )
            Path(temporary).replace(folder / raw.sha256)
    finally:
        Path(temporary).unlink(missing_ok=True)
    return raw


class _Watched(io.FileIO):
    """A file that tells how far it was read before each block."""

    def __init__(self, path: Path, on_read: Callable[[int], None]) -> None:
        super().__init__(path, "rb")
        self.on_read = on_read

    def readinto(self, buffer: Any, /) -> int | None:
        self.on_read(self.tell())
        return super().readinto(buffer)


def open_raw(raw: RawObject, on_read: Callable[[int], None] = lambda position: None) -> BinaryIO:
    """Open the stored bytes; say so when they are gone or are not all there.

    `on_read` hears the position before each block: a source may read for long before its first line.
    """
    path = Path(settings.RAW_DIR) / raw.sha256
    wanted = f"the stored file {raw.sha256} ({raw.name}) with {raw.size_bytes:,} bytes; load the file again"
    try:
        found = path.stat().st_size
        if found != raw.size_bytes:
            raise FileError("bytes_changed", wanted, value=f"{found:,} bytes")
        return io.BufferedReader(_Watched(path, on_read), BLOCK_BYTES)
    except FileNotFoundError:
        raise FileError("bytes_missing", wanted) from None


def drop_unused(now: datetime) -> int:
    """Delete bytes that no batch and no open job needs and nobody read for seven days."""
    old = now - KEEP_UNUSED
    wanted = set(
        Job.objects.exclude(status__in=Job.TERMINAL)
        .exclude(params__raw=None)
        .values_list("params__raw", flat=True)
    )
    unused = RawObject.objects.filter(batches=None, fetched_at__lt=old).exclude(
        Q(runs__status=IngestRun.Status.RUNNING) | Q(runs__started_at__gte=old)
    )
    dropped = 0
    for pk, sha256 in unused.values_list("pk", "sha256"):
        if sha256 in wanted:
            continue
        with transaction.atomic():
            raw = (
                RawObject.objects.select_for_update(of=("self",))
                .filter(pk=pk, batches=None, fetched_at__lt=old)
                .first()
            )
            if raw is not None:
                raw.runs.update(raw=None)
                (Path(settings.RAW_DIR) / sha256).unlink(missing_ok=True)
                raw.delete()
                dropped += 1
    return dropped + _drop_strays(old)


def _drop_strays(old: datetime) -> int:
    """Delete old files that no row names: halves of a fetch that was killed."""
    folder, dropped = Path(settings.RAW_DIR), 0
    if not folder.is_dir():
        return 0
    for path in folder.iterdir():
        is_old = path.stat().st_mtime < old.timestamp()
        if is_old and not RawObject.objects.filter(sha256=path.name).exists():
            path.unlink(missing_ok=True)
            dropped += 1
    return dropped

"""Where gpuhunt publishes its catalogue, and how one provider's CSV is taken out of its archive."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

from costs import egress
from costs.rows import FileError

from .byte_stream import BLOCK_BYTES, Limits

# https://github.com/dstackai/gpuhunt: each provider has a version of its own under its name
ADDRESS = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"
PUBLISHED = ("aws", "azure", "gcp", "lambdalabs", "nebius", "oci", "runpod", "verda", "cloudrift")
LIMITS = Limits(total_bytes=512 << 20, ratio=200)
_ARCHIVE_BYTES = 128 << 20
_MOST_MEMBERS = 16
_HELD_BYTES = 8 << 20
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,60}")


def catalogue_of(provider: str) -> Iterator[bytes]:
    """Yield the CSV of the newest version of one provider."""
    try:
        text = b"".join(egress.get(f"{ADDRESS}/{provider}/version", most_bytes=1 << 10))
        version = text.decode("utf-8", "replace").strip()
        if not _VERSION.fullmatch(version):
            raise FileError("version_unreadable", "a version such as 20261130", value=version[:80])
        with SpooledTemporaryFile(max_size=_HELD_BYTES) as archive:
            for block in egress.get(f"{ADDRESS}/{provider}/{version}/catalog.zip", most_bytes=_ARCHIVE_BYTES):
                archive.write(block)
            yield from member_of(archive, f"{provider}.csv")
    except egress.HttpError as error:
        # the store answers 403 where there is no such file; other trouble may pass
        if error.status in (403, 404):
            raise FileError("not_published", f"a catalogue of {provider}", value=str(error)) from error
        raise


def member_of(archive: IO[bytes], name: str, limits: Limits = LIMITS) -> Iterator[bytes]:
    """Yield the bytes of one file in a zip archive; refuse an archive that is broken, foreign or a bomb."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            member = _checked(zipped, name, limits)
            with zipped.open(member) as file:
                total = 0
                while block := file.read(BLOCK_BYTES):
                    total += len(block)
                    if total > member.file_size:
                        raise FileError("zip_broken", f"{member.file_size:,} bytes, as the archive says")
                    yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileError("zip_broken", "a whole zip archive", value=str(error)) from error


def _checked(zipped: zipfile.ZipFile, name: str, limits: Limits) -> zipfile.ZipInfo:
    members = zipped.infolist()
    if len(members) > _MOST_MEMBERS:
        raise FileError("zip_members", f"at most {_MOST_MEMBERS} files", value=str(len(members)))
    found = [member for member in members if member.filename == name]
    if len(found) != 1:
        shown = ", ".join(member.filename for member in members)
        raise FileError("zip_members", f"{name}, once", value=shown)
    [member] = found
    if member.file_size > limits.total_bytes:
        raise FileError("file_too_large", f"at most {limits.total_bytes:,} bytes after unpacking")
    if member.file_size > max(1 << 20, member.compress_size * limits.ratio):
        raise FileError("zip_ratio", f"at most {limits.ratio} unpacked bytes per packed byte")
    return member

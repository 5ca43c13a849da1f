"""How long to wait: for a connection, for a slow answer, and between attempts."""

import io
import random
import socket
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from .addresses import Target

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
# an answer may take longer than that only while it keeps coming at this pace or faster
SLOWEST_BYTES_PER_SECOND = 64 << 10
FIRST_PAUSE_SECONDS = 0.5
_MOST_PAUSE_SECONDS = 8.0
_MOST_ASKED_SECONDS = 15.0
# with what the last attempt may take, shorter than a worker may be silent: its job comes again anyway
LAST_ATTEMPT_AFTER_SECONDS = 20.0
_MOST_ADDRESSES = 3  # of one host that are tried in turn
sleep = time.sleep
clock = time.monotonic


class _Reads(io.RawIOBase):
    """What arrives on a socket, until it has kept us waiting for too long in all.

    A socket's own timeout starts again with each byte: one byte every 29 seconds would hold us for days.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        # keeps the socket open when the connection lets go of it, as it does once the answer has begun
        self._file = sock.makefile("rb", buffering=0)
        self._waited, self._received = 0.0, 0

    def close(self) -> None:
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = READ_SECONDS + self._received / SLOWEST_BYTES_PER_SECOND - self._waited
        if left <= 0:
            raise TimeoutError(f"the answer comes too slowly: {self._received:,} bytes so far")
        self._sock.settimeout(min(left, READ_SECONDS))
        begun = clock()
        count = self._file.readinto(buffer) or 0
        self._waited += clock() - begun
        self._received += count
        return count


class _Watched:
    """A socket whose reader keeps to the deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reads(self._sock))


def _connection(target: Target, address: str) -> HTTPConnection:
    if target.scheme == "http":
        return HTTPConnection(address, target.port, timeout=CONNECT_SECONDS)
    return HTTPSConnection(
        address,
        target.port,
        timeout=CONNECT_SECONDS,
        ssl_context=ssl.create_default_context(),
        server_hostname=target.host,
    )


def connect(target: Target, addresses: list[str]) -> HTTPConnection:
    """Return an open connection to one of the checked addresses.

    The server is spoken to by its host's name, and its certificate must be for that name.
    """
    failed: Exception = OSError(f"{target.host} has no address")
    for address in addresses[:_MOST_ADDRESSES]:
        connection: Any = _connection(target, address)
        try:
            connection.connect()
        except (OSError, HTTPError) as error:
            connection.close()
            failed = error
            continue
        connection.timeout = READ_SECONDS
        connection.sock = _Watched(connection.sock)
        opened: HTTPConnection = connection
        return opened
    raise failed


def wait_asked_for(retry_after: str, now: float) -> float | None:
    """Return the seconds that a Retry-After asks for, as a number or a date; None for neither."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), _MOST_ASKED_SECONDS)
    try:
        wanted = parsedate_to_datetime(text).timestamp() - now
    except (ValueError, TypeError):
        return None
    return min(max(wanted, 0.0), _MOST_ASKED_SECONDS)


def pause(attempt: int, asked_seconds: float | None) -> float:
    """Return the seconds to wait after an attempt: longer each time, never less than was asked for.

    Chance keeps many workers from coming back at the same moment.
    """
    if asked_seconds is not None:
        return asked_seconds * random.uniform(1, 1.1)  # noqa: S311
    longest: float = min(FIRST_PAUSE_SECONDS * 2 ** (attempt - 1), _MOST_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1)  # noqa: S311

"""Fetch over HTTP: whole or not at all, from checked addresses, patiently but not without end."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from http.client import HTTPException
from typing import Any
from urllib.parse import urljoin

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from . import patience
from .addresses import Target, resolve, target_of
from .decoding import TooLong, decoded
from .secrets import shown, without_secrets

MOST_BYTES = 256 << 20
_MOST_REDIRECTS = 3
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_ATTEMPTS = 6
_BLOCK = 64 << 10
_TEXT = 500
_AGENT = "gpu-planner"
# ssl.SSLError and timeouts are OSErrors
_BROKEN = (HTTPError, HTTPException, OSError, EOFError)


class HttpError(Exception):
    """An answer that is no success, or is not whole. `status` is 0 where no answer came."""

    def __init__(self, status: int, url: str, text: str) -> None:
        self.status, self.url, self.text = status, shown(url), shown(text)[:_TEXT]
        super().__init__(f"{self.url}: {f'status {status}' if status else 'no answer'}: {self.text}")


class _Passing(Exception):
    """Trouble that may be over at the next attempt."""

    def __init__(self, error: HttpError, wait_seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.wait_seconds = error, wait_seconds


def _ask(target: Target, headers: Mapping[str, str]) -> tuple[HTTPConnection, HTTPResponse]:
    connection = patience.connect(target, resolve(target))
    try:
        sent = {"Host": target.host_header, "User-Agent": _AGENT, "Accept-Encoding": "gzip", **headers}
        sent["Connection"] = "close"
        connection.request("GET", target.path, headers=sent, preload_content=False, decode_content=False)
        return connection, connection.getresponse()
    except BaseException:
        connection.close()
        raise


def _text_of(answer: HTTPResponse) -> str:
    """Return the start of what a refusal says."""
    try:
        start = next(decoded(_blocks(answer), answer.headers.get("Content-Encoding", ""), _BLOCK), b"")
    except (*_BROKEN, TooLong):
        return ""
    return start[: 4 * _TEXT].decode("utf-8", "replace")


def _blocks(answer: HTTPResponse) -> Iterator[bytes]:
    yield from answer.stream(_BLOCK, decode_content=False)


def _body(answer: HTTPResponse, url: str, most_bytes: int) -> Iterator[bytes]:
    coding = answer.headers.get("Content-Encoding", "").strip().lower()
    has_end = coding not in ("", "identity") or answer.chunked or "Content-Length" in answer.headers
    if not has_end:
        raise HttpError(
            answer.status, url, "a body of no stated length: nobody could tell whether it is whole"
        )
    try:
        yield from decoded(_blocks(answer), coding, most_bytes)
    except TooLong as error:
        raise HttpError(answer.status, url, str(error)) from error


def _redirected(url: str, answer: HTTPResponse) -> str:
    place = answer.headers.get("Location")
    if not place:
        raise HttpError(answer.status, url, "a redirect to nowhere")
    return urljoin(url, place)


def _once(url: str, headers: Mapping[str, str], most_bytes: int) -> Iterator[bytes]:
    """Yield the body of one answer, behind a few redirects."""
    first, asked = target_of(url), url
    for _ in range(_MOST_REDIRECTS + 1):
        target = target_of(asked)
        # what was meant for one host, such as a key, is not handed to another
        sent = headers if target.origin == first.origin else {}
        connection, answer = _ask(target, sent)
        try:
            if answer.status in _REDIRECTS:
                asked = _redirected(asked, answer)
            elif answer.status == 200:
                yield from _body(answer, asked, most_bytes)
                return
            else:
                _refuse(asked, answer, headers)
        finally:
            connection.close()
    raise HttpError(answer.status, asked, f"more than {_MOST_REDIRECTS} redirects")


def _refuse(url: str, answer: HTTPResponse, headers: Mapping[str, str]) -> None:
    error = HttpError(answer.status, url, without_secrets(_text_of(answer), url, headers))
    if answer.status == 429 or answer.status >= 500:
        raise _Passing(error, patience.wait_asked_for(answer.headers.get("Retry-After", ""), time.time()))
    raise error


def _careful(url: str, headers: Mapping[str, str], most_bytes: int) -> Iterator[bytes]:
    """Yield one answer; say of what breaks underway that it may pass."""
    try:
        yield from _once(url, headers, most_bytes)
    except _BROKEN as error:
        text = without_secrets(f"{type(error).__name__}: {error}", url, headers)
        raise _Passing(HttpError(0, url, text)) from error


def _tried(attempt: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """Yield what the first attempt yields that gets through; what was handed out cannot be taken back."""
    begun = patience.clock()
    for number in range(1, _ATTEMPTS + 1):
        is_begun = False
        try:
            for block in attempt():
                is_begun = True
                yield block
            return
        except _Passing as trouble:
            seconds = patience.pause(number, trouble.wait_seconds)
            is_late = patience.clock() - begun + seconds > patience.LAST_ATTEMPT_AFTER_SECONDS
            if is_begun or is_late or number == _ATTEMPTS:
                raise trouble.error from trouble
        patience.sleep(seconds)


def get(
    url: str, *, headers: Mapping[str, str] | None = None, most_bytes: int = MOST_BYTES
) -> Iterator[bytes]:
    """Yield the decoded body of an answer with status 200, block by block, or raise.

    Attempts are repeated until the first block is handed out. A body that ends early raises.
    """
    yield from _tried(lambda: _careful(url, headers or {}, most_bytes))


def get_whole(url: str, *, headers: Mapping[str, str] | None = None, most_bytes: int = MOST_BYTES) -> bytes:
    """Return a body that fits in memory. One that broke off is asked for again: nobody has seen any of it."""

    def whole() -> Iterator[bytes]:
        yield b"".join(_careful(url, headers or {}, most_bytes))

    return b"".join(_tried(whole))


def get_json(url: str, *, headers: Mapping[str, str] | None = None, most_bytes: int = MOST_BYTES) -> Any:
    """Return a JSON answer, its numbers with a point as Decimal."""
    text = get_whole(url, headers=headers, most_bytes=most_bytes)
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        start = text[:_TEXT].decode("utf-8", "replace")
        raise HttpError(200, url, without_secrets(f"not JSON: {start}", url, headers or {})) from error


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")

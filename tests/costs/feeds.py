"""A server on this machine that plays scripted answers, for tests of what is fetched."""

import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit


class Request(NamedTuple):
    """One request as it came."""

    method: str
    path: str  # with the query
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        """Return the fields of a body such as EC2's Action=DescribeSpotPriceHistory&Version=…"""
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True)
class Answer:
    """One answer: give `json`, `text` or `body`. `cut_after` closes the connection after so many bytes."""

    status: int = 200
    json: Any = None
    text: str | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_after: int | None = None

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.text is not None:
            return self.text.encode()
        return b"" if self.json is None else json.dumps(self.json).encode()


CLOSE = Answer(status=0)  # the connection is closed without a word
Script = Answer | Callable[[Request], Answer]


@dataclass
class _Play:
    start: str
    where: Callable[[Request], bool] | None
    answers: list[Script]


class Feed:
    """Answers per path. The longest start of a path that fits counts, then one with a condition."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._plays: list[_Play] = []
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def play(self, path: str, *answers: Script, where: Callable[[Request], bool] | None = None) -> None:
        """Answer paths that start so with these in turn, the last one for ever.

        A `?` in the path makes its query part of the start: play("/list?page=3", …). `where` looks at the
        whole request. What is played later comes before what was played earlier.
        """
        self._plays.insert(0, _Play(path, where, list(answers)))

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            fitting = [
                play
                for play in self._plays
                if request.path.startswith(play.start) and (play.where is None or play.where(request))
            ]
            if not fitting:
                return Answer(404, text=f"nothing is played at {request.path}")
            best = max(fitting, key=lambda play: (len(play.start), play.where is not None))
            script = best.answers.pop(0) if len(best.answers) > 1 else best.answers[0]
        return script(request) if callable(script) else script


def _handler(feed: Feed) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = feed.answer(Request(self.command, self.path, dict(self.headers), body))
            self.close_connection = True
            if answer is CLOSE:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            payload = answer.payload()
            self.send_response(answer.status)
            headers = {"Content-Type": "application/json" if answer.json is not None else "text/plain"}
            if "Transfer-Encoding" not in answer.headers:
                headers["Content-Length"] = str(len(payload))
            for name, value in {**headers, "Connection": "close", **answer.headers}.items():
                if value:  # an empty one leaves the header out
                    self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # the other side has seen enough
                self.wfile.write(payload if answer.cut_after is None else payload[: answer.cut_after])

        do_GET = do_POST = do_PUT = do_HEAD = _serve

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler

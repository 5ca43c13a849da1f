"""The web server of `make run`: waitress on a listening socket that the supervisor holds.

Waitress takes a slow client's whole request before a thread works on it, so it needs no proxy in front.
"""

import socket
import sys
from typing import Any

import waitress
from django.conf import settings

from planner.wsgi import application

THREADS = 8
# well above what an upload may have: the page itself refuses the rest, and can say why
BODY_MAX_BYTES = 4 * settings.UPLOAD_MAX_BYTES


def main(handle: int) -> None:
    listener = socket.socket(fileno=handle)
    options: dict[str, Any] = {
        "sockets": [listener],
        "threads": THREADS,
        "ident": None,  # no server name in answers
        "max_request_body_size": BODY_MAX_BYTES,
    }
    if settings.TRUSTED_PROXIES:
        options |= {
            "trusted_proxy": "127.0.0.1",
            "trusted_proxy_count": settings.TRUSTED_PROXIES,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
        }
    waitress.serve(application, _quiet=True, clear_untrusted_proxy_headers=True, **options)


if __name__ == "__main__":
    main(int(sys.argv[1]))

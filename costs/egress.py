"""The one place that decides what the product may connect to, and how patiently.

Only the addresses listed here are reached. EGRESS_ALLOW adds origins, separated by commas and written
out in full (http://127.0.0.1:8999), for tests and for a mirror inside the firm.
"""

import os
from typing import Any
from urllib.parse import urlsplit

from botocore.config import Config

_HOST_SUFFIXES = (".amazonaws.com",)


class EgressRefused(Exception):
    """A connection to an address that is not on the list."""


def _extra_origins() -> frozenset[str]:
    listed = os.environ.get("EGRESS_ALLOW", "").split(",")
    return frozenset(origin.strip().rstrip("/").lower() for origin in listed if origin.strip())


def check_url(url: str) -> None:
    """Raise unless the address is on the list.

    Whole host names are compared: neither amazonaws.com.example.org nor user@amazonaws.com passes.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise EgressRefused(f"{url!r} is no address") from error
    if "@" not in parts.netloc:
        origin = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
        if origin in _extra_origins():
            return
        if parts.scheme == "https" and port in (None, 443) and host.endswith(_HOST_SUFFIXES):
            return
    raise EgressRefused(f"{url!r} is not on the list of addresses that this product may connect to")


def aws_config() -> Config:
    """Return the patience of every AWS client: few, spaced tries, and no endless wait.

    The standard mode is named because the default is an older one that knows fewer passing errors.
    """
    return Config(
        retries={"mode": "standard", "total_max_attempts": 8},
        connect_timeout=5,
        read_timeout=60,
        max_pool_connections=10,
    )


def guard_client(client: Any) -> None:
    """Check the client's endpoint now, and the address of each request just before it is sent."""
    check_url(client.meta.endpoint_url)

    def check_request(request: Any, **_: Any) -> None:
        check_url(request.url)

    client.meta.events.register("before-send", check_request)

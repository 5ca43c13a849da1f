"""Keep the AWS clients to AWS, and give them patience."""

from typing import Any

from botocore.config import Config

from .addresses import check_url


def aws_config() -> Config:
    """Return the patience of every AWS client: few, spaced tries, and no endless wait.

    The adaptive mode also slows down by itself before the next request once AWS has said that it is asked
    too much: a price list takes many pages.
    """
    return Config(
        retries={"mode": "adaptive", "total_max_attempts": 8},
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

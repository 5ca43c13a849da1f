"""Keep keys out of what people read: messages, logs, records of runs."""

import logging
import re
from collections.abc import Mapping
from urllib.parse import unquote

_NAME = r"[^=&?#\s]*(?:key|token|sig|secret|passw|credential|auth|code)[^=&?#\s]*"
_IN_QUERY = re.compile(rf"(?<=[?&;])({_NAME})=([^&#\s'\"]*)", re.IGNORECASE)
_USER = re.compile(r"(?<=//)[^/?#\s]*@")
_IN_HEADER = re.compile(r"key|token|secret|auth|cookie", re.IGNORECASE)
_HIDDEN = "…"


def shown(text: str) -> str:
    """Return an address, or a text with addresses in it, without keys.

    >>> shown("https://a.example/skus?key=abc&page=2")
    'https://a.example/skus?key=…&page=2'
    """
    return _USER.sub(f"{_HIDDEN}@", _IN_QUERY.sub(rf"\1={_HIDDEN}", text))


def without_secrets(text: str, url: str, headers: Mapping[str, str]) -> str:
    """Return what a server said without the keys that it was given, should it repeat them."""
    given = [match[2] for match in _IN_QUERY.finditer(url)]
    given += [
        value.split()[-1] for name, value in headers.items() if _IN_HEADER.search(name) and value.split()
    ]
    for secret in {*given, *map(unquote, given)}:
        if len(secret) > 3:
            text = text.replace(secret, _HIDDEN)
    return shown(text)


class _Hide(logging.Filter):
    """Take keys out of what the HTTP library logs of an address."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(shown(each) if isinstance(each, str) else each for each in record.args)
        return True


for _logger in ("urllib3.connection", "urllib3.connectionpool"):
    logging.getLogger(_logger).addFilter(_Hide())

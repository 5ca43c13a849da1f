"""Log lines without secrets, and with the number of the request they belong to."""

import logging
import re
from urllib.parse import unquote, urlsplit

from django.conf import settings

_LINK = re.compile(r"(first-run/)[^/\s\"']+")
_HIDDEN = "********"


class HideSecrets(logging.Filter):
    """Replace keys, passwords and one-time links in what is about to be written."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = hide(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = hide(logging.Formatter().formatException(record.exc_info))
        return True


class NameRequest(logging.Filter):
    """Add the request's id where the line belongs to a request.

    What a page refuses is a line, not a trace of calls: anybody could fill the log with those.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.ERROR and record.name.startswith("django."):
            record.exc_info = record.exc_text = None
        request_id = getattr(getattr(record, "request", None), "request_id", "")
        record.request_note = f" [request {request_id}]" if request_id else ""
        return True


def hide(text: str) -> str:
    """Return `text` without any secret that the settings hold."""
    for secret in _secrets():
        text = text.replace(secret, _HIDDEN)
    return _LINK.sub(rf"\1{_HIDDEN}", text)


def _secrets() -> list[str]:
    database = settings.DATABASES["default"].get("PASSWORD") or ""
    broker = urlsplit(settings.REDIS_URL).password or ""
    found = {settings.SECRET_KEY, database, broker, unquote(broker)}
    # a password of a few letters would black out ordinary words
    return [secret for secret in found if len(secret) >= 6]

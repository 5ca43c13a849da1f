"""Ask a public address, and say by name why there is no answer where asking again would not help."""

from collections.abc import Mapping

from costs import egress
from costs.rows import FileError

_NOT_ALLOWED = frozenset((401, 403))


def answer(url: str, *, headers: Mapping[str, str] | None = None, needs: str = "") -> bytes:
    """Return a whole body. Trouble that may pass is left to whoever tries the job again."""
    try:
        return egress.get_whole(url, headers=headers)
    except egress.EgressRefused as error:
        raise FileError(
            "address_refused", "an address that the product may connect to", value=error
        ) from error
    except egress.HttpError as error:
        if error.status in _NOT_ALLOWED:
            raise FileError("auth_failed", needs or "an address that needs no key", value=error) from error
        if 300 <= error.status < 500 and error.status != 429:
            raise FileError("question_refused", "an answer with status 200", value=error) from error
        raise

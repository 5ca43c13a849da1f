"""How the spellings of an accelerator's name are compared."""

import re

_SEPARATORS = re.compile(r"[\s\-_]+")


def accelerator_key(name: str) -> str:
    """Return the form in which two spellings of one accelerator are equal.

    Providers write "A100-80GB", "A100 80GB" and "a100_80gb" for one and the same part. Nothing else is
    dropped: "A100" and "A100-80GB" stay two parts.

    >>> accelerator_key("RTX-PRO 6000")
    'rtxpro6000'
    """
    return _SEPARATORS.sub("", name.casefold())

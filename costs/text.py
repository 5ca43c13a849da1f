"""Foreign text, made fit to be stored and shown."""


def printable(text: object, limit: int) -> str:
    """Return the text without what databases refuse (NUL, half surrogates), at most `limit` long."""
    clean = str(text).replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"

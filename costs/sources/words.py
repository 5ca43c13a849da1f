"""Lists of words in one parameter."""


def words(text: str) -> list[str]:
    """Return the words between commas.

    >>> words("us-east-1, eu-west-1")
    ['us-east-1', 'eu-west-1']
    """
    return [word.strip() for word in text.split(",") if word.strip()]

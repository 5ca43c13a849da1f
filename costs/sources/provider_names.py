"""What providers are called here, whatever a catalogue calls them."""

# one seller under two names would stand twice in every list
_OUR_NAMES = {
    "crusoecloud": "crusoe",
    "datacrunch": "verda",  # renamed in November 2025
    "do": "digitalocean",
    "jarvis-labs": "jarvislabs",
    "lambdalabs": "lambda",
    "vast-ai": "vast",
    "vastai": "vast",
    "vast.ai": "vast",
}


def our_name(name: str) -> str:
    """Return the provider's name in this product.

    >>> our_name("LambdaLabs")
    'lambda'
    """
    folded = name.strip().lower()
    return _OUR_NAMES.get(folded, folded)

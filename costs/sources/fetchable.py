"""Which sources bring their own data."""

from costs.sources import SOURCES

BUNDLED = frozenset({"accelerators", "list_prices", "machine_types"})  # come with the product: no network


def can_fetch(name: str) -> bool:
    """Return whether a source fetches its own data, so that it can be run without an upload."""
    return name in BUNDLED or bool(SOURCES[name].HAS_NETWORK)

from .people import Person

__all__ = ["Person"]

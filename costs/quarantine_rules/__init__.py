"""The rules that hold back facts which were read well and look wrong, each by its name. Pure."""

from .verdict import Before, Key, MachineFacts, ScopeBefore, Suspicion, Verdict

__all__ = ["Before", "Key", "MachineFacts", "ScopeBefore", "Suspicion", "Verdict"]

"""The rules that hold back facts which were read well and look wrong, each by its name. Pure."""

from .history import check_history
from .rules import QUARANTINE_RULES
from .scope import check_scope
from .verdict import Before, Key, MachineFacts, ScopeBefore, Suspicion, Verdict

__all__ = [
    "QUARANTINE_RULES", "Before", "Key", "MachineFacts", "ScopeBefore", "Suspicion", "Verdict",
    "check_history", "check_scope",
]  # fmt: skip

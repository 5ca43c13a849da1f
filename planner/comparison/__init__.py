"""Compare 2 to 4 scenarios: `compare` gives the one result, whose shape is in result.py."""

from planner.comparison.address import Address, read_address
from planner.comparison.ask import answer_address
from planner.comparison.build import compare
from planner.comparison.result import Comparison

__all__ = ["Address", "Comparison", "answer_address", "compare", "read_address"]

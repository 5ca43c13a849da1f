"""Compare 2 to 4 scenarios: `compare` gives the one result, whose shape is in result.py."""

from planner.comparison.address import Address, read_address
from planner.comparison.build import compare
from planner.comparison.result import Comparison

__all__ = ["Address", "Comparison", "compare", "read_address"]

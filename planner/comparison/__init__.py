"""Compare 2 to 4 scenarios. `compare` gives the one result; its shape is in result.py."""

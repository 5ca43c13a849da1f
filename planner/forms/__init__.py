"""Forms of scenarios. They hand on clean values: dates, Decimals, names that are safe to show."""

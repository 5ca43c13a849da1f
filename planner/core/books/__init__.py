"""Money in the books: leases, FOCUS columns, variances, unit costs, refresh, surfaces of break-even."""

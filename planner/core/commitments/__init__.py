"""How much to commit, for how long, and what a commitment is worth."""

"""Plans under uncertainty: what is drawn, what a plan costs in each draw, and how sure a comparison is."""

"""The names of the rules. They stand in tables and on pages: a name once used keeps its meaning."""

# a line that states no fact which a table could hold, and yet says something that a person should see
QUARANTINE_RULES = frozenset(
    (
        *("zero_price", "negative_price", "price_out_of_bounds", "gpu_count_out_of_bounds"),
        *("contradicting_lines", "two_prices_for_one_offer"),
    )
)

# a fact by itself
ABSURD = "price_per_gpu_hour_absurd"
COUNT = "gpu_count_contradicts_machine"
# a fact against what stands
JUMP = "price_jump"
LICENCE = "linux_windows_flapping"
# a fact beside its neighbours
SPOT_ABOVE = "spot_above_on_demand"
TERM_ABOVE = "term_not_below_on_demand"
LONG_ABOVE = "long_term_above_short_term"
LARGE_BELOW = "more_gpus_for_less"
BY_NEIGHBOURS = frozenset({SPOT_ABOVE, TERM_ABOVE, LONG_ABOVE, LARGE_BELOW})
# all that a file says of a scope
VANISHED = "scope_vanished"
SHRANK = "scope_shrank"
CURRENCY = "currency_changed"
IN_DOUBT = "scope_in_doubt"

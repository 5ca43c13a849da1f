"""How explanations of the spot page write hours, and what limits them."""

from planner.forms.spot import text_of

DALY = "J. T. Daly, FGCS 22 (2006) 303"
BAND_LIMIT = (
    "The band is the share of machines that were interrupted in the month before. Taken as a rate it needs "
    "every machine to have run the whole month; most live shorter, so the real rate is higher: a lower bound."
)


def text_of_minutes(hours: float) -> str:
    """Return hours as minutes: 20 min."""
    return f"{hours * 60:.3g} min"


def text_of_job(value: object) -> str:
    """Return hours of the form: 72 h."""
    return f"{text_of(value)} h"  # type: ignore[arg-type] # both have defaults


def text_of_hours(value: float) -> str:
    """Return hours: 14,232 h, 3.5 h."""
    return f"{value:,.0f} h" if value >= 100 else f"{value:.3g} h"


def equals(is_bound: bool) -> str:
    """Return what stands before a figure that may be no more than a lower bound."""
    return "≥" if is_bound else "="

"""What the columns of the spot page mean: their sentence and their formula."""

from planner.core.explain import Explanation, context
from planner.core.spot import TOO_OFTEN
from planner.spot.gather import Spot
from planner.spot.words import BAND_LIMIT, DALY, text_of_job, text_of_minutes


def columns(spot: Spot) -> dict[str, Explanation]:
    """Return what the heads of the table's columns mean; figures are explained row by row."""
    job = spot.ask.job
    return {
        "column-spread": Explanation(
            "p50 and p95",
            "The lowest price at or below which the price was for 50 or 95 % of the watched time. Each price "
            "counts for as long as it held; gaps count for nothing.",
            "",
            (context("Watched", "between the first and the last sample in the window, without gaps"),),
        ),
        "column-volatility": Explanation(
            "Volatility",
            "How far the price strays from its mean, weighted by time. Since auctions ended it is mostly "
            "under 10 %: the risk of spot is that capacity is taken back, not that the price jumps.",
            "standard deviation / mean",
            (),
        ),
        "column-under": Explanation(
            "Under on-demand × 0.6",
            "The share of watched time in which spot cost at most 60 % of the on-demand price of the same "
            "machine and region: cheap enough to bear losses of 40 % of the hours.",
            "time with price ≤ 0.6 × on demand / watched time",
            (),
        ),
        "column-band": Explanation(
            "Interruptions as published",
            BAND_LIMIT,
            "hazard per hour ≥ −ln(1 − share) / 730",
            (),
        ),
        "column-interval": Explanation(
            "Best checkpoint interval",
            "The work between two checkpoints that loses the least. After a band it is the longest that can "
            f"be best: losses come at least as often as the band says. {DALY}.",
            "τ = √(2δM) · (1 + √(δ / 2M) / 3 + δ / 2M / 9) − δ where δ < 2M, else M",
            (context("δ, writing one checkpoint", text_of_minutes(job.checkpoint_hours), "of the form"),),
        ),
        "column-effective": Explanation(
            "Effective price",
            "What an hour of useful work costs: the price times the hours that are paid for one. "
            f"Refused where τ + R > M: {TOO_OFTEN}. {DALY}.",
            "price × κ, κ = M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ",
            (
                context("τ, work between checkpoints", text_of_minutes(job.interval_hours), "of the form"),
                context("δ, writing one checkpoint", text_of_minutes(job.checkpoint_hours), "of the form"),
                context("R, restart", text_of_minutes(job.restart_hours), "of the form"),
                context(
                    "M, mean time between losses", "by zone", "typed in, measured, or bounded by the band"
                ),
            ),
        ),
        "column-missed": Explanation(
            "P(miss deadline)",
            "How often the job would have been late on spot alone, replayed on measured traces of the "
            "capacity of the same machines in the zone, or in its region. Without traces nothing is said: a "
            "mean hides that capacity comes in long spells.",
            "late starts / starts",
            (
                context("Work", text_of_job(job.values["job"]), "of the form"),
                context("Deadline", text_of_job(job.values["deadline"]), "of the form"),
            ),
        ),
    }

"""Where the prices of a plan come from, and which inputs are missing, in words for pages and files."""

from planner.comparison.gather import Subject
from planner.comparison.result import GapLine, SourceLine
from planner.queries import LoadedPlan
from planner.templatetags.units import usd, usd_per_hour


def gap_lines(subject: Subject) -> list[GapLine]:
    """Return the missing inputs of a scenario, each with the reason where one is known."""
    reasons = {source.supply: source.reason for source in subject.loaded.sources if source.reason}
    lines = []
    for gap in subject.outcome.gaps:
        reason = reasons.get(gap.supply, "") if "kw" not in gap.field else ""
        text = f"{gap.text}: {reason}" if reason else gap.text
        lines.append(GapLine(subject.letter, gap.supply, gap.field, text))
    return lines


def source_lines(subject: Subject) -> list[SourceLine]:
    """Return where each price of a scenario comes from, in the order of its supplies."""
    return [
        SourceLine(
            letter=subject.letter,
            supply=source.supply,
            text=_priced_text(subject.loaded, source.supply),
            value=None if source.usd_per_gpu_hour is None else float(source.usd_per_gpu_hour),
            as_of=source.as_of,
            run_id=source.run_id,
            typed_by=source.typed_by,
        )
        for source in subject.loaded.sources
    ]


def _priced_text(loaded: LoadedPlan, supply: str) -> str:
    source = next(one for one in loaded.sources if one.supply == supply)
    currency = loaded.plan.currency
    if source.reason:
        return f"{source.text}: unknown, {source.reason}"
    parts = []
    if source.usd_per_gpu_hour:
        parts.append(f"{usd_per_hour(source.usd_per_gpu_hour, currency)}/GPU-h")
    if source.usd_upfront_per_gpu:
        # servers have no price by the hour: theirs is the purchase price
        upfront = "" if source.usd_per_gpu_hour is None else " upfront"
        parts.append(f"{usd(source.usd_upfront_per_gpu, currency)} per GPU{upfront}")
    return f"{source.text}: {' and '.join(parts)}" if parts else source.text


def source_text(source: SourceLine) -> str:
    """Return a source in one line, with who typed it or the run that brought it."""
    by = f"typed by {source.typed_by}" if source.typed_by else ""
    run = f"run {source.run_id}" if source.run_id is not None else ""
    return ", ".join(part for part in (source.text, by, run) if part)

"""What a provider allows for capacity blocks, as data, and what a block or a plan has against it.

Rules change: a caller passes those it has read. A block outside the rules is not refused, since a provider
may have agreed to it; it is warned about. The duration's steps of a week count from zero: 21, 28, ... days.
Source of `AWS_BLOCKS`: AWS, Capacity Blocks for ML, as quoted in public notes of 2025-26.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.core.calendar import days_later
from planner.core.plan import Block, Plan
from planner.core.ranges import COUNT_FROM_1, refuse, require_fields


@dataclass(frozen=True)
class BlockRules:
    """The limits of one provider's blocks and for when they were stated.

    A block of at most `most_days_by_the_day` may last any number of days, a longer one whole steps of
    `days_per_step` up to `most_days`. Raises ValueError for limits out of order.
    """

    provider: str
    stated_for: str
    source: str
    most_days_ahead: int
    most_days_by_the_day: int
    days_per_step: int
    most_days: int
    most_instances_per_block: int
    most_instances_in_all: int

    def __post_init__(self) -> None:
        require_fields(
            self,
            self.provider,
            most_days_ahead=COUNT_FROM_1,
            most_days_by_the_day=COUNT_FROM_1,
            days_per_step=COUNT_FROM_1,
            most_days=COUNT_FROM_1,
            most_instances_per_block=COUNT_FROM_1,
            most_instances_in_all=COUNT_FROM_1,
        )
        if self.most_days < self.most_days_by_the_day:
            refuse("most_days", self.most_days, f"at least {self.most_days_by_the_day}, the days by the day")

    @property
    def where(self) -> str:
        """Return whose rule it is, for a warning."""
        return f"{self.provider}, as stated for {self.stated_for}"


AWS_BLOCKS = BlockRules(
    provider="AWS",
    stated_for="2025-26",
    source="AWS, Capacity Blocks for ML, quoted in public notes",
    most_days_ahead=56,  # 8 weeks
    most_days_by_the_day=14,
    days_per_step=7,
    most_days=182,
    most_instances_per_block=64,
    most_instances_in_all=256,
)


def block_warnings(block: Block, rules: BlockRules) -> tuple[str, ...]:
    """Return what one block has against the rules, in words; nothing where it keeps them.

    Start at most so many days after the purchase; days by the day or in whole steps; instances per block.

    >>> from datetime import date
    >>> late = Block("July", 8, date(2027, 7, 1), 14, 3.0, date(2027, 3, 1))
    >>> block_warnings(late, AWS_BLOCKS)
    ('July: it starts 122 days after its purchase; at most 56 (AWS, as stated for 2025-26).',)
    """
    ahead = (block.start - block.purchased).days
    instances = -(-block.gpus // block.gpus_per_instance)
    found = []
    if ahead > rules.most_days_ahead:
        found.append(f"it starts {ahead} days after its purchase; at most {rules.most_days_ahead}")
    if not _is_offered(block.days, rules):
        found.append(
            f"it lasts {block.days} days; 1 to {rules.most_days_by_the_day}, or more in steps of"
            f" {rules.days_per_step} up to {rules.most_days}"
        )
    if instances > rules.most_instances_per_block:
        found.append(f"it holds {instances} instances; at most {rules.most_instances_per_block}")
    return tuple(f"{block.name}: {text} ({rules.where})." for text in found)


def _is_offered(days: int, rules: BlockRules) -> bool:
    by_the_day = days <= rules.most_days_by_the_day
    return days <= rules.most_days and (by_the_day or days % rules.days_per_step == 0)


def block_warnings_of_plan(plan: Plan, rules: BlockRules) -> tuple[str, ...]:
    """Return the warnings of the plan's blocks of that provider, and that of too many instances at once.

    Blocks that name no provider count too. Instances are added up day by day.

    >>> from datetime import date
    >>> many = tuple(Block(f"b{i}", 512, date(2027, 2, 1), 7, 3.0, date(2027, 1, 9), 0, 8) for i in range(5))
    >>> block_warnings_of_plan(Plan("p", date(2027, 1, 1), 12, "H100", (), many), AWS_BLOCKS)
    ('320 instances in blocks on 2027-02-01; at most 256 in all (AWS, as stated for 2025-26).',)
    """
    blocks = [
        each for each in plan.supplies if isinstance(each, Block) and each.provider in ("", rules.provider)
    ]
    found = [text for block in blocks for text in block_warnings(block, rules)]
    # what is held at once rises only on the first day of a block
    held = {each.start: _instances_on(blocks, each) for each in blocks}
    most = max(held.values(), default=0)
    if most > rules.most_instances_in_all:
        day = min(start for start, count in held.items() if count == most)
        text = f"{most} instances in blocks on {day}; at most {rules.most_instances_in_all} in all"
        found.append(f"{text} ({rules.where}).")
    return tuple(found)


def _instances_on(blocks: Sequence[Block], first: Block) -> int:
    """Return the instances of all blocks that are held on the first day of one of them."""
    return sum(
        -(-each.gpus // each.gpus_per_instance)
        for each in blocks
        if each.start <= first.start < days_later(each.start, each.days)
    )

"""What a provider allows for capacity blocks is warned about, not refused."""

from dataclasses import replace
from datetime import date

import pytest

from planner.core.commitments.block_rules import AWS_BLOCKS, block_warnings, block_warnings_of_plan
from planner.core.plan import Block, Plan

BLOCK = Block("block", 512, date(2027, 3, 1), 14, 3.0, date(2027, 1, 4), gpus_per_instance=8)


def test_a_block_at_the_limits_keeps_the_rules() -> None:
    """8 weeks ahead to the day, 64 instances of 8 GPUs."""
    assert block_warnings(BLOCK, AWS_BLOCKS) == ()


@pytest.mark.parametrize("days", [1, 13, 14, 21, 28, 182])
def test_days_up_to_14_and_whole_weeks_up_to_182_are_offered(days: int) -> None:
    assert block_warnings(replace(BLOCK, days=days), AWS_BLOCKS) == ()


@pytest.mark.parametrize("days", [15, 20, 22, 183, 189])
def test_other_durations_are_warned_about(days: int) -> None:
    offered = "1 to 14, or more in steps of 7 up to 182 (AWS, as stated for 2025-26)."
    assert block_warnings(replace(BLOCK, days=days), AWS_BLOCKS) == (
        f"block: it lasts {days} days; {offered}",
    )


def test_a_day_too_early_and_an_instance_too_many_are_warned_about() -> None:
    early, large = replace(BLOCK, purchased=date(2027, 1, 3)), replace(BLOCK, gpus=520)
    assert "it starts 57 days after its purchase; at most 56" in block_warnings(early, AWS_BLOCKS)[0]
    assert "it holds 65 instances; at most 64" in block_warnings(large, AWS_BLOCKS)[0]


def test_instances_of_all_blocks_are_counted_on_the_same_day() -> None:
    def plan_of(*blocks: Block) -> Plan:
        return Plan("plan", date(2027, 1, 1), 12, "H100", (), blocks)

    four = [replace(BLOCK, name=f"b{place}") for place in range(4)]
    last_day = replace(BLOCK, name="overlaps", gpus=8, start=date(2027, 3, 14), purchased=date(2027, 2, 1))
    after = replace(last_day, name="after", start=date(2027, 3, 15))
    other = replace(last_day, name="other", provider="elsewhere")
    assert block_warnings_of_plan(plan_of(*four, after, other), AWS_BLOCKS) == ()
    assert block_warnings_of_plan(plan_of(*four, last_day), AWS_BLOCKS) == (
        "257 instances in blocks on 2027-03-14; at most 256 in all (AWS, as stated for 2025-26).",
    )
    assert block_warnings_of_plan(plan_of(), AWS_BLOCKS) == ()


def test_rules_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="most_days is 7; right would be at least 14"):
        replace(AWS_BLOCKS, most_days=7)
    with pytest.raises(ValueError, match="AWS: most_days_ahead is 0"):
        replace(AWS_BLOCKS, most_days_ahead=0)

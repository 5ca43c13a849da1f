"""Capacity blocks and private contracts: dated capacity that is paid for used or not.

A block is cash at purchase; its books follow the hours of its window. A contract holds what its steps say
until its end; take or pay is settled by month: price * max(used, q * committed GPU-hours).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.core.calendar import FloatArray, Horizon, days_later
from planner.core.committed import Commitment, Term, prepaid_usd, used_and_unused
from planner.core.lines import Balance, LineMaker
from planner.core.plan import Block, Contract
from planner.core.slots import Slots


def window_of(block: Block, horizon: Horizon) -> Term:
    """Return the hours of a block that are paid for."""
    return Term(horizon.hour_at(block.start), horizon.hour_at(days_later(block.start, block.days)))


def usable_window_of(block: Block, horizon: Horizon) -> Term:
    """Return the hours of a block that can be used; none where all of them are lost."""
    paid = window_of(block, horizon)
    return Term(paid.first_hour, max(paid.end_hour - block.lost_hours, paid.first_hour))


def usable_gpus(block: Block, slots: Slots, horizon: Horizon) -> FloatArray:
    """Return the GPUs of a block by slot: none in the last hours, in which machines are taken back."""
    return block.gpus * usable_window_of(block, horizon).is_active(slots)


def cut_hours_of_block(block: Block, horizon: Horizon) -> list[int]:
    """Return the hours at which the capacity of a block changes."""
    paid = window_of(block, horizon)
    return [paid.first_hour, paid.end_hour - block.lost_hours, paid.end_hour]


def settle_block(block: Block, horizon: Horizon, used_gpu_hours: FloatArray, make: LineMaker) -> Commitment:
    """Return the payment at purchase and the use of it in the books, window by window hour."""
    term = window_of(block, horizon)
    price = float("nan") if block.usd_per_gpu_hour is None else block.usd_per_gpu_hour
    upfront = price * block.gpus * term.hours
    month = np.arange(horizon.months)
    hours = term.hours_by_month(horizon)
    is_paid = (month == horizon.index_of(block.purchased)).astype(np.float64)
    prepaid = _held_usd(upfront, block, term, horizon)
    lines = (
        make.at_begin("upfront", upfront * is_paid),
        *used_and_unused(price * block.gpus * hours, used_gpu_hours, block.gpus * hours, make),
    )
    inside = hours.sum() / term.hours
    return Commitment(
        lines=lines,
        balance=Balance(block.name, "prepaid", float(prepaid[0]), prepaid[1:]),
        salvage_usd=np.zeros(horizon.months),
        prepaid_remainder_usd=float(prepaid[-1]),
        still_owed_usd=0.0,
        fixed_present_value_usd=float(upfront * inside * (is_paid * make.factors.begin).sum()),
    )


def _held_usd(upfront: float, block: Block, term: Term, horizon: Horizon) -> FloatArray:
    """Return what was paid and is not used up: before the plan, then at each month's end."""
    held = prepaid_usd(upfront, term, horizon)
    bought = horizon.index_of(block.purchased)
    # edge m is the end of month index m - 1; between purchase and window all of it is held
    edge = np.arange(horizon.months + 1)
    is_waiting = (edge > bought) & (horizon.month_starts() <= term.first_hour)
    return np.where(is_waiting, upfront, held)


@dataclass(frozen=True)
class Stage:
    """What a contract holds between two of its steps."""

    term: Term
    gpus: int
    usd_per_gpu_hour: float


def stages_of(contract: Contract, horizon: Horizon) -> tuple[Stage, ...]:
    """Return the stages of a contract in order; the last ends with the contract."""
    edges = [horizon.hour_at(step.start) for step in contract.steps] + [horizon.hour_at(contract.end)]
    return tuple(
        Stage(
            Term(*ends), step.gpus, float("nan") if step.usd_per_gpu_hour is None else step.usd_per_gpu_hour
        )
        for step, ends in zip(contract.steps, pairwise(edges), strict=True)
    )


def contract_gpus(contract: Contract, slots: Slots, horizon: Horizon) -> FloatArray:
    """Return the GPUs of a contract by slot."""
    return np.asarray(sum(s.gpus * s.term.is_active(slots) for s in stages_of(contract, horizon)))


def committed_gpu_hours(contract: Contract, horizon: Horizon) -> FloatArray:
    """Return the GPU-hours a contract holds by month."""
    return np.asarray(sum(s.gpus * s.term.hours_by_month(horizon) for s in stages_of(contract, horizon)))


def held_and_price(contract: Contract, horizon: Horizon) -> tuple[FloatArray, FloatArray]:
    """Return the GPU-hours held and their mean price, by month; 0 and 0 where nothing is held."""
    held = committed_gpu_hours(contract, horizon)
    full = np.zeros(horizon.months)
    for stage in stages_of(contract, horizon):
        hours = stage.gpus * stage.term.hours_by_month(horizon)
        # an unknown price spoils the months it applies to, and no others
        full = full + np.where(hours > 0, hours * stage.usd_per_gpu_hour, 0.0)
    return held, np.divide(full, held, out=np.zeros(horizon.months), where=held > 0)


def due_usd(contract: Contract, used: FloatArray, held: FloatArray, price: FloatArray) -> FloatArray:
    """Return price * max(used, take-or-pay share * held), by month."""
    return np.asarray(price * np.maximum(used, contract.take_or_pay_share * held))


def settle_contract(
    contract: Contract, horizon: Horizon, used_gpu_hours: FloatArray, make: LineMaker
) -> Commitment:
    """Return what a contract costs by month: its mean price of the month * max(used, q * committed).

    In a month with two prices each GPU-hour costs their mean, weighted by the hours held at each.
    """
    held, price = held_and_price(contract, horizon)
    due = due_usd(contract, used_gpu_hours, held, price)
    after = sum(
        s.gpus * s.usd_per_gpu_hour * max(s.term.end_hour - max(end, s.term.first_hour), 0)
        for s in stages_of(contract, horizon)
        for end in [int(horizon.month_starts()[-1])]
        if s.term.end_hour > end
    )
    lines = (
        make.at_end("recurring", due),
        make.in_books("commitment_used", price * used_gpu_hours),
        make.in_books("commitment_unused", due - price * used_gpu_hours),
    )
    begun = contract.steps[0].start < horizon.end
    return Commitment(
        lines=lines,
        balance=Balance(contract.name, "prepaid", 0.0, np.zeros(horizon.months)),
        salvage_usd=np.zeros(horizon.months),
        prepaid_remainder_usd=0.0,
        still_owed_usd=contract.take_or_pay_share * float(after) if begun else 0.0,
        fixed_present_value_usd=float((due * make.factors.end).sum()),
    )

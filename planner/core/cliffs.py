"""Cliffs: months from which capacity or cost jumps, because a term, a warranty or a life ends."""

from collections.abc import Iterator
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.ledger import Ledger, Settled
from planner.core.lines import Line
from planner.core.notes import window_of_supply
from planner.core.plan import Block, Cliff, Contract, Owned
from planner.core.units import MONTHS_PER_YEAR


def cliffs_of(ledger: Ledger) -> tuple[Cliff, ...]:
    """Return the cliffs inside the plan, in order of time."""
    found = [cliff for settled in ledger.supplies for cliff in _of_supply(ledger, settled)]
    return tuple(sorted(found, key=lambda cliff: (cliff.month, cliff.supply)))


def _of_supply(ledger: Ledger, settled: Settled) -> Iterator[Cliff]:
    if isinstance(settled.supply, Owned):
        yield from _of_owned(ledger, settled, settled.supply)
        return
    window = window_of_supply(settled.supply)
    if window is None:
        return
    if isinstance(settled.supply, Contract):
        yield from _of_steps(ledger, settled, settled.supply)
    month = ledger.horizon.index_on_or_after(window[1])
    if 0 < month < ledger.plan.months:
        what = "block_ends" if isinstance(settled.supply, Block) else "term_ends"
        gpus = _gpus(ledger, settled)[month - 1]
        usd = _books_of_month(settled, month - 1)
        yield Cliff(_day(ledger, month), settled.supply.name, what, float(gpus), _negative(usd))  # type: ignore[arg-type]


def _of_steps(ledger: Ledger, settled: Settled, contract: Contract) -> Iterator[Cliff]:
    for before, after in zip(contract.steps, contract.steps[1:], strict=False):
        month = ledger.horizon.index_on_or_after(after.start)
        if 0 < month < ledger.plan.months:
            one, other = _books_of_month(settled, month - 1), _books_of_month(settled, month)
            change = None if one is None or other is None else other - one
            gpus = float(before.gpus - after.gpus)
            yield Cliff(_day(ledger, month), contract.name, "contract_steps", gpus, change)


def _of_owned(ledger: Ledger, settled: Settled, owned: Owned) -> Iterator[Cliff]:
    life, months = ledger.setting.lives[owned.name], ledger.plan.months
    warranty = life.delivered + owned.warranty_months
    if 0 < warranty < min(months, life.retired) and owned.maintenance_share_per_year > 0.0:
        price = owned.usd_capex_per_server
        usd = None if price is None else owned.servers * price * owned.maintenance_share_per_year
        yearly = None if usd is None else usd / MONTHS_PER_YEAR
        yield Cliff(_day(ledger, warranty), owned.name, "warranty_ends", 0.0, yearly)
    if 0 < life.retired < months:
        usd = _books_of_month(settled, life.retired - 1, without=("retirement",))
        gpus = float(_gpus(ledger, settled)[life.retired - 1])
        yield Cliff(_day(ledger, life.retired), owned.name, "life_ends", gpus, _negative(usd))


def _gpus(ledger: Ledger, settled: Settled) -> FloatArray:
    """Return the mean GPUs available by month."""
    return settled.available_gpu_hours / ledger.hours


def _books_of_month(settled: Settled, month: int, without: tuple[str, ...] = ()) -> float | None:
    """Return what the supply cost in one month as the books show it; None where unknown."""

    def amount(line: Line) -> float:
        return 0.0 if line.name in without else float(line.amortized_usd[month])

    usd = sum(amount(line) for line in settled.lines)
    return None if np.isnan(usd) else usd


def _negative(usd: float | None) -> float | None:
    return None if usd is None else -usd


def _day(ledger: Ledger, month: int) -> date:
    return ledger.horizon.first_days()[month]

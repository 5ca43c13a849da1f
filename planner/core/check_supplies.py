"""Refuse absurd supplies, naming the field, its value and what would be right."""

from itertools import pairwise

from planner.core.limits import (
    MOST_MONTHS,
    USD_PER_GPU_HOUR,
    check_day,
    check_ranges,
    refuse_field,
)
from planner.core.plan import (
    Block,
    Contract,
    Loan,
    OnDemand,
    Owned,
    QuotaStep,
    Reserved,
    SavingsPlan,
    Spot,
    Supply,
)
from planner.core.ranges import SHARE, Range, optional

GPUS_PER_INSTANCE = Range(1, 1024, whole=True)
QUOTA = optional(Range(0.0, 10_000_000.0))
USD_PER_SERVER = optional(Range(0.0, 100_000_000.0))
USD_PER_MONTH = Range(0.0, 10_000_000.0)
KW_PER_SERVER = optional(Range(0.0, 1_000.0))
WHOLE_GPUS = Range(1, 10_000_000, whole=True)

LOAN = {
    "share": SHARE,
    "rate_per_year": SHARE,
    "months": Range(1, MOST_MONTHS, whole=True),
}
OWNED = {
    "servers": Range(1, 1_000_000, whole=True),
    "gpus_per_server": Range(1, 1024, whole=True),
    "lead_time_days": Range(0, 3_650, whole=True),
    "burn_in_days": Range(0, 3_650, whole=True),
    "usd_capex_per_server": USD_PER_SERVER,
    "usd_other_capex_per_server": USD_PER_SERVER,
    "deposit_share": SHARE,
    "idle_kw_per_server": KW_PER_SERVER,
    "max_kw_per_server": KW_PER_SERVER,
    "pue": Range(1.0, 5.0),
    "usd_per_kwh": optional(Range(0.0, 10.0)),
    "usd_colocation_per_kw_month": Range(0.0, 10_000.0),
    "maintenance_share_per_year": SHARE,
    "warranty_months": Range(0, MOST_MONTHS, whole=True),
    "fte_minimum": Range(0.0, 10_000.0),
    "servers_per_fte": Range(0.0, 1_000_000.0, above=True),
    "usd_staff_per_fte_year": Range(0.0, 10_000_000.0),
    "usd_software_per_server_month": USD_PER_MONTH,
    "usd_insurance_per_server_month": USD_PER_MONTH,
    "availability": Range(0.0, 1.0, above=True),
    "spare_servers": Range(0, 1_000_000, whole=True),
    "accounting_life_months": Range(1, MOST_MONTHS, whole=True),
    "economic_life_months": optional(Range(1, MOST_MONTHS, whole=True)),
    "residual_share": optional(SHARE),
    "residual_loss_per_month": optional(SHARE),
}
RESERVED = {
    "gpus": Range(1, 10_000_000, whole=True),
    "gpus_per_instance": GPUS_PER_INSTANCE,
    "term_months": Range(1, 120, whole=True),
    "usd_per_gpu_hour": USD_PER_GPU_HOUR,
    "usd_upfront_per_gpu": optional(Range(0.0, 100_000_000.0)),
    "salvage_share": SHARE,
}
ON_DEMAND = {
    "usd_per_gpu_hour": USD_PER_GPU_HOUR,
    "quota_gpus": QUOTA,
    "gpus_per_instance": GPUS_PER_INSTANCE,
}
SPOT = {**ON_DEMAND, "useful_work_factor": Range(0.0, 1.0, above=True)}
BLOCK = {
    "gpus": WHOLE_GPUS,
    "days": Range(1, 3_650, whole=True),
    "usd_per_gpu_hour": USD_PER_GPU_HOUR,
    "lost_hours": Range(0, 240, whole=True),
    "gpus_per_instance": GPUS_PER_INSTANCE,
}
CONTRACT = {"take_or_pay_share": SHARE, "gpus_per_instance": GPUS_PER_INSTANCE}
CONTRACT_STEP = {"gpus": Range(0, 10_000_000, whole=True), "usd_per_gpu_hour": USD_PER_GPU_HOUR}
SAVINGS_PLAN = {
    "usd_per_hour": Range(0.0, 10_000_000.0, above=True),
    "term_months": Range(1, 120, whole=True),
    "upfront_share": SHARE,
}
PLAN_RATE = {"usd_per_gpu_hour": Range(0.0, 10_000.0, above=True)}


def check_supply(supply: Supply) -> None:
    """Raise ValueError for the first value of a supply that cannot be meant."""
    owner = f"{supply.kind.replace('_', '-')} supply {supply.name!r}"
    match supply:
        case Owned():
            _check_owned(owner, supply)
        case Reserved():
            _check_reserved(owner, supply)
        case Block():
            _check_block(owner, supply)
        case Contract():
            _check_contract(owner, supply)
        case SavingsPlan():
            _check_savings_plan(owner, supply)
        case OnDemand():
            check_ranges(owner, supply, ON_DEMAND)
            _check_steps(owner, supply.quota_steps)
        case Spot():
            check_ranges(owner, supply, SPOT)
            _check_steps(owner, supply.quota_steps)


def _check_steps(owner: str, steps: tuple[QuotaStep, ...]) -> None:
    for step in steps:
        check_day(owner, "quota_steps", step.start)
        check_ranges(f"{owner}, quota from {step.start}", step, {"gpus": QUOTA})


def _check_block(owner: str, block: Block) -> None:
    check_ranges(owner, block, BLOCK)
    check_day(owner, "start", block.start)
    check_day(owner, "purchased", block.purchased)
    _check_instances(owner, block.gpus, block.gpus_per_instance)
    if block.purchased > block.start:
        refuse_field(owner, "purchased", block.purchased, f"a day up to the start, {block.start}")


def _check_contract(owner: str, contract: Contract) -> None:
    check_ranges(owner, contract, CONTRACT)
    if not contract.steps:
        refuse_field(owner, "steps", "none", "at least one step")
    for step in contract.steps:
        check_day(owner, "steps", step.start)
        check_ranges(f"{owner}, step of {step.start}", step, CONTRACT_STEP)
        _check_instances(f"{owner}, step of {step.start}", step.gpus, contract.gpus_per_instance)
    days = [step.start for step in contract.steps] + [contract.end]
    if any(one >= other for one, other in pairwise(days)):
        shown_days = ", ".join(str(day) for day in days)
        refuse_field(owner, "steps", shown_days, "days in order, the end of the contract last")
    check_day(owner, "end", contract.end)


def _check_savings_plan(owner: str, plan: SavingsPlan) -> None:
    check_ranges(owner, plan, SAVINGS_PLAN)
    check_day(owner, "start", plan.start)
    if not plan.rates:
        refuse_field(owner, "rates", "none", "the price of at least one on-demand supply under the plan")
    names = [rate.supply for rate in plan.rates]
    if len(set(names)) < len(names):
        refuse_field(owner, "rates", ", ".join(names), "one price for each supply")
    for rate in plan.rates:
        check_ranges(f"{owner}, rate of {rate.supply!r}", rate, PLAN_RATE)


def _check_instances(owner: str, gpus: int, size: int) -> None:
    if gpus % size:
        below = gpus // size * size
        right = f"a multiple of gpus_per_instance, such as {below or size} or {below + size}"
        refuse_field(owner, "gpus", gpus, right)


def _check_owned(owner: str, owned: Owned) -> None:
    check_ranges(owner, owned, OWNED)
    check_day(owner, "order_date", owned.order_date)
    if owned.residual_share is not None and owned.residual_loss_per_month is not None:
        right = "one of residual_share and residual_loss_per_month"
        refuse_field(owner, "residual_loss_per_month", owned.residual_loss_per_month, right)
    idle, most = owned.idle_kw_per_server, owned.max_kw_per_server
    if idle is not None and most is not None and idle > most:
        refuse_field(owner, "idle_kw_per_server", idle, f"at most max_kw_per_server, {most:g}")
    if owned.loan is not None:
        _check_loan(owner, owned.loan)


def _check_loan(owner: str, loan: Loan) -> None:
    check_ranges(f"{owner}, loan", loan, LOAN)


def _check_reserved(owner: str, reserved: Reserved) -> None:
    check_ranges(owner, reserved, RESERVED)
    check_day(owner, "start", reserved.start)
    _check_instances(owner, reserved.gpus, reserved.gpus_per_instance)
    if reserved.payment not in ("no_upfront", "partial_upfront", "all_upfront"):
        refuse_field(owner, "payment", reserved.payment, "no_upfront, partial_upfront or all_upfront")
    if reserved.payment == "no_upfront" and reserved.usd_upfront_per_gpu:
        refuse_field(owner, "usd_upfront_per_gpu", reserved.usd_upfront_per_gpu, "0 with payment no_upfront")
    if reserved.payment == "all_upfront" and reserved.usd_per_gpu_hour:
        refuse_field(owner, "usd_per_gpu_hour", reserved.usd_per_gpu_hour, "0 with payment all_upfront")

"""The vocabulary of the model: a Plan goes into evaluate() (evaluate.py), an Outcome comes out.

Formulas, units and timing are stated in docs/model.md. Money is float US dollars (or the plan's
currency), hours are UTC calendar hours, shares are 0..1, powers are kW. `None` in a price means unknown:
the totals that contain the supply become unknown (NaN) and a Gap names it.
"""

from planner.core.plan.outcome import (
    VIEWS,
    BreakEven,
    Cliff,
    Gap,
    Gate,
    GateName,
    Outcome,
    UtilizationTerms,
    View,
)
from planner.core.plan.plan import Budget, Outage, Plan, PowerLimit, PriceStep
from planner.core.plan.supplies import (
    Block,
    Contract,
    ContractStep,
    Loan,
    Metered,
    OnDemand,
    Owned,
    PaymentForm,
    PlanRate,
    QuotaStep,
    Reserved,
    SavingsPlan,
    Spot,
    Supply,
    SupplyKind,
)
from planner.core.plan.workloads import Project, Region, Validation, Workload, WorkloadKind

__all__ = [
    "VIEWS",
    "Block",
    "BreakEven",
    "Budget",
    "Cliff",
    "Contract",
    "ContractStep",
    "Gap",
    "Gate",
    "GateName",
    "Loan",
    "Metered",
    "OnDemand",
    "Outage",
    "Outcome",
    "Owned",
    "PaymentForm",
    "Plan",
    "PlanRate",
    "PowerLimit",
    "PriceStep",
    "Project",
    "QuotaStep",
    "Region",
    "Reserved",
    "SavingsPlan",
    "Spot",
    "Supply",
    "SupplyKind",
    "UtilizationTerms",
    "Validation",
    "View",
    "Workload",
    "WorkloadKind",
]

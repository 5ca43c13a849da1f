"""Supply: the ways to get a GPU. A price of None is unknown, never zero."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

SupplyKind = Literal["owned", "reserved", "block", "contract", "savings_plan", "on_demand", "spot"]
PaymentForm = Literal["no_upfront", "partial_upfront", "all_upfront"]


@dataclass(frozen=True)
class Loan:
    """A loan that pays `share` of the capex; level payments at the end of each month."""

    share: float
    rate_per_year: float  # nominal, compounded monthly, as banks quote it
    months: int


@dataclass(frozen=True)
class Owned:
    """Servers bought. Deposit at order, remainder at delivery, capacity after burn-in."""

    name: str
    servers: int
    gpus_per_server: int
    order_date: date
    lead_time_days: int
    usd_capex_per_server: float | None
    usd_other_capex_per_server: float | None = 0.0  # network, storage, rack, installation: no maintenance
    burn_in_days: int = 0
    deposit_share: float = 0.3
    idle_kw_per_server: float | None = None
    max_kw_per_server: float | None = None
    pue: float = 1.54
    usd_per_kwh: float | None = None
    usd_colocation_per_kw_month: float = 0.0
    colocation_includes_energy: bool = False
    maintenance_share_per_year: float = 0.08
    warranty_months: int = 36
    fte_minimum: float = 0.0
    servers_per_fte: float = 40.0
    usd_staff_per_fte_year: float = 0.0
    usd_software_per_server_month: float = 0.0
    usd_insurance_per_server_month: float = 0.0
    availability: float = 1.0
    spare_servers: int = 0
    accounting_life_months: int = 60
    economic_life_months: int | None = None
    residual_share: float | None = None  # None: the curve by months in service (docs/model.md)
    loan: Loan | None = None
    residual_loss_per_month: float | None = None  # instead of the curve: worth (1 - loss)^months in service
    provider: str = ""
    region: str = ""  # the site
    gpu_model: str = ""  # "" is the plan's, here and below
    kind: SupplyKind = field(default="owned", init=False)


@dataclass(frozen=True)
class Reserved:
    """A commitment to `gpus` for a term. Paid whether used or not."""

    name: str
    gpus: int
    start: date
    term_months: int
    payment: PaymentForm
    usd_per_gpu_hour: float | None  # the recurring part
    usd_upfront_per_gpu: float | None = 0.0
    gpus_per_instance: int = 1
    salvage_share: float = 0.0
    provider: str = ""
    region: str = ""
    gpu_model: str = ""
    kind: SupplyKind = field(default="reserved", init=False)


@dataclass(frozen=True)
class Block:
    """A capacity block: `gpus` for a dated window, paid at purchase, gone at its end, not to be cancelled.

    Machines are taken back `lost_hours` before the end: those are paid for and give nothing.
    """

    name: str
    gpus: int
    start: date
    days: int
    usd_per_gpu_hour: float | None
    purchased: date
    lost_hours: int = 0
    gpus_per_instance: int = 1
    provider: str = ""
    region: str = ""
    gpu_model: str = ""
    kind: SupplyKind = field(default="block", init=False)


@dataclass(frozen=True)
class ContractStep:
    """From `start` on a contract holds `gpus` at a price."""

    start: date
    gpus: int
    usd_per_gpu_hour: float | None


@dataclass(frozen=True)
class Contract:
    """A private contract: steps up or down in GPUs and in price, until `end`.

    Take or pay, settled by month: price * max(used, `take_or_pay_share` * committed GPU-hours).
    """

    name: str
    steps: tuple[ContractStep, ...]
    end: date
    take_or_pay_share: float = 1.0
    gpus_per_instance: int = 1
    provider: str = ""
    region: str = ""
    gpu_model: str = ""
    kind: SupplyKind = field(default="contract", init=False)


@dataclass(frozen=True)
class PlanRate:
    """What a committed dollar buys of one on-demand supply: its price under a savings plan."""

    supply: str
    usd_per_gpu_hour: float


@dataclass(frozen=True)
class SavingsPlan:
    """A commitment to spend `usd_per_hour`, valued at plan rates, for a term; unused money is lost each hour.

    It covers the on-demand supplies that `rates` names and no other: eligibility is data. `upfront_share`
    of the money of the whole term is paid at its begin. `narrow` plans apply before broad ones. Flexible
    committed use of Google is the same thing under another name.
    """

    name: str
    usd_per_hour: float
    start: date
    term_months: int
    rates: tuple[PlanRate, ...]
    upfront_share: float = 0.0
    narrow: bool = False
    provider: str = ""
    kind: SupplyKind = field(default="savings_plan", init=False)


@dataclass(frozen=True)
class QuotaStep:
    """A quota from the month that begins on or after `start`; None: no limit known from then on."""

    start: date
    gpus: float | None


@dataclass(frozen=True)
class OnDemand:
    """Rented by the hour up to a quota. `reference` marks the price that plans are measured against."""

    name: str
    usd_per_gpu_hour: float | None
    quota_gpus: float | None = None  # None: no limit known
    gpus_per_instance: int = 1
    reference: bool = False
    quota_steps: tuple[QuotaStep, ...] = ()
    provider: str = ""
    region: str = ""
    gpu_model: str = ""
    kind: SupplyKind = field(default="on_demand", init=False)


@dataclass(frozen=True)
class Spot:
    """Rented by the hour, may be taken back. One paid GPU-hour does `useful_work_factor` of work."""

    name: str
    usd_per_gpu_hour: float | None
    useful_work_factor: float = 1.0
    quota_gpus: float | None = None
    gpus_per_instance: int = 1
    quota_steps: tuple[QuotaStep, ...] = ()
    provider: str = ""
    region: str = ""
    gpu_model: str = ""
    kind: SupplyKind = field(default="spot", init=False)


Supply = Owned | Reserved | Block | Contract | SavingsPlan | OnDemand | Spot
Metered = OnDemand | Spot

"""One row of the prices table: a price, the date of the page, and what the price did before."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property

from costs.models import Accelerator, Price
from costs.queries import prices
from costs.queries.price_ages import age_of, age_state
from costs.queries.price_changes import Change
from costs.queries.runs import State

STEP = Decimal("0.000000001")


@dataclass(frozen=True)
class OfferRow:
    """A price as a page or file of one date shows it. `change` is None where it was not asked for."""

    price: Price
    now: datetime
    change: Change | None = None

    @cached_property
    def usd_per_gpu_hour(self) -> Decimal | None:
        return prices.usd_per_gpu_hour(self.price)

    @cached_property
    def usd_per_hour(self) -> Decimal | None:
        return prices.usd_per_hour(self.price)

    @property
    def accelerator(self) -> Accelerator | None:
        return self.price.sku.accelerator

    @property
    def memory_gb(self) -> Decimal | None:
        return self.accelerator.memory_gb if self.accelerator else None

    @property
    def node_memory_gb(self) -> Decimal | None:
        return None if self.memory_gb is None else self.memory_gb * self.price.sku.gpu_count

    @property
    def link_gb_s(self) -> Decimal | None:
        return self.accelerator.link_gb_s_per_direction if self.accelerator else None

    @property
    def usd_per_gb_hour(self) -> Decimal | None:
        return _ratio(self.usd_per_gpu_hour, self.memory_gb)

    @property
    def usd_per_tflop_hour(self) -> Decimal | None:
        return _ratio(self.usd_per_gpu_hour, self.accelerator.bf16_tflops if self.accelerator else None)

    @property
    def age(self) -> timedelta:
        return age_of(self.price, self.now)

    @property
    def age_state(self) -> State:
        return age_state(self.price, self.now)


def _ratio(amount: Decimal | None, of: Decimal | None) -> Decimal | None:
    return None if amount is None or not of else (amount / of).quantize(STEP)

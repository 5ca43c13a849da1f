"""Every kind of fact: which row a source yields for it, what says which fact it is, and how exact it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .rows import (
    AcceleratorRow,
    AliasRow,
    CommitmentRow,
    FxRateRow,
    InterruptionRow,
    MachineTypeRow,
    PriceRow,
    QuotaRequestRow,
    QuotaRow,
    QuoteRow,
    SpotCapacityRow,
    SpotPriceRow,
    UtilizationRow,
    ZoneRow,
)

Shape = Literal[
    "dated",  # a fact holds from one moment to another; another statement closes it and opens the next
    "steps",  # observations of a step function; change points are kept
    "series",  # the newest statement of a fact counts
]


@dataclass(frozen=True)
class Kind:
    """How the facts of one kind are kept."""

    name: str
    row: type
    shape: Shape
    key: tuple[str, ...]  # what says which fact it is; of steps without the moment
    summed: str  # the number that a ledger adds up
    places: Mapping[str, int]  # decimal places of the table's columns; a test compares
    texts: Mapping[str, int]  # longest text of the table's columns; a test compares
    noted: tuple[str, ...] = ()  # may change without becoming another fact
    uncounted: tuple[str, ...] = ()  # kept with the fact, but no part of what the ledger compares
    moment: str = ""  # of steps: when the observation was made


_REFERENCE = {"reference": 400}
_RATES = (
    *("fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops"),
    *("fp8_tflops", "int8_tops", "fp4_tflops"),
)

ALL = (
    Kind(
        name="prices",
        row=PriceRow,
        shape="dated",
        key=("provider", "sku", "accelerator_name", "gpu_count", "region", "zone", "term", "payment"),
        summed="price_per_hour",
        places={"gpu_count": 3, "price_per_hour": 9, "upfront": 6, "vcpus": 2, "memory_gib": 2},
        texts={
            "provider": 40, "sku": 160, "accelerator_name": 80, "region": 80, "zone": 80,
            "state_reason": 200, **_REFERENCE,
        },
        noted=("state_reason", "reference"),
        # dates are kept with the price, but are no part of what the file says it costs now
        uncounted=("effective_from", "observed_on", "vcpus", "memory_gib"),
        moment="effective_from",
    ),
    Kind(
        name="utilization",
        row=UtilizationRow,
        shape="series",
        key=("cluster", "pool", "gpu_type", "starts_at"),
        summed="gpus_allocated",
        places={
            "gpus_installed": 4, "gpus_available": 4, "gpus_allocated": 4, "gpus_pending": 4,
            "active_share": 6, "period_hours": 2,
        },
        texts={"cluster": 80, "pool": 80, "gpu_type": 80},
    ),
    Kind(
        name="accelerators",
        row=AcceleratorRow,
        shape="series",
        key=("slug",),
        summed="memory_gb",
        places={
            "memory_gb": 3, "memory_bandwidth_gb_s": 1, "power_w": 1, "link_gb_s_per_direction": 2,
            **dict.fromkeys(_RATES, 3),
        },
        texts={"slug": 60, "name": 80, "vendor": 40, "form_factor": 40, "notes": 600, **_REFERENCE},
    ),
    Kind(
        name="machine_types",
        row=MachineTypeRow,
        shape="series",
        key=("provider", "name"),
        summed="gpu_count",
        places={"gpu_count": 3, "vcpus": 2, "memory_gib": 2},
        texts={
            "provider": 40, "name": 160, "accelerator": 60, "quota_on_demand": 80, "quota_spot": 80,
            **_REFERENCE,
        },
    ),
    Kind(
        name="aliases",
        row=AliasRow,
        shape="series",
        key=("spelling",),
        summed="",
        places={},
        texts={"spelling": 80, "accelerator": 60, "note": 400},
    ),
    Kind(
        name="zones",
        row=ZoneRow,
        shape="series",
        key=("provider", "account", "region", "zone_name"),
        summed="",
        places={},
        texts={"provider": 40, "account": 80, "region": 80, "zone_name": 80, "zone_id": 80},
    ),
    Kind(
        name="fx_rates",
        row=FxRateRow,
        shape="series",
        key=("currency", "on"),
        summed="per_euro",
        places={"per_euro": 9},
        texts={},
    ),
    Kind(
        name="spot_prices",
        row=SpotPriceRow,
        shape="steps",
        key=("provider", "sku", "region", "zone", "zone_kind", "account", "product"),
        summed="price_per_hour",
        places={"price_per_hour": 9},
        texts={
            "provider": 40, "sku": 160, "region": 80, "zone": 80, "account": 80, "product": 80,
        },
        moment="observed_at",
    ),
    Kind(
        name="spot_capacity",
        row=SpotCapacityRow,
        shape="steps",
        key=("provider", "trace", "region", "zone", "accelerator_name", "gpu_count", "measures"),
        summed="nodes",
        places={"gpu_count": 3, "nodes_wanted": 2, "nodes": 2},
        texts={"provider": 40, "trace": 160, "region": 80, "zone": 80, "accelerator_name": 80},
        moment="observed_at",
    ),
    Kind(
        name="interruptions",
        row=InterruptionRow,
        shape="dated",
        key=("provider", "sku", "region", "product"),
        summed="saving_share",
        places={"share_low": 4, "share_high": 4, "saving_share": 4},
        texts={"provider": 40, "sku": 160, "region": 80, "product": 80, "band_label": 40},
    ),
    Kind(
        name="quotas",
        row=QuotaRow,
        shape="dated",
        key=("provider", "account", "region", "code"),
        summed="limit",
        places={"limit": 4, "used": 4, "default_limit": 4},
        texts={
            "provider": 40, "account": 80, "region": 80, "code": 80, "name": 200, "bucket": 80,
            "usage_metric": 300, **_REFERENCE,
        },
        noted=("name", "usage_metric", "reference"),
    ),
    Kind(
        name="quota_requests",
        row=QuotaRequestRow,
        shape="dated",
        key=("provider", "account", "region", "request"),
        summed="asked",
        places={"asked": 4, "granted": 4},
        texts={
            "provider": 40, "account": 80, "region": 80, "code": 80, "request": 120, "name": 200,
            "case": 80, "note": 400,
        },
        noted=("note",),
    ),
    Kind(
        name="commitments",
        row=CommitmentRow,
        shape="dated",
        key=("provider", "account", "commitment"),
        summed="count",
        places={
            "count": 2, "spend_per_hour": 9, "upfront": 6, "recurring_per_hour": 9, "term_hours": 2,
        },
        texts={
            "provider": 40, "account": 80, "commitment": 160, "plan": 60, "sku": 160, "family": 80,
            "region": 80, "zone": 80, "product": 80, "state": 40, **_REFERENCE,
        },
        noted=("reference",),
    ),
    Kind(
        name="quotes",
        row=QuoteRow,
        shape="dated",
        key=("provider", "quote"),
        summed="price_per_hour",
        places={
            "gpu_count": 3, "units_min": 2, "units_max": 2, "term_months": 2, "price_per_hour": 9,
            "price_per_unit": 6, "upfront": 6, "deposit": 6, "take_or_pay_share": 4, "lead_time_days": 2,
            "warranty_years": 2, "power_w": 1,
        },
        texts={
            "provider": 40, "quote": 160, "item": 160, "accelerator_name": 80, "region": 80, "zone": 80,
            "note": 600, **_REFERENCE,
        },
        noted=("note", "reference"),
    ),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in ALL}
BY_ROW = {kind.row: kind for kind in ALL}

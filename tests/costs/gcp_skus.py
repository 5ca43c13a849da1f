"""SKUs as the Cloud Billing Catalog writes them, with amounts of ours."""

import json
from decimal import Decimal
from typing import Any

AMERICAS = ("us-central1", "us-east1")
Dumped = dict[str, Any]


def money(amount: str, currency: str = "USD") -> Dumped:
    """Return an amount as whole units, in a string, and billionths, as a number."""
    value = Decimal(amount)
    units = int(value)
    return {
        "currencyCode": currency,
        "units": str(units),
        "nanos": int((value - units).scaleb(9).to_integral_value()),
    }


def tiers(*amounts: str, currency: str = "USD") -> list[Dumped]:
    return [
        {"startUsageAmount": 10 * place, "unitPrice": money(amount, currency)}
        for place, amount in enumerate(amounts)
    ]


def sku(
    description: str,
    amount: str = "1",
    *,
    name: str = "",
    usage: str = "OnDemand",
    regions: tuple[str, ...] = AMERICAS,
    unit: str = "h",
    currency: str = "USD",
    service: str = "Compute Engine",
    rates: list[Dumped] | None = None,
    effective: str = "2026-11-02T09:30:00.123456Z",
) -> Dumped:
    """Return one SKU. Its id is made of its description where none is given."""
    identity = name or f"ID {description}"
    return {
        "name": f"services/6F81-5844-456A/skus/{identity}",
        "skuId": identity,
        "description": description,
        "category": {
            "serviceDisplayName": service,
            "resourceFamily": "Compute",
            "resourceGroup": "GPU",
            "usageType": usage,
        },
        "serviceRegions": list(regions),
        "pricingInfo": [
            {
                "summary": "",
                "pricingExpression": {
                    "usageUnit": unit,
                    "displayQuantity": 1,
                    "tieredRates": tiers(amount, currency=currency) if rates is None else rates,
                    "baseUnitConversionFactor": 3600,
                },
                "currencyConversionRate": 1,
                "effectiveTime": effective,
            }
        ],
        "serviceProviderName": "Google",
        "geoTaxonomy": {"type": "MULTI_REGIONAL", "regions": list(regions)},
    }


def page(*skus: Dumped, token: str = "") -> Dumped:
    return {"skus": list(skus), "nextPageToken": token}


def document(*skus: Dumped, token: str = "") -> str:
    return json.dumps(page(*skus, token=token))


def a2(*, gpu: str = "2.9", core: str = "0.03", ram: str = "0.004", **changes: Any) -> list[Dumped]:
    """Return the parts of A2 machines with A100 40GB on demand."""
    return [
        sku("Nvidia Tesla A100 GPU running in Americas", gpu, **changes),
        sku("A2 Instance Core running in Americas", core, **changes),
        sku("A2 Instance Ram running in Americas", ram, unit="GiBy.h", **changes),
    ]

"""SKUs as the Cloud Billing Catalog writes them, with amounts of ours; and files to garble."""

import json
from decimal import Decimal
from typing import Any

from costs.sources import gcp_machine_prices, gcp_price_history, price_changes

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


SEEDS: dict[str, list[bytes]] = {
    "gcp_billing": [
        document(
            *a2(),
            sku("Nvidia Tesla A100 GPU running in Iowa", "2.8", regions=("us-central1",)),
            sku("A4 Nvidia B200 (1 gpu slice) running in Americas", rates=tiers("0", "11")),
        ).encode(),
        json.dumps([page(*a2()[:1], token="next"), page(*a2()[1:])]).encode(),
    ],
    "gcp_machine_prices": [gcp_machine_prices.TEMPLATE.encode()],
    "gcp_price_history": [gcp_price_history.TEMPLATE.encode()],
    "catalogue_changes": [
        price_changes.TEMPLATE.encode(),
        price_changes.TEMPLATE.partition("\n")[0].encode()
        + b"\n2026-04-02T10:55:58-05:00,gcp,a2-highgpu-1g,,,us-west4,us-west4-b,0.8,0.3,initial"
        + b"\n2026-04-02T10:55:58-05:00,gcp,,A100,1,us-west4,us-west4-b,2.9,1.5,initial"
        + b"\n2026-04-13T18:51:44+00:00,gcp,a2-highgpu-1g,,,us-west4,us-west4-b,,,removed\n",
    ],
    "oci_prices": [
        b'{"items": [{"partNumber": "B98415", "displayName": "GPU - H100", "metricName": "GPU Per Hour", '
        b'"serviceCategory": "Compute - GPU", "currencyCodeLocalizations": [{"currencyCode": "USD", '
        b'"prices": [{"model": "PAY_AS_YOU_GO", "value": 0, "rangeMin": 0, "rangeMax": 10}, '
        b'{"model": "PAY_AS_YOU_GO", "value": 10.5, "rangeMin": 10, "rangeMax": 999}]}]}]}'
    ],
}

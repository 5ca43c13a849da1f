"""A small sound file of each kind about AWS commitments and prices, for tests that garble it."""

import json

from costs.sources import price_table, price_table_history

_RESERVED = {
    "ReservedInstancesId": "a",
    "InstanceType": "p4d.24xlarge",
    "InstanceCount": 3,
    "State": "active",
    "Start": {"__class__": "datetime", "year": 2026, "month": 1, "day": 15},
    "AvailabilityZone": "us-east-1a",
    "Duration": 31536000,
    "FixedPrice": 1.5,
    "OfferingType": "Partial Upfront",
    "RecurringCharges": [{"Amount": 6.63, "Frequency": "Hourly"}],
}
_PLAN = {
    "savingsPlanId": "a",
    "start": "2026-01-01T00:00:00.000Z",
    "state": "active",
    "savingsPlanType": "EC2Instance",
    "region": "us-east-1",
    "productTypes": ["EC2"],
    "commitment": "12.5",
    "upfrontPaymentAmount": "0",
    "recurringPaymentAmount": 12.5,
    "termDurationInSeconds": 31536000,
}
_CAPACITY = {
    "CapacityReservationId": "cr-1",
    "InstanceType": "p5.48xlarge",
    "State": "active",
    "AvailabilityZone": "us-west-2b",
    "TotalInstanceCount": 2,
    "StartDate": "2026-11-01T11:30:00Z",
    "EndDate": "2026-11-08T11:30:00Z",
}
_OFFER = {
    "CapacityBlockOfferingId": "cb-1",
    "InstanceType": "p5.48xlarge",
    "AvailabilityZone": "us-east-2a",
    "InstanceCount": 2,
    "StartDate": "2026-12-04T11:30:00+00:00",
    "CapacityBlockDurationHours": 168,
    "UpfrontFee": "13953.41",
    "CurrencyCode": "USD",
}
_RATE = {"region": "x", "region_code": "us-east-1-atl-2a", "hourly_rate_usd": 41.528}
_BLOCKS = {
    "metadata": {"last_updated": "2026-07-22T07:13:52Z"},
    "instance_types": {
        "p5.48xlarge": {
            "accelerator_type": "H100",
            "accelerator_count": 8,
            "pricing": [{**_RATE, "accelerator_hourly_rate_usd": 5.191}],
        }
    },
}
_LINUX = {
    "ondemand": "55.04",
    "reserved": {"yrTerm1Savings.noUpfront": "40.1", "yrTerm1Standard.noUpfront": 36},
}
_WHOLE_LIST = [
    {
        "instance_type": "p5.48xlarge",
        "vCPU": 192,
        "GPU": 8,
        "GPU_model": "NVIDIA H100",
        "pricing": {"us-east-1": {"linux": _LINUX, "mswin": {"ondemand": 90}}, "us-east-2": {}},
    }
]
_CUT_DOWN = [
    {
        "apiName": "g6.xlarge",
        "gpu": "NVIDIA L4",
        "gpuCount": 1,
        "vcpu": 4,
        "pricing": {"us-east-1": {"onDemand": 0.8048, "reserved": 0.52}},
    },
    {"name": "p5e.48xlarge", "gpuCount": 8, "pricing": 0},
]
_AZURE = (
    b"armSkuName,Currency,Spot Unit Price,PayGo Unit Price,Unit of Measure,Region,Product Name\n"
    b"Standard_NC16as_T4_v3,USD,0.417762,1.276,1 Hour,swedencentral,NCasT4 v3 Series\n"
)
SEEDS: dict[str, list[bytes]] = {
    "aws_commitments": [
        json.dumps({"status_code": 200, "data": {"ReservedInstances": [_RESERVED]}}).encode(),
        json.dumps({"savingsPlans": [_PLAN]}).encode(),
        json.dumps({"CapacityReservations": [_CAPACITY]}).encode(),
    ],
    "aws_capacity_blocks": [json.dumps(_BLOCKS).encode()],
    "aws_capacity_block_offers": [json.dumps({"CapacityBlockOfferings": [_OFFER]}).encode()],
    "vantage": [json.dumps(_WHOLE_LIST).encode(), json.dumps(_CUT_DOWN).encode()],
    "price_table": [price_table.TEMPLATE.encode(), _AZURE],
    "price_history_table": [price_table_history.TEMPLATE.encode()],
}

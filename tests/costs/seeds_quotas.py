"""A small sound file of each kind about limits and requests, for tests that garble it."""

import json

from costs.sources import quota_csv, quota_requests_csv

_QUOTA = {
    "ServiceCode": "ec2",
    "QuotaArn": "arn:aws:servicequotas:us-east-1:123456789012:ec2/L-417A185B",
    "QuotaCode": "L-417A185B",
    "QuotaName": "Running On-Demand P instances",
    "Value": 384.0,
    "Adjustable": True,
    "UsageMetric": {"MetricNamespace": "AWS/Usage", "MetricDimensions": {"Class": "P/OnDemand"}},
}
_JOINED = {
    "FetchedAt": "2026-11-30T12:00:00Z",
    "Region": "us-east-1",
    "UseNote": "use: highest of 24 hours",
    "Use": {"L-417A185B": 192.0},
    "Quotas": [_QUOTA],
    "Defaults": [{**_QUOTA, "Value": 0}, {**_QUOTA, "QuotaCode": "L-2C3B7624"}],
}
_TABLE = (
    "region us-west-2\n------\n|  ListServiceQuotas  |\n+----+\n| Adjustable | Code | Name | Value |\n"
    "|  True  |  L-3819A6DF |  All G Spot Instance Requests  |  12800.0  |\n+----+\n"
)
_REQUEST = {
    "Id": "a",
    "ServiceCode": "ec2",
    "QuotaCode": "L-417A185B",
    "QuotaName": "Running On-Demand P instances",
    "DesiredValue": 384.0,
    "Status": "APPROVED",
    "Created": {"__class__": "datetime", "year": 2019, "month": 10, "day": 31, "hour": 10, "minute": 41,
                "second": 21, "microsecond": 761000},
    "LastUpdated": 1795000000.5,
    "QuotaArn": "arn:aws:servicequotas:us-east-1:123456789012:ec2/L-417A185B",
}  # fmt: skip
_REGION = {
    "kind": "compute#region",
    "name": "us-central1",
    "selfLink": "https://www.googleapis.com/compute/v1/projects/example-project/regions/us-central1",
    "quotas": [
        {"metric": "NVIDIA_A100_GPUS", "limit": 16, "usage": 8},
        {"metric": "COMMITTED_NVIDIA_A100_GPUS", "limit": 9.223372036854776e18, "usage": 0},
    ],
}
_FAMILIES = {
    "metric": "compute.googleapis.com/gpus_per_gpu_family",
    "dimensionsInfos": [
        {
            "dimensions": {"gpu_family": "NVIDIA_H100"},
            "details": {"value": "8"},
            "applicableLocations": ["us"],
        }
    ],
}
_USAGE = [
    {"currentValue": "96", "limit": 192, "name": {"value": "standardNDSH100v5Family"}, "unit": "Count"},
    {"currentValue": 12, "limit": "350", "localName": "Total Regional vCPUs", "name": {"value": "cores"}},
]


def _bytes(*documents: object) -> list[bytes]:
    return [json.dumps(each).encode() for each in documents]


SEEDS = {
    "aws_quotas": [
        *_bytes({"Quotas": [_QUOTA]}, _JOINED, {"status_code": 200, "data": {"Quotas": [_QUOTA]}}),
        _TABLE.encode(),
        b"ServiceCode,QuotaName,QuotaCode,DefaultValue\nec2,All P5 Spot Instance Requests,L-C4BD4855,192.0\n",
    ],
    "aws_quota_requests": _bytes({"RequestedQuotas": [_REQUEST]}, {"RequestedQuotas": []}),
    "azure_usage": _bytes(_USAGE, {"value": _USAGE}),
    "gcp_quotas": _bytes(
        [_REGION],
        _FAMILIES,
        {
            "FetchedAt": "2026-11-30T12:00:00Z",
            "Project": "example-project",
            "Regions": [_REGION],
            "ProjectInfo": {"kind": "compute#project", "name": "example-project", "quotas": []},
            "FamilyRefused": "cloudquotas.quotas.get",
        },
    ),
    "quota_csv": [quota_csv.TEMPLATE.encode()],
    "quota_requests_csv": [quota_requests_csv.TEMPLATE.encode()],
}

"""Ask AWS for the EC2 limits of a region, their defaults and their use, and write one joined answer.

ListServiceQuotas leaves out what was never changed where it has no applied value, so both lists are asked
for. Use comes from the metric that a quota names; without the right to read it, it stays unknown.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

from costs.egress import aws_config, guard_client
from costs.rows import FileError, OutOfScope, RowError

from .aws_quotas_names import bucket_of
from .words import words

REGIONS = "us-east-1,us-east-2,us-west-2,eu-west-1,eu-central-1,ap-northeast-1"
RIGHTS = (
    "servicequotas:ListServiceQuotas",
    "servicequotas:ListAWSDefaultServiceQuotas",
    "cloudwatch:GetMetricData",
)
NEEDS = (
    "AWS keys with servicequotas:ListServiceQuotas and servicequotas:ListAWSDefaultServiceQuotas, without "
    "which no limit is known; cloudwatch:GetMetricData adds how much of each is used"
)
_SERVICE = "ec2"
_MOST_PAGES = 100
_QUERIES = 500  # GetMetricData takes so many at once
# asking again does not help: keys that are missing, wrong or out of date, or a right that is not there
NOT_ALLOWED = frozenset(
    (
        *("AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException"),
        *("InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch"),
        *("UnrecognizedClientException", "IncompleteSignature", "AuthFailure", "UnauthorizedOperation"),
        *("NotAuthorized", "OptInRequired", "DependencyAccessDeniedException"),
    )
)
# a daily reading of the highest use of a day misses no peak
_WINDOW, _PERIOD_SECONDS = timedelta(hours=24), 3600
Ask = Callable[..., Mapping[str, Any]]


def client(service: str, region: str) -> Any:
    """Return a client that may reach AWS only, with the keys of this moment: sessions keep theirs."""
    found = boto3.Session().client(service, region_name=region, config=aws_config())
    guard_client(found)
    return found


def is_refusal(error: ClientError) -> bool:
    """Return whether AWS says no to these keys: another try would be answered alike."""
    return error.response.get("Error", {}).get("Code") in NOT_ALLOWED


def all_pages(ask: Ask, key: str, right: str, needs: str, **asked: Any) -> list[Any]:
    """Return what all pages of an answer hold under `key`; never a list cut short, never one without end."""
    found: list[Any] = []
    tokens: set[str] = set()
    more: dict[str, str] = {}
    for number in range(1, _MOST_PAGES + 1):
        try:
            answer = ask(**asked, **more)
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise FileError("auth_failed", needs, value=str(error)) from error
        except ClientError as error:
            if is_refusal(error):
                raise FileError("auth_failed", f"{right}: {needs}", value=str(error)) from error
            raise
        place, items, token = f"page {number}", answer.get(key), answer.get("NextToken")
        if not isinstance(items, list):
            raise FileError("page_wrong", f"a list of {key}", column=place, value=sorted(answer))
        if "NextToken" in answer and not token:
            raise FileError("page_token_empty", "a NextToken, or none on the last page", column=place)
        if token in tokens:
            raise FileError("page_repeated", "another page each time", column=place, value=token)
        found += items
        if not token:
            return found
        tokens.add(token)
        more = {"NextToken": token}
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages", column=right)


def _has_accelerators(quota: Mapping[str, Any]) -> bool:
    try:
        bucket_of(quota.get("QuotaCode", ""), quota.get("QuotaName", ""))
    except (OutOfScope, RowError):
        return False
    return True


def _query(number: int, metric: Mapping[str, Any]) -> dict[str, Any]:
    dimensions = [{"Name": name, "Value": value} for name, value in metric["MetricDimensions"].items()]
    return {
        "Id": f"q{number}",
        "MetricStat": {
            "Metric": {
                "Namespace": metric["MetricNamespace"],
                "MetricName": metric["MetricName"],
                "Dimensions": dimensions,
            },
            "Period": _PERIOD_SECONDS,
            "Stat": metric.get("MetricStatisticRecommendation", "Maximum"),
        },
    }


def _use(region: str, quotas: list[Any], now: datetime) -> tuple[dict[str, float], str]:
    """Return the highest use of the last day by quota code, and what is to be said of it."""
    metrics = {
        quota["QuotaCode"]: quota["UsageMetric"]
        for quota in quotas
        if _has_accelerators(quota) and "MetricDimensions" in quota.get("UsageMetric", {})
    }
    codes = list(metrics)[:_QUERIES]
    if not codes:
        return {}, "use unknown: AWS names no metric"
    queries = [_query(number, metrics[code]) for number, code in enumerate(codes)]
    since = now - _WINDOW
    try:
        results = all_pages(
            client("cloudwatch", region).get_metric_data,
            "MetricDataResults",
            "cloudwatch:GetMetricData",
            NEEDS,
            MetricDataQueries=queries,
            StartTime=since,
            EndTime=now,
        )
    except FileError as error:
        if error.code != "auth_failed":
            raise
        return {}, "use unknown: the keys lack cloudwatch:GetMetricData"
    use: dict[str, float] = {}
    for result in results:
        code = codes[int(result["Id"].removeprefix("q"))]
        for value in result.get("Values", ()):
            use[code] = max(value, use.get(code, value))
    return use, f"use: highest of 24 hours to {now:%Y-%m-%d %H:%M} UTC, unknown where AWS published none"


def _document(region: str, now: datetime) -> Iterator[bytes]:
    quotas = client("service-quotas", region)
    asked = {"ServiceCode": _SERVICE, "MaxResults": 100}
    applied = all_pages(quotas.list_service_quotas, "Quotas", RIGHTS[0], NEEDS, **asked)
    defaults = all_pages(quotas.list_aws_default_service_quotas, "Quotas", RIGHTS[1], NEEDS, **asked)
    if not applied and not defaults:
        raise FileError("page_empty", f"at least one EC2 quota in {region}")
    use, note = _use(region, applied, now)
    joined = {
        "FetchedAt": now.isoformat(),
        "Region": region,
        "UseNote": note,
        "Use": use,
        "Quotas": applied,
        "Defaults": defaults,
    }
    yield json.dumps(joined, indent=1).encode()


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield one document per region, each asked for when it is read."""
    for region in words(params.get("region", "") or REGIONS):
        yield f"aws_quotas_{region}_{now:%Y-%m-%d}.json", _document(region, now)

"""Answers of EC2 and of the security token service as they go over the wire, for tests of what is fetched."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import pytest

from .feeds import Answer, Feed, Request, Script

ACCOUNT = "123456789012"
# (name, id): AWS gives each account names of its own
ZONES = (("us-east-1a", "use1-az6"), ("us-east-1b", "use1-az1"), ("us-east-1-atl-2a", "use1-atl2-az1"))
_EC2 = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'


def xml(text: str, status: int = 200) -> Answer:
    return Answer(status, text=text, headers={"Content-Type": "text/xml"})


def history_page(rows: Sequence[Mapping[str, str]], token: str | None = None) -> Answer:
    """Return one page of prices; a token of None leaves the element out, "" closes the list as AWS does."""
    items = "".join(
        "<item>" + "".join(f"<{name}>{escape(value)}</{name}>" for name, value in row.items()) + "</item>"
        for row in rows
    )
    more = "" if token is None else f"<nextToken>{token}</nextToken>"
    return xml(
        f"<DescribeSpotPriceHistoryResponse {_EC2}><requestId>r</requestId>"
        f"<spotPriceHistorySet>{items}</spotPriceHistorySet>{more}</DescribeSpotPriceHistoryResponse>"
    )


def zones_answer(zones: Sequence[tuple[str, str]] = ZONES, region: str = "us-east-1") -> Answer:
    items = "".join(
        f"<item><zoneName>{name}</zoneName><zoneId>{zone_id}</zoneId><regionName>{region}</regionName>"
        "<zoneType>availability-zone</zoneType><optInStatus>opted-in</optInStatus></item>"
        for name, zone_id in zones
    )
    return xml(
        f"<DescribeAvailabilityZonesResponse {_EC2}><requestId>r</requestId>"
        f"<availabilityZoneInfo>{items}</availabilityZoneInfo></DescribeAvailabilityZonesResponse>"
    )


def ec2_error(code: str, status: int) -> Answer:
    return xml(
        f"<Response><Errors><Error><Code>{code}</Code><Message>no</Message></Error></Errors>"
        "<RequestID>r</RequestID></Response>",
        status,
    )


def identity() -> Answer:
    return xml(
        '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>'
        f"<Arn>arn:aws:iam::{ACCOUNT}:user/planner</Arn><UserId>u</UserId><Account>{ACCOUNT}</Account>"
        "</GetCallerIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>"
        "</GetCallerIdentityResponse>"
    )


def play(feed: Feed, action: str, *answers: Script) -> None:
    """Answer one action of the query protocol with these in turn, the last one for ever."""

    def asks(request: Request) -> bool:
        return request.form.get("Action") == action

    feed.play("/", *answers, where=asks)


def asked_for(feed: Feed, action: str) -> list[dict[str, str]]:
    return [request.form for request in feed.requests if request.form.get("Action") == action]


def use_keys(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    """Let AWS clients use test keys and the server of the test."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
        "AWS_ENDPOINT_URL_EC2": feed.origin,
        "AWS_ENDPOINT_URL_STS": feed.origin,
    }.items():
        monkeypatch.setenv(name, value)

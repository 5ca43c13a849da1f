"""Ask EC2 with the keys of this moment, and read answers of its command line that people saved."""

import re
from collections.abc import Callable
from typing import Any, BinaryIO

import boto3
import msgspec
from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

from costs.egress import aws_config, guard_client
from costs.rows import FileError

from .byte_stream import Limits, blocks_of_text

REGIONS = "us-east-1,us-east-2,us-west-2,eu-west-1,eu-central-1,ap-northeast-1"
# asking again does not help: keys that are missing, wrong, out of date, or no good for this region
_NOT_ALLOWED = frozenset(
    (
        *("AccessDenied", "AccessDeniedException", "AuthFailure", "ExpiredToken", "ExpiredTokenException"),
        *("IncompleteSignature", "InvalidClientTokenId", "OptInRequired", "RequestExpired"),
        *("SignatureDoesNotMatch", "UnauthorizedOperation", "UnrecognizedClientException"),
    )
)
_KEPT = ("RegionName", "ZoneName", "ZoneId", "ZoneType", "OptInStatus")
_ACCOUNT = re.compile(r"[0-9]{12}")


def client(service: str, region: str) -> Any:
    """Return a client that may reach AWS only, with the keys of this moment: sessions keep theirs."""
    found = boto3.Session().client(service, region_name=region, config=aws_config())
    guard_client(found)
    return found


def asked(call: Callable[[], Any], needs: str, region: str) -> Any:
    """Return the answer to a question, or say which keys and rights it takes."""
    try:
        return call()
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise FileError("auth_failed", needs, column=region, value=str(error)) from error
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _NOT_ALLOWED:
            raise FileError("auth_failed", needs, column=region, value=str(error)) from error
        raise


def account_of(region: str, needs: str) -> str:
    """Return the number of the account whose keys are used."""
    answer = asked(lambda: client("sts", region).get_caller_identity(), needs, region)
    return str(answer["Account"])


def zones_in(region: str, needs: str) -> list[dict[str, str]]:
    """Return the zones of a region with their ids, local zones and those not opted into as well."""
    aws = client("ec2", region)
    answer = asked(lambda: aws.describe_availability_zones(AllAvailabilityZones=True), needs, region)
    zones = answer.get("AvailabilityZones")
    if not isinstance(zones, list) or not zones:
        raise FileError("page_wrong", "AvailabilityZones with at least one zone", column=region)
    return [{name: zone[name] for name in _KEPT if name in zone} for zone in zones]


def read_whole(file: BinaryIO, name: str, limits: Limits) -> bytes:
    """Return the text of a file that is small enough to be held."""
    return b"".join(blocks_of_text(file, name, limits))


def checked_account(text: str) -> str:
    """Return an account number, or "" where none is given."""
    if text and not _ACCOUNT.fullmatch(text):
        raise FileError("account_wrong", "an account number of twelve digits", column="account", value=text)
    return text


def flat(record: bytes) -> dict[str, str]:
    """Return the texts and numbers of one JSON object as text; what it nests is left out.

    >>> flat(b'{"SpotPrice": 0.918, "Tags": []}')
    {'SpotPrice': '0.918'}
    """
    found = msgspec.json.decode(record, type=dict[str, msgspec.Raw])
    plain: dict[str, str] = {}
    for key, raw in found.items():
        text = bytes(raw)
        if text[:1] == b'"':
            plain[key] = msgspec.json.decode(text, type=str)
        elif text[:1] not in b"[{n":
            plain[key] = text.decode()
    return plain

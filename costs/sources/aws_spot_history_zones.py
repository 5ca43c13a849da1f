"""Where a zone of AWS is, by its name or by its id, which are never the same thing."""

import re

from costs.rows import RowError, ZoneKind

# "use1-az6" and the local zone "use1-atl2-az1" begin with their region's code. The codes are those of
# https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
REGION_BY_ID_START = {
    "afs1": "af-south-1",
    "ape1": "ap-east-1",
    "ape2": "ap-east-2",
    "apne1": "ap-northeast-1",
    "apne2": "ap-northeast-2",
    "apne3": "ap-northeast-3",
    "aps1": "ap-south-1",
    "aps2": "ap-south-2",
    "apse1": "ap-southeast-1",
    "apse2": "ap-southeast-2",
    "apse3": "ap-southeast-3",
    "apse4": "ap-southeast-4",
    "apse5": "ap-southeast-5",
    "apse6": "ap-southeast-6",
    "apse7": "ap-southeast-7",
    "cac1": "ca-central-1",
    "caw1": "ca-west-1",
    "cnn1": "cn-north-1",
    "cnnw1": "cn-northwest-1",
    "euc1": "eu-central-1",
    "euc2": "eu-central-2",
    "eun1": "eu-north-1",
    "eus1": "eu-south-1",
    "eus2": "eu-south-2",
    "euw1": "eu-west-1",
    "euw2": "eu-west-2",
    "euw3": "eu-west-3",
    "ilc1": "il-central-1",
    "mec1": "me-central-1",
    "mes1": "me-south-1",
    "mxc1": "mx-central-1",
    "sae1": "sa-east-1",
    "use1": "us-east-1",
    "use2": "us-east-2",
    "usge1": "us-gov-east-1",
    "usgw1": "us-gov-west-1",
    "usw1": "us-west-1",
    "usw2": "us-west-2",
}
# "us-east-1a", the local zone "us-east-1-atl-2a", the wavelength zone "us-east-1-wl1-atl-wlz-1"
_NAME = re.compile(r"([a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2})(?:[a-z]|-[a-z0-9]+(?:-[a-z0-9]+)*)")
_ID = re.compile(r"([a-z]+[0-9]{1,2})(?:-[a-z0-9]+)*-(?:az|wlz)[0-9]{1,2}")


def looks_like_zone(text: str) -> bool:
    return bool(_NAME.fullmatch(text) or _ID.fullmatch(text))


def place_of(column: str, zone: str) -> tuple[str, ZoneKind]:
    """Return the region that a zone belongs to, and whether it is given by id or by name.

    >>> place_of("AvailabilityZone", "us-east-1a")
    ('us-east-1', 'name')
    >>> place_of("AvailabilityZone", "use1-atl2-az1")
    ('us-east-1', 'id')
    """
    by_id = _ID.fullmatch(zone)
    if by_id and by_id[1] in REGION_BY_ID_START:
        return REGION_BY_ID_START[by_id[1]], "id"
    by_name = _NAME.fullmatch(zone)
    if by_name:
        return by_name[1], "name"
    raise RowError(
        column, zone, "zone_unknown", "a zone's name such as us-east-1a, or its id such as use1-az6"
    )

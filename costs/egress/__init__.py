"""The one place that decides what the product may connect to, and how patiently."""

from .addresses import EgressRefused, check_url
from .aws import aws_config, guard_client
from .http import HttpError, get, get_json, get_whole

__all__ = [
    "EgressRefused",
    "HttpError",
    "aws_config",
    "check_url",
    "get",
    "get_json",
    "get_whole",
    "guard_client",
]

"""What a file of limits does not say of itself, told by parameters."""

import re
from collections.abc import Mapping
from datetime import datetime

from costs.rows import FileError, RowError

from .dates import day, day_in_name, midnight

_REGION = re.compile(r"[a-z0-9][a-z0-9-]{1,79}")
_ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]{0,79}")


def file_date(name: str, params: Mapping[str, str]) -> datetime | None:
    """Return the date of the parameter as_of, or of the file's name; None where neither says one."""
    given = params.get("as_of", "").strip()
    if not given:
        return day_in_name(name)
    try:
        return midnight(day("as_of", given))
    except RowError as error:
        raise FileError("as_of_wrong", error.expected, column="as_of", value=given) from error


def given_region(params: Mapping[str, str]) -> str:
    """Return the parameter region, "" without one."""
    return _checked("region", params, _REGION, "a region's code such as us-east-1")


def given_account(params: Mapping[str, str]) -> str:
    """Return the parameter account, "" without one: the account is then not known."""
    return _checked(
        "account", params, _ACCOUNT, "an account, subscription or project as its provider writes it"
    )


def _checked(name: str, params: Mapping[str, str], pattern: re.Pattern[str], expected: str) -> str:
    given = params.get(name, "").strip()
    if given and not pattern.fullmatch(given):
        raise FileError(f"{name}_wrong", expected, column=name, value=given)
    return given

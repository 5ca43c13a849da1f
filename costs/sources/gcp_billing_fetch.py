"""Ask Google for the SKUs of Compute Engine, page by page, and never publish a short list."""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from costs import egress
from costs.rows import FileError

ADDRESS = "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus"
KEY = "GCP_BILLING_API_KEY"
NEEDS = (
    f"{KEY}: an API key of a Google Cloud project with the Cloud Billing API enabled. It unlocks Google's "
    "own price list: GPU machines in every region on demand, as spot and with commitments of 1 and 3 years"
)
_PAGE_SKUS = 5_000
_MOST_PAGES = 100  # the list has about 7
# missing, wrong or restricted keys: asking again does not help
_NOT_ALLOWED = frozenset({400, 401, 403})
# keeps a number as it was written, where a float would change its last digits
_encode = msgspec.json.Encoder(decimal_format="number").encode


def _page(key: str, token: str) -> Any:
    query = {"currencyCode": "USD", "pageSize": _PAGE_SKUS, **({"pageToken": token} if token else {})}
    try:
        # in a header the key is in no address, and so in no message and no record
        return egress.get_json(f"{ADDRESS}?{urlencode(query)}", headers={"X-Goog-Api-Key": key})
    except egress.HttpError as error:
        if error.status in _NOT_ALLOWED and not token:
            raise FileError("auth_failed", NEEDS, value=f"{error.status}: {error.text}") from error
        raise


def _check_page(answer: Any, seen: set[str], number: int) -> str:
    """Return the token of the next page; refuse an answer that would end the list early or go on for ever."""
    place = f"page {number}"
    if not isinstance(answer, dict) or not isinstance(answer.get("skus"), list):
        value = sorted(answer) if isinstance(answer, dict) else type(answer).__name__
        raise FileError("page_wrong", "an object with a list of skus", column=place, value=value)
    token = answer.get("nextPageToken") or ""
    if not isinstance(token, str):
        raise FileError("page_wrong", "a nextPageToken of text", column=place, value=token)
    if not answer["skus"]:
        raise FileError("page_empty", "SKUs on each page", column=place)
    marks = {f"skus {hash(_encode(answer['skus']))}"} | ({f"token {token}"} if token else set())
    if marks & seen:
        raise FileError("page_repeated", "another page each time", column=place)
    seen |= marks
    return token


def _document(key: str) -> Iterator[bytes]:
    """Yield one list of all pages."""
    seen: set[str] = set()
    token = ""
    for number in range(1, _MOST_PAGES + 1):
        answer = _page(key, token)
        token = _check_page(answer, seen, number)
        yield (b"[" if number == 1 else b",\n") + _encode(answer)
        if not token:
            yield b"]\n"
            return
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages")


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the whole list as one document of all its pages."""
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise FileError("auth_failed", NEEDS)
    yield f"gcp_billing_skus_{now:%Y-%m-%d}.json", _document(key)

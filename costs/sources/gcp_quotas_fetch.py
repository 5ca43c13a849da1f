"""Ask Google for a project's limits: of its regions, of the project as a whole, and per GPU family."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from costs import egress
from costs.rows import FileError

RIGHTS = ("compute.regions.list", "compute.projects.get", "cloudquotas.quotas.get")
NEEDS = (
    "a bearer token in GCP_ACCESS_TOKEN and the project's id in GCP_PROJECT, with compute.regions.list and "
    "compute.projects.get (role Compute Viewer), without which no Google limit and no use of it is known; "
    "cloudquotas.quotas.get (role Cloud Quotas Viewer) adds the limits of H100 and newer GPUs"
)
COMPUTE = "https://compute.googleapis.com"
QUOTAS = "https://cloudquotas.googleapis.com"
_FAMILY = "GPUS-PER-GPU-FAMILY-per-project-region"
_MOST_PAGES = 20
_PROJECT = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]|[a-z0-9.-]+:[a-z][a-z0-9-]{4,28}[a-z0-9]")


def _keys() -> tuple[str, str]:
    token = os.environ.get("GCP_ACCESS_TOKEN", "").strip()
    project = os.environ.get("GCP_PROJECT", "").strip()
    named = (("GCP_ACCESS_TOKEN", token), ("GCP_PROJECT", project))
    missing = [name for name, value in named if not value]
    if missing:
        raise FileError("auth_failed", NEEDS, column=missing[0], value=f"{' and '.join(missing)} not set")
    if not _PROJECT.fullmatch(project):
        raise FileError("auth_failed", "a project's id", column="GCP_PROJECT", value=project)
    return token, project


def _answer(url: str, token: str) -> Mapping[str, Any]:
    try:
        found = egress.get_json(url, headers={"Authorization": f"Bearer {token}"})
    except egress.HttpError as error:
        if error.status in (401, 403):
            raise FileError("auth_failed", NEEDS, value=str(error)) from error
        raise
    if not isinstance(found, dict):
        raise FileError("page_wrong", "an object", value=str(found)[:200])
    return found


def _regions(place: str, token: str) -> list[Any]:
    """Return the regions of all pages; never a list cut short."""
    regions, token_of_page, seen = list[Any](), "", set[str]()
    for _ in range(_MOST_PAGES):
        more = f"&pageToken={quote(token_of_page, safe='')}" if token_of_page else ""
        page = _answer(f"{place}/regions?maxResults=500{more}", token)
        items = page.get("items")
        if not isinstance(items, list) or not items:
            raise FileError("page_wrong", "an answer with regions in items", value=", ".join(page)[:200])
        regions += items
        token_of_page = str(page.get("nextPageToken") or "")
        if not token_of_page:
            return regions
        if token_of_page in seen:
            raise FileError("page_repeated", "another page each time", value=token_of_page)
        seen.add(token_of_page)
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages")


def _family_limits(project: str, token: str) -> Mapping[str, Any]:
    """Return the limits per GPU family, or why they may not be read: the others are worth having alone."""
    place = f"{QUOTAS}/v1/projects/{project}/locations/global/services/compute.googleapis.com/quotaInfos"
    try:
        return {"FamilyQuota": _answer(f"{place}/{_FAMILY}", token)}
    except FileError as error:
        if error.code != "auth_failed":
            raise
    except egress.HttpError as error:
        if error.status != 404:
            raise
    return {"FamilyRefused": "cloudquotas.quotas.get, and the Cloud Quotas API turned on in the project"}


def _document(project: str, token: str, now: datetime) -> Iterator[bytes]:
    place = f"{COMPUTE}/compute/v1/projects/{project}"
    found = {
        "FetchedAt": now.isoformat(),
        "Project": project,
        "Regions": _regions(place, token),
        "ProjectInfo": _answer(place, token),
        **_family_limits(project, token),
    }
    # a project's own page also holds the keys and scripts that its machines start with
    found["ProjectInfo"] = {name: found["ProjectInfo"].get(name) for name in ("kind", "name", "quotas")}
    yield json.dumps(found, default=str).encode()


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the limits of the project as one file: Google answers for all regions at once."""
    token, project = _keys()
    yield f"gcp_quotas_{project.replace(':', '_')}_{now:%Y-%m-%d}.json", _document(project, token, now)

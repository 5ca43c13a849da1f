"""One address, whole page or swapped part: the only code that knows htmx."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers

STOP_POLLING = 286  # htmx stops a trigger of "every 1s" on this status


def is_swap(request: HttpRequest) -> bool:
    """Return whether htmx asks for a part. A page restored from history is a visit."""
    htmx = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not htmx.history_restore_request


def page_or_fragment(
    request: HttpRequest,
    page: str,
    fragment: str,
    context: Mapping[str, Any],
    *,
    stop_polling: bool = False,
) -> HttpResponse:
    """Return the whole page to a visit and the part to a swap, kept apart in every cache.

    A part that polls stays on the page until `stop_polling`: then htmx is told to ask no more.
    """
    swap = is_swap(request)
    response = render(request, fragment if swap else page, dict(context))
    if swap and stop_polling:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response


def go_on(request: HttpRequest, address: str) -> HttpResponse:
    """Send the reader to another page: a visit by a redirect, a page that polls by htmx's own."""
    if is_swap(request):
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)

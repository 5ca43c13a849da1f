"""Pages for addresses that do not exist, rights that are missing, and faults of ours."""

import logging

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

logger = logging.getLogger(__name__)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say so, and offer to look for the last word of the address."""
    words = request.path.strip("/").split("/")[-1].replace("-", " ").replace("_", " ")
    context = {"layout": _layout(request), "words": words[:60]}
    return render(request, "errors/404.html", context, status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Name what is missing. Only texts of ours are shown, and a PermissionDenied carries no other."""
    context = {"layout": _layout(request), "reason": str(exception)[:200]}
    return render(request, "errors/403.html", context, status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Show a number that stands in the log too; the page asks neither the database nor the session."""
    number = getattr(request, "request_id", "none")
    logger.error("fault %s at %s %s", number, request.method, request.path)
    return render(request, "errors/500.html", {"number": number}, status=500)


def _layout(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    return "base.html" if user is not None and user.is_authenticated else "bare.html"

"""What holds for every request and answer: a number to find it by, and no copies kept on the way."""

import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class RequestMiddleware:
    """Give each request an id, and each answer the headers that no other part sets."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = uuid.uuid4().hex[:12]  # type: ignore[attr-defined] # read by pages and the log
        response = self.get_response(request)
        response.headers["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        # static files bring their own rule; everything else may hold somebody's figures
        response.headers.setdefault("Cache-Control", "no-store, private")
        return response

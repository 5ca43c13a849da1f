"""What every page gets besides its own values."""

from typing import Any

from django.http import HttpRequest


def page(request: HttpRequest) -> dict[str, Any]:
    return {}

"""Who may do what: one table of (address, method) to the least role, held to on every request.

A route that the table does not list fails the start-up check, so nothing goes live by being forgotten.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core import checks
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, URLResolver, get_resolver

from planner.fragments import go_on
from planner.models.people import Person

ANONYMOUS = "anonymous"
VIEWER = "viewer"
PLANNER = "planner"
ADMIN = "admin"

# an approver may do all that a planner may
_RANK = {
    ANONYMOUS: 0,
    Person.Role.VIEWER.value: 1,
    Person.Role.PLANNER.value: 2,
    Person.Role.APPROVER.value: 3,
    Person.Role.ADMIN.value: 4,
}

_READ = {"GET": VIEWER}
_READ_AND_PLAN = {"GET": VIEWER, "POST": PLANNER}
_PLAN_FORM = {"GET": PLANNER, "POST": PLANNER}
_PLAN_POST = {"POST": PLANNER}

# route name -> method -> least role; HEAD and OPTIONS count as GET
ROUTES: dict[str, dict[str, str]] = {
    "healthz": {"GET": ANONYMOUS},
    "account_login": {"GET": ANONYMOUS, "POST": ANONYMOUS},
    "account_logout": {"GET": ANONYMOUS, "POST": ANONYMOUS},
    "account_change_password": {"GET": VIEWER, "POST": VIEWER},
    "first_admin": {"GET": ANONYMOUS, "POST": ANONYMOUS},  # the token in the address is the right
    "welcome": {"GET": PLANNER},
    "overview": _READ,
    "prices": _READ,
    "prices_file": _READ,
    "gpu_list": _READ,
    "gpu_list_file": _READ,
    "gpu_detail": _READ,
    "gpu_regions": _READ,
    "gpu_alternatives": _READ,
    "gpu_file": _READ,
    "price_terms": _READ,
    "price_terms_file": _READ,
    "spot": _READ,
    "spot_file": _READ,
    "spot_changes_file": _READ,
    "scenario_list": _READ,
    "scenario_list_file": _READ,
    "scenario_new": _PLAN_FORM,
    "scenario_detail": _READ,
    "scenario_file": _READ,
    "scenario_edit": _PLAN_FORM,
    "scenario_record": _PLAN_POST,
    "scenario_refresh": _PLAN_POST,
    "compare": _READ,
    "compare_preview": _READ,
    "compare_file": _READ,
    "compare_save": _PLAN_FORM,
    "source_list": _READ,
    "source_detail": _READ,
    "schedule_change": _PLAN_POST,
    "load_price_lists": _PLAN_POST,
    "quarantine": _READ,
    "quarantine_file": _READ,
    "quarantine_decide": _PLAN_POST,
    "spellings": _READ,
    "spellings_file": _READ,
    "spelling_add": _PLAN_POST,
    "spelling_read_again": _PLAN_POST,
    "run_undo": _PLAN_POST,
    "run_detail": _READ,
    "run_rejected_file": _READ,
    "source_list_file": _READ,
    "overview_file": _READ,
    "job_detail": _READ,
    "job_cancel": _PLAN_POST,
    "source_template": _READ,
    "upload": _PLAN_FORM,
    "upload_preview": {"GET": PLANNER},
    "upload_import": _PLAN_POST,
    "run_now": _PLAN_POST,
    "sample_load": _PLAN_POST,
    "sample_progress": {"GET": PLANNER},
    "sample_remove": _PLAN_POST,
}


def least_role(route: str, method: str) -> str | None:
    """Return the least role for a route and method, or None where the method is not offered."""
    return ROUTES.get(route, {}).get("GET" if method in {"HEAD", "OPTIONS"} else method)


def has_role(user: Any, least: str) -> bool:
    """Return whether the user (a Person or nobody) stands at `least` or above."""
    role = user.role if user.is_authenticated else ANONYMOUS
    return _RANK[role] >= _RANK[least]


class LoginMiddleware(LoginRequiredMiddleware):
    """Ask for a login, and lead a page that polls there as a whole, not the form into its part."""

    def handle_no_permission(  # type: ignore[override] # the stub is narrower than what Django asks for
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponse:
        answer = super().handle_no_permission(request, view_func)
        return go_on(request, answer["Location"])


class RoleMiddleware:
    """Hold every request to the table. Stands after LoginMiddleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        route = request.resolver_match.url_name if request.resolver_match else None
        least = least_role(route or "", request.method or "")
        if least is None:
            return HttpResponseNotAllowed(list(ROUTES.get(route or "", {})))
        if not has_role(request.user, least):
            raise PermissionDenied(f"this needs the role {least}")
        return None


def planner_required(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Refuse a view to people who may not plan, whatever the table says."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not has_role(request.user, PLANNER):
            raise PermissionDenied(f"this needs the role {PLANNER}")
        return view(request, *args, **kwargs)

    return guarded


def route_names() -> Iterator[tuple[str | None, str]]:
    """Yield the name and pattern of every address of the site."""
    yield from _walk(get_resolver().url_patterns, "")


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str | None, str]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, prefix + str(pattern.pattern))
        else:
            yield pattern.name, prefix + str(pattern.pattern)


@checks.register(checks.Tags.security)
def check_routes(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Fail the start when an address has no row in the table, or a row no role that exists."""
    faults: list[checks.CheckMessage] = []
    for name, pattern in route_names():
        if name not in ROUTES:
            hint = "add a row to ROUTES in planner/permissions.py: route name -> method -> least role"
            faults.append(
                checks.Error(f"route {name!r} ({pattern}) has no role", hint=hint, id="planner.E001")
            )
    for name, methods in ROUTES.items():
        unknown = set(methods.values()) - set(_RANK)
        if unknown:
            faults.append(checks.Error(f"route {name!r}: unknown role {unknown}", id="planner.E002"))
    if "planner.permissions.RoleMiddleware" not in settings.MIDDLEWARE:
        faults.append(checks.Error("RoleMiddleware is off: nothing holds to ROUTES", id="planner.E003"))
    return faults

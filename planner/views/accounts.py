"""Logging in and out, the first administrator, and the sign of life."""

from typing import Any

from allauth.account import views as allauth_views
from allauth.account.adapter import get_adapter
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from planner.accounts import create_first_admin, limit_session, token_is_good
from planner.forms.accounts import FirstAdminForm
from planner.models.people import Person


class LoginView(allauth_views.LoginView):  # type: ignore[misc] # allauth ships no types
    """allauth's login, which also knows that there may be nobody to log in yet."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"nobody_yet": not Person.objects.exists()}


class PasswordChangeView(allauth_views.PasswordChangeView):  # type: ignore[misc] # allauth ships no types
    """allauth's page, for people who have a password: others would be sent to a page that is off here."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not self.request.user.has_usable_password():
            raise Http404("no password to change")
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer


@sensitive_post_parameters("password")
@login_not_required
def first_admin(request: HttpRequest, token: str) -> HttpResponse:
    """Make the first administrator. Without a good one-time token this address does not exist."""
    now = timezone.now()
    if not token_is_good(token, now):
        raise Http404("no such page")
    form = FirstAdminForm(request.POST or None)
    if not form.is_valid():
        return render(request, "account/first_admin.html", {"form": form})
    person = create_first_admin(token, form.cleaned_data["email"], form.cleaned_data["password"], now)
    if person is None:
        raise Http404("the link was used a moment ago")
    get_adapter(request).login(request, person)
    limit_session(request)
    return redirect("welcome")


def welcome(request: HttpRequest) -> HttpResponse:
    return render(request, "account/welcome.html")


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether pages can be served: the process answers and the database is reachable."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"database": "unreachable"}, status=503)
    return JsonResponse({"database": "ok"})


# of allauth's addresses these three alone: no signing up, no e-mail pages, no reset by mail
urlpatterns = [
    path("accounts/login/", LoginView.as_view(), name="account_login"),
    path("accounts/logout/", allauth_views.logout, name="account_logout"),
    path("accounts/password/change/", PasswordChangeView.as_view(), name="account_change_password"),
    path("first-run/<str:token>/", first_admin, name="first_admin"),
    path("welcome/", welcome, name="welcome"),
    path("healthz", healthz, name="healthz"),
]

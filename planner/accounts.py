"""How people come to be and log in: nobody by signing up, the first one by a one-time link."""

import hashlib
import math
import secrets
from datetime import datetime, timedelta
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from axes.helpers import get_cool_off
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from planner.models.people import FirstAdminLink, Person


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth ships no types
    """Refuse self-service accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def respond_user_inactive(self, request: HttpRequest, user: Person) -> HttpResponse:
        # only who knows the password gets this far
        return render(request, "account/inactive.html", status=403)


def limit_session(request: HttpRequest) -> None:
    """End the session a fixed time after the login, however busy it is."""
    # a moment, not a span: a span would start again with every change to the session
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))


def client_address(request: HttpRequest) -> str:
    """Return the address of the browser: the one that the outermost trusted proxy saw.

    Addresses further left in X-Forwarded-For were written by the client and prove nothing.
    """
    chain = [part.strip() for part in request.headers.get("x-forwarded-for", "").split(",") if part.strip()]
    count: int = settings.TRUSTED_PROXIES
    if count and len(chain) >= count:
        return chain[-count]
    return str(request.META.get("REMOTE_ADDR", ""))


def login_name(request: HttpRequest, credentials: dict[str, Any] | None) -> str:
    """Return the name that login attempts are counted under; letter case does not make another name."""
    names = credentials or request.POST
    return str(names.get("login") or names.get("email") or "").strip().lower()[:254]


def locked_out(
    request: HttpRequest, response: HttpResponse | None = None, credentials: dict[str, Any] | None = None
) -> HttpResponse:
    """Answer a login that is refused for having failed too often, with the wait in minutes."""
    minutes = math.ceil(get_cool_off(request).total_seconds() / 60)
    answer = render(request, "account/locked.html", {"minutes": minutes}, status=429)
    answer["Retry-After"] = str(minutes * 60)
    return answer


def new_first_admin_token(now: datetime) -> str | None:
    """Return a fresh one-time token for the first administrator, or None when there is a user already."""
    if Person.objects.exists():
        return None
    token = secrets.token_urlsafe(32)
    expires_at = now + timedelta(seconds=settings.FIRST_ADMIN_LINK_SECONDS)
    FirstAdminLink.objects.update_or_create(
        pk=FirstAdminLink.ONLY, defaults={"token_sha256": _digest(token), "expires_at": expires_at}
    )
    return token


def token_is_good(token: str, now: datetime) -> bool:
    """Return whether a token would make the first administrator now."""
    links = FirstAdminLink.objects.filter(token_sha256=_digest(token), expires_at__gt=now)
    return links.exists() and not Person.objects.exists()


@transaction.atomic
def create_first_admin(token: str, email: str, password: str, now: datetime) -> Person | None:
    """Spend the token on an administrator; return None when it is spent, late or not needed any more.

    Deleting the row is the lock: of two requests with one token, the second finds no row to delete.
    """
    spent, _ = FirstAdminLink.objects.filter(token_sha256=_digest(token), expires_at__gt=now).delete()
    if not spent or Person.objects.exists():
        return None
    return Person.objects.create_superuser(email, password)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

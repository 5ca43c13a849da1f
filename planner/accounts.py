"""Who may become a person here: nobody by signing up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedSignupAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth ships no types
    """Refuse self-service accounts: the first administrator comes by the one-time link, the rest by people."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

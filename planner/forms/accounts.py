"""The forms of logging in and of the first administrator."""

from typing import Any

from allauth.account import forms as allauth_forms
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from planner.accounts import limit_session
from planner.models.people import Person


class LoginForm(allauth_forms.LoginForm):  # type: ignore[misc] # allauth ships no types
    """allauth's login, for a fixed time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "E-mail address"
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)  # the label says it, and stays while one types

    def login(self, request: HttpRequest, redirect_url: str | None = None) -> HttpResponse:
        answer: HttpResponse = super().login(request, redirect_url=redirect_url)
        limit_session(request)  # last: allauth sets a span of its own
        return answer


class FirstAdminForm(forms.Form):
    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        help_text="At least 12 characters. Pasting from a password manager is fine.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "minlength": 12}),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        password = values.get("password")
        if password:
            try:
                validate_password(password, Person(email=values.get("email", "")))
            except ValidationError as error:
                self.add_error("password", error)
        return values

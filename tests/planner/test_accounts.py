"""The first administrator, logging in, and how sessions end."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from planner.accounts import create_first_admin, new_first_admin_token, token_is_good
from planner.models import FirstAdminLink, Person

PASSWORD = "forty-two purple trains"
OTHER_PASSWORD = "eleven quiet elephants"
LOGIN = "/accounts/login/"


def login(client: Client, email: str = "ada@example.com", password: str = PASSWORD, **extra: str):
    return client.post(LOGIN, {"login": email, "password": password}, **extra)


@pytest.fixture
def ada(db: None) -> Person:
    return Person.objects.create_user("ada@example.com", PASSWORD, role=Person.Role.PLANNER)


@pytest.fixture
def link(db: None) -> str:
    token = new_first_admin_token(timezone.now())
    assert token is not None
    return reverse("first_admin", args=[token])


# ---- the first administrator ----


def test_the_link_makes_an_administrator_who_is_logged_in_and_asked_where_to_start(link: str) -> None:
    client = Client()
    page = client.get(link).content.decode()
    assert re.findall(r"<button[^>]*>([^<]*)</button>", page) == ["Create the administrator"]

    answer = client.post(link, {"email": "Ada@Example.com", "password": PASSWORD}, follow=True)

    assert answer.redirect_chain == [("/welcome/", 302)]
    ada = Person.objects.get()
    assert (ada.email, ada.role) == ("ada@example.com", Person.Role.ADMIN)
    assert ada.check_password(PASSWORD)
    assert "Look around with sample data" in answer.content.decode()
    assert "Start with my numbers" in answer.content.decode()


def test_the_link_works_once(link: str) -> None:
    Client().post(link, {"email": "ada@example.com", "password": PASSWORD})
    assert Client().get(link).status_code == 404
    assert Client().post(link, {"email": "eve@example.com", "password": PASSWORD}).status_code == 404
    assert Person.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("age_seconds", "good"), [(0, True), (14 * 60 + 59, True), (15 * 60, False)])
def test_the_link_works_for_fifteen_minutes(age_seconds: int, good: bool) -> None:
    now = timezone.now()
    token = new_first_admin_token(now - timedelta(seconds=age_seconds))
    assert token is not None
    assert token_is_good(token, now) is good
    assert (create_first_admin(token, "ada@example.com", PASSWORD, now) is not None) is good


@pytest.mark.django_db
def test_a_new_link_ends_the_one_before() -> None:
    now = timezone.now()
    first, second = new_first_admin_token(now), new_first_admin_token(now)
    assert first is not None
    assert second is not None
    assert not token_is_good(first, now)
    assert token_is_good(second, now)


@pytest.mark.django_db
def test_the_token_itself_is_not_stored() -> None:
    token = new_first_admin_token(timezone.now())
    assert token is not None
    stored = FirstAdminLink.objects.get()
    assert token not in (stored.token_sha256, str(stored))
    assert len(token) >= 43  # 256 bits in base64


@pytest.mark.django_db
def test_a_guessed_link_is_no_page() -> None:
    assert Client().get(reverse("first_admin", args=["guess"])).status_code == 404
    new_first_admin_token(timezone.now())
    assert Client().get(reverse("first_admin", args=["guess"])).status_code == 404


def test_with_a_user_there_is_no_link(ada: Person) -> None:
    assert new_first_admin_token(timezone.now()) is None


def test_a_user_made_meanwhile_ends_the_link(link: str) -> None:
    Person.objects.create_superuser("shell@example.com", PASSWORD)
    assert Client().get(link).status_code == 404
    assert Client().post(link, {"email": "eve@example.com", "password": PASSWORD}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_presses_at_once_make_one_administrator() -> None:
    now = timezone.now()
    token = new_first_admin_token(now)
    assert token is not None

    def press(number: int) -> bool:
        try:
            return create_first_admin(token, f"person{number}@example.com", PASSWORD, now) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(press, range(4)))

    assert sorted(made) == [False, False, False, True]
    assert Person.objects.count() == 1


@pytest.mark.parametrize(
    ("email", "password", "complaint"),
    [
        ("ada@example.com", "short", "too short"),
        ("ada@example.com", "password1234", "too common"),
        ("adalovelace@example.com", "adalovelace@example", "too similar"),
        ("not an address", PASSWORD, "valid email address"),
        ("ada@example.com", "", "required"),
    ],
)
def test_a_weak_password_is_refused_in_the_field_and_the_link_stays_good(
    link: str, email: str, password: str, complaint: str
) -> None:
    answer = Client().post(link, {"email": email, "password": password})
    assert answer.status_code == 200
    assert complaint in answer.content.decode()
    assert Person.objects.count() == 0
    assert Client().get(link).status_code == 200


@pytest.mark.django_db
def test_the_shell_prints_a_link_that_works() -> None:
    out = StringIO()
    call_command("first_admin_link", address="https://planner.example.com/", stdout=out)
    address = out.getvalue().strip()
    assert address.startswith("https://planner.example.com/first-run/")
    assert Client().get(address.removeprefix("https://planner.example.com")).status_code == 200


def test_the_shell_prints_no_link_when_there_is_a_user(ada: Person) -> None:
    with pytest.raises(CommandError, match="users already"):
        call_command("first_admin_link")


@pytest.mark.django_db
def test_while_nobody_is_there_the_login_page_says_where_the_link_is() -> None:
    page = Client().get("/", follow=True)
    assert page.redirect_chain[0][0].startswith(LOGIN)
    assert "make run" in page.content.decode()
    Person.objects.create_user("ada@example.com", PASSWORD)
    assert "make run" not in Client().get(LOGIN).content.decode()


# ---- logging in and out ----


def test_after_login_the_asked_for_page_opens(ada: Person) -> None:
    client = Client()
    asked = client.get("/prices/?provider=aws")
    assert asked.status_code == 302
    answer = client.post(
        asked["Location"], {"login": "ada@example.com", "password": PASSWORD, "next": "/prices/"}
    )
    assert (answer.status_code, answer["Location"]) == (302, "/prices/")


def test_login_does_not_send_people_to_another_site(ada: Person) -> None:
    form = {"login": "ada@example.com", "password": PASSWORD, "next": "https://evil.example/"}
    assert Client().post(LOGIN, form)["Location"] == "/"


def test_wrong_password_and_unknown_user_read_the_same(ada: Person) -> None:
    def words(email: str) -> str:
        page = login(Client(), email, OTHER_PASSWORD).content.decode()
        return re.sub(r'value="[^"]*"|nonce="[^"]*"|"X-CSRFToken": "[^"]*"', "", page)

    assert words("ada@example.com") == words("nobody@example.com")


def test_a_disabled_person_cannot_log_in(ada: Person) -> None:
    Person.objects.update(is_active=False)
    client = Client()
    answer = login(client)
    assert answer.status_code == 403
    assert "switched off" in answer.content.decode()
    assert client.get("/").status_code == 302


def test_asking_to_log_out_changes_nothing_until_the_button_is_pressed(ada: Person) -> None:
    client = Client()
    login(client)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert client.get("/accounts/logout/").status_code == 200
    assert client.get("/").status_code == 200
    client.post("/accounts/logout/")
    client.cookies[settings.SESSION_COOKIE_NAME] = cookie
    assert client.get("/")["Location"].startswith(LOGIN)


@pytest.mark.parametrize(
    "address",
    [
        "signup/",
        "email/",
        "confirm-email/",
        "password/set/",
        "password/reset/",
        "password/reset/done/",
        "reauthenticate/",
        "login/code/confirm/",
        "inactive/",
    ],
)
def test_no_other_page_of_the_login_library_exists(planner_client: Client, address: str) -> None:
    assert planner_client.get("/accounts/" + address).status_code == 404
    assert Client().get("/accounts/" + address).status_code == 404


# ---- failed logins ----


def fail(times: int, email: str = "ada@example.com", **extra: str) -> None:
    for _ in range(times):
        login(Client(), email, OTHER_PASSWORD, **extra)


def test_after_eight_failures_the_pair_waits_and_is_told_how_long(ada: Person) -> None:
    fail(7)
    assert login(Client(), password=OTHER_PASSWORD).status_code == 429
    refused = login(Client())  # the right password does not help now
    assert refused.status_code == 429
    assert "15 minutes" in refused.content.decode()
    assert refused["Retry-After"] == "900"


def test_seven_failures_are_forgiven_by_a_success(ada: Person) -> None:
    fail(7)
    assert login(Client()).status_code == 302
    fail(7)
    assert login(Client()).status_code == 302


def test_a_stranger_cannot_lock_somebody_out_everywhere(ada: Person) -> None:
    fail(9, REMOTE_ADDR="203.0.113.7")
    assert login(Client(), REMOTE_ADDR="203.0.113.7").status_code == 429
    assert login(Client(), REMOTE_ADDR="198.51.100.1").status_code == 302


def test_one_address_may_try_thirty_times_a_minute(ada: Person) -> None:
    for number in range(30):
        assert login(Client(), f"person{number}@example.com").status_code == 200
    refused = login(Client())
    assert refused.status_code == 429
    assert "Too many requests" in refused.content.decode()
    assert login(Client(), REMOTE_ADDR="198.51.100.1").status_code == 302


def test_other_people_at_the_same_address_can_log_in(ada: Person) -> None:
    fail(9, "bob@example.com")
    assert login(Client()).status_code == 302


def test_capital_letters_do_not_start_a_new_count(ada: Person) -> None:
    for email in ("ada@example.com", "Ada@example.com", "ADA@EXAMPLE.COM", " ada@example.com"):
        fail(2, email)
    assert login(Client()).status_code == 429


def test_an_invented_forwarding_header_does_not_help(ada: Person) -> None:
    for number in range(9):
        login(Client(), password=OTHER_PASSWORD, HTTP_X_FORWARDED_FOR=f"203.0.113.{number}")
    assert login(Client(), HTTP_X_FORWARDED_FOR="203.0.113.99").status_code == 429


def test_behind_a_proxy_the_address_that_the_proxy_saw_counts(ada: Person, settings) -> None:
    settings.TRUSTED_PROXIES = settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for number in range(9):  # the client writes the left part, the proxy appends what it saw
        login(Client(), password=OTHER_PASSWORD, HTTP_X_FORWARDED_FOR=f"10.0.0.{number}, 203.0.113.7")
    assert login(Client(), HTTP_X_FORWARDED_FOR="10.0.0.99, 203.0.113.7").status_code == 429
    assert login(Client(), HTTP_X_FORWARDED_FOR="198.51.100.1").status_code == 302


def test_after_the_wait_the_password_works_again(ada: Person) -> None:
    fail(9)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert login(Client()).status_code == 302


def test_tries_while_waiting_do_not_make_the_wait_longer(ada: Person) -> None:
    fail(9)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    assert login(Client()).status_code == 429
    latest = AccessAttempt.objects.latest("attempt_time").attempt_time
    assert latest < timezone.now() - timedelta(minutes=13)


# ---- sessions ----


def test_a_planted_session_is_worth_nothing_after_login(ada: Person) -> None:
    client = Client()
    client.session.save()
    session = client.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    client.cookies[settings.SESSION_COOKIE_NAME] = planted
    login(client)
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != planted
    assert not Session.objects.filter(session_key=planted).exists()


def test_a_session_ends_twelve_hours_after_login_however_busy(ada: Person) -> None:
    client = Client()
    login(client)
    first = Session.objects.get()
    assert first.expire_date - timezone.now() <= timedelta(hours=12)
    session = client.session
    session["touched"] = True
    session.save()
    assert Session.objects.get().expire_date == first.expire_date
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert client.get("/")["Location"].startswith(LOGIN)


def test_changing_the_password_ends_every_session(ada: Person) -> None:
    here, elsewhere = Client(), Client()
    login(here)
    login(elsewhere)
    form = {"oldpassword": PASSWORD, "password1": OTHER_PASSWORD, "password2": OTHER_PASSWORD}
    assert here.post("/accounts/password/change/", form).status_code == 302
    assert here.get("/").status_code == 302
    assert elsewhere.get("/").status_code == 302
    assert login(Client(), password=OTHER_PASSWORD).status_code == 302


def test_changing_the_password_needs_the_old_one(ada: Person) -> None:
    client = Client()
    login(client)
    form = {"oldpassword": OTHER_PASSWORD, "password1": OTHER_PASSWORD, "password2": OTHER_PASSWORD}
    assert client.post("/accounts/password/change/", form).status_code == 200
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_who_has_no_password_has_none_to_change(ada: Person) -> None:
    client = Client()
    login(client)
    ada.set_unusable_password()
    ada.save()
    client.force_login(ada)
    assert client.get("/accounts/password/change/").status_code == 404


def test_a_lost_role_is_lost_at_once_and_a_disabled_person_is_out(ada: Person) -> None:
    client = Client()
    login(client)
    assert client.get("/welcome/").status_code == 200
    Person.objects.update(role=Person.Role.VIEWER)
    assert client.get("/welcome/").status_code == 403
    Person.objects.update(is_active=False)
    assert client.get("/welcome/").status_code == 302

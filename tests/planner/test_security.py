"""Who may do what on every address, and what every answer carries."""

import json
import logging
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import URLResolver, get_resolver, reverse

from planner import log, permissions
from planner.models import Person
from planner.permissions import ADMIN, ANONYMOUS, PLANNER, ROUTES, VIEWER, route_names

ROOT = Path(settings.BASE_DIR)
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
ROLES = (ANONYMOUS, VIEWER, PLANNER, "approver", ADMIN)
RANK = {role: rank for rank, role in enumerate(ROLES)}
VALUES = {
    "slug": "no-such",
    "pk": 4_000_000,
    "fmt": "csv",
    "source": "skypilot",
    "token": "guess",
    "table": "terms",
}
CELLS = [(route, method) for route in sorted(ROUTES) for method in METHODS]


def address(route: str) -> str:
    """Return the route's address, with made-up values where it takes some."""
    pattern = dict(route_names())[route]
    return reverse(route, kwargs={name: VALUES[name] for name in re.findall(r"<(?:\w+:)?(\w+)>", pattern)})


@pytest.fixture
def clients(db: None) -> dict[str, Client]:
    found = {ANONYMOUS: Client()}
    for role in ROLES[1:]:
        found[role] = Client()
        found[role].force_login(Person.objects.create_user(f"{role}@example.com", role=role))
    return found


# ---- rights ----


def test_the_table_and_the_addresses_are_the_same() -> None:
    assert {name for name, _ in route_names()} == set(ROUTES)
    assert permissions.check_routes(None) == []


def test_without_a_login_there_is_only_the_way_in() -> None:
    open_to_all = {route for route, methods in ROUTES.items() if ANONYMOUS in methods.values()}
    assert open_to_all == {"account_login", "account_logout", "first_admin", "healthz"}


def test_a_viewer_writes_nothing_but_the_own_password() -> None:
    for route, methods in ROUTES.items():
        writing = {method: role for method, role in methods.items() if method != "GET"}
        if route not in {"account_login", "account_logout", "account_change_password", "first_admin"}:
            assert VIEWER not in writing.values(), route
            assert ANONYMOUS not in writing.values(), route


@pytest.mark.parametrize(("route", "method"), CELLS)
def test_every_address_answers_each_role_by_the_table(
    clients: dict[str, Client], route: str, method: str
) -> None:
    least = ROUTES[route].get("GET" if method in {"HEAD", "OPTIONS"} else method)
    for role, client in clients.items():
        answer = client.generic(method, address(route))
        to_login = answer.status_code == 302 and answer["Location"].startswith("/accounts/login/")
        if role == ANONYMOUS and least != ANONYMOUS:
            # a method that nobody may use says so only where the address is open to all
            is_open = ANONYMOUS in ROUTES[route].values()
            assert (answer.status_code == 405) if is_open else to_login
        elif least is None:
            assert answer.status_code == 405, role
        elif RANK[role] < RANK[least]:
            assert answer.status_code == 403, role
        else:
            assert answer.status_code not in {403, 405}, role
            assert answer.status_code < 500, role


@pytest.mark.django_db
def test_a_page_that_polls_after_its_session_ended_goes_to_the_login_as_a_whole() -> None:
    answer = Client().get("/data/", headers={"hx-request": "true"})
    assert answer["HX-Redirect"] == "/accounts/login/?next=/data/"
    assert answer.content == b""


def test_an_address_that_the_table_does_not_know_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ROUTES, "prices")
    faults = permissions.check_routes(None)
    assert [fault.id for fault in faults] == ["planner.E001"]
    assert "'prices'" in faults[0].msg


def test_a_role_that_does_not_exist_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROUTES, "prices", {"GET": "everyone"})
    assert [fault.id for fault in permissions.check_routes(None)] == ["planner.E002"]


def test_planner_required_holds_by_itself() -> None:
    request = RequestFactory().get("/")
    request.user = Person(role=Person.Role.VIEWER)
    guarded = permissions.planner_required(lambda request: HttpResponse("in"))
    with pytest.raises(permissions.PermissionDenied, match="planner"):
        guarded(request)
    request.user = Person(role=Person.Role.PLANNER)
    assert guarded(request).content == b"in"


# ---- forgery ----


@pytest.mark.parametrize("route", [route for route, methods in sorted(ROUTES.items()) if "POST" in methods])
def test_a_form_without_the_token_of_the_session_is_refused(db: None, route: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(Person.objects.create_user("ada@example.com", role=Person.Role.ADMIN))
    answer = client.post(address(route))
    assert answer.status_code == 403
    assert "out of date" in answer.content.decode()


def test_no_view_is_exempt_from_the_token() -> None:
    def views(resolver: URLResolver) -> Iterator[object]:
        for pattern in resolver.url_patterns:
            yield from views(pattern) if isinstance(pattern, URLResolver) else [pattern.callback]

    assert [view for view in views(get_resolver()) if getattr(view, "csrf_exempt", False)] == []


READ_ROUTES = [route for route, methods in sorted(ROUTES.items()) if "GET" in methods]


@pytest.mark.parametrize("route", READ_ROUTES)
def test_reading_a_page_writes_nothing(planner_client: Client, route: str) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        planner_client.get(address(route))
    writing = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP)", re.IGNORECASE)
    assert [query["sql"] for query in queries if writing.match(query["sql"])] == []


# ---- what answers carry ----


def policy(answer: HttpResponse) -> dict[str, list[str]]:
    parts = [part.split() for part in answer["Content-Security-Policy"].split(";")]
    return {name: values for name, *values in parts}


@pytest.mark.parametrize("route", READ_ROUTES)
def test_every_answer_carries_the_policy_and_the_headers(planner_client: Client, route: str) -> None:
    answer = planner_client.get(address(route))
    rules = policy(answer)
    assert rules["default-src"] == ["'none'"]
    assert {value for value in rules["script-src"] if not value.startswith("'nonce-")} == {"'self'"}
    assert {value for value in rules["style-src"] if not value.startswith("'nonce-")} == {"'self'"}
    assert rules["object-src"] == rules["base-uri"] == rules["frame-ancestors"] == ["'none'"]
    assert rules["connect-src"] == rules["form-action"] == ["'self'"]
    assert "unsafe-eval" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "no-store" in answer["Cache-Control"]
    assert re.fullmatch(r"[0-9a-f]{12}", answer["X-Request-ID"])


class Inline(HTMLParser):
    """Collect what the policy would block: scripts, styles and handlers written into the page."""

    def __init__(self, nonces: list[str]) -> None:
        super().__init__()
        self.nonces = nonces
        self.blocked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        names_bad = [name for name in values if name.startswith(("on", "hx-on")) or name == "style"]
        self.blocked += [f"<{tag} {name}>" for name in names_bad]
        is_data = values.get("type") in {"application/json", "importmap"}
        has_nonce = f"'nonce-{values.get('nonce')}'" in self.nonces
        if tag == "script" and "src" not in values and not is_data and not has_nonce:
            self.blocked.append("<script>")
        if tag == "style" and not has_nonce:
            self.blocked.append("<style>")
        source = values.get("src") or (values.get("href") if tag == "link" else "") or ""
        if source.startswith(("http:", "https:", "//")):
            self.blocked.append(source)


@pytest.mark.parametrize("route", READ_ROUTES)
def test_no_page_holds_what_its_own_policy_would_block(planner_client: Client, route: str) -> None:
    for client in (planner_client, Client()):
        answer = client.get(address(route))
        if not answer["Content-Type"].startswith("text/html"):
            continue
        page = Inline(policy(answer)["script-src"] + policy(answer)["style-src"])
        page.feed(answer.content.decode())
        assert page.blocked == []


def test_names_from_files_reach_pages_through_escaping_alone() -> None:
    templates = [path for path in (ROOT / "templates").rglob("*.html") if "|safe" in path.read_text()]
    assert templates == []
    code = [*(ROOT / "planner").rglob("*.py"), *(ROOT / "costs").rglob("*.py")]
    assert [path for path in code if re.search(r"\bmark_safe\(|csrf_exempt", path.read_text())] == []


def test_a_host_name_that_is_not_ours_is_refused(planner_client: Client) -> None:
    assert planner_client.get("/", headers={"host": "evil.example"}).status_code == 400


def test_a_fault_of_ours_shows_a_number_that_the_log_has_too(
    planner_client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError(f"cannot open /var/secret with {settings.SECRET_KEY}")

    monkeypatch.setattr("planner.views.accounts.JsonResponse", broken)
    planner_client.raise_request_exception = False
    with caplog.at_level(logging.ERROR, "django.request"):
        answer = planner_client.get("/healthz")
    assert answer.status_code == 500
    page = answer.content.decode()
    assert "RuntimeError" not in page
    assert "/var/secret" not in page
    assert settings.SECRET_KEY not in page
    record = next(record for record in caplog.records if record.name == "django.request")
    log.NameRequest().filter(record)
    assert answer["X-Request-ID"] in record.request_note  # type: ignore[attr-defined]
    log.HideSecrets().filter(record)
    assert settings.SECRET_KEY not in logging.Formatter().format(record)


def test_what_a_page_refuses_is_one_line_in_the_log(
    viewer_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "django.request"):
        assert viewer_client.get("/scenarios/new/").status_code == 403
    record = next(record for record in caplog.records if record.name == "django.request")
    log.NameRequest().filter(record)
    assert len(logging.Formatter().format(record).splitlines()) == 1


def test_the_sign_of_life_tells_when_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **kwargs: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr("planner.views.accounts.connection.cursor", away)
    answer = Client().get("/healthz")
    assert (answer.status_code, json.loads(answer.content)) == (503, {"database": "unreachable"})


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("Not Found: /first-run/AbC-123_x/", "Not Found: /first-run/********/"),
        (f"key is {settings.SECRET_KEY}!", "key is ********!"),
        ("broker redis://:broker%20word@redis:6379/0", "broker redis://:********@redis:6379/0"),
        ("broker says: broker word is wrong", "broker says: ******** is wrong"),
        ("FATAL: data-base-word", "FATAL: ********"),
        ("100 % of rows", "100 % of rows"),
    ],
)
def test_the_log_holds_no_secret(line: str, written: str, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.REDIS_URL = "redis://:broker%20word@redis:6379/0"
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", "data-base-word")
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "%s", (line,), None)
    assert log.HideSecrets().filter(record)
    assert record.getMessage() == written


# ---- uploads ----


def _upload(client: Client, size: int, settings) -> HttpRequest:
    settings.UPLOAD_MAX_BYTES = 100_000
    file = SimpleUploadedFile("prices.csv", b"x" * size)
    answer = client.post(reverse("upload"), {"source": "skypilot", "file": file})
    assert answer.status_code < 500
    return answer.wsgi_request


def test_an_upload_at_the_limit_is_taken_and_one_byte_more_is_not(planner_client: Client, settings) -> None:
    at_limit = _upload(planner_client, 100_000, settings)
    assert at_limit.FILES["file"].size == 100_000
    above = _upload(planner_client, 100_001, settings)
    assert not above.FILES
    assert above.upload_too_large  # type: ignore[attr-defined] # set by the handler for the form
    assert above.POST["source"] == "skypilot"  # what was typed is kept


def test_a_body_of_form_fields_beyond_the_limit_is_refused(planner_client: Client) -> None:
    body = BytesIO(b"name=" + b"x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1))
    answer = planner_client.post(
        reverse("scenario_new"), body.getvalue(), content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code == 400

"""Settings, read from the environment; wrong values stop the start with one clear line.

Without any variable set: SQLite in WAL mode under var/, no Redis, pages on this machine only.
"""

import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(os.environ.get("VAR_DIR", BASE_DIR / "var"))
RAW_DIR = VAR_DIR / "raw"  # bytes of every file read, named by their SHA-256


def _flag(name: str, default: bool = False) -> bool:
    text = os.environ.get(name, "1" if default else "0").strip().lower()
    if text not in {"0", "1", "true", "false", "yes", "no"}:
        raise ImproperlyConfigured(f"{name}={text!r}: write 1 or 0")
    return text in {"1", "true", "yes"}


def _count(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or int(text) > 1_000_000:
        raise ImproperlyConfigured(f"{name}={text!r}: write a whole number, 0 or more")
    return int(text)


def _list(name: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


def _seconds(name: str, default: float, least: float = 0.001) -> float:
    text = os.environ.get(name, str(default))
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value < 1e6:
        raise ImproperlyConfigured(f"{name}={text!r}: write a number of seconds, {least:g} or more")
    return value


def _log_level() -> str:
    level = os.environ.get("LOG_LEVEL", "WARNING").upper()
    if level not in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}:
        raise ImproperlyConfigured(f"LOG_LEVEL={level!r}: write DEBUG, INFO, WARNING, ERROR or CRITICAL")
    return level


def _secret_key() -> str:
    """Return the signing key: given, or made once and kept in var/ with owner-only rights."""
    given = os.environ.get("SECRET_KEY", "")
    if given:
        if len(given) < 50:
            raise ImproperlyConfigured("SECRET_KEY: at least 50 characters are needed")
        return given
    path = VAR_DIR / "secret_key"
    try:
        VAR_DIR.mkdir(parents=True, exist_ok=True)
        # O_EXCL: of two processes that start together, one writes and the other reads
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if not path.is_file():
            raise ImproperlyConfigured(f"VAR_DIR={VAR_DIR}: name a folder") from None
    except OSError as error:
        raise ImproperlyConfigured(f"VAR_DIR={VAR_DIR} cannot be written: {error.strerror}") from error
    else:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(64))
    key = path.read_text().strip()
    if len(key) < 50:
        raise ImproperlyConfigured(f"{path} holds no key: remove the file and start again")
    return key


DEBUG = _flag("DEBUG")
SECRET_KEY = _secret_key()
# this machine itself is always let in: health checks come from there
ALLOWED_HOSTS = [*_list("ALLOWED_HOSTS"), "127.0.0.1", "localhost", "[::1]"]
if any("*" in host for host in ALLOWED_HOSTS):
    raise ImproperlyConfigured("ALLOWED_HOSTS: name each host; * would let any site pose as this one")
CSRF_TRUSTED_ORIGINS = _list("CSRF_TRUSTED_ORIGINS")
for _origin in CSRF_TRUSTED_ORIGINS:
    if not _origin.startswith(("https://", "http://")):
        raise ImproperlyConfigured(f"CSRF_TRUSTED_ORIGINS={_origin!r}: write it as https://host")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "axes",
    "csp",
    "django_filters",
    "django_htmx",
    "django_tables2",
    "lucide",
    "costs",
    "planner",
]

MIDDLEWARE = [
    "planner.requests.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "planner.permissions.LoginMiddleware",
    "planner.permissions.RoleMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "planner.urls"
WSGI_APPLICATION = "planner.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "planner.context.page",
            ],
            "builtins": ["lucide.templatetags.lucide", "planner.templatetags.units"],
        },
    }
]


def _database() -> dict[str, Any]:
    url = os.environ.get("DATABASE_URL", "")
    VAR_DIR.mkdir(parents=True, exist_ok=True)
    try:
        parsed = dj_database_url.parse(url or f"sqlite:///{VAR_DIR / 'gpu-planner.sqlite3'}", conn_max_age=60)
    except (ValueError, dj_database_url.ParseError, dj_database_url.UnknownSchemeError) as error:
        # the value may hold a password: it is not repeated
        raise ImproperlyConfigured(
            "DATABASE_URL: write postgresql://user:password@host:5432/name or sqlite:////path/to/file"
        ) from error
    config: dict[str, Any] = dict(parsed)
    if config["ENGINE"] not in {"django.db.backends.sqlite3", "django.db.backends.postgresql"}:
        raise ImproperlyConfigured("DATABASE_URL: PostgreSQL and SQLite are the two that work here")
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = {
            # one writer at a time, readers never wait: take the write lock at BEGIN, not halfway through
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA busy_timeout=20000;",
        }
    else:
        config["CONN_HEALTH_CHECKS"] = True
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL", "")
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise ImproperlyConfigured("REDIS_URL: write redis://:password@host:6379/0")

# Background work (reliability of jobs): every time span is a setting so that fault tests take seconds
JOB_LEASE_SECONDS = _seconds("JOB_LEASE_SECONDS", 60)
JOB_TICK_SECONDS = _seconds("JOB_TICK_SECONDS", 30)
JOB_POLL_SECONDS = _seconds("JOB_POLL_SECONDS", 0.5)  # how often the worker without Redis looks for work
JOB_HINT_SECONDS = _seconds("JOB_HINT_SECONDS", 30)  # a queued job this old gets its Celery message again
JOB_PROGRESS_SECONDS = _seconds("JOB_PROGRESS_SECONDS", 1)
JOB_MAX_ATTEMPTS = 5
JOB_TIME_LIMIT_SECONDS = _seconds("JOB_TIME_LIMIT_SECONDS", 600)  # of one job in a Celery worker
CELERY_VISIBILITY_SECONDS = _seconds("CELERY_VISIBILITY_SECONDS", 900)  # above the time limit
REDIS_EVICTION_ACCEPTED = _flag("REDIS_EVICTION_ACCEPTED")  # for a managed Redis without noeviction
INGEST_SCHEDULE = os.environ.get("INGEST_SCHEDULE", "").split()  # such as "aws_prices?region=us-east-1"
JOB_KINDS = {  # what runs for each kind of job: a function that takes the claimed job
    "ingest": "costs.ingest.run_ingest",
    "preview": "costs.ingest.run_preview",
    "undo": "costs.undo.run_undo",
    "sample": "planner.sample.load.run_load",
}
INGEST_CHUNK_ROWS = 2_000
INGEST_CHUNK_PAUSE_SECONDS = _seconds("INGEST_CHUNK_PAUSE_SECONDS", 0, least=0)

UPLOAD_MAX_BYTES = 64 * 1024 * 1024
DECOMPRESSED_MAX_BYTES = 512 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # form fields without files
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000
DATA_UPLOAD_MAX_NUMBER_FILES = 5
FILE_UPLOAD_HANDLERS = [
    "planner.uploads.LimitedUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTH_USER_MODEL = "planner.Person"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_FORMS = {"login": "planner.forms.accounts.LoginForm"}
ACCOUNT_ADAPTER = "planner.accounts.AccountAdapter"
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True  # every session ends, this one too
# axes counts failed logins, in the database; what stays here is the slower limit per address
ACCOUNT_RATE_LIMITS = {"login_failed": None}
FIRST_ADMIN_LINK_SECONDS = _seconds("FIRST_ADMIN_LINK_SECONDS", 15 * 60)
TRUSTED_PROXIES = _count("TRUSTED_PROXIES", 0)  # how many proxies of ours stand in front
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES

# a stranger can lock out a (user, address) pair, never the user everywhere; counters live in the database
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25  # hours
AXES_USERNAME_FORM_FIELD = "login"
AXES_USERNAME_CALLABLE = "planner.accounts.login_name"
AXES_CLIENT_IP_CALLABLE = "planner.accounts.client_address"
AXES_LOCKOUT_CALLABLE = "planner.accounts.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the wait that the page names is the wait
AXES_DISABLE_ACCESS_LOG = True

SERVED_OVER_TLS = _flag("SERVED_OVER_TLS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_TLS
SESSION_COOKIE_NAME = "__Host-session" if SERVED_OVER_TLS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if SERVED_OVER_TLS else "csrf"
CSRF_COOKIE_HTTPONLY = True  # scripts take the token from the page
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if SERVED_OVER_TLS:
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        # plotly writes style attributes on its own svg; attributes alone are let through, never sheets
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "planner.static.WheelFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "planner.static.HashedStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = False

MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"secrets": {"()": "planner.log.HideSecrets"}, "request": {"()": "planner.log.NameRequest"}},
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}{request_note}", "style": "{"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request", "secrets"]},
    },
    "root": {"handlers": ["console"], "level": _log_level()},
    # Django's own handlers would write the same lines once more, unfiltered
    "loggers": {
        "django": {"handlers": [], "level": "NOTSET"},
        "django.server": {"propagate": True},
        "waitress.queue": {"level": "ERROR"},  # that a request waits for a thread is no news
    },
}

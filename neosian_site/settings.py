"""Every setting, read from the environment once, with a type and a safe default.

A secret ``NAME`` may also come from the file that ``NAME_FILE`` names. A value that cannot be read refuses to start.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import django
import environ

from neosian_site import __version__
from neosian_site.core import embedded, logs, secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()


def secret(name: str) -> str | None:
    """The value of ``name``, or the content of the file ``name_FILE`` names; ``None`` when neither is set."""
    # As it stands: ``env.str`` takes an empty value for none, and one that begins with "$" for another's name.
    value = os.environ.get(name)
    if value is not None:
        return value
    file: str | None = env.str(f"{name}_FILE", default=None)
    return None if file is None else Path(file).read_text().rstrip("\n")


# --- The process -----------------------------------------------------------------------------------------------------

DEBUG = False
# The API never builds a URL from the Host header.
ALLOWED_HOSTS = env.list("NEOSIAN_ALLOWED_HOSTS", default=["*"])
# Where the embedded database and other state live.
NEOSIAN_DATA_DIR = Path(env.str("NEOSIAN_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()

# "off" takes the admin away: no page, no session, no static file.
NEOSIAN_ADMIN = env.bool("NEOSIAN_ADMIN", default=True)


def signing_key() -> tuple[str, bool]:
    """The key that signs the admin's sessions, and whether every process of this installation has the same one."""
    given = secret("NEOSIAN_SECRET_KEY")
    if given:
        return given, True
    if NEOSIAN_ADMIN:
        with contextlib.suppress(OSError):  # A folder that cannot be written: neosian.W006 says so.
            return secret_key.kept_in(NEOSIAN_DATA_DIR), True
    return secrets.token_urlsafe(50), not NEOSIAN_ADMIN


SECRET_KEY, NEOSIAN_SECRET_KEY_IS_KEPT = signing_key()

INSTALLED_APPS = [
    "django.contrib.postgres",
    # The admin's. Without it they stay, so that the tables are the same whatever the setting.
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "neosian_site",
    "authz",
    "conversations",
    "memory",
    "search",
]
# The admin's, and only for its paths: each contract of the API authenticates, reads and answers by itself.
MIDDLEWARE = [
    "neosian_site.admin.middleware.Static",
    "neosian_site.admin.middleware.Door",
    "neosian_site.admin.middleware.Security",
    "neosian_site.admin.middleware.Sessions",
    "neosian_site.admin.middleware.Csrf",
    "neosian_site.admin.middleware.Authentication",
    "neosian_site.admin.middleware.Messages",
    "neosian_site.admin.middleware.Framing",
]
ROOT_URLCONF = "neosian_site.urls"
WSGI_APPLICATION = "neosian_site.wsgi.application"
APPEND_SLASH = False
# Each contract reads bodies with its own cap; Django's would answer HTML.
DATA_UPLOAD_MAX_MEMORY_SIZE = None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False

# --- The database ----------------------------------------------------------------------------------------------------

DATABASE_URL = secret("DATABASE_URL") or embedded.database_url(NEOSIAN_DATA_DIR)
# How long connecting may take before a request is refused with 503, in seconds.
NEOSIAN_DB_WAIT = env.float("NEOSIAN_DB_WAIT", default=5.0)
# The same for waiting behind another request's lock; 0 waits for ever, as commands do. The server sets it
# (deploy/gunicorn.conf.py).
NEOSIAN_DB_LOCK_WAIT = env.float("NEOSIAN_DB_LOCK_WAIT", default=0.0)
# How long one statement may run, in seconds; 0 for ever. Set by the server likewise.
NEOSIAN_DB_STATEMENT_WAIT = env.float("NEOSIAN_DB_STATEMENT_WAIT", default=0.0)
# Executions after which a statement is prepared on its connection; -1 never (for poolers that cannot follow it).
NEOSIAN_DB_PREPARE_AFTER = env.int("NEOSIAN_DB_PREPARE_AFTER", default=2)


def database() -> dict[str, Any]:
    """``DATABASE_URL`` as Django's setting."""
    config: dict[str, Any] = environ.Env.db_url_config(DATABASE_URL)
    options: dict[str, Any] = config.setdefault("OPTIONS", {})
    # A socket folder travels as a query parameter or, encoded, in the host's place; Django looks for it under HOST.
    config["HOST"] = options.pop("host", None) or unquote(config.get("HOST", ""))
    # Parameters travel beside the statement, so that a prepared statement can be used again.
    options["server_side_binding"] = True
    options["prepare_threshold"] = None if NEOSIAN_DB_PREPARE_AFTER < 0 else NEOSIAN_DB_PREPARE_AFTER
    options.setdefault("connect_timeout", max(2, round(NEOSIAN_DB_WAIT)))
    # A database host that vanishes in the middle of a statement is given up, too.
    options.setdefault("tcp_user_timeout", round(NEOSIAN_DB_WAIT * 2000))
    options.setdefault("application_name", "neosian-site")
    # Each serving thread keeps its connection: as many as a pool sized to the threads would hold, without the pool.
    return {
        **config,
        "ENGINE": "neosian_site.core.postgres",
        "CONN_MAX_AGE": None,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


DATABASES = {"default": database()}

# --- The API ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {"UNAUTHENTICATED_USER": None, "UNAUTHENTICATED_TOKEN": None}
# For the description the tests hold the frozen contract against (neosian_site/api/wire/schema.py).
SPECTACULAR_SETTINGS = {"OAS_VERSION": "3.1.1"}

# One token, or a table of actor[@scope-prefix][+id-prefix]=token entries; for project "default".
NEOSIAN_SERVE_TOKEN = secret("NEOSIAN_SERVE_TOKEN")
# A TOML file of exact-scope grants for the table's clients; read once. Empty counts as unset.
NEOSIAN_SERVE_GRANTS = os.environ.get("NEOSIAN_SERVE_GRANTS") or None

# --- The admin -------------------------------------------------------------------------------------------------------

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "neosian_site" / "admin" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
# Served straight from the packages, no collecting step. Their versions stand in the address, so a browser may keep
# what it has for ever.
STATIC_URL = f"/static/{__version__}-{django.__version__}/"
STATICFILES_DIRS = [BASE_DIR / "neosian_site" / "admin" / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_MAX_AGE = 365 * 24 * 3600

# "on" where people reach the admin over https: cookies travel on it alone, and the proxy's X-Forwarded-Proto, which it
# must set itself, says how a request came.
NEOSIAN_HTTPS = env.bool("NEOSIAN_HTTPS", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if NEOSIAN_HTTPS else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = NEOSIAN_HTTPS
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "neosian_session", "neosian_csrf"
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = "/admin/"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# A client of many scopes is a form of many fields; the body's size is bounded by the middleware.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 50_000
LOGIN_URL = "/admin/login/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- Logs ------------------------------------------------------------------------------------------------------------

NEOSIAN_LOG_LEVEL = env.str("NEOSIAN_LOG_LEVEL", default="INFO").upper()
# "problems" logs requests that failed or took over a second; "all" logs each one.
NEOSIAN_REQUEST_LOG = env.str("NEOSIAN_REQUEST_LOG", default="problems")
LOGGING_CONFIG = None
logs.configure(NEOSIAN_LOG_LEVEL)
# At DEBUG it spells out all a page was given, a new client's token too.
logging.getLogger("django.template").setLevel(logging.WARNING)

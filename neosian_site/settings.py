"""Every setting, read from the environment once, with a type and a safe default.

A secret ``NAME`` may also come from the file that ``NAME_FILE`` names. A value that cannot be read refuses to start.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ

from neosian_site.core import embedded, logs

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
# Nothing is signed with it yet; set it where several processes must agree on it.
SECRET_KEY = secret("NEOSIAN_SECRET_KEY") or secrets.token_urlsafe(50)
# The API never builds a URL from the Host header.
ALLOWED_HOSTS = env.list("NEOSIAN_ALLOWED_HOSTS", default=["*"])
# Where the embedded database and other state live.
NEOSIAN_DATA_DIR = Path(env.str("NEOSIAN_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()

INSTALLED_APPS = [
    "django.contrib.postgres",
    "neosian_site",
    "authz",
    "conversations",
    "memory",
    "search",
]
# The API needs none: each contract authenticates, reads and answers by itself.
MIDDLEWARE: list[str] = []
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

# One token, or a table of actor[@scope-prefix][+id-prefix]=token entries; for project "default".
NEOSIAN_SERVE_TOKEN = secret("NEOSIAN_SERVE_TOKEN")

# --- Logs ------------------------------------------------------------------------------------------------------------

NEOSIAN_LOG_LEVEL = env.str("NEOSIAN_LOG_LEVEL", default="INFO").upper()
# "problems" logs requests that failed or took over a second; "all" logs each one.
NEOSIAN_REQUEST_LOG = env.str("NEOSIAN_REQUEST_LOG", default="problems")
LOGGING_CONFIG = None
logs.configure(NEOSIAN_LOG_LEVEL)

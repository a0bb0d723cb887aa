"""How gunicorn serves the product. Every figure can be set from the environment; docs/operating.md explains them.

gunicorn -c deploy/gunicorn.conf.py
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

# Before the application reads its settings: a request that waits too long for another one's lock, or for a statement
# of its own, is refused.
os.environ.setdefault("NEOSIAN_DB_LOCK_WAIT", os.environ.get("NEOSIAN_DB_WAIT", "5"))
os.environ.setdefault("NEOSIAN_DB_STATEMENT_WAIT", "60")

bind = f"{os.environ.get('NEOSIAN_BIND', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"
wsgi_app = "neosian_site.wsgi"
worker_class = os.environ.get("NEOSIAN_WORKER_CLASS", "neosian_site.serving.worker.PollWorker")
# Processes use cores; threads cover the time a request waits for the database or a slow client. Each thread keeps one
# database connection: processes x threads is what the database must admit.
workers = int(os.environ.get("NEOSIAN_WORKERS", str(os.cpu_count() or 1)))
threads = int(os.environ.get("NEOSIAN_THREADS", "4"))
worker_connections = int(os.environ.get("NEOSIAN_WORKER_CONNECTIONS", "1000"))
# Published clients drop idle connections after 5 s: the server must be the more patient side.
keepalive = int(os.environ.get("NEOSIAN_KEEPALIVE", "75"))
timeout = 60
graceful_timeout = int(os.environ.get("NEOSIAN_GRACEFUL_SECONDS", "30"))
backlog = 2048
# The application logs requests itself, without tokens or content.
accesslog = None
errorlog = "-"
loglevel = os.environ.get("NEOSIAN_LOG_LEVEL", "info").lower()
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Refuse to start, with exit status 2, what could never serve."""
    from authz import startup
    from neosian_site.core.errors import InvalidValue
    from neosian_site.settings import NEOSIAN_SERVE_GRANTS, NEOSIAN_SERVE_TOKEN

    try:
        startup.check(NEOSIAN_SERVE_TOKEN, NEOSIAN_SERVE_GRANTS)
    except InvalidValue as refused:
        print(f"error: {refused}", file=sys.stderr)
        sys.exit(2)


def post_worker_init(worker: Any) -> None:
    """What start-up made lives for ever: keep the collector from walking it, and from running every few requests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)

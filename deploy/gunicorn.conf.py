"""How gunicorn serves the product; every figure can be set from the environment."""

from __future__ import annotations

import os

# Before the application reads its settings.
threads = int(os.environ.get("NEOSIAN_THREADS", "4"))
os.environ.setdefault("NEOSIAN_DB_POOL", str(threads))

bind = f"{os.environ.get('NEOSIAN_BIND', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"
wsgi_app = "neosian_site.wsgi"
workers = int(os.environ.get("NEOSIAN_WORKERS", "2"))
worker_class = os.environ.get("WC", "gthread")
keepalive = 75
graceful_timeout = 30
timeout = 60
accesslog = None
control_socket_disable = True

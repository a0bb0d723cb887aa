"""``manage.py serve``: everything a first start needs, then gunicorn until it is told to stop."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType

import click
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authz import startup, token_table
from authz.models import ApiToken
from authz.models.project import DEFAULT_SLUG
from authz.operations import clients, projects
from neosian_site.core.errors import InvalidValue
from neosian_site.management.bridge import ClickCommand, json_option, show

READY_SECONDS = 60.0
_CONFIG = "deploy/gunicorn.conf.py"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Announcement:
    """What a person needs to make the first call."""

    url: str
    client: str | None
    token: str | None
    curl: str | None
    # None: switched off.
    admin: str | None = None


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8000, envvar="PORT", show_default=True)
@json_option
def serve(port: int, as_json: bool) -> int:
    """Bring the database up to date and serve the API on 127.0.0.1 until SIGINT or SIGTERM.

    Without NEOSIAN_SERVE_TOKEN, and while project "default" has no client, it makes one and prints its token once.
    """
    try:
        startup.check(settings.NEOSIAN_SERVE_TOKEN, settings.NEOSIAN_SERVE_GRANTS)
    except InvalidValue as refused:
        raise click.UsageError(str(refused)) from refused
    host = os.environ.get("NEOSIAN_BIND", "127.0.0.1")
    if _taken(host, port):
        raise click.ClickException(f"port {port} is in use; stop what serves there, or set PORT to another")
    call_command("migrate", verbosity=0, interactive=False)
    url = f"http://{host}:{port}"
    announcement = replace(_announcement(url), admin=f"{url}/admin/" if settings.NEOSIAN_ADMIN else None)
    server = _start(port)
    try:
        if _wait_until_ready(url, server):
            show(asdict(announcement), _text(announcement), as_json=as_json)
        return server.wait()
    finally:
        if server.poll() is None:
            server.terminate()
            server.wait()


def _taken(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def _start(port: int) -> subprocess.Popen[bytes]:
    """gunicorn in a group of its own, so that Ctrl-C reaches it once, through us, and the database stops last."""
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-c", str(Path(settings.BASE_DIR) / _CONFIG)],
        cwd=settings.BASE_DIR,
        env={**os.environ, "PORT": str(port), "DATABASE_URL": settings.DATABASE_URL},
        start_new_session=True,
        preexec_fn=_stop_with_parent,  # noqa: PLW1509 - no threads run yet
    )

    def stop(number: int, frame: FrameType | None) -> None:
        server.terminate()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    return server


def _stop_with_parent() -> None:
    """A server whose starter was killed must not live on and hold the port and the database."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_until_ready(url: str, server: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + READY_SECONDS
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with opener.open(f"{url}/health", timeout=1):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return False


def _announcement(url: str) -> Announcement:
    if settings.NEOSIAN_SERVE_TOKEN is not None:
        return Announcement(url, None, None, None)
    project = projects.named(DEFAULT_SLUG)
    if ApiToken.objects.filter(project=project, revoked_at=None).exists():
        return Announcement(url, None, None, None)
    issued = clients.create(project=project, actor=token_table.DEFAULT_ACTOR)
    body = json.dumps({"scope": "user:me", "path": "notes/hello", "content": "hello"}, separators=(",", ":"))
    where = json.dumps({"scope": "user:me", "path": "notes/hello"}, separators=(",", ":"))
    call = f'curl -sS -H "Authorization: Bearer {issued.token}" {url}/v1/memory'
    return Announcement(url, issued.client.actor, issued.token, f"{call}/write -d '{body}' && {call}/read -d '{where}'")


def _text(made: Announcement) -> str:
    lines = [f"Serving on {made.url} (Ctrl-C stops it)."]
    if made.token is not None:
        lines += [
            f"Made client {made.client} of project {DEFAULT_SLUG}. Its token, shown only now:",
            f"  {made.token}",
            "Write a document and read it back:",
            f"  {made.curl}",
        ]
    elif settings.NEOSIAN_SERVE_TOKEN is None:
        lines += [
            f"Project {DEFAULT_SLUG} has clients; their tokens were shown when they were made. Another one:",
            f"  {sys.executable} manage.py client create --project {DEFAULT_SLUG} --actor client:NAME",
        ]
    if made.admin is not None:
        lines.append(f"Admin: {made.admin}")
        if not get_user_model().objects.filter(is_active=True, is_staff=True).exists():
            lines += [
                "Nobody can log in to it yet. While this serves, make an account in another terminal:",
                f"  {sys.executable} manage.py createsuperuser",
            ]
    return "\n".join(lines)


class Command(ClickCommand):
    help = "Serve the API; with no DATABASE_URL, on a private database of its own."
    command = serve

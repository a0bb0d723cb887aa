"""A gunicorn worker whose threads take ready connections straight from the kernel.

gunicorn's own threaded worker polls in one thread and hands each request to another and back: two thread switches, a
future, a pipe write and two selector updates for each request, all under the interpreter's lock. Here the serving
threads wait on one epoll set themselves. A connection is armed for one event at a time (``EPOLLONESHOT``), so exactly
one thread gets it, and it is armed again once its answer is sent. The main thread accepts, keeps the heartbeat and
closes what has idled too long. Parsing, answering and errors stay gunicorn's.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from types import FrameType
from typing import Any

from gunicorn import util
from gunicorn.http import wsgi
from gunicorn.workers import base
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from neosian_site.serving.arrival import AWAITED_BYTES, awaited
from neosian_site.serving.balance import Place
from neosian_site.serving.response import JoinedResponse

TICK_SECONDS = 0.5
# A worker with more connections than another by over SLACK lets that one accept first, for this long at most. The slack
# keeps clients that open a connection for each request from waiting for a balance that lasts a millisecond.
SLACK = 1
YIELD_STEPS = 40
YIELD_SECONDS = 0.0005
# How long the head, or a small body, may take to arrive; no thread waits for it.
ARRIVAL_SECONDS = 10
# A client that stops in the middle of a large body or an answer holds its thread this long at most.
STALL_SECONDS = 10
# A body nobody wanted is read on for this long and this far at most.
DRAIN_SECONDS = 2
DRAIN_BYTES = 128 * 1024 * 1024
_STALL = struct.pack("ll", STALL_SECONDS, 0)

_ARMED = select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLONESHOT
_ENDED = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class _ReadConfig:
    """gunicorn's configuration with each figure looked up once; a request reads some forty of them."""

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._cfg, name)
        setattr(self, name, value)
        return value


class PollWorker(ThreadWorker):
    """``worker_class = "neosian_site.serving.worker.PollWorker"``."""

    def init_process(self) -> None:
        self.epoll = select.epoll()
        # Every open connection, and those waiting for a request. Whoever pops one from ``idle`` owns it: dictionary
        # operations are atomic, so no lock is needed.
        self.open: dict[int, TConn] = {}
        self.idle: dict[int, TConn] = {}
        # When the first bytes of an incomplete request were seen.
        self.partial: dict[TConn, float] = {}
        self.stopped = False
        self.place = Place(self.age)
        self.cfg = _ReadConfig(self.cfg)
        base.Worker.init_process(self)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.alive = False

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        base.Worker.handle_quit(self, sig, frame)

    def run(self) -> None:
        for listener in self.sockets:
            listener.setblocking(False)
        names = (f"serve-{number}" for number in range(self.cfg.threads))
        threads = [threading.Thread(target=self._serve, name=name, daemon=True) for name in names]
        for thread in threads:
            thread.start()
        next_tick = 0.0
        while self.alive:
            self._accept_some()
            now = time.monotonic()
            if now < next_tick:
                continue
            next_tick = now + TICK_SECONDS
            self.notify()
            self._close_idle(now)
            if not self.is_parent_alive():
                break
        self._finish()
        for thread in threads:
            thread.join(2 * TICK_SECONDS)

    # The main thread -------------------------------------------------------------------------------------------------

    def _accept_some(self) -> None:
        if len(self.open) >= self.worker_connections:
            time.sleep(TICK_SECONDS / 10)
            return
        ready, _, _ = select.select(self.sockets, [], [], TICK_SECONDS)
        for listener in ready:
            if self._is_my_turn(listener):
                self._accept(listener)

    def _is_my_turn(self, listener: Any) -> bool:
        for _ in range(YIELD_STEPS):
            least = self.place.least_elsewhere()
            if least is None or len(self.open) <= least + SLACK:
                return True
            time.sleep(YIELD_SECONDS)
            if not select.select([listener], [], [], 0)[0]:
                return False
        return True

    def _accept(self, listener: Any) -> None:
        try:
            client, address = listener.accept()
        except OSError:
            return  # Another worker took it, or the client has gone.
        client.setblocking(True)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            client.setsockopt(socket.SOL_SOCKET, option, _STALL)
        conn = TConn(self.cfg, client, address, listener.getsockname())
        conn.sock.setblocking(True)
        conn.data_ready = True  # It is handed on only once it is readable.
        conn.set_timeout()
        descriptor = client.fileno()
        self.open[descriptor] = conn
        self.idle[descriptor] = conn
        self.place.show(len(self.open))
        self.epoll.register(descriptor, _ARMED)

    def _close_idle(self, now: float, *, everything: bool = False) -> None:
        for descriptor, conn in list(self.idle.items()):
            if (everything or conn.timeout <= now) and self.idle.pop(descriptor, None) is conn:
                self._close(descriptor, conn)

    def _finish(self) -> None:
        """Answer what is in flight, and what kept-alive clients were just sending, then close."""
        for listener in self.sockets:
            listener.close()
        started = time.monotonic()
        linger = started + min(STOP_KEEPALIVE_LINGER, self.cfg.graceful_timeout)
        while self.open and time.monotonic() < started + self.cfg.graceful_timeout:
            self.notify()
            if time.monotonic() >= linger:
                self._close_idle(0.0, everything=True)
            time.sleep(0.02)
        self.stopped = True
        self.place.leave()

    # The serving threads ---------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        poll, idle = self.epoll.poll, self.idle
        while not self.stopped:
            for descriptor, events in poll(TICK_SECONDS, 1):
                conn = idle.pop(descriptor, None)
                if conn is None:
                    continue
                # Of a client that has sent its last byte nothing more can be awaited.
                if events & _ENDED or self._arrived(conn):
                    self._serve_one(descriptor, conn)
                else:
                    self._arm(descriptor, conn)

    def _arrived(self, conn: TConn) -> bool:
        """Whether a thread can start on the request; if not, the kernel is told what to wait for."""
        try:
            seen = conn.sock.recv(AWAITED_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True  # The parser meets the same error, and ends the connection.
        wanted = awaited(seen)
        started = self.partial.pop(conn, None)
        if wanted == 0:
            if started is not None:
                conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            return True
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
        if started is None:
            started = time.monotonic()
        self.partial[conn] = started
        conn.timeout = started + ARRIVAL_SECONDS
        return False

    def _serve_one(self, descriptor: int, conn: TConn) -> None:
        keep = self.handle(conn)
        # What was read beyond the request does not make the socket readable again.
        while keep and conn.parser is not None and conn.parser.unreader.buf.getvalue():
            keep = self.handle(conn)
        if not keep:
            self._close(descriptor, conn, graceful=True)
            return
        conn.set_timeout()
        self._arm(descriptor, conn)

    def _arm(self, descriptor: int, conn: TConn) -> None:
        self.idle[descriptor] = conn
        try:
            self.epoll.modify(descriptor, _ARMED)
        except OSError:  # Closed by the main thread in between.
            if self.idle.pop(descriptor, None) is conn:
                self._close(descriptor, conn)

    def handle_request(self, req: Any, conn: TConn) -> bool:
        """Run the application and send its answer; whether the connection can serve another request.

        gunicorn's own, less its access log and request hooks, which this product does not use.
        """
        resp, environ = wsgi.create(req, conn.sock, conn.client, conn.server, self.cfg, response_class=JoinedResponse)
        environ["wsgi.multithread"] = True
        self.nr += 1
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False
        if not self.alive or not self.cfg.keepalive:
            resp.force_close()
        pieces = self.wsgi(environ, resp.start_response)
        if not self.alive:  # Told to stop in between: nothing is sent yet, and no next request will be read.
            resp.force_close()
        try:
            for piece in pieces:
                resp.write(piece)
            resp.close()
        except OSError:
            raise
        except Exception:
            if resp.headers_sent:
                # A second answer on this connection would corrupt the first.
                self.log.exception("Error handling request")
                util.close_graceful(conn.sock)
                raise StopIteration from None
            raise
        finally:
            if hasattr(pieces, "close"):
                pieces.close()
        return not resp.should_close()

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        """Read past a refused body: a client that is still sending would meet a reset instead of its answer."""
        if not keepalive:
            return False
        return bool(conn.parser.finish_body(deadline=time.monotonic() + DRAIN_SECONDS, max_bytes=DRAIN_BYTES))

    def _close(self, descriptor: int, conn: TConn, *, graceful: bool = False) -> None:
        self.open.pop(descriptor, None)
        self.partial.pop(conn, None)
        self.place.show(len(self.open))
        with contextlib.suppress(OSError, ValueError):
            self.epoll.unregister(descriptor)
        with contextlib.suppress(OSError):
            conn.close(graceful=graceful)

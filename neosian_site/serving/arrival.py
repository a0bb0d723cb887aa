"""Whether enough of a request has arrived for a thread to take it.

A thread that starts on a request whose rest does not come waits for it, and a handful of stalled clients would hold
every thread of a process. So the bytes are looked at first, and left where they are: while the head, or a small body,
is incomplete, the connection goes on waiting in the kernel, which wakes us when the missing bytes are there. Whether
the request is well formed is the parser's business.
"""

from __future__ import annotations

import re

# Requests up to this size are awaited whole; of larger ones, the head.
AWAITED_BYTES = 16 * 1024

_HEAD_END = b"\r\n\r\n"
_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,6})[ \t]*\r\n", re.IGNORECASE)
_EXPECT = re.compile(rb"\r\nexpect:", re.IGNORECASE)


def awaited(seen: bytes) -> int:
    """The number of bytes to wait for, given those that have arrived; 0 when a thread can start."""
    end = seen.find(_HEAD_END)
    if end < 0:
        return len(seen) + 1 if len(seen) < AWAITED_BYTES else 0
    body = end + len(_HEAD_END)
    length = _CONTENT_LENGTH.search(seen, 0, body)
    # A client that expects a 100 sends no body before it is told to.
    if length is None or _EXPECT.search(seen, 0, body) is not None:
        return 0
    whole = body + int(length.group(1))
    return whole if len(seen) < whole <= AWAITED_BYTES else 0

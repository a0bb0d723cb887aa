"""How many connections each worker process holds, known to all of them.

Workers accept from one listening socket, and whichever wakes first takes a connection; one that is idle at the right
moment takes nearly all of a burst, keeps them (they are kept alive), and serves them on its one core while the others
idle. The board lets a worker that holds more than another let that one go first.
"""

from __future__ import annotations

import mmap
import os
import struct

_SLOT = struct.Struct("ii")
_SLOTS = mmap.PAGESIZE // _SLOT.size
# Made when the arbiter loads this module, so every worker forked later shares it.
_board = mmap.mmap(-1, mmap.PAGESIZE)


class Place:
    """One worker's line on the board: its process id and its number of connections."""

    def __init__(self, number: int) -> None:
        self._offset = (number % _SLOTS) * _SLOT.size
        self.show(0)

    def show(self, connections: int) -> None:
        _SLOT.pack_into(_board, self._offset, os.getpid(), connections)

    def leave(self) -> None:
        _SLOT.pack_into(_board, self._offset, 0, 0)

    def least_elsewhere(self) -> int | None:
        """The fewest connections another living worker holds; ``None`` when there is no other."""
        least: int | None = None
        for slot, (pid, connections) in enumerate(_SLOT.iter_unpack(_board[: _SLOTS * _SLOT.size])):
            offset = slot * _SLOT.size
            if pid == 0 or offset == self._offset or (least is not None and connections >= least):
                continue
            if _alive(pid):
                least = connections
            else:
                _SLOT.pack_into(_board, offset, 0, 0)  # Killed without leaving.
        return least


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True

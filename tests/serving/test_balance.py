from __future__ import annotations

import os
import subprocess

from neosian_site.serving.balance import Place


def test_a_worker_alone_has_nobody_to_wait_for():
    place = Place(1)
    place.show(7)
    try:
        assert place.least_elsewhere() is None
    finally:
        place.leave()


def test_a_worker_sees_the_fewest_connections_elsewhere():
    places = [Place(number) for number in (1, 2, 3)]
    for place, connections in zip(places, (5, 2, 9), strict=True):
        place.show(connections)
    try:
        assert [place.least_elsewhere() for place in places] == [2, 5, 2]
        places[1].leave()
        assert places[0].least_elsewhere() == 9
    finally:
        for place in places:
            place.leave()


def test_a_killed_worker_counts_no_longer(monkeypatch):
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine, theirs = Place(1), Place(2)
    mine.show(3)
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: gone.pid)
        theirs.show(0)
    try:
        assert mine.least_elsewhere() is None
    finally:
        mine.leave()
        theirs.leave()


def test_numbers_beyond_the_board_share_its_lines():
    place = Place(10**9)
    place.show(1)
    place.leave()
    assert place.least_elsewhere() is None

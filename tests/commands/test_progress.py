"""Progress on standard error: at once on a terminal, patiently in a log, never in between."""

from __future__ import annotations

import pytest

from neosian_site.management import bridge
from neosian_site.management.bridge import Progress


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when a test says so."""
    seconds = [100.0]
    monkeypatch.setattr(bridge.time, "monotonic", lambda: seconds[0])
    return seconds


def _at(clock, progress, *moments, total=9):
    for done, moment in enumerate(moments):
        clock[0] = 100.0 + moment
        progress(done, total)


def test_short_work_says_nothing_in_a_log(clock, capsys):
    progress = Progress("moved")
    _at(clock, progress, 0, 0.5, 1.9)
    progress.close()
    assert capsys.readouterr() == ("", "")


def test_long_work_says_so_after_two_seconds_and_then_every_ten(clock, capsys):
    progress = Progress("moved")
    _at(clock, progress, 0, 2.1, 3, 12, 12.2, 30)
    progress.close()
    assert capsys.readouterr() == ("", "moved: 1 of 9\nmoved: 4 of 9\nmoved: 5 of 9\n")


def test_a_terminal_is_told_at_once_and_its_line_is_written_over(clock, capsys, monkeypatch):
    monkeypatch.setattr(bridge.sys.stderr, "isatty", lambda: True)
    progress = Progress("moved")
    _at(clock, progress, 0, 0.1, 0.6, total=None)
    progress.close()
    assert capsys.readouterr() == ("", "\rmoved: 0\rmoved: 2\n")

"""Something moves on a terminal while a program is at work, whatever it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from difftile import ticking
from tests.terminals import at_terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the clock needs POSIX")
# `sum` of a range keeps Python's lock, as compilers do.
HOLDS = """
import time
from difftile.ticking import ticking
from difftile.progress import show_status
with ticking():
    show_status("compiling step")
    start = time.perf_counter()
    while time.perf_counter() - start < 2.5:
        sum(range(3 * 10**7))
    show_status("")
    print("it walks")
"""
CLOCK = re.compile(r"\x1b7\x1b\[72G\x1b\[K +(\d+:\d\d)\x1b8")


def test_a_clock_ticks_while_compilers_hold_the_lock_of_python() -> None:
    written = at_terminal(["-c", HOLDS])
    assert written.startswith("\rcompiling step\x1b[K")
    before, _, end = written.partition("it walks\r\n")
    assert CLOCK.findall(before)[:2] == ["0:01", "0:02"]
    assert before.endswith("\r\x1b[K")
    assert end == "\x1b7\x1b[72G\x1b[K\x1b8"  # the clock removes itself from the last line


@pytest.mark.parametrize("setting", [{"TERM": "dumb"}, {"columns": 30}])
def test_terminals_without_room_or_control_sequences_have_no_clock(setting: dict) -> None:
    program = "import time\nfrom difftile.ticking import ticking\nwith ticking(): time.sleep(1.2)"
    assert at_terminal(["-c", program], **setting) == ""


def test_files_and_pipes_have_no_clock() -> None:
    program = "import time\nfrom difftile.ticking import ticking\nwith ticking(): time.sleep(1.2)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""


def test_a_bar_shows_on_a_terminal_that_does_not_know_its_size() -> None:
    program = (
        "from difftile.progress import progress_bar\n"
        "for _ in progress_bar(range(3), desc='learning', unit='run'): pass"
    )
    assert "learning: 100%" in at_terminal(["-c", program], columns=0)


def test_durations_look_as_on_a_clock() -> None:
    said = [ticking.clock_time(seconds) for seconds in (7, 67, 3727)]
    assert said == ["0:07", "1:07", "1:02:07"]
    assert max(map(len, said)) < ticking.WIDTH


DEMO = '''
"""Something slow."""
def main(argv):
    sum(range(10**8))
    sum(range(10**8))
    return 0
'''
RUN = """
import sys
from pathlib import Path
from pathlib import Path
from difftile.commands import demo
demo.gallery = lambda: Path(sys.argv[1])
demo.main(sys.argv[2:])
"""


@pytest.mark.parametrize(("rest", "ticks"), [((), True), (("--help",), False)])
def test_demos_tick_from_their_first_line_on(
    tmp_path: Path, rest: tuple[str, ...], ticks: bool
) -> None:
    (tmp_path / "scenes").mkdir()
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / "__init__.py").touch()
    (tmp_path / "demos" / "slow.py").write_text(DEMO.lstrip(), encoding="utf-8")
    written = at_terminal(["-c", RUN, str(tmp_path), "slow", *rest])
    assert bool(CLOCK.search(written)) == ticks
    assert ("slow: Something slow." in written) == ticks

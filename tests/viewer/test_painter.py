"""The process that has the window: it ends with the app, however that ends, and the app with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from difftile.diagnostics import ViewerError
from difftile.viewer.backends import child_process
from difftile.viewer.backends.native_window import WindowBackend
from difftile.viewer.events import Close
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.primitives import Facets, Markers
from difftile.viewer.screen import Area, Pixels
from tests.viewer.screen import Screen, missing_tools

pytestmark = [
    pytest.mark.skipif(bool(missing_tools()), reason=missing_tools()),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc"),
]

# Ways in which an app can end while its window is open.
ENDS = {
    "returns": "pass",
    "raises": "raise ValueError",
    "exits at once": "os._exit(3)",
    "is interrupted": "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
    "is terminated": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "is killed, and a child lives on": "os.fork() or time.sleep(5); os.kill(os.getpid(), 9)",
    "is killed while it sends": ("window.child._connection._send(b'abc'); os.kill(os.getpid(), 9)"),
}
# One process makes an app for each of them, as most of the time goes into imports.
APPS = """
import os, signal, sys, time
from difftile.viewer.backends.native_window import WindowBackend
for title, end in {ends!r}.items():
    if os.fork() == 0:
        window = WindowBackend()
        window.open("the app that " + title, 320, 200)
        os.write(1, f"{{window.child.pid}} {{title}}\\n".encode())  # in one piece
        exec(end)
        sys.exit()
for _ in range({count}):
    os.wait()
"""


@pytest.fixture
def window(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowBackend]:
    monkeypatch.setenv("DISPLAY", screen.display)
    window = WindowBackend()
    window.open("painted", 320, 200)
    yield window
    window.close()


def running(process: int) -> bool:
    """Tell whether there is a process that has not ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def await_true(condition) -> None:
    """Wait until something is true, which has to be soon."""
    end = time.monotonic() + 60  # where nothing is cached yet, processes take long to start
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_ends_with_the_app_however_that_ends(screen: Screen) -> None:
    program = APPS.format(ends=ENDS, count=len(ENDS))
    environment = {**os.environ, "DISPLAY": screen.display}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as apps:
        assert apps.stdout is not None
        painters = {}
        for _ in ENDS:
            process, title = apps.stdout.readline().strip().split(" ", 1)
            painters[title] = int(process)
        assert set(painters) == set(ENDS)
        for process in painters.values():
            await_true(lambda process=process: not running(process))
        apps.wait(20)
    assert not screen.windows("the app that")


def test_an_app_ends_with_it_and_says_so(
    window: WindowBackend, capfd: pytest.CaptureFixture[str]
) -> None:
    assert window.child is not None
    os.kill(window.child.pid, signal.SIGKILL)
    events = []
    await_true(lambda: events.extend(window.poll()) or window.closed)
    assert events == [Close()]
    assert capfd.readouterr().err == (
        "difftile: the window process was ended by signal 9; "
        "the app ends as if it had been closed\n"
    )
    assert window.ready  # no one waits for it


def test_one_that_does_not_start_is_said(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", screen.display)
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(ViewerError, match="/nowhere/python does not start: No such file"):
        WindowBackend().open("painted", 320, 200)
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(ViewerError, match="the window process ended with exit code 1"):
        WindowBackend().open("painted", 320, 200)
    assert capfd.readouterr() == ("", "")


def test_what_it_cannot_draw_is_said_and_the_rest_is_shown(
    screen: Screen, window: WindowBackend
) -> None:
    whole = Pixels(Area(0.0, 0.0, 320, 200))
    corners, red = np.zeros((1, 2), np.float32), np.array([255, 0, 0], np.uint8)
    wrong = Layer(whole, (Facets(corners, np.array([[0, 1, 2]], np.int32), red),))
    right = Layer(whole, (Markers(np.array([[50, 50]], np.float32), red, 9.0),))
    frame = Frame(320, 200, (wrong,), None, right)
    window.show(frame)
    await_true(lambda: np.array_equal(screen.picture()[51, 51], red))
    await_true(lambda: window.ready)
    with pytest.raises(ViewerError, match="a shape cannot be drawn: IndexError"):
        window.show(frame)
    window.show(frame)
    assert not window.ready


def test_a_frame_that_comes_too_early_is_not_shown(window: WindowBackend) -> None:
    whole = Pixels(Area(0.0, 0.0, 320, 200))
    many = Markers(np.random.default_rng(0).random((100_000, 2), np.float32), np.zeros(3, np.uint8))
    frame = Frame(320, 200, (Layer(whole, (many,)),), None, Layer(whole, ()))
    started = time.perf_counter()
    for _ in range(1000):
        window.show(frame)
    assert time.perf_counter() - started < 5.0  # drawing all of them takes longer


def test_it_runs_on_the_compiler_of_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    class Popen:
        def __class_getitem__(cls, _: object) -> type[Popen]:
            return cls

        def __init__(self, _: object, *, env: dict[str, str], **__: object) -> None:
            started.append(env["DIFFTILE_SUBSTRATE"])
            raise OSError(2, "No such file")

    monkeypatch.setattr(child_process, "chosen", lambda: "the one of dt.init")
    monkeypatch.setattr(subprocess, "Popen", Popen)
    with pytest.raises(child_process.Ended, match="does not start: No such file"):
        child_process.ChildProcess("difftile.viewer.backends.painter")
    assert started == ["the one of dt.init"]

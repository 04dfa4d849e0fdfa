"""Runs that are paced by a clock, on an invisible window."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from difftile.viewer import App, Close, Event, KeyDown, loop
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel


class Clocked:
    """A backend with a clock of its own, which records its frames."""

    now = 0.0  # of all of them

    def __init__(self, *events: tuple[int, Event]) -> None:
        self.events, self.shown, self.closed = list(events), 0, False
        self.ready = True
        self.stamps: list[float] = []

    def open(self, title: str, width: int, height: int) -> None:
        self.size = (height, width, 3)

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        return False

    def poll(self) -> list[Event]:
        due = [event for frame, event in self.events if frame == self.shown]
        return due

    def show(self, frame: Frame) -> None:
        assert frame.image().shape == self.size
        self.shown += 1
        self.stamps.append(self.time())

    def time(self) -> float:
        spend(1e-6)  # so that who looks at the clock until it has moved ends
        return Clocked.now

    def close(self) -> None:
        self.closed = True


def spend(seconds: float) -> None:
    """Let some time pass."""
    Clocked.now += seconds


@pytest.fixture(autouse=True)
def waits_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "time", SimpleNamespace(sleep=spend))


def test_steps_go_on_between_pictures() -> None:
    backend = Clocked((6, Close()))
    app = App(backend=backend, size=(480, 320))
    app.step(lambda: spend(0.002))
    app.run(fps=20)
    assert backend.closed
    assert backend.shown == 6
    assert 25 * 5 - 10 < app.steps < 25 * 6 + 10  # of 2 ms each, in 50 ms a picture


def test_many_slow_steps_hold_no_picture_up() -> None:
    backend = Clocked((2, Close()))
    app = App(backend=backend, size=(480, 320), speed=32)
    app.step(lambda: spend(0.1))
    app.run()
    assert app.steps < 12  # and not 64


def test_slower_than_there_is_time_for_is_less_than_that() -> None:
    slower = [(3, KeyDown("-")), (5, Close())]
    backend = Clocked(*slower)
    app = App(backend=backend, size=(480, 320))
    app.step(lambda: spend(0.05))
    app.run(fps=20)
    assert backend.closed
    assert 3 <= app.steps <= 3 * 3 + 2 * 2


def test_pictures_keep_their_pace() -> None:
    backend = Clocked()
    app = App(backend=backend, size=(480, 320), speed=2)
    app.step(lambda: None)
    app.run(frames=9, fps=40)
    gaps = np.diff(backend.stamps)
    assert app.steps == 18
    assert gaps.mean() > 0.02  # 40 a second at most


def test_a_paused_run_waits() -> None:
    backend = Clocked((0, KeyDown("space")), (3, KeyDown("space")), (4, Close()))
    app = App(backend=backend, size=(480, 320), speed=1)
    app.run(fps=50)
    assert (app.steps, backend.shown) == (1, 4)


def test_a_window_is_closed_when_a_run_is_interrupted() -> None:
    backend = Clocked()
    app = App(backend=backend, size=(480, 320))

    @app.step
    def step() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        app.run(frames=3)
    assert backend.closed


def test_the_panel_is_drawn_seldom_if_nothing_happens() -> None:
    backend = Clocked((4, KeyDown("a")))
    app = App(backend=backend, size=(480, 320), speed=1)
    texts: list[int] = []
    app._panel.controls[0].draw = lambda area, mouse: texts.append(backend.shown) or []
    app.run(frames=6, fps=200)
    assert texts[0] == 0
    assert 4 in texts
    assert len(texts) <= 4


def test_what_stands_in_the_picture_at_the_end_is_raised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mended = (2, KeyDown("r")), (2, KeyDown("space"))
    for events, raised in ((mended, 0), ((), 1)):
        backend = Clocked(*events, (4, Close()))
        app = App(backend=backend, size=(480, 320))

        @app.step
        def step(backend: Clocked = backend) -> None:
            if backend.shown < 2:
                raise ZeroDivisionError("so early")

        if raised:
            with pytest.raises(ZeroDivisionError, match="so early"):
                app.run()
        else:
            app.run()
        assert backend.shown == 4  # somebody had time to look at it
        assert capsys.readouterr().err.count("Traceback") == 1


def test_a_program_whose_step_raises_without_a_viewer_ends_with_an_error(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import difftile as dt\n"
        "app = dt.viewer.App(backend='null', size=(480, 320))\n"
        "app.step(lambda: 1 / app.steps)\n"
        f"app.run(frames=10_000, record={str(tmp_path / 'pictures')!r})\n"
        "print('not reached')\n"
    )
    ended = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, timeout=100
    )
    assert ended.returncode == 1 and not ended.stdout
    assert ended.stderr.count("Traceback") == 1 and "ZeroDivisionError" in ended.stderr
    assert [file.name for file in (tmp_path / "pictures").iterdir()] == ["frame_00000.png"]

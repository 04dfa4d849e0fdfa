"""A real window, on a screen without a monitor, with xdotool at the keyboard and the mouse."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from difftile.diagnostics import ViewerError
from difftile.viewer.backends import native_window, painter
from difftile.viewer.backends.native_window import WindowBackend
from difftile.viewer.events import (
    Close,
    Event,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Scroll,
)
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.primitives import Image
from difftile.viewer.screen import Area, Pixels
from tests.viewer.screen import Screen, missing_tools, opened

WIDTH, HEIGHT = 320, 200
BORDER = 1  # the border that X11 puts around a window without a desktop frame [px]

needs_screen = pytest.mark.skipif(bool(missing_tools()), reason=missing_tools())


@pytest.fixture
def window(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowBackend]:
    monkeypatch.setenv("DISPLAY", screen.display)
    window = WindowBackend()
    window.open("difftile test", WIDTH, HEIGHT)
    picture = np.random.default_rng().integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    show(window, picture)
    await_picture(screen, picture)
    yield window
    window.close()


def show(window: WindowBackend, picture: np.ndarray) -> None:
    """Show a frame that is drawn as a picture, once there is room for it."""
    while not window.ready:
        time.sleep(0.001)
    whole = Pixels(Area(0.0, 0.0, WIDTH, HEIGHT))
    window.show(Frame(WIDTH, HEIGHT, (Layer(whole, (Image(picture),)),), None, Layer(whole, ())))


def await_picture(screen: Screen, picture: np.ndarray) -> None:
    """Wait until a picture fills the window on the screen, every pixel of it."""
    end = time.monotonic() + 10
    inside = np.s_[BORDER : BORDER + HEIGHT, BORDER : BORDER + WIDTH]
    while not np.array_equal(screen.picture()[inside], picture):
        assert time.monotonic() < end
        time.sleep(0.01)


def heard(window: WindowBackend, last: Event) -> list[Event]:
    """Return the reports of a window up to an event, which has to come soon."""
    found: list[Event] = []
    end = time.monotonic() + 10
    while last not in found:
        assert time.monotonic() < end, f"{last} is not among {found}"
        found += window.poll()
        time.sleep(0.002)
    return found


@needs_screen
def test_a_picture_reaches_the_screen(screen: Screen, window: WindowBackend) -> None:
    for seed in range(2):
        picture = np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
        show(window, picture)
        await_picture(screen, picture)


@needs_screen
def test_the_mouse_is_where_it_is_in_the_picture(screen: Screen, window: WindowBackend) -> None:
    screen.act("mousemove", 101, 51, "mousedown", 1, "mousemove", 121, 61, "mouseup", 1)
    assert heard(window, MouseUp("left", 120, 60))[-4:] == [
        MouseMove(100, 50),
        MouseDown("left", 100, 50),
        MouseMove(120, 60),
        MouseUp("left", 120, 60),
    ]
    screen.act("click", 4, "click", 5, "click", 2, "click", 3)
    assert heard(window, MouseUp("right", 120, 60)) == [
        Scroll(1, 120, 60),
        Scroll(-1, 120, 60),
        MouseDown("middle", 120, 60),
        MouseUp("middle", 120, 60),
        MouseDown("right", 120, 60),
        MouseUp("right", 120, 60),
    ]


@needs_screen
def test_keys_have_the_names_that_apps_know(screen: Screen, window: WindowBackend) -> None:
    screen.act("mousemove", 50, 50)  # without a desktop keys go where the mouse is
    keys = {"space": "space", "h": "h", "minus": "-", "KP_Add": "+", "Left": "left"}
    screen.act("key", *keys, "plus", "F1", "Escape")
    shift = [KeyDown("shift"), KeyDown("+"), KeyUp("shift"), KeyUp("=")]
    found = [event for event in heard(window, KeyUp("escape")) if not isinstance(event, MouseMove)]
    pressed = [event(key) for key in keys.values() for event in (KeyDown, KeyUp)]
    assert found == [*pressed, *shift, KeyDown("escape"), KeyUp("escape")]


@needs_screen
def test_a_key_that_has_no_name_is_passed_over(screen: Screen, window: WindowBackend) -> None:
    screen.act("mousemove", 50, 50, "key", "0x10081234", "a")
    assert heard(window, KeyUp("a"))[-2:] == [KeyDown("a"), KeyUp("a")]


@needs_screen
def test_closing_the_window_is_reported_and_takes_it_away(
    screen: Screen, window: WindowBackend
) -> None:
    (handle,) = screen.windows("difftile test")
    screen.ask_to_close(handle)
    assert heard(window, Close())[-1] == Close()
    assert window.closed
    assert not screen.windows("difftile test")
    show(window, np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    window.close()
    assert window.poll() == []


def test_without_a_display_one_line_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(ViewerError) as caught:
        WindowBackend().open("difftile test", WIDTH, HEIGHT)
    assert str(caught.value) == (
        "cannot open a window: DISPLAY is not set; start the program on a desktop (over ssh: "
        "ssh -X), or use backend='web' or 'null' (environment variable DIFFTILE_VIEWER)"
    )
    assert capfd.readouterr() == ("", "")


@needs_screen
def test_a_display_that_does_not_answer_or_has_other_colours_is_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":9999")
    with pytest.raises(ViewerError, match="the display :9999 does not respond"):
        WindowBackend().open("difftile test", WIDTH, HEIGHT)
    with opened(depth=16) as screen:
        monkeypatch.setenv("DISPLAY", screen.display)
        with pytest.raises(ViewerError, match="has 16 bits of colour, not 24"):
            WindowBackend().open("difftile test", WIDTH, HEIGHT)
    assert capfd.readouterr() == ("", "")


def test_a_painter_without_taichis_gui_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []

    def fail(*_: object) -> None:
        raise AttributeError("module 'taichi' has no attribute 'GUI'\nand more")

    monkeypatch.setattr(painter, "join_app", lambda _: SimpleNamespace(send=sent.append))
    monkeypatch.setattr(painter, "open_desktop", fail)
    painter.main("0", "a test", "480", "320")
    assert sent == ["Taichi's GUI does not start (module 'taichi' has no attribute 'GUI')"]


def test_a_machine_without_x11_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(native_window.ctypes, "CDLL", missing)
    with pytest.raises(ViewerError, match="cannot open a window: libX11 is not installed; start"):
        WindowBackend().open("difftile test", WIDTH, HEIGHT)

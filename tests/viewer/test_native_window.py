"""A real window, on a screen without a monitor, with xdotool at the keyboard and the mouse."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import difftile as dt
from difftile.diagnostics import ViewerError
from difftile.substrate import RawEvent, chosen
from difftile.viewer.backends import display, native_window, painter, toolkits
from difftile.viewer.backends.native_window import WindowBackend, described
from difftile.viewer.backends.taichi_window import Keyboard
from difftile.viewer.backends.tk_window import key_of, scrolled
from difftile.viewer.backends.toolkits import TOOLKITS
from difftile.viewer.events import (
    Close,
    Event,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Resize,
    Scroll,
)
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.primitives import Image
from difftile.viewer.screen import Area, Pixels
from tests.viewer.screen import BORDER, Screen, missing_tools, opened

WIDTH, HEIGHT = 320, 200
no_tk = TOOLKITS["tk"].missing() or ""
needs_tk = pytest.mark.skipif(bool(no_tk), reason=no_tk)
needs_screen = pytest.mark.skipif(bool(missing_tools()), reason=missing_tools())


@pytest.fixture
def window(screen: Screen, toolkit: str) -> Iterator[WindowBackend]:
    window = WindowBackend(toolkit)
    window.open("difftile test", WIDTH, HEIGHT)
    picture = np.random.default_rng().integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    show(window, picture)
    await_picture(screen, picture, BORDER[toolkit])
    yield window
    window.close()


def show(window: WindowBackend, picture: np.ndarray) -> None:
    """Show a frame that is drawn as a picture, once there is room for it."""
    height, width, _ = picture.shape
    while not window.ready:
        time.sleep(0.001)
    whole = Pixels(Area(0.0, 0.0, width, height))
    window.show(Frame(width, height, (Layer(whole, (Image(picture),)),), None, Layer(whole, ())))


def await_picture(screen: Screen, picture: np.ndarray, border: int) -> None:
    """Wait until a picture fills the window on the screen, every pixel of it."""
    end = time.monotonic() + 10
    height, width, _ = picture.shape
    inside = np.s_[border : border + height, border : border + width]
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
def test_a_picture_reaches_the_screen(screen: Screen, window: WindowBackend, toolkit: str) -> None:
    for seed in range(2):
        picture = np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
        show(window, picture)
        await_picture(screen, picture, BORDER[toolkit])


@needs_screen
def test_the_mouse_is_where_it_is_in_the_picture(
    screen: Screen, window: WindowBackend, toolkit: str
) -> None:
    x, y = 100 + BORDER[toolkit], 50 + BORDER[toolkit]
    screen.act("mousemove", x, y, "mousedown", 1, "mousemove", x + 20, y + 10, "mouseup", 1)
    assert heard(window, MouseUp("left", 120, 60))[-4:] == [
        MouseMove(100, 50),
        MouseDown("left", 100, 50),
        MouseMove(120, 60),
        MouseUp("left", 120, 60),
    ]
    screen.act("click", 4, "click", 5, "click", 2, "click", 8, "click", 3)
    assert heard(window, MouseUp("right", 120, 60)) == [
        Scroll(1, 120, 60),
        Scroll(-1, 120, 60),
        MouseDown("middle", 120, 60),
        MouseUp("middle", 120, 60),
        MouseDown("right", 120, 60),
        MouseUp("right", 120, 60),
    ]


@needs_screen
def test_keys_have_the_names_that_apps_know(
    screen: Screen, window: WindowBackend, toolkit: str
) -> None:
    screen.act("mousemove", 50, 50)  # without a desktop keys go where the mouse is
    keys = {"space": "space", "h": "h", "minus": "-", "KP_Add": "+", "Left": "left"}
    screen.act("key", *keys, "plus", "F1", "Escape")
    released = {"ti": "=", "tk": "+"}[toolkit]  # xdotool releases Shift before the key
    shift = [KeyDown("shift"), KeyDown("+"), KeyUp("shift"), KeyUp(released)]
    found = [event for event in heard(window, KeyUp("escape")) if not isinstance(event, MouseMove)]
    pressed = [event(key) for key in keys.values() for event in (KeyDown, KeyUp)]
    assert found == [*pressed, *shift, KeyDown("escape"), KeyUp("escape")]


@needs_screen
def test_a_key_that_has_no_name_is_passed_over(
    screen: Screen, window: WindowBackend, toolkit: str
) -> None:
    screen.act("mousemove", 50, 50)
    heard(window, MouseMove(*(50 - BORDER[toolkit],) * 2))
    screen.act("key", "0x10081234", "a")
    assert heard(window, KeyUp("a")) == [KeyDown("a"), KeyUp("a")]


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
@needs_tk
def test_a_window_of_tk_follows_its_size(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", screen.display)
    with closing(WindowBackend("tk")) as window:
        window.open("difftile test", 640, 480)
        (handle,) = screen.windows("difftile test")
        screen.act("windowsize", handle, 700, 400)
        assert heard(window, Resize(700, 400)) == [Resize(700, 400)]
        picture = np.random.default_rng(0).integers(0, 256, (400, 700, 3), np.uint8)
        show(window, picture)
        await_picture(screen, picture, BORDER["tk"])
        screen.act("windowsize", handle, 200, 500)
        heard(window, Resize(200, 500))
        show(window, picture[:320, :480])  # apps draw no smaller pictures
        await_picture(screen, picture[:320, :200], BORDER["tk"])


@needs_screen
def test_a_display_that_does_not_answer_or_has_other_colours_is_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":9999")
    with pytest.raises(ViewerError, match="the display :9999 does not respond; start the program"):
        WindowBackend().open("difftile test", WIDTH, HEIGHT)
    if chosen() == "taichi":
        with opened(depth=16) as screen:
            monkeypatch.setenv("DISPLAY", screen.display)
            with pytest.raises(ViewerError, match="has 16 bits of colour, not 24; use backend"):
                WindowBackend("ti").open("difftile test", WIDTH, HEIGHT)
    assert capfd.readouterr() == ("", "")


@needs_screen
@needs_tk
def test_colours_that_taichi_does_not_show_are_shown_by_tk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with opened(depth=16) as screen:
        monkeypatch.setenv("DISPLAY", screen.display)
        assert described() == "by tkinter"
        with closing(WindowBackend()) as window:
            window.open("difftile test", WIDTH, HEIGHT)
            assert screen.windows("difftile test")
            show(window, np.full((HEIGHT, WIDTH, 3), 255, np.uint8))
            row = np.full(WIDTH, 0xFFFF, np.uint16).tobytes()
            end = time.monotonic() + 10
            while screen.memory.read_bytes().count(row) < HEIGHT:
                assert time.monotonic() < end
                time.sleep(0.01)


@pytest.mark.parametrize("name", TOOLKITS)
def test_a_toolkit_that_does_not_start_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []

    def fail(*_: object) -> None:
        raise AttributeError("it has no windows\nand more")

    monkeypatch.setattr(painter, "join_app", lambda _: SimpleNamespace(send=sent.append))
    monkeypatch.setattr(toolkits.Toolkit, "open", fail)
    painter.main("0", "a test", "480", "320", name)
    assert sent == [f"{TOOLKITS[name].said} does not start (it has no windows)"]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The packages that a machine with a display has; to be changed."""
    found: set[str] = set()
    monkeypatch.setattr(native_window, "missing_display", lambda: None)
    monkeypatch.setattr(
        toolkits.importlib.util, "find_spec", lambda name: name if name in found else None
    )
    monkeypatch.setattr(toolkits, "chosen", lambda: "taichi" if "taichi" in found else "quadrants")
    return found


def test_without_a_toolkit_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, installed: set[str]
) -> None:
    installed.add("tkinter")  # which Python may have without its C part
    monkeypatch.setattr("sys.platform", "linux")
    none = "this Python has no tkinter (apt install python3-tk, or dnf install python3-tkinter)"
    with pytest.raises(ViewerError) as caught:
        WindowBackend().open("difftile test", WIDTH, HEIGHT)
    assert str(caught.value) == (
        f"cannot open a window: {none}; use backend='web' or 'null' (environment variable "
        "DIFFTILE_VIEWER)"
    )
    assert described() == f"none, since {none}"
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(
        ViewerError, match=r"no tkinter \(tick tcl/tk in the installer of Python\);"
    ):
        WindowBackend("tk").open("difftile test", WIDTH, HEIGHT)
    with pytest.raises(ViewerError, match="window: the program runs on Quadrants, which has no"):
        WindowBackend("ti").open("difftile test", WIDTH, HEIGHT)
    installed.add("_tkinter")
    assert described() == "by tkinter"
    installed.add("taichi")
    assert described() == "by Taichi's GUI"


def test_a_toolkit_that_fails_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, installed: set[str]
) -> None:
    monkeypatch.setattr("sys.platform", "win32")  # which needs no X11
    installed |= {"taichi", "tkinter", "_tkinter"}
    started: list[object] = []

    def start(self: WindowBackend, module: str, *words: object) -> str | None:
        started.append(words[-1])
        return "Taichi's GUI does not start (no GUI)" if words[-1] == "ti" else None

    monkeypatch.setattr(WindowBackend, "_start", start)
    WindowBackend().open("difftile test", WIDTH, HEIGHT)
    assert started == ["ti", "tk"]
    with pytest.raises(ViewerError, match=r"a window: Taichi's GUI does not start \(no GUI\); use"):
        WindowBackend("ti").open("difftile test", WIDTH, HEIGHT)


def test_a_machine_without_xlib_leaves_it_to_tk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(display.ctypes, "CDLL", missing)
    assert display.missing_display() is None  # its own copy may be linked into Tk
    assert display.missing_depth(24) == "libX11 is not installed"


def test_a_toolkit_that_is_unknown_is_refused() -> None:
    with pytest.raises(ViewerError) as caught:
        dt.viewer.App(backend="window:gtk")
    said = "there is no window by 'gtk'; choose 'window:ti' or 'window:tk'"
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("name", "character", "key"),
    [
        ("space", " ", "space"),
        ("Q", "Q", "q"),
        ("question", "?", "?"),
        ("odiaeresis", "ö", "ö"),
        ("KP_1", "1", "1"),
        ("KP_Left", "", "left"),
        ("minus", "\x1f", "-"),  # with Control
        ("c", "\x03", "c"),
        ("Alt_R", "", "alt"),
        ("ISO_Left_Tab", "", "tab"),
        ("F1", "", None),
        ("F1", "\uf704", None),  # on macOS
        ("dead_acute", "", None),
        ("??", "??", None),
    ],
)
def test_keys_of_tk(name: str, character: str, key: str | None) -> None:
    assert key_of(name, character) == key


def test_touchpads_of_tk_scroll_by_pixels_in_both_directions() -> None:
    for across in (-3, 0, 7):
        for up in (-1, 0, 1, 12, -300):
            assert scrolled((across << 16) | (up & 0xFFFF)) == up


def test_a_key_without_a_character_is_none_of_taichis_either() -> None:
    assert Keyboard().event(RawEvent("press", "\0", 3, 4, 0.0)) is None


@needs_screen
@needs_tk
def test_settings_of_the_person_leave_windows_of_tk_as_they_are(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISPLAY", screen.display)
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = "*padX: 7\n*padY: 7\n*highlightThickness: 5\n*borderWidth: 3\n*compound: top\n"
    (tmp_path / ".Xdefaults").write_text(settings)
    for name in (".difftile.py", ".Difftile.py", ".painter.py"):  # which tkinter would run
        (tmp_path / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    with closing(WindowBackend("tk")) as window:
        window.open("difftile test", WIDTH, HEIGHT)
        picture = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
        show(window, picture)
        await_picture(screen, picture, BORDER["tk"])
    assert not (tmp_path / "ran").exists()


@needs_tk
def test_the_process_of_a_window_by_tk_loads_no_compiler() -> None:
    program = """
import sys
import difftile.viewer.backends.painter, difftile.viewer.backends.tk_window
print(*{"taichi", "quadrants", "tkinter"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert done.stdout.split() == [b"tkinter"]

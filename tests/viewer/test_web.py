"""Apps on a page: messages where no page is possible, and a session in a real browser."""

from __future__ import annotations

import importlib.util
import io
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

import difftile as dt
from difftile.viewer.backends import choose as choose_module
from difftile.viewer.backends.control_diff import ControlDiff
from difftile.viewer.backends.messages import ControlChange
from difftile.viewer.backends.notebook import NotebookBackend
from difftile.viewer.backends.null import NullBackend
from difftile.viewer.backends.web import WebBackend
from difftile.viewer.controls import Slider
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.panel import Panel
from difftile.viewer.screen import Area, Pixels
from tests.viewer.browser import browsing, missing_browser
from tests.viewer.goal import GoalApp

ORANGE = (242, 166, 90)  # the fill of handles
# Scripts that find things on the page: where their middles are, and more.
MIDDLE = "const at = e => {const r = e.getBoundingClientRect(); "
MIDDLE += "return [r.x + r.width / 2, r.y + r.height / 2]}; "
SLIDER = (
    MIDDLE + "const s = document.querySelector('[role=slider]'); return [...at(s), +s.ariaValueNow]"
)
FACTORS = MIDDLE + "return at(document.querySelector('.multi-slider-thumb'))"
BUTTON = (
    MIDDLE
    + "return at(Array.from(document.querySelectorAll('button')).find(b => b.innerText == '{}'))"
)
CANVAS = (
    "const r = document.querySelector('canvas').getBoundingClientRect(); return [r.width, r.height]"
)
BUTTONS = "return Array.from(document.querySelectorAll('button'), b => b.innerText)"
INPUTS = "return Array.from(document.querySelectorAll('input'), i => i.value)"
# The width of the image over the canvas, -1 after its removal; the status of its first request.
COVER = "const i = document.querySelector('#difftile img'); return i ? i.naturalWidth : -1"
FIRST = (
    "return performance.getEntriesByType('resource')"
    ".find(r => r.name.includes('difftile-picture')).responseStatus"
)


needs_viser = pytest.mark.skipif(
    importlib.util.find_spec("viser") is None, reason="pip install 'difftile[viewer]'"
)


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(dt.ViewerError) as raised:
        dt.viewer.App(backend="web")
    assert str(raised.value) == (
        "the viewer backend 'web' needs viser: pip install 'difftile[viewer]', or choose another "
        "backend (environment variable DIFFTILE_VIEWER)"
    )


@pytest.mark.filterwarnings("always")  # but for the filter of the pictures themselves
def test_a_browser_that_is_left_while_a_picture_is_encoded_is_no_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    module = pytest.importorskip("difftile.viewer.backends.page_pictures")
    pictures, done = module.Pictures(), threading.Event()

    def leave(*_: object, **__: object) -> None:
        said = "Queued a BackgroundImageMessage on a closed connection (e.g. after it stopped)"
        warnings.warn(said, stacklevel=2)
        pictures.leave(client)

    client: Any = SimpleNamespace(
        client_id=1,
        scene=SimpleNamespace(set_background_image=leave),
        local_storage=SimpleNamespace(get_item=lambda *_, **__: done.set(), set_item=print),
    )
    pictures.show(np.zeros((4, 4, 3), np.uint8))
    pictures.follow(client, lambda: 1.0)
    assert done.wait(10)
    assert not recwarn.list


@needs_viser
@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ("null:8080", "the viewer backend 'null' takes no address; leave out '8080'"),
        ("web:here", "the address of a page is port or host:port, not 'here'"),
        ("web:70000", "the address of a page is port or host:port, not '70000'"),
    ],
)
def test_an_address_that_is_none_is_refused(backend: str, said: str) -> None:
    with pytest.raises(dt.ViewerError) as raised:
        dt.viewer.App(backend=backend)
    assert str(raised.value) == said


@needs_viser
def test_a_host_of_others_is_refused() -> None:
    app = dt.viewer.App(backend="web:192.0.2.1:8080")  # RFC 5737: reserved, so never in use
    with pytest.raises(dt.ViewerError, match=r"^cannot serve a page at '192\.0\.2\.1': .+$"):
        app.run(frames=1)


@needs_viser
def test_a_port_that_is_taken_is_left_to_who_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("localhost", 0)) as other:
        taken = other.getsockname()[1]
        dt.viewer.App("taken", backend=f"web:{taken}").run(frames=1)
    said = capsys.readouterr().out
    assert said.startswith("taken: http://localhost:") and said.endswith(" (Ctrl+C ends it)\n")
    assert f":{taken} " not in said


@needs_viser
def test_a_notebook_shows_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = notebook(monkeypatch)
    app = dt.viewer.App(size=(480, 320), backend="web:0")
    app.run(frames=1)
    (_, (address, width, height)), (kind, (file, options)) = shown
    assert address.startswith("http://localhost:") and (width, height) == ("100%", 640)
    # No process serves the page any more: the last picture is in its place.
    assert (kind, options) == ("update", {"format": "png", "width": 480})
    picture = np.asarray(Image.open(io.BytesIO(file)))
    assert np.array_equal(picture, app.picture)


def test_pictures_below_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = notebook(monkeypatch)
    app = dt.viewer.App(size=(480, 320), backend="notebook")
    x = dt.zeros((4, 4))
    app.image(x, low=0.0, high=10.0)

    @app.step
    def step() -> None:
        x.fill(float(app.steps))

    app.run(frames=4, fps=1000.0)
    kinds = [kind for kind, _ in shown]
    assert kinds[0] == "display" and set(kinds[1:]) <= {"update"}
    picture = np.asarray(Image.open(io.BytesIO(shown[-1][1][0])))
    assert np.array_equal(picture, app.picture)  # the last one is there, although pictures wait


def test_an_interrupt_ends_pictures_below_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = notebook(monkeypatch)
    app = dt.viewer.App(size=(480, 320), backend="notebook")

    @app.step
    def step() -> None:
        if app.steps == 3:
            signal.raise_signal(signal.SIGINT)

    former = signal.getsignal(signal.SIGINT)
    app.run()
    assert shown and app.steps >= 3
    assert signal.getsignal(signal.SIGINT) is former


def test_an_error_ends_pictures_below_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = notebook(monkeypatch)
    app = dt.viewer.App(size=(480, 320), backend="notebook")

    @app.step
    def step() -> None:
        raise ZeroDivisionError("in a step")

    with pytest.raises(ZeroDivisionError):
        app.run()
    assert shown


def test_the_default_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFTILE_VIEWER", raising=False)
    notebook(monkeypatch)
    monkeypatch.setattr(choose_module, "is_installed", lambda name: name != "web")
    assert isinstance(choose_module.choose(None), NotebookBackend)
    monkeypatch.setattr(choose_module, "is_installed", lambda name: True)
    assert isinstance(choose_module.choose(None), WebBackend)
    monkeypatch.setenv("DIFFTILE_VIEWER", "null")
    assert isinstance(choose_module.choose(None), NullBackend)


def notebook(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Let the test run as if in a notebook, and return what is shown below the cell."""
    shown: list[tuple[str, Any]] = []

    def display(thing: object, *, display_id: bool) -> object:
        shown.append(("display", thing))
        return SimpleNamespace(update=lambda thing: shown.append(("update", thing)))

    def image(data: bytes, **options: object) -> object:
        return data, options

    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    displays = SimpleNamespace(IFrame=lambda *what: what, Image=image, display=display)
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    return shown


@needs_viser
def test_a_binding_that_breaks_is_an_error_of_the_next_picture() -> None:
    class Material:
        @property
        def stiffness(self) -> float:
            return 1.0

        @stiffness.setter
        def stiffness(self, value: float) -> None:
            raise ValueError(f"no stiffness is {value}")

    panel = Panel()
    panel.controls.append(Slider("stiffness", (Material(), "stiffness"), 0.0, 9.0))
    page = WebBackend()
    page.attach(panel, {})
    page._diff = ControlDiff(panel, {})
    page._diff.controls()
    page.arrived = [ControlChange(0, 5.0)]
    assert page.poll() == []
    layer = Layer(Pixels(Area(0.0, 0.0, 480.0, 320.0)), ())
    frame = Frame(480, 320, (), None, layer)
    with pytest.raises(ValueError, match="no stiffness is 5"):
        page.show(frame)
    page.show(frame)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_browser()), reason=missing_browser())
def test_someone_drags_the_goal_of_what_learns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clicked: list[Any] = []

    def note_press() -> None:
        if app.mouse.down:
            clicked.append(app.mouse.at)

    session = GoalApp(note_press, backend="web:0", screenshots=tmp_path)
    app, losses, rate, scale = session.app, session.losses, session.rate, dt.full((), 1.0)
    app.slider("scale", bind=scale, min=0.01, max=100.0, log=True)
    kind = app.choice("kind", ["this", "that"])
    app.button("push me", lambda: clicked.append("pushed"))

    def person() -> Iterator[Callable[[], bool]]:
        """Act, and yield the expected results before the next act."""
        address = capsys.readouterr().out.split()[1]
        browser.go(address)
        yield lambda: app.picture is not None and app.picture.shape[1] != 960
        width, height = browser.run(CANVAS)
        assert 0 < width < 1000  # next to it is the panel
        yield lambda: app.picture is not None and _alike(app.picture, width / height)
        x, y = width / 2, height / 2
        browser.drag((x, y), (x + 20, y), (x + height / 4, y - height / 4))
        yield lambda: max(losses) > 0.05  # the loss reacts,
        np.testing.assert_allclose(session.goal.to_numpy(), [[0.75, 0.75]], atol=2e-2)
        yield lambda: losses[-1] < 1e-6  # and it learns again
        yield lambda: _near(browser.picture()[round(y - height / 4), round(x + height / 4)], ORANGE)

        left, top, value = browser.run(SLIDER)
        assert value == pytest.approx(0.1)
        browser.drag((left, top), (left + 30, top))
        yield lambda: rate[None] > 0.15
        rate[None] = 0.3
        yield lambda: browser.run(SLIDER)[2] == pytest.approx(0.3)
        left, top = browser.run(FACTORS)
        browser.drag((left, top), (left - 50, top), (left - 200, top))
        yield lambda: scale[None] == pytest.approx(0.01)
        kind.value = "that"
        yield lambda: "that" in browser.run(INPUTS)
        browser.click(*browser.run(BUTTON.replace("{}", "push me")))
        yield lambda: clicked == ["pushed"]

        clicked.clear()
        browser.click(x - height / 4, y)  # next to the handle
        yield lambda: bool(clicked)
        np.testing.assert_allclose(clicked[0], [0.25, 0.5], atol=1e-2)
        before = app.picture
        browser.scroll(x, y, -200)
        yield lambda: not np.array_equal(app.picture, before)
        browser.press("f")

        browser.press(" ")
        yield lambda: not app.playing
        steps = app.steps
        browser.press("n")
        yield lambda: app.steps == steps + 1
        before = app.picture
        browser.press("h", "p")
        yield lambda: len(list(tmp_path.iterdir())) == 1
        yield lambda: not np.array_equal(app.picture, before)  # there is the help
        browser.press("h", "r", "+")
        yield lambda: "▶" in browser.run(BUTTONS)
        browser.click(*browser.run(BUTTON.replace("{}", "▶")))
        yield lambda: app.playing and app.steps < steps
        browser.ask("window/rect", width=900, height=900)
        yield lambda: app.picture is not None and _alike(app.picture, _shape(browser.run(CANVAS)))
        os.kill(os.getpid(), signal.SIGINT)

    with browsing(1000, 700) as browser:
        session.play(person(), lambda: os.kill(os.getpid(), signal.SIGINT), frames=3000)


@pytest.mark.skipif(bool(missing_browser()), reason=missing_browser())
@pytest.mark.parametrize("webgl", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_browser_shows_a_picture_while_a_step_goes_on(
    webgl: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The only step after the first picture lasts until the browser has been looked at."""
    app = dt.viewer.App("a slow app", backend="web:0", speed=1)
    app.draw(lambda: app.image(np.full((2, 2, 3), np.uint8([200, 30, 60]))))
    seen: list[Any] = []

    @app.step
    def step() -> None:
        if app.steps != 1:
            return
        browser.go(capsys.readouterr().out.split(": ")[1].split()[0])
        end = time.monotonic() + 40
        # viser takes over with the same picture, if it can.
        while (browser.run(COVER) == -1) != webgl and time.monotonic() < end:
            time.sleep(0.1)
        seen.extend((browser.run(COVER), browser.run(FIRST), browser.run("return document.title")))
        seen.append(_red(browser.picture()))

    with browsing(1000, 700, webgl=webgl) as browser:
        app.run(frames=2)
    width, status, title, red = seen
    assert width == (-1 if webgl else 960)
    assert status == 200
    assert title == "a slow app – difftile"
    assert red > 0.1


def _red(picture: np.ndarray) -> float:
    """Return the share of the pixels that have the colour of the image."""
    return float((np.abs(picture.astype(int) - (200, 30, 60)).max(axis=-1) < 12).mean())


def _alike(picture: np.ndarray, shape: float) -> bool:
    return abs(picture.shape[1] / picture.shape[0] / shape - 1) < 0.02


def _shape(size: tuple[float, float]) -> float:
    return size[0] / size[1]


def _near(pixel: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool(np.abs(pixel.astype(int) - colour).max() < 12)

"""Apps that name no backend, on machines without a display or without Taichi's GUI."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import difftile as dt
from difftile.viewer.backends import fallback, native_window, toolkits
from difftile.viewer.backends.null import NullBackend
from difftile.viewer.backends.web import WebBackend

REASON = "no window can be opened, since DISPLAY is not set"


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("DIFFTILE_VIEWER", raising=False)
    monkeypatch.setattr(fallback, "_said", set[str]())


needs_viser = pytest.mark.skipif(
    importlib.util.find_spec("viser") is None, reason="pip install 'difftile[viewer]'"
)


@needs_viser
def test_a_page_is_shown_and_the_reason_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        app = dt.viewer.App("a chain", size=(640, 480))
        app.slider("stiffness", min=0.0, max=1.0)
        app.draw(lambda app=app: app.points([[0.5, 0.5]]))
        app.run(frames=2)
        assert isinstance(app._backend, WebBackend)
        assert app.picture is not None and app.picture.shape == (480, 640, 3)
        assert app._layout.scene.area.width == 640  # the page shows the controls itself
        app.run(frames=1)
    found = capsys.readouterr()
    assert found.err == f"difftile: {REASON}; a page shows the app\n"
    assert found.out.count("a chain: http://localhost:") == 4


@needs_viser
def test_a_window_process_that_fails_is_followed_by_a_page(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native_window, "missing_display", lambda: None)
    monkeypatch.setattr(toolkits, "missing_depth", lambda _: None)
    monkeypatch.setattr(native_window, "_PAINTER", "difftile.no_painter")
    app = dt.viewer.App("a chain")
    app.run(frames=1)
    assert isinstance(app._backend, WebBackend)
    said = "no window can be opened, since the window process ended with exit code 1; a page"
    assert said in capfd.readouterr().err


def test_without_viser_a_recording_needs_no_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    app = dt.viewer.App("a chain")
    app.run(frames=2, record=tmp_path / "run")
    assert isinstance(app._backend, NullBackend)
    assert len(list((tmp_path / "run").iterdir())) == 2
    assert capsys.readouterr().err == (
        f"difftile: {REASON}; the app is only recorded (to see it in a browser: "
        "pip install 'difftile[viewer]')\n"
    )


def test_without_viser_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(dt.ViewerError) as caught:
        dt.viewer.App("a chain").run()
    assert caught.value.__context__ is None
    assert str(caught.value) == (
        "cannot open a window: DISPLAY is not set; to see the app in a browser, run "
        "pip install 'difftile[viewer]', and to record it without a display, "
        "app.run(frames=100, record='run.gif')"
    )


def test_a_backend_that_is_named_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dt.ViewerError, match="cannot open a window: DISPLAY is not set; start"):
        dt.viewer.App(backend="window").run(frames=1)
    monkeypatch.setenv("DIFFTILE_VIEWER", "window")
    with pytest.raises(dt.ViewerError, match="cannot open a window: DISPLAY is not set; start"):
        dt.viewer.App().run(frames=1)

"""Frames: shapes that are kept, sent and drawn later."""

from __future__ import annotations

import pickle

import numpy as np
import taichi as ti

import difftile as dt
from difftile.viewer import App, MouseMove
from difftile.viewer.frame import Frame, Layer


def app_of(x: dt.Field, grid: np.ndarray) -> App:
    """Return an app with shapes of all kinds, of which some show a field."""
    app = App(backend="null", size=(480, 320))
    app.slider("a", min=0.0, max=1.0)
    app.plot("loss", 1.0)
    app.image(grid)
    app.points(x)
    app.circles(x, 0.02, outline=1.0)
    app.lines(x)
    app.arrows(x, x)
    app.mesh(x, [[0, 1, 2]])
    app.text((0.1, 0.9), "words")
    app.handle()
    return app


def test_a_frame_can_be_sent() -> None:
    x = dt.from_numpy(np.random.default_rng(0).random((9, 2)), dtype=dt.vec(2, ti.f32), grad=True)
    app = app_of(x, np.zeros((4, 4, 3), np.uint8))
    app.run(frames=1, events=[MouseMove(120, 160)])
    sent: Frame = pickle.loads(pickle.dumps(app._frame, protocol=5))
    assert app.picture is not None
    np.testing.assert_array_equal(sent.image(), app.picture)


def test_a_frame_stays_as_it_is() -> None:
    grid, places = np.zeros((4, 4, 3), np.uint8), np.full((3, 2), 0.5, np.float32)
    app = App(backend="null", size=(480, 320))
    app.image(grid)
    app.points(places, colour=np.zeros((3, 3), np.uint8))
    app.circles(places, np.full(3, 0.1, np.float32))
    frame, later = (app._framed(fresh=True) for _ in range(2))
    before = later.image()
    grid[:] = 255
    places[:] = 0.0
    np.testing.assert_array_equal(frame.image(), before)


def test_a_frame_has_the_panel_of_the_one_before_if_it_looks_the_same() -> None:
    app = App(backend="null", size=(480, 320))
    first, same, fresh = (app._framed(fresh) for fresh in (True, False, True))
    assert isinstance(first.panel, Layer)
    assert first.panel is same.panel
    assert first.panel is not fresh.panel


class Elsewhere(dt.viewer.NullBackend):
    """A backend with controls of its own."""

    def attach(self, panel, keys) -> bool:
        self.panel, self.keys = panel, keys
        return True


def test_a_backend_may_show_controls_by_its_own_means() -> None:
    backend = Elsewhere()
    app = App(backend=backend, size=(480, 320))
    slider = app.slider("a", min=0.0, max=1.0)
    app.points([[0.5, 0.5]], colour="red", radius=4)
    app.run(frames=1)
    assert backend.panel.controls[-1] is slider
    assert backend.panel.status == ("playing · step 1", "h: help")
    assert backend.keys["n"].said == "a single step"
    assert app.picture is not None
    assert tuple(app.picture[160, 240]) == (255, 0, 0)  # the scene fills the picture
    assert len(np.unique(app.picture[:, 300:].reshape(-1, 3), axis=0)) == 1

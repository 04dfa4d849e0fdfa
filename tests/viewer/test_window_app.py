"""Someone plays with an app in a real window, while it learns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import taichi as ti
from PIL import Image

import difftile as dt
from tests.viewer.screen import Screen, missing_tools

BORDER = 1  # the border that X11 puts around a window without a desktop frame [px]
WIDTH, HEIGHT = 960, 640
# Where things are in an app of that size: the ends of its first slider, and the middle of its view.
LEFT, RIGHT, SLIDER = 742, 939, 124
MIDDLE = (360, 320)


@dt.kernel
def miss(at, goal, loss):
    loss[None] = (at[0] - goal[0]).norm_sqr()


@pytest.mark.skipif(bool(missing_tools()), reason=missing_tools())
def test_someone_drags_the_goal_of_what_learns(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", screen.display)
    middle = np.array([[0.5, 0.5]], np.float32)
    at = dt.from_numpy(middle, dtype=dt.vec(2, ti.f32), grad=True)
    goal = dt.from_numpy(middle, dtype=dt.vec(2, ti.f32))
    loss, rate = dt.zeros((), dtype=ti.f32, grad=True), dt.full((), 0.1)
    app = dt.viewer.App("goal", (WIDTH, HEIGHT), "window", screenshots=tmp_path)
    app.slider("rate", bind=rate, min=0.0, max=0.4)
    app.handle(bind=(goal, 0))
    app.points(at, radius=4)
    losses: list[float] = []

    @app.step
    def learn() -> None:
        dt.zero_grads((at,))
        with dt.Tape(loss):
            miss(at, goal, loss)
        at[0] = at[0] - rate[None] * at.grad[0]
        losses.append(float(loss[None]))
        app.plot("loss", loss)

    def window() -> np.ndarray:
        inside = np.s_[BORDER : BORDER + HEIGHT, BORDER : BORDER + WIDTH]
        return screen.picture()[inside]

    def person() -> Iterator[Callable[[], bool]]:
        """Act, and yield the expected results before the next act."""
        x, y = MIDDLE
        yield lambda: app.steps > 2
        screen.act("mousemove", x + 1, y + 1, "mousedown", 1, "mousemove", 201, 161, "mouseup", 1)
        yield lambda: max(losses) > 0.05  # the loss reacts,
        np.testing.assert_allclose(goal.to_numpy(), [[0.25, 0.75]], atol=1e-3)
        yield lambda: losses[-1] < 1e-6  # and it learns again
        screen.act(
            "mousemove", 900, SLIDER, "mousedown", 1, "mousemove", LEFT, SLIDER, "mouseup", 1
        )
        yield lambda: rate[None] < 0.01
        screen.act("mousemove", RIGHT + 1, SLIDER, "click", 1)
        yield lambda: rate[None] == pytest.approx(0.4)
        screen.act("key", "space")
        yield lambda: not app.playing
        steps = app.steps
        screen.act("key", "n")
        yield lambda: app.steps == steps + 1
        before = app.picture
        screen.act("key", "h", "p")
        yield lambda: not np.array_equal(app.picture, before)  # there is the help,
        yield lambda: np.array_equal(window(), app.picture)  # on the screen too
        (file,) = tmp_path.iterdir()
        assert np.asarray(Image.open(file)).shape == (HEIGHT, WIDTH, 3)
        screen.act("key", "r", "space")
        yield lambda: app.playing and app.steps < steps
        (handle,) = screen.windows("goal")
        screen.ask_to_close(handle)

    acts = person()
    waiting = [next(acts)]

    @app.draw
    def look() -> None:
        if waiting and waiting[0]():
            waiting[:] = [after for after in (next(acts, None),) if after is not None]

    app.run(frames=2000, fps=200)
    assert app.error is None
    assert not waiting  # everything was done, and closing the window ended the run
    assert not screen.windows("goal")

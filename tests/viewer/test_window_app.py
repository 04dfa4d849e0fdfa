"""Someone plays with an app in a real window, while it learns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.viewer.goal import GoalApp
from tests.viewer.screen import BORDER, Screen, missing_tools

WIDTH, HEIGHT = 960, 640
# Where things are in an app of that size: the ends of its first slider, and the middle of its view.
LEFT, RIGHT, SLIDER = 742, 939, 124
MIDDLE = (360, 320)


@pytest.mark.skipif(bool(missing_tools()), reason=missing_tools())
def test_someone_drags_the_goal_of_what_learns(
    screen: Screen, toolkit: str, tmp_path: Path
) -> None:
    border = BORDER[toolkit]
    session = GoalApp(size=(WIDTH, HEIGHT), backend=f"window:{toolkit}", screenshots=tmp_path)
    app, losses, rate = session.app, session.losses, session.rate

    def window() -> np.ndarray:
        inside = np.s_[border : border + HEIGHT, border : border + WIDTH]
        return screen.picture()[inside]

    def person() -> Iterator[Callable[[], bool]]:
        """Act, and yield the expected results before the next act."""
        x, y = MIDDLE
        yield lambda: app.steps > 2
        screen.act("mousemove", x + border, y + border, "mousedown", 1)
        screen.act("mousemove", 200 + border, 160 + border, "mouseup", 1)
        yield lambda: max(losses) > 0.05  # the loss reacts,
        np.testing.assert_allclose(session.goal.to_numpy(), [[0.25, 0.75]], atol=1e-3)
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

    session.play(person(), frames=2000, fps=200)
    assert not screen.windows("goal")

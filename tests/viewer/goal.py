"""An app that learns to reach a goal, for sessions in a real window and in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt


@dt.kernel
def miss(at, goal, loss):
    loss[None] = (at[0] - goal[0]).norm_sqr()


class GoalApp:
    """A point that follows a draggable goal by gradient descent; a slider sets the rate."""

    def __init__(self, each_step: Callable[[], object] = lambda: None, **options: Any) -> None:
        middle = np.array([[0.5, 0.5]], np.float32)
        self.at = dt.from_numpy(middle, dtype=dt.vec(2, ti.f32), grad=True)
        self.goal = dt.from_numpy(middle, dtype=dt.vec(2, ti.f32))
        self.loss, self.rate = dt.zeros((), dtype=ti.f32, grad=True), dt.full((), 0.1)
        self.losses: list[float] = []
        self.app = dt.viewer.App("goal", **options)
        self.app.slider("rate", bind=self.rate, min=0.0, max=0.4)
        self.app.handle(bind=(self.goal, 0))
        self.app.points(self.at, radius=4)
        self.app.step(self._learn)
        self._each_step = each_step

    def _learn(self) -> None:
        dt.zero_grads((self.at,))
        with dt.Tape(self.loss):
            miss(self.at, self.goal, self.loss)
        self.at[0] = self.at[0] - self.rate[None] * self.at.grad[0]
        self.losses.append(float(self.loss[None]))
        self.app.plot("loss", self.loss)
        self._each_step()

    def play(
        self,
        acts: Iterator[Callable[[], bool]],
        failed: Callable[[], object] = lambda: None,
        **options: Any,
    ) -> None:
        """Run the app; resume `acts` whenever the results that it has yielded last are there."""
        waiting: list[Callable[[], bool]] = []

        @self.app.draw
        def look() -> None:
            try:
                if not waiting or waiting[0]():
                    waiting[:] = [after for after in (next(acts, None),) if after is not None]
            except Exception:
                failed()
                raise

        self.app.run(**options)
        assert self.app.error is None
        assert not waiting  # every act was done, and the last one ended the run

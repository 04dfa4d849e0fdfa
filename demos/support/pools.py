"""A pool to drop water into: waves forwards, then the gradient of the loss backwards in time."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

import difftile as dt
from demos.support.timelines import Timeline
from demos.support.viewing import make_app
from scenes.wave import make_drop

if TYPE_CHECKING:
    from scenes.wave import Wave

VIEW = (-0.04, -0.74, 2.12, 1.12)
WATER, GRADIENT = (0.0, 0.0, 1.0, 1.0), (1.08, 0.0, 2.08, 1.0)  # boxes: left, bottom, right, top
GOAL = (0.0, -0.66, 0.5, -0.16)
TIME = Timeline(0.62, 2.08, -0.45)
SPEED = 4.0  # steps a picture: a run of 256 states takes two seconds
FIRST_DROP = 40, (0.3, 0.62, 1.0)  # when and where it falls, and its height [m]
GOALS = "yin and yang", "flat water"
HIGH = 0.6  # the height with the last colour [m]


def make_descent(parameters: Mapping[str, dt.Field]) -> dt.optim.SGD:
    """Return the optimiser of the initial water."""
    return dt.optim.SGD(parameters, 5.0, momentum=0.97, nesterov=True)


class Pool:
    """A pool to drop water into, and the moment in time that is shown.

    A run ends with the loss. From there the gradient with respect to the height of the water at
    rest goes back step by step: the sum of the gradients with respect to both of its states.

    Attributes:
        wave: The water, in state `t`.
        back: Whether time goes backwards, and takes the gradient along.
        end: The state in which the loss was measured last.
        drops: The drops by state: places in the unit square, and heights [m]. They fall again in
            every run.
        gradients: Of the last loss with respect to the height in each state, shape (n, n).
        strongest: Largest entry of the gradient at the end.
        height: Of the next drop [m].
        learns: Whether the initial water moves against its gradient after each run.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.height, self.learns = 1.0, True
        self._picture, self._goal = wave.target.to_numpy(), GOALS[0]
        self._fallen = dt.zeros_like(wave.target)
        self.reset()

    @property
    def goal(self) -> str:
        """The goal for the water at the end: one of `GOALS`."""
        return self._goal

    @goal.setter
    def goal(self, goal: str) -> None:
        self._goal = goal
        self.wave.target.from_numpy(self._picture * (goal == GOALS[0]))
        self.reset()

    def reset(self) -> None:
        """Start with flat water, and discard the learnt state."""
        when, drop = FIRST_DROP
        self.drops: dict[int, list[tuple[float, float, float]]] = {when: [drop]}
        self.gradients: dict[int, np.ndarray] = {}
        self.strongest = 1.0
        self._descent = make_descent(self.wave.parameters)
        self.wave.initial.fill(0.0)
        self.start()

    def start(self) -> None:
        """Begin a run."""
        self.wave.start()
        self.t, self.back, self.end = 1, False, self.wave.steps - 1
        self._fall(1.0)

    def step(self) -> bool:
        """Go on by one state, in the direction that time has; return whether the loss is new."""
        if not self.back and self.t == self.end:
            self.turn()
            return True
        if not self.back:
            self.wave.step()
            self.t += 1
            self._fall(1.0)
        elif self.t > 1:
            self._fall(-1.0)
            self.wave.step_back()
            self.t -= 1
            self._keep()
        else:
            self._improve()
            self.start()
        return False

    def turn(self) -> None:
        """Measure the loss now, and let time go backwards."""
        if self.back:
            return
        self.back, self.end = True, self.t
        self.wave.measure()
        dt.zero_grads()
        self.wave.loss.grad.fill(1.0)
        self.wave.measure.bwds()
        self.gradients.clear()
        self._keep()
        self.strongest = float(np.abs(self.gradients[self.t]).max()) or 1.0

    def drop(self, x: float, y: float) -> None:
        """Let a drop fall now, and in every run from now on."""
        self.drops.setdefault(self.t, []).append((x, y, self.height))
        self._add(self.height * make_drop(self.wave.n, x, y))

    def clear(self) -> None:
        """Begin a run without drops."""
        self.drops.clear()
        self.start()

    def expected(self, x: float, y: float) -> float | None:
        """Return the change of the loss by a small drop, or None if it is not known."""
        gradient = self.gradients.get(self.t)
        drop = self.height * make_drop(self.wave.n, x, y)
        return None if gradient is None else float(np.sum(gradient * drop))

    def _fall(self, sign: float) -> None:
        """Put the drops of this state into the water, or take them out."""
        for x, y, height in self.drops.get(self.t, ()):
            self._add(sign * height * make_drop(self.wave.n, x, y))

    def _add(self, heights: np.ndarray) -> None:
        self._fallen.from_numpy(heights)
        self.wave.add(self.wave.p, self.wave.older, self._fallen)

    def _keep(self) -> None:
        both = self.wave.p.grad.to_numpy() + self.wave.older.grad.to_numpy()
        self.gradients[self.t] = both[1:-1, 1:-1]

    def _improve(self) -> None:
        """Move the initial water, if the measured loss is that of a whole run."""
        self.wave.initial.grad.copy_from(self.wave.older.grad[1:-1, 1:-1])
        if self.learns and self.end == self.wave.steps - 1:
            self._descent.step()


def view(pool: Pool, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app for dropping water into the pool, which shows the gradient of the loss."""
    app, wave = make_app("wave", options, VIEW, SPEED), pool.wave
    water = dt.zeros_like(wave.target, grad=True)  # the shown state, with its gradient
    app.choice("at the end", GOALS, (pool, "goal"))
    app.slider("drop [m]", (pool, "height"), min=-1.0, max=1.0)
    app.checkbox("the water learns", (pool, "learns"))
    app.button("gradient from here", pool.turn)
    app.button("no drops", pool.clear)
    app.plot("loss [m²]", log=True)
    app.reset(pool.reset)

    @app.step
    def step() -> None:
        if pool.step():
            app.plot("loss [m²]", wave.loss, log=True)

    @app.draw
    def draw() -> None:
        for at in app.mouse.clicks:
            if (place := _in_pool(at)) is not None:
                pool.drop(*place)
        water.from_numpy(wave.p.to_numpy()[1:-1, 1:-1])
        known = pool.gradients.get(pool.t)
        water.grad.from_numpy(np.zeros(water.shape) if known is None else known)
        app.image(water, low=-HIGH, high=HIGH, colours="RdBu", box=WATER)
        most = pool.strongest
        app.image(water.grad, low=-most, high=most, colours="RdBu_r", box=GRADIENT)
        app.image(wave.target, low=-HIGH, high=HIGH, colours="RdBu", box=GOAL)
        app.text((0.0, 1.07), "the water: click to drop some")
        app.text((1.08, 1.07), "dL/du: change of the loss where the water is raised")
        app.text((0.0, -0.09), "the goal at the end")
        last = pool.wave.steps - 1
        words = "back in time, with the gradient" if pool.back else "forwards"
        app.text((TIME.left, TIME.y + 0.16), f"state {pool.t} of {last}, {words}")
        TIME.draw(app, pool.t / last, pool.end / last, pool.back, [t / last for t in pool.drops])
        place = None if app.mouse.at is None else _in_pool(app.mouse.at)
        if place is not None and (change := pool.expected(*place)) is not None:
            app.text((TIME.left, -0.6), f"a drop here and now changes the loss by {change:+.2g} m²")

    return app


def _in_pool(at: tuple[float, float]) -> tuple[float, float] | None:
    """Return a place in either of the two pictures as one in the unit square."""
    for left, bottom, right, top in (WATER, GRADIENT):
        if left <= at[0] <= right and bottom <= at[1] <= top:
            return at[0] - left, at[1] - bottom
    return None

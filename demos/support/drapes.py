"""A cloth to play with: it falls, then the gradient of where it fell to goes back in time."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import difftile as dt
from demos.support.timelines import INK, ORANGE, Timeline
from demos.support.viewing import make_app

if TYPE_CHECKING:
    from scenes.cloth import FallingCloth

STRETCH = 16  # steps of a stretch, of which there is one a picture
BALL_SPEED = 1.5  # at which the ball follows the mouse [m/s]
FARTHEST = 0.6  # by which the wind changes after a run, at the most [m/s]
KINDS = np.array([1.0, 0.6, 0.8])  # stiffness of springs that stretch, shear and bend, relatively
GOAL = np.array([0.75, 0.35, 0.1])  # of the corner [m]
TIME = Timeline(0.05, 1.075, 0.06)
PINK = "#ff6f91"  # arrows of a gradient
ARROW = 0.25  # the longest arrow of a gradient [m]
SKIN = 0.03  # the part of the ball's radius that is not drawn: flat triangles cut the corner
CLOTH, OTHER = (43, 138, 145), (143, 196, 199)  # squares of its pattern
POST = (-0.8, -0.6, 0.0)  # where the wind is shown [m]
FLOOR = -0.7  # its height [m]
VIEW = (0.0, 0.0, 1.125, 1.0)


@dataclass
class Settings:
    """The settings that the user changes while the cloth falls.

    Attributes:
        ball: Target position of the ball [m], shape (3,).
        stiffness: Of springs between neighbours [N/m].
        damping: Rate at which a spring slows the change of its length [1/s].
        east: Velocity of the air along x [m/s].
        north: Along y.
        up: Along z.
    """

    ball: np.ndarray
    stiffness: float = 10.0
    damping: float = 100.0
    east: float = 0.0
    north: float = 0.0
    up: float = 0.0

    @property
    def wind(self) -> np.ndarray:
        """Velocity of the air [m/s], shape (3,)."""
        return np.array([self.east, self.north, self.up])


@dataclass(frozen=True, slots=True)
class Moment:
    """The state at the beginning of a stretch.

    Attributes:
        x: Positions of the masses [m], shape (n, 3).
        v: Their velocities [m/s].
        center: Of the ball [m], shape (3,).
        settings: The settings during the stretch.
    """

    x: np.ndarray
    v: np.ndarray
    center: np.ndarray
    settings: Settings


class Fall:
    """A falling cloth, and the moment in time that is shown.

    When time goes backwards, each stretch of steps has its own tape: the stretch runs again from
    its initial state, and its tape is seeded with the gradients of the stretch after it. The result
    equals the gradient of one tape over all of them, with old values of one stretch at a time.

    Attributes:
        cloth: Its state at the beginning of a stretch, with its gradients while time goes back.
        settings: The settings from the next stretch on.
        corner: The mass that should reach the goal.
        stretches: Of a run.
        moments: The initial states of the stretches of this run so far.
        done: The number of completed stretches.
        end: The number after which the loss was last measured.
        back: Whether time goes backwards.
        learns: Whether the wind moves against its gradient after each run.
    """

    def __init__(self, cloth: FallingCloth) -> None:
        self.cloth, self.learns = cloth, True
        self.settings = Settings(cloth.scene.center)
        self.corner = cloth.x.shape[0] - 1
        self.stretches = max(cloth.steps // STRETCH, 1)
        self.reset()

    def reset(self) -> None:
        """Start with the first settings."""
        vars(self.settings).update(vars(Settings(self.cloth.scene.center)))
        self.cloth.goal.from_numpy(GOAL)
        self._farthest, self._last = FARTHEST, np.inf
        self.start()

    def start(self) -> None:
        """Put the cloth in its initial position, and the ball in its target position."""
        self.cloth.start()
        self.cloth.center.from_numpy(self.settings.ball)
        dt.zero_grads()
        self.moments: list[Moment] = []
        self.done, self.end, self.back = 0, self.stretches, False

    def step(self) -> bool:
        """Go on by one stretch, in the direction that time has; return whether the loss is new.

        Raises:
            FloatingPointError: The steps are too long for the springs that were set.
        """
        if self.back and self.moments:
            self._return_to(self.moments.pop())
        elif self.back:
            self._improve()
            self.start()
        elif self.done == self.end:
            self.turn()
            return True
        else:
            self.moments.append(self._look())
            self._apply(self.settings)
            self._fall(self.done)
            self.done += 1
            if not np.isfinite(self.cloth.x.to_numpy()).all():
                raise FloatingPointError("the cloth flew to pieces; make it softer, and press r")
        return False

    def turn(self) -> None:
        """Measure the loss now, and let time go backwards."""
        if not self.back:
            self.back, self.end = True, self.done
            with dt.Tape(self.cloth.loss):
                self.cloth.miss(self.corner)

    def wind_slope(self) -> np.ndarray:
        """Return the gradient with respect to the wind [m s], shape (3,)."""
        return self.cloth.wind.grad.to_numpy().sum(axis=0)

    def _fall(self, stretch: int) -> None:
        for t in range(stretch * STRETCH, (stretch + 1) * STRETCH):
            self.cloth.push_ball(BALL_SPEED * self.cloth.h)
            self.cloth.step(t)

    def _return_to(self, moment: Moment) -> None:
        """Go back to where a stretch began, and take the gradients along."""
        x, v = self.cloth.x, self.cloth.v
        after = {x: x.grad.to_numpy(), v: v.grad.to_numpy()}
        dt.zero_grads((x, v))
        self.done -= 1
        self._restore(moment)
        with dt.Tape(accumulate=True) as tape:  # the gradients of wind and stiffness add up
            self._fall(self.done)
        tape.backward(after)
        self._restore(moment)

    def _look(self) -> Moment:
        fields = (self.cloth.x, self.cloth.v, self.cloth.center)
        return Moment(*(field.to_numpy() for field in fields), replace(self.settings))

    def _restore(self, moment: Moment) -> None:
        self.cloth.x.from_numpy(moment.x)
        self.cloth.v.from_numpy(moment.v)
        self.cloth.center.from_numpy(moment.center)
        self._apply(moment.settings)

    def _apply(self, settings: Settings) -> None:
        """Apply the settings to the cloth."""
        self.cloth.ball.from_numpy(settings.ball)
        self.cloth.stiffness.from_numpy(settings.stiffness * KINDS)
        self.cloth.wind.from_numpy(np.array([settings.wind] * 2))
        self.cloth.damping = settings.damping

    def _improve(self) -> None:
        """Move the wind against its gradient, if the measured loss is that of a whole run.

        The step would make a linear loss 0 (B. T. Polyak, Introduction to Optimization, 1987,
        5.3.2), but is at most `_farthest` long, since the loss may not reach 0.
        """
        slope, loss = self.wind_slope(), float(self.cloth.loss[None])
        if not self.learns or self.end != self.stretches or not slope.any():
            return
        self._farthest = min(self._farthest * (1.2 if loss < self._last else 0.5), FARTHEST)
        self._last = loss
        length = min(loss / np.linalg.norm(slope), self._farthest)
        wind = self.settings.wind - length * slope / np.linalg.norm(slope)
        self.settings.east, self.settings.north, self.settings.up = wind.tolist()


def view(fall: Fall, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app for playing with the cloth, which shows the gradient of the loss."""
    app, cloth, settings = make_app("cloth", options, VIEW, 1.0), fall.cloth, fall.settings
    app.look(at=(0.1, 0.0, 0.0), distance=2.6, yaw=0.5, pitch=0.35, up=(0.0, 0.0, 1.0))
    ball, ball_faces = make_sphere((1 - SKIN) * cloth.radius)
    colours = make_pattern(cloth.scene.cloth.shape)
    app.slider("stiffness [N/m]", (settings, "stiffness"), min=1.0, max=30.0, log=True)
    app.slider("damping [1/s]", (settings, "damping"), min=0.0, max=100.0)
    for name in ("east", "north", "up"):
        app.slider(f"wind {name} [m/s]", (settings, name), min=-4.0, max=4.0)
    app.checkbox("the wind learns", (fall, "learns"))
    app.button("gradient from here", fall.turn)
    app.handle((settings, "ball"), colour="#7aa6f0")
    app.handle(cloth.goal)
    app.plot("off the goal [m]", log=True)
    app.reset(fall.reset)

    @app.step
    def step() -> None:
        if fall.step():
            app.plot("off the goal [m]", np.sqrt(cloth.loss[None]), log=True)

    @app.draw
    def draw() -> None:
        corner = cloth.x[fall.corner]
        app.lines(*make_floor(), colour="#2f3742", width=1.0)
        app.mesh(ball + cloth.center[None], ball_faces, colour="#d9b44a")
        app.mesh(cloth.x, cloth.scene.cloth.triangles, colour=colours)
        app.lines([corner], [cloth.goal[None]], colour=ORANGE)
        app.points([corner], colour=ORANGE, radius=5.0)
        app.arrows([POST], [0.2 * settings.wind], colour=INK, width=3.0)
        app.text(POST, "wind", colour=INK)
        time, last = (STRETCH * cloth.h * k for k in (fall.done, fall.stretches))
        words = "forwards"
        if fall.back:
            words = "back in time, arrows: where the corner wants the cloth pushed"
            draw_gradient(app, cloth.x.to_numpy(), cloth.x.grad.to_numpy())
            draw_gradient(app, np.array([POST]), fall.wind_slope()[None])
        app.text((TIME.left, TIME.y + 0.05), f"{time:.2f} s of {last:.2f} s, {words}")
        n = fall.stretches
        TIME.draw(app, fall.done / n, fall.end / n, fall.back)

    return app


def draw_gradient(app: dt.viewer.App, places: np.ndarray, slopes: np.ndarray) -> None:
    """Show arrows against a gradient, the direction in which the loss falls."""
    sizes = np.linalg.norm(slopes, axis=1)
    seen = sizes > 0.02 * sizes.max()
    if seen.any():
        app.arrows(places[seen], slopes[seen], scale=-ARROW / sizes.max(), colour=PINK)


def make_sphere(radius: float, n: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices around the origin, shape (k, 3), and faces, shape (m, 3)."""
    polar, around = np.meshgrid(
        np.linspace(0, np.pi, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1), indexing="ij"
    )
    x, y = np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around)
    number = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (
        corner.ravel()
        for corner in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    )
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return radius * np.stack([x, y, np.cos(polar)], axis=-1).reshape(-1, 3), faces


def make_pattern(shape: tuple[int, int]) -> np.ndarray:
    """Return the colours of the triangles of a cloth of these rows and columns, in squares."""
    row, column = np.mgrid[: shape[0] - 1, : shape[1] - 1]
    squares = (row // 3 + column // 3) % 2
    return np.array([CLOTH, OTHER], np.uint8)[np.tile(squares.ravel(), 2)]


def make_floor() -> tuple[np.ndarray, np.ndarray]:
    """Return where lines of a level grid begin and end."""
    ticks = np.linspace(-1.0, 1.0, 9)
    ends = np.array([-1.0, 1.0])
    along = np.stack(np.meshgrid(ticks, ends, [FLOOR]), axis=-1).reshape(2, -1, 3)
    across = along[..., [1, 0, 2]]
    return tuple(np.concatenate([along, across], axis=1))

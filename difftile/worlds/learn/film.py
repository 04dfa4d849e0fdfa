"""Films of robots that do what they have learned, and viewers in which they do while they learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import difftile as dt
from difftile import worlds
from difftile.files.writing import whole
from difftile.worlds.learn.policies import fields_of
from difftile.worlds.learn.rollouts import Progress
from difftile.worlds.learn.training import Learner
from difftile.worlds.robots import LOOK, Robots, poses, poses_of

SIZE = 640, 360  # [pixels]
_FRAMES = 150  # of a film, at most
_APART = 1.6  # between copies [m]
_ROOM = 4.0  # of the floor around them [m]


def save_film(path: Path, model: worlds.Model, qpos: np.ndarray, seconds: float) -> None:
    """Write a looping GIF of copies side by side, at the speed of the simulation.

    Args:
        path: The file.
        model: The robot.
        qpos: Coordinates, (decisions, copies, nq).
        seconds: From one decision to the next.
    """
    every = max(1, -(-len(qpos) // _FRAMES))
    shown = np.nan_to_num(qpos[::every])
    robots = Robots(model, shown.shape[1], _APART, floor=_floor(model, shown))
    middle = _along(model, shown)
    pictures = [
        Image.fromarray(
            robots.image(poses_of(model, one), SIZE, **_look(shown.shape[1], float(middle[k])))
        )
        for k, one in enumerate(shown)
    ]
    first, *others = pictures
    with whole(path) as file:
        first.save(
            file,
            "GIF",
            save_all=True,
            append_images=others,
            duration=max(20, round(1000 * seconds * every)),
            loop=0,
        )


def _along(model: worlds.Model, qpos: np.ndarray) -> np.ndarray:
    """Return how far along x copies are in the middle, at each time; 0 where they do not move."""
    moves = model.jnt_type[0] == 0 or (model.jnt_type[0] == 2 and abs(model.jnt_axis[0][0]) > 0.9)
    return qpos[:, :, 0].mean(axis=1) if moves else np.zeros(len(qpos))


def _floor(model: worlds.Model, qpos: np.ndarray) -> tuple[float, float, float, float]:
    ahead = _along(model, qpos)
    width = _APART * (qpos.shape[1] - 1)
    return ahead.min() - _ROOM, -_ROOM, ahead.max() + 3.0 * _ROOM, width + 2.0 * _ROOM


def _look(copies: int, ahead: float) -> dict[str, Any]:
    at = ahead + 0.5, 0.5 * _APART * (copies - 1), 0.4
    return {**LOOK, "at": at, "distance": 6.0 + 0.8 * copies}


def watched(
    learner: Learner,
    app: dt.viewer.App,
    copies: int = 3,
    update: Callable[[], Progress | None] | None = None,
) -> Callable[[], None]:
    """Let an app show worlds in which the first policy acts as it is, and return what learns.

    Args:
        learner: What learns.
        app: The app; each of its steps is one update.
        copies: Worlds that are shown.
        update: Makes an update, or returns None if there is none left; by default `improve` of
            the learner.
    """
    update = update or learner.improve
    rollouts = learner.rollouts
    model = rollouts.model
    shown = type(learner)(model, rollouts.task, copies, rollouts.seeds[:1], learner.rates)
    pairs = zip(fields_of(learner.policy).values(), fields_of(shown.policy).values(), strict=True)
    copied = list(pairs)
    start = shown.rollouts.sim.qpos.to_numpy()[None]
    robots = Robots(model, copies, _APART, floor=_floor(model, start))
    app.look(**_look(copies, float(_along(model, start)[0])))
    decisions = 0

    @app.step
    def improve() -> None:
        found = update()
        if found is None:
            return
        app.plot("reward of a decision", float(found.reward[0]))
        for source, field in copied:
            field.from_numpy(source.to_numpy()[:1] if source.shape else source.to_numpy())

    @app.draw
    def act() -> None:
        nonlocal decisions
        if decisions % rollouts.task.episode == 0:
            shown.rollouts.begin()
        shown.policy.decide(0.0)
        shown.rollouts.env.step(renew=False)
        decisions += 1
        robots.draw(app, poses(shown.rollouts.sim))

    return improve

"""Pictures of `arm-throw`: arms with the rings that they aim at, and how the balls miss them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.pictures import AFTER, INK, PALE, make_figure
from difftile import worlds
from difftile.worlds.robots import LOOK, PALETTE, BodyPoses, Robots, poses_of

LANE, APART = 1.3, 3.2  # from one arm to the next, and from a group to the next [m]
AROUND, ACROSS, THICK = 24, 6, 0.015  # faces of a ring, and its thickness [m]
ORANGE = "#d9822b"
JUMPING = "#b4552d"


class Hoops(Robots):
    """Robots in groups side by side, each with a horizontal ring.

    Args:
        model: The robot.
        rings: Middles of the rings in each world of a group [m], shape (k, 3).
        radius: Of the rings [m].
        groups: Their number; they stand along x, and each has its colour if there are several.
    """

    def __init__(
        self, model: worlds.Model, rings: np.ndarray, radius: float, groups: int = 1
    ) -> None:
        lanes = np.arange(len(rings))[:, None] * np.array([0.0, LANE, 0.0])
        apart = np.arange(groups)[:, None, None] * np.array([APART, 0.0, 0.0])
        places = (lanes + apart).reshape(-1, 3)
        hues = [
            PALETTE[k // len(rings) if groups > 1 else k % len(PALETTE)] for k in range(len(places))
        ]
        right, back = APART * (groups - 1) + 2.4, LANE * (len(rings) - 1) + 0.9
        super().__init__(model, places, colours=hues, floor=(-0.8, -0.9, right, back))
        count, rings = len(places), np.tile(rings, (groups, 1))
        one, faces = torus(radius, THICK)
        middles = (rings + self.places)[:, None]
        self.hoops = (one + middles).reshape(-1, 3)
        self.hoop_faces = (faces + len(one) * np.arange(count)[:, None, None]).reshape(-1, 3)

    def draw(self, app: dt.viewer.App, poses: BodyPoses) -> None:
        """Add the robots, their shadows, the floor and the rings to the picture."""
        super().draw(app, poses)
        app.mesh(self.hoops, self.hoop_faces, colour=ORANGE)


def torus(radius: float, thick: float) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and faces of a ring around z, with its radius and half its thickness."""
    turn, roll = np.meshgrid(
        np.arange(AROUND) * 2 * np.pi / AROUND,
        np.arange(ACROSS) * 2 * np.pi / ACROSS,
        indexing="ij",
    )
    far = radius + thick * np.cos(roll)
    vertices = np.stack([far * np.cos(turn), far * np.sin(turn), thick * np.sin(roll)], axis=-1)
    i, j = (one.ravel() for one in np.mgrid[:AROUND, :ACROSS])
    after, beside = (i + 1) % AROUND, (j + 1) % ACROSS
    a, b, c, d = (p * ACROSS + q for p, q in ((i, j), (after, j), (i, beside), (after, beside)))
    return vertices.reshape(-1, 3), np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])


def save_strip(
    path: Path, hoops: Hoops, model: worlds.Model, motions: Mapping[str, np.ndarray], step: float
) -> None:
    """Draw throws at three moments, a row for each kind of gradient.

    Args:
        path: The PNG to write.
        hoops: The arms and rings.
        model: The arm.
        motions: Coordinates over time, (steps, worlds, nq), by the kind of gradient.
        step: The time between them [s].
    """
    middle = 0.5 * LANE * (len(hoops.places) - 1)
    look = {**LOOK, "yaw": 0.5, "pitch": 0.3, "at": (0.7, middle, 0.6), "distance": 6.6}
    figure = make_figure(13.0, 2.6 * len(motions))
    rows = figure.subplots(len(motions), 3, squeeze=False)
    for row, (label, motion) in zip(rows, motions.items(), strict=True):
        last = len(motion) - 1
        for axes, k in zip(row, (0, round(0.42 * last), last), strict=True):
            axes.imshow(hoops.image(poses_of(model, motion[k]), (640, 380), **look))
            axes.set_title(f"{label}, {step * k:.2f} s", color=INK, fontsize=10)
            axes.set_axis_off()
    figure.savefig(path)


def save_misses(path: Path, misses: Mapping[str, Sequence[np.ndarray]], radius: float) -> None:
    """Draw how far each ball passes its ring over the gradients, for each kind of gradient."""
    figure = make_figure(7.0, 3.6)
    axes = figure.subplots()
    for (label, rows), colour in zip(misses.items(), (AFTER, JUMPING), strict=False):
        for k, one in enumerate(np.array(rows).T):
            axes.plot(one, color=colour, linewidth=1.4, label=label if k == 0 else None)
    axes.axhline(radius, color=PALE, linewidth=1, linestyle="--", label="radius of the ring")
    axes.set(xlabel="gradient", ylabel="ball off the middle of the ring [m]", yscale="log")
    axes.grid(color=PALE, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=INK, fontsize=9)
    figure.savefig(path)

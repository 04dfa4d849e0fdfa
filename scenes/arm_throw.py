"""Arms of seven joints bat balls into rings: the gradient passes only through the contact.

A ball is tossed in front of each arm. A plan says where the joints are to be; servos follow it, and
the sphere at the end of the arm hits the ball, or does not: then the ball knows nothing of the arm,
and the gradient of where it flies is zero. With gradients from a distance a hand that passes the
ball by is drawn to it.

Each world has a plan and a ring of its own. The rollout ends when the ball is on its way; from
there on it flies freely, which is a formula.

Run this file for a few steps of the optimisation; the demo `arm-throw` does all of them.
"""

from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODEL = Path(__file__).parent / "models" / "arm.npz"  # of arm.xml, by `Model.save`
JOINTS, BALL = 7, 7  # of the arm; the first coordinate of the ball
HIT, END = 0.55, 1.0  # times by which the ball was hit, and at which it is to be in the ring [s]
TOSS = 2.0  # the upward speed of the ball at the start [m/s]
KNOTS = 7  # of a plan, which ends with the hit
SUBSTEPS = 4  # for which controls stay the same
REST = -0.5, 0.3  # swing and elbow at the start [rad]
SWUNG = 0.5, 0.3  # at the end of the first plans
SPREAD = 0.08  # of the first plans, standard deviation [rad]
RING = 1.7, 1.3, 0.15  # along, up, and radius [m]
ACROSS = 0.3  # how far the outermost rings are to the sides [m]
DISTANCE = 0.2  # that gradients reach [m]


@dt.kernel
def steer(t: float, plans, ctrl):
    """Set the controls, a uniform cubic spline of the plan, at a time from 0 to 1."""
    for world, joint in ti.ndrange(ctrl.shape[0], JOINTS):
        at = ti.min(ti.max(t, 0.0), 1.0) * (KNOTS - 3)
        first = ti.min(ti.cast(at, ti.i32), KNOTS - 4)
        s = at - first
        r = 1.0 - s
        ctrl[world, joint] = (
            r**3 * plans[world, first, joint]
            + (3.0 * s**3 - 6.0 * s**2 + 4.0) * plans[world, first + 1, joint]
            + (3.0 * r**3 - 6.0 * r**2 + 4.0) * plans[world, first + 2, joint]
            + s**3 * plans[world, first + 3, joint]
        ) / 6.0


@dt.kernel
def judge(qpos, qvel, rings, left: float, fall: float, misses, loss):
    """Write how far the balls pass the rings, after the time that is left, and add the squares."""
    for world in range(qpos.shape[0]):
        square = 0.0
        for i in range(3):
            off = qpos[world, BALL + i] + left * qvel[world, BALL + i] - rings[world, i]
            if i == 2:
                off -= fall
            square += off**2
        misses[world] = ti.sqrt(square)
        loss[None] += square


class Arms:
    """Arms with plans, tossed balls, and rings.

    Args:
        count: Worlds.
        seed: Of the first plans.
        contact_gradient: "exact", or "distance" for gradients that reach a ball that is not hit.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        sim: The worlds.
        plans: Where the joints are to be at the knots, shape (count, KNOTS, 7) [rad].
        rings: Their middles [m], (count, 3).
        misses: How far the balls are from the middles at the end [m], (count,).
        loss: The sum of their squares, 0-D [m^2].
        parameters: What the gradient is for, by name.
    """

    def __init__(
        self, count: int = 4, seed: int = 0, contact_gradient: str = "exact", dtype=ti.f32
    ) -> None:
        model = worlds.load_arrays(MODEL)
        self.sim = worlds.Worlds(
            model, count, dtype=dtype, contact_gradient=contact_gradient, distance=DISTANCE
        )
        self.step_seconds = SUBSTEPS * float(model.timestep)
        qpos, qvel = np.array(model.qpos0), np.zeros(model.sizes.nv)
        qpos[1], qpos[3] = REST
        qvel[BALL + 2] = TOSS
        found = (dt.from_numpy(one, dtype=dtype) for one in (qpos, qvel, np.zeros(0)))
        self.start = worlds.Start(*found)
        rings = np.tile([RING[0], 0.0, RING[1]], (count, 1))
        rings[:, 1] = np.linspace(-ACROSS, ACROSS, count) if count > 1 else 0.0
        self.rings = dt.from_numpy(rings, dtype=dtype)
        first = first_plans(count, seed)
        self.plans = dt.from_numpy(first, dtype=dtype, grad=True)
        self.misses = dt.zeros(count, dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"plans": self.plans}

    def begin(self) -> None:
        """Toss the balls."""
        self.sim.reset(start=self.start)
        self.sim.qacc.fill(0.0)

    def step(self, k: int) -> None:
        """Go on by one decision, the k-th."""
        steer(k * self.step_seconds / HIT, self.plans, self.sim.ctrl)
        self.sim.step(SUBSTEPS)

    def run(self) -> None:
        """Toss and hit the balls, and write where they are going to be."""
        self.loss.fill(0.0)
        self.begin()
        steps = round(HIT / self.step_seconds)
        for k in range(steps):
            self.step(k)
        left = END - steps * self.step_seconds
        gravity = -float(self.sim.model.gravity[2])
        judge(
            self.sim.qpos,
            self.sim.qvel,
            self.rings,
            left,
            0.5 * gravity * left**2,
            self.misses,
            self.loss,
        )


def first_plans(count: int, seed: int) -> np.ndarray:
    """Return swings that end short of the ball, each a little different, (count, KNOTS, 7)."""
    share = np.clip((np.arange(KNOTS) - 1.0) / 3.0, 0.0, 1.0)[:, None]
    ends = np.zeros((2, JOINTS))
    ends[:, [1, 3]] = REST, SWUNG
    swing = ends[0] + share * (ends[1] - ends[0])
    drawn = np.random.default_rng(seed).normal(size=(count, 1, JOINTS))
    return swing + SPREAD * share * drawn


def shorten(gradient: np.ndarray, norm: float) -> np.ndarray:
    """Return gradients of plans, those of a world above a norm shortened to it."""
    own = np.linalg.norm(gradient, axis=(1, 2), keepdims=True)
    return gradient * np.minimum(1.0, norm / np.maximum(own, 1e-30))


class Learner:
    """Adam, on gradients that are shortened world by world.

    Args:
        arms: Whose plans learn.
        rate: Of Adam [rad], a number or a schedule.
        norm: To which gradients of a world are shortened [m^2/rad].
    """

    def __init__(self, arms: Arms, rate: Any = 0.02, norm: float = 1.0) -> None:
        self.arms, self.norm = arms, norm
        self._adam = dt.optim.Adam(arms.plans, rate, betas=(0.8, 0.95))

    def improve(self) -> np.ndarray:
        """Take one gradient; return the gradients of all worlds, before they are shortened."""
        arms = self.arms
        with dt.Tape(arms.loss):
            arms.run()
        found = arms.plans.grad.to_numpy()
        arms.plans.grad.from_numpy(shorten(found, self.norm))
        self._adam.step()
        return found


if __name__ == "__main__":
    arms = Arms(contact_gradient="distance")
    learner = Learner(arms)
    for _ in range(20):  # the first balls are hit after twelve
        learner.improve()
        print(f"loss {arms.loss[None]:.6g}")
    print(f"misses [m]: {arms.misses.to_numpy()}")

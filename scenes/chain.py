"""A chain of six capsules with motors, whose tip follows a goal, past a post.

The goal moves as it likes. At each moment the controls are those of the moment before, improved by
a few gradients through a short rollout from the present state.

Run this file to let the tip follow a goal around the post.
"""

from pathlib import Path

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODEL = Path(__file__).parent / "models" / "chain.npz"  # of chain.xml, by `Model.save`
TOP, LINK = 1.4, 0.16  # the height of the first joint and the length of a link [m]
RADIUS = 0.03  # of links [m]
POST = 0.24, 1.08, 0.1  # along, up, and radius [m]
AHEAD = 0.06  # the time for which the tip goes on after the rollout [s]
EFFORT, SPEED = 2e-4, 2e-4  # weights of squared controls and of squared speeds of joints


@dt.func
def tip(qpos, qvel, world):
    """Return the place of the tip along and up [m], and its velocity."""
    angle, turn = 0.0, 0.0
    place, velocity = ti.Vector([0.0, TOP]), ti.Vector([0.0, 0.0])
    for i in range(qpos.shape[1]):
        angle += qpos[world, i]
        turn += qvel[world, i]
        along = ti.Vector([-ti.sin(angle), -ti.cos(angle)])
        place += LINK * along
        velocity += LINK * turn * ti.Vector([-ti.cos(angle), ti.sin(angle)])
    return place, velocity


@dt.kernel
def judge(goal, qpos, qvel, ctrl, loss):
    """Add the squared distance of the goal from where the tip is going to be."""
    for world in range(qpos.shape[0]):
        place, velocity = tip(qpos, qvel, world)
        cost = (place + AHEAD * velocity - goal[None]).norm_sqr()
        for i in range(qpos.shape[1]):
            cost += EFFORT * ctrl[world, i] ** 2 + SPEED * qvel[world, i] ** 2
        loss[None] += cost


class Follower:
    """The chain, and the short rollout from which its controls come.

    Args:
        steps: Time steps of the rollout, twice as long as those of the chain.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        goal: Where the tip is to go, along and up [m], a 0-D field of vec2.
        sim: The chain.
        controls: Of its motors, from -1 to 1, shape (1, motors).
        loss: Of the rollout, 0-D [m^2].
        parameters: What the gradient is for, by name.
    """

    def __init__(self, steps: int = 5, dtype=ti.f32) -> None:
        model = worlds.load_arrays(MODEL)
        self.steps = steps
        self.sim, self.ahead = (worlds.Worlds(model, 1, dtype=dtype) for _ in range(2))
        self.ahead.m.timestep.fill(2.0 * float(model.timestep))
        self.controls = dt.zeros((1, model.sizes.nu), dtype, grad=True)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"controls": self.controls}
        self.goal = dt.zeros((), dt.vec(2, dtype))
        self._optimiser = dt.optim.Adam(self.controls, 0.05, betas=(0.7, 0.95), low=-1.0, high=1.0)

    def start(self) -> None:
        """Let the chain hang at rest."""
        self.sim.reset()
        self.controls.fill(0.0)

    def run(self) -> None:
        """Simulate the rollout from the present state, and write the loss."""
        sim, ahead = self.sim, self.ahead
        ahead.qpos.copy_from(sim.qpos)
        ahead.qvel.copy_from(sim.qvel)
        ahead.qacc.copy_from(sim.qacc)
        ahead.ctrl.copy_from(self.controls)
        self.loss.fill(0.0)
        ahead.step(self.steps)
        judge(self.goal, ahead.qpos, ahead.qvel, ahead.ctrl, self.loss)

    def improve(self) -> None:
        """Move the controls along the gradient of the rollout."""
        with dt.Tape(self.loss):
            self.run()
        self._optimiser.step()

    def step(self, substeps: int = 1) -> None:
        """Let time pass for the chain."""
        self.sim.ctrl.copy_from(self.controls)
        self.sim.step(substeps)

    @property
    def aimed(self) -> np.ndarray:
        """Where the goal is, along and up [m]."""
        return self.goal.to_numpy()

    def aim(self, goal: np.ndarray) -> None:
        """Set the goal, along and up [m]."""
        self.goal.from_numpy(goal.astype(self.goal.to_numpy().dtype))

    def joints(self) -> np.ndarray:
        """Return where the joints are, and at last the tip, along and up [m], shape (7, 2)."""
        angle = np.cumsum(self.sim.qpos.to_numpy()[0].astype(float))
        links = LINK * np.stack([-np.sin(angle), -np.cos(angle)], axis=1)
        return np.concatenate([[[0.0, TOP]], np.array([0.0, TOP]) + np.cumsum(links, axis=0)])


def swing(t: float) -> np.ndarray:
    """Return a goal that swings past the post, along and up [m], at a time [s]."""
    angle = 0.7 * np.sin(0.9 * t)
    return np.array([0.8 * np.sin(angle), TOP - 0.8 * np.cos(angle)])


if __name__ == "__main__":
    follower = Follower()
    follower.start()
    for k in range(200):
        follower.aim(swing(0.02 * k))
        follower.improve()
        follower.step(2)
        if k % 20 == 0:
            print(f"loss {follower.loss[None]:.4g}")

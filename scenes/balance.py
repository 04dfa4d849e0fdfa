"""Bipeds on box feet that keep their balance, with their trunks at a goal, while they are pushed.

Each joint has a servo. At each moment the angles that the servos hold are those of the moment
before, improved by a gradient through a short rollout from the present state.

Run this file to let a biped stand and be pushed.
"""

from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODEL = Path(__file__).parent / "models" / "biped.npz"  # of biped.xml, by `Model.save`
TRUNK = 0.03, 0.0, 0.77  # where the trunk is when the biped stands at ease [m]
REACH = 0.05, 0.06, 0.12  # how far from there goals may be along each axis [m]
COARSE = 2.0  # the time step of rollouts, in those of the bipeds
AHEAD = 0.25  # the time for which the trunk goes on after the rollout [s]
RISE = 0.1  # the same for its height [s]
RATE = 0.04  # of the servos, for each gradient [rad]
LOWEST = 0.55  # the height of a trunk below which its biped has fallen [m]
PLACE, HEIGHT, LEAN, TURN, POSTURE = 20.0, 20.0, 2.0, 0.02, 0.05  # weights in the loss


@dt.kernel
def judge(goal, qpos, qvel, ctrl, ease, learns, loss):
    """Add how far each trunk is going to be from the goal, its lean, and the distance from ease."""
    for world in learns:
        total = HEIGHT * (qpos[world, 2] + RISE * qvel[world, 2] - goal[None].z) ** 2
        for i in range(2):
            total += PLACE * (qpos[world, i] + AHEAD * qvel[world, i] - goal[None][i]) ** 2
        for i in range(3, 6):
            total += TURN * qvel[world, i] ** 2
        x, y, z = qpos[world, 4], qpos[world, 5], qpos[world, 6]
        total += LEAN * (x * x + y * y + z * z)
        for i in range(ctrl.shape[1]):
            total += POSTURE * (ctrl[world, i] - ease[i]) ** 2
        loss[None] += learns[world] * total


class Bipeds:
    """Bipeds, and the short rollouts from which their servos are set.

    Args:
        count: Their number.
        steps: Time steps of a rollout, `COARSE` times as long as those of the bipeds.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        sim: The bipeds, one in each world.
        servos: The angles that the servos hold [rad], (count, 10).
        goal: Where the trunks are to be [m], a 0-D field of vec3.
        loss: Of all rollouts, 0-D.
        parameters: What the gradient is for, by name.
        learns: Which bipeds follow gradients, (count,), 1 or 0; the others hold their servos.
        push: Forces on the trunks [N], (count, 3); the rollouts do not know of them.
    """

    def __init__(self, count: int = 1, steps: int = 15, dtype: Any = ti.f32) -> None:
        self.model = model = worlds.load_arrays(MODEL)
        self.steps = steps
        self.sim, self.ahead = (worlds.Worlds(model, count, dtype=dtype) for _ in range(2))
        self.ahead.m.timestep.fill(COARSE * float(model.timestep))
        self._start = self.sim.start("stand")
        self.ease = self._start.qpos.to_numpy()[7:].astype(float)  # angles of the joints
        self._ease = dt.from_numpy(self.ease, dtype=dtype)
        self.servos = dt.zeros((count, model.sizes.nu), dtype, grad=True)
        self.learns, self.loss = dt.ones(count, dtype), dt.zeros((), dtype, grad=True)
        self.parameters = {"servos": self.servos}
        self.goal = dt.zeros((), dt.vec(3, dtype))
        self.push = np.zeros((count, 3))
        self._optimiser = dt.optim.Adam(self.servos, RATE, betas=(0.7, 0.95))
        self.aim(np.array(TRUNK))
        self.start()

    def start(self, done: Any = None) -> None:
        """Let the bipeds stand at ease, or those of which `done` is not 0."""
        self.sim.reset(done, self._start)
        servos = self.servos.to_numpy()
        which = slice(None) if done is None else done.to_numpy() != 0
        servos[which] = self.ease
        self.servos.from_numpy(servos)

    def aim(self, goal: np.ndarray) -> None:
        """Set the goal [m], within reach."""
        low, high = np.array(TRUNK) - REACH, np.array(TRUNK) + REACH
        self.goal.from_numpy(np.clip(goal, low, high).astype(self.goal.to_numpy().dtype))

    def run(self) -> None:
        """Simulate the rollouts from the present states, and write the loss."""
        sim, ahead = self.sim, self.ahead
        ahead.qpos.copy_from(sim.qpos)
        ahead.qvel.copy_from(sim.qvel)
        ahead.qacc.copy_from(sim.qacc)
        ahead.ctrl.copy_from(self.servos)
        self.loss.fill(0.0)
        ahead.step(self.steps)
        judge(self.goal, ahead.qpos, ahead.qvel, ahead.ctrl, self._ease, self.learns, self.loss)

    def improve(self) -> None:
        """Move the servos along the gradients of the rollouts."""
        with dt.Tape(self.loss):
            self.run()
        self._optimiser.step()

    def step(self, substeps: int = 1) -> None:
        """Let time pass for the bipeds."""
        forces = self.sim.qfrc_applied.to_numpy()
        forces[:, :3] = self.push
        self.sim.qfrc_applied.from_numpy(forces)
        self.sim.ctrl.copy_from(self.servos)
        self.sim.step(substeps)

    def trunks(self) -> np.ndarray:
        """Return where the trunks are [m], (count, 3)."""
        return self.sim.qpos.to_numpy()[:, :3].astype(float)

    def fallen(self) -> np.ndarray:
        """Return which bipeds lie on the floor, (count,)."""
        return ~(self.trunks()[:, 2] > LOWEST)


def sway(t: float) -> np.ndarray:
    """Return a goal that goes around, and down and up, at a time [s]."""
    ways = np.sin(0.9 * t), np.sin(1.3 * t), 0.5 * (np.cos(0.7 * t) - 1.0)
    return np.array(TRUNK) + 0.7 * np.array(REACH) * ways


if __name__ == "__main__":
    bipeds = Bipeds()
    for k in range(125):
        bipeds.push[:, 0] = 40.0 if 30 <= k < 36 else 0.0
        bipeds.improve()
        bipeds.step(4)
        if k % 12 == 6:
            print(f"loss {bipeds.loss[None]:.5f}")

"""A hopper that jumps one metre in 1.2 s: rollouts, and pieces of one from any states.

A plan has 60 controls, each for 20 ms. `Shots` plays plans from rest. `Pieces` runs all stretches
of 20 ms at once, each from a state of its own, with derivatives of each end by its state and
control, row by row in as many worlds. `Lanes` plays a plan with feedback, at several step lengths.

Run this file to move a plan along a few gradients through 1.2 s.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODEL = Path(__file__).parent / "models" / "hopper.npz"  # of hopper.xml, by `Model.save`
CONTROLS, SUBSTEPS = 60, 5  # in 1.2 s, and time steps of each
AHEAD = 1.0  # the distance [m]
SHARP = 0.02  # the time constant of the model's contacts [s]
BEND = 0.6  # of the knee, where the hopper stands [rad]
EFFORT = 0.05  # the weight of the mean square of controls
LARGEST = 3.0  # before they are squashed by tanh
# Weights of the last state's distance from standing at the goal: coordinates, then velocities.
WEIGHTS = np.array([2.0, 2.0, 1.4, 0.7, 0.7, 0.7, 0.45, 0.45, 0.22, 0.14, 0.14, 0.14])
NX, NU = 12, 3  # numbers of a state, and motors


def robot() -> worlds.Model:
    """Return the hopper, with limits of joints and contacts that build up over some steps."""
    model = worlds.load_arrays(MODEL)
    model.jnt_solimp[:, :3] = 0.0, 0.95, 0.1  # [rad]; d0 = 0, as the contacts have
    model.geom_solimp[:, 2] = 0.03  # [m], three steps at 2.5 m/s
    return model


def standing(along: float = 0.0) -> np.ndarray:
    """Return the state that stands on the foot with a bent knee, at a place along x [m]."""
    state = np.zeros(NX)
    state[[0, 2, 4, 5]] = along, -BEND / 2, -BEND, BEND / 2
    state[1] = (0.17 + 0.41 + 0.43) * np.cos(BEND / 2) + 0.05 + 0.055
    return state


def arc(flight: float) -> np.ndarray:
    """Return the first guess of the states, (61, 12): it stands, flies for a time [s], stands."""
    t = np.linspace(0.0, 1.2, CONTROLS + 1)
    path = np.tile(standing(), (len(t), 1))
    flown = np.clip(t - 0.5 * (1.2 - flight), 0.0, flight)
    free = (flown > 0.0) & (flown < flight)
    path[:, 0] += AHEAD * flown / flight
    path[:, 1] += 0.5 * 9.81 * flown * (flight - flown)
    path[:, 6] = np.where(free, AHEAD / flight, 0.0)
    path[:, 7] = np.where(free, 9.81 * (0.5 * flight - flown), 0.0)
    return path


def loss_of(last: np.ndarray, plan: np.ndarray) -> np.ndarray:
    """Return the loss of last states (..., 12) and plans (..., 60, 3) before they are squashed."""
    off = np.sum((WEIGHTS * (last - standing(AHEAD))) ** 2, axis=-1)
    return off + EFFORT / CONTROLS * np.sum(np.tanh(plan) ** 2, axis=(-2, -1))


@dt.kernel
def drive(plan, k: int, ctrl):
    """Set the controls of all worlds to those of a time."""
    for world, i in ctrl:
        ctrl[world, i] = ti.tanh(plan[world, k, i])


@dt.kernel
def judge(qpos, qvel, plan, goal, weights, effort: float, losses, loss):
    """Write the loss of each world, and their sum."""
    for world in losses:
        total = 0.0
        for i in range(qpos.shape[1]):
            j = i + qpos.shape[1]
            total += (weights[i] * (qpos[world, i] - goal[i])) ** 2
            total += (weights[j] * (qvel[world, i] - goal[j])) ** 2
        for k in range(plan.shape[1]):
            for i in range(plan.shape[2]):
                total += effort * ti.tanh(plan[world, k, i]) ** 2
        losses[world] = dt.stop_grad(total)
        loss[None] += total


@dt.kernel
def steer(qpos, qvel, path, plan, change, gain, shares, k: int, ctrl, tried):
    """Control each world by the plan, a share of its change, and feedback from the path."""
    for world in shares:
        nq = qpos.shape[1]
        for i in range(ctrl.shape[1]):
            u = plan[k, i] + shares[world] * change[k, i]
            for j in range(nq):
                u += gain[k, i, j] * (qpos[world, j] - path[k, j])
                u += gain[k, i, nq + j] * (qvel[world, j] - path[k, nq + j])
            u = ti.max(ti.min(u, LARGEST), -LARGEST)
            tried[k, world, i] = u
            ctrl[world, i] = ti.tanh(u)


@dt.kernel
def mend(gaps, shares, k: int, qpos, qvel, reached):
    """Leave open what each world's share leaves of the gap after a piece, and keep the state."""
    for world in shares:
        nq, left = qpos.shape[1], 1.0 - shares[world]
        for j in range(nq):
            qpos[world, j] -= left * gaps[k, j]
            qvel[world, j] -= left * gaps[k, nq + j]
            reached[k, world, j] = qpos[world, j]
            reached[k, world, nq + j] = qvel[world, j]


class Shots:
    """Rollouts of plans from rest, one in each world.

    Args:
        count: The number of worlds.
        dtype: `ti.f32` or `ti.f64`.
        controls: Of a plan; fewer than `CONTROLS` end earlier.

    Attributes:
        sim: The worlds.
        plan: Controls before they are squashed, (count, controls, 3).
        losses: Of each world, (count,).
        loss: Their sum, 0-D.
        parameters: What the gradient is for, by name.
    """

    def __init__(self, count: int, dtype: Any = ti.f32, controls: int = CONTROLS) -> None:
        self.sim = worlds.Worlds(robot(), count, dtype=dtype)
        self.plan = dt.zeros((count, controls, NU), dtype, grad=True)
        self.losses = dt.zeros(count, dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"plan": self.plan}
        self._start = start_of(standing(), dtype)
        self._goal, self._weights = (
            dt.from_numpy(one, dtype=dtype) for one in (standing(AHEAD), WEIGHTS)
        )

    def run(self, watch: Callable[[], object] = lambda: None) -> None:
        """Play the plans, and write the losses; `watch` is called before and after each control."""
        self.loss.fill(0.0)
        self.sim.reset(None, self._start)
        watch()
        for k in range(self.plan.shape[1]):
            drive(self.plan, k, self.sim.ctrl)
            self.sim.step(SUBSTEPS)
            watch()
        given = self.sim.qpos, self.sim.qvel, self.plan, self._goal, self._weights
        judge(*given, EFFORT / CONTROLS, self.losses, self.loss)

    def play(self, plans: np.ndarray, watch: Callable[[], object] = lambda: None) -> np.ndarray:
        """Return the losses of plans, (count, 60, 3)."""
        self.plan.from_numpy(plans.astype(self.plan.to_numpy().dtype))
        self.run(watch)
        return np.nan_to_num(self.losses.to_numpy().astype(float), nan=np.inf)

    def states(self) -> np.ndarray:
        """Return the last states, (count, 12)."""
        return states_of(self.sim)


@dataclass(frozen=True, slots=True)
class Slopes:
    """Ends of all pieces, (60, 12), and their derivatives by state and by control.

    Attributes:
        ends: The states after each piece.
        by_state: Shape (60, 12, 12).
        by_control: Before it is squashed, shape (60, 12, 3).
    """

    ends: np.ndarray
    by_state: np.ndarray
    by_control: np.ndarray


class Pieces:
    """All stretches of 20 ms of a plan at once, each from its own state.

    Args:
        rows: Worlds of each piece: 1 to run them, 12 for derivatives of all rows of the state.
    """

    def __init__(self, rows: int = 1) -> None:
        count, self.rows = CONTROLS * rows, rows
        self.sim = worlds.Worlds(robot(), count)
        self.plan = dt.zeros((count, 1, NU), grad=True)
        made = (dt.zeros((count, n), grad=True) for n in (NX // 2, NX // 2, 0))
        self.start = worlds.Start(*made)
        self.steps = count * SUBSTEPS  # of time, of all worlds
        seeds = np.tile(np.eye(NX, dtype=np.float32), (CONTROLS, 1))[:count]
        self._seeds = seeds[:, : NX // 2].copy(), seeds[:, NX // 2 :].copy()

    def run(self, path: np.ndarray, plan: np.ndarray) -> np.ndarray:
        """Return the ends of pieces from given states (60, 12) under controls (60, 3)."""
        self._put(path, plan)
        self._run()
        return states_of(self.sim)[:: self.rows]

    def _put(self, path: np.ndarray, plan: np.ndarray) -> None:
        fields = self.start.qpos, self.start.qvel, self.plan
        for field, one in zip(fields, (*split(path), plan), strict=True):
            rows = np.repeat(one, self.rows, axis=0).astype(np.float32)
            field.from_numpy(rows.reshape(field.shape))

    def _run(self) -> None:
        self.sim.reset(None, self.start)
        drive(self.plan, 0, self.sim.ctrl)
        self.sim.step(SUBSTEPS)

    def slopes(self, path: np.ndarray, plan: np.ndarray) -> Slopes:
        """Return ends and derivatives; each world gives one row of them."""
        self._put(path, plan)
        with dt.Tape() as tape:
            self._run()
        positions, velocities = self._seeds
        tape.backward({self.sim.qpos: positions, self.sim.qvel: velocities})
        found = (self.start.qpos, self.start.qvel, self.plan)
        rows = [field.grad.to_numpy().astype(float) for field in found]
        by_state = np.concatenate(rows[:2], axis=1).reshape(CONTROLS, NX, NX)
        return Slopes(
            states_of(self.sim)[:: self.rows], by_state, rows[2].reshape(CONTROLS, NX, NU)
        )


class Lanes:
    """Rollouts of a plan with feedback, each with a share of the change of controls.

    Args:
        shares: From 0 to 1, one for each world.
    """

    def __init__(self, shares: np.ndarray) -> None:
        count, self.shares = len(shares), shares
        self.sim = worlds.Worlds(robot(), count)
        self.steps = count * CONTROLS * SUBSTEPS
        self._shares = dt.from_numpy(shares, dtype=ti.f32)
        shapes = (NX,), (NU,), (NU,), (NU, NX), (NX,)
        self._given = [dt.zeros((CONTROLS, *shape)) for shape in shapes]
        self._tried = dt.zeros((CONTROLS, count, NU))
        self._reached = dt.zeros((CONTROLS, count, NX))
        self._start = start_of(standing())

    def run(
        self,
        path: np.ndarray,
        plan: np.ndarray,
        change: np.ndarray,
        gain: np.ndarray,
        gaps: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Play the plan, and close the same share of the gaps between pieces.

        Args:
            path: States at the beginning of pieces, (60, 12).
            plan: Controls, (60, 3).
            change: Of the controls, of which worlds take their share, (60, 3).
            gain: Of controls by the distance of the state from the path, (60, 3, 12).
            gaps: From the path to the ends of its pieces, (60, 12).

        Returns:
            States (worlds, 61, 12) and controls (worlds, 60, 3).
        """
        sim = self.sim
        for field, one in zip(self._given, (path, plan, change, gain, gaps), strict=True):
            field.from_numpy(one.astype(np.float32))
        paths, plans, changes, gains, open_gaps = self._given
        sim.reset(None, self._start)
        for k in range(CONTROLS):
            given = paths, plans, changes, gains, self._shares
            steer(sim.qpos, sim.qvel, *given, k, sim.ctrl, self._tried)
            sim.step(SUBSTEPS)
            mend(open_gaps, self._shares, k, sim.qpos, sim.qvel, self._reached)
        first = np.broadcast_to(standing(), (len(self.shares), 1, NX))
        reached = self._reached.to_numpy().astype(float).transpose(1, 0, 2)
        tried = self._tried.to_numpy().astype(float).transpose(1, 0, 2)
        return np.concatenate([first, reached], axis=1), tried


def soften(sim: worlds.Worlds, seconds: float) -> None:
    """Set the time constant of contacts, `SHARP` in the model [s]."""
    solref = sim.m.geom_solref.to_numpy()
    solref[:, 0] = seconds
    sim.m.geom_solref.from_numpy(solref)


def split(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates and velocities of states (..., 12)."""
    return states[..., : NX // 2], states[..., NX // 2 :]


def states_of(sim: worlds.Worlds) -> np.ndarray:
    """Return the states of all worlds, (worlds, 12)."""
    return np.concatenate([sim.qpos.to_numpy(), sim.qvel.to_numpy()], axis=1).astype(float)


def start_of(state: np.ndarray, dtype: Any = ti.f32) -> worlds.Start:
    """Return a state that worlds can be reset to."""
    return worlds.Start(*(dt.from_numpy(x, dtype=dtype) for x in (*split(state), np.zeros(0))))


if __name__ == "__main__":
    shots = Shots(1)
    adam = dt.optim.Adam(shots.plan, 0.05, clip_norm=1.0)
    for _ in range(10):
        with dt.Tape(shots.loss):
            shots.run()
        print(f"loss {shots.loss[None]:.5f}")
        adam.step()

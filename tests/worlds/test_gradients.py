"""Gradients of rollouts of many worlds, compared with the numbers of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.kinds import BALL, FREE
from tests.worlds.conformance import NAMES, model, numbers

# A slow compile for each, so that one stands for all by default.
NAMED = [name if name == "hopper" else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
# MuJoCo ends its search in an elliptic cone at a decrease of 1e-15, the square of the error: these
# reference gradients are off by a millionth. Differences of our rollouts are the test below.
UNCONVERGED = {"box_soft": 3e-6}


@dt.kernel
def control(t: int, controls, ctrl, loss):
    for w, i in ti.ndrange(ctrl.shape[0], ctrl.shape[1]):
        ctrl[w, i] = controls[t, w, i]
        loss[None] += 0.01 * controls[t, w, i] ** 2


@dt.kernel
def judge(qpos, qvel, wq, wv, loss):
    for w, i in qpos:
        loss[None] += wq[i] * qpos[w, i]
    for w, i in qvel:
        loss[None] += wv[i] * qvel[w, i] + 0.05 * qvel[w, i] ** 2


class Rollout:
    """A world for each reference state of a model, and the loss of the reference.

    Args:
        name: The model.
        dtype: The type of numbers.
    """

    def __init__(self, name: str, dtype: Any = ti.f64) -> None:
        self.name, self.reference, self.dtype = name, numbers()[name], dtype
        self.states = self.reference["states"]
        self.parameter = self.states[0]["gradient"]["parameter"]
        array = self.parameter["array"]
        count = len(self.states)
        self.sim = worlds.Worlds(model(name), count, dtype=dtype, per_world=array, grad=array)
        self.first = self.field("qpos"), self.field("qvel")
        self.controls = self.field("ctrl", axes=(1, 0, 2)) if model(name).sizes.nu else None
        self.act = self.field("act") if model(name).sizes.na else None

    def field(self, key: str, axes: Any = (0, 1)) -> Any:
        values = np.array([state[key] for state in self.states]).transpose(axes)
        return dt.from_numpy(np.ascontiguousarray(values), dtype=self.dtype, grad=True)

    def start(self) -> None:
        """Put the worlds into their first states."""
        self.sim.qacc.fill(0.0)
        self.sim.qpos.copy_from(self.first[0])
        self.sim.qvel.copy_from(self.first[1])
        if self.act is not None:
            self.sim.act.copy_from(self.act)

    def loss(self, steps: int) -> Any:
        """Return the sum of the losses of all worlds."""
        sim, loss = self.sim, dt.zeros((), self.dtype, grad=True)
        self.start()
        for t in range(steps):
            if self.controls is not None:
                control(t, self.controls, sim.ctrl, loss)
            sim.step()
        weights = (self.reference[key] for key in ("wq", "wv"))
        judge(sim.qpos, sim.qvel, *(dt.from_numpy(np.array(w), self.dtype) for w in weights), loss)
        return loss

    def gradient(self, steps: int, memory: int | None = None) -> list[dict[str, np.ndarray]]:
        """Return the gradient of each world: dq along tangents, dv, du and dp."""
        parameter = getattr(self.sim.m, self.parameter["array"])
        for field in (*self.first, self.controls, parameter):
            if field is not None:
                field.grad.fill(0.0)
        with dt.Tape(memory=memory) as tape:
            loss = self.loss(steps)
        self.kept = tape.nbytes
        tape.backward(loss)
        found: list[dict[str, np.ndarray]] = []
        for w in range(len(self.states)):
            bar = self.first[0].grad.to_numpy()[w]
            one = {"dq": self.tangent(self.first[0].to_numpy()[w], bar)}
            one["dv"] = self.first[1].grad.to_numpy()[w]
            if self.controls is not None:
                one["du"] = self.controls.grad.to_numpy()[:steps, w]
            of_model = parameter.grad.to_numpy()[w]
            one["dp"] = np.array([sum(of_model[tuple(at)] for at in self.parameter["index"])])
            found.append(one)
        return found

    def tangent(self, qpos: np.ndarray, bar: np.ndarray) -> np.ndarray:
        """Return a gradient by coordinates along tangents of quaternions: ½ q̄ · (q ⊗ e_k)."""
        found: list[float] = []
        robot = self.sim.model
        for kind, start in zip(robot.jnt_type, robot.jnt_qposadr, strict=True):
            at = int(start)
            if kind not in (FREE, BALL):
                found.append(bar[at])
                continue
            if kind == FREE:
                found += list(bar[at : at + 3])
                at += 3
            w, x, y, z = qpos[at : at + 4]
            turned = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
            found += list(0.5 * bar[at : at + 4] @ turned)
        return np.array(found)


def compared(found: dict[str, np.ndarray], wanted: dict[str, Any]) -> Any:
    """Yield names, our entries and the reference's where it has a derivative, and its error."""
    for key in found.keys() & wanted.keys():
        reference = np.array(wanted[key], float)
        known = np.ones(reference.size, bool)
        for kind in ("rough", "unsure"):
            known[wanted.get(f"{key}_{kind}", [])] = False
        scale = 1 + np.abs(reference).max(initial=0)
        error = wanted.get(f"{key}_error", 0.0)
        yield key, found[key].ravel()[known], reference.ravel()[known], scale, error


@pytest.mark.filterwarnings("ignore:A gradient passes contacts")  # box, on purpose
@pytest.mark.parametrize("name", NAMED)
def test_gradients_of_rollouts_are_those_of_mujoco(name: str) -> None:
    rollout = Rollout(name)
    for case, bound in (("gradient", 1e-7), ("gradient_long", 1e-6)):
        steps = rollout.states[0][case]["steps"]
        for world, found in enumerate(rollout.gradient(steps)):
            given = rollout.states[world][case]
            for key, ours, wanted, scale, error in compared(found, given):
                allowed = max(UNCONVERGED.get(name, bound) * scale, 10 * error)
                assert np.abs(ours - wanted).max(initial=0) <= allowed, (case, world, key)


@pytest.mark.slow
def test_gradients_in_elliptic_cones_are_those_of_differences() -> None:
    """Of searches that go on to the last digits: differences see where they end."""
    rollout = Rollout("box_soft")
    own = {"per_world": rollout.parameter["array"], "grad": rollout.parameter["array"]}
    rollout.sim = worlds.Worlds(model("box_soft"), 3, dtype=ti.f64, tolerance=1e-15, **own)
    steps = rollout.states[0]["gradient"]["steps"]
    found = rollout.gradient(steps)
    qvel = rollout.first[1]
    before = qvel.to_numpy()

    def loss(at: tuple[int, int], e: float) -> float:
        moved = before.copy()
        moved[at] += e
        qvel.from_numpy(moved)
        return float(rollout.loss(steps).to_numpy())

    for w, k in ((0, 1), (1, 0), (1, 2), (1, 4), (2, 3)):
        fine, coarse = (loss((w, k), e) - loss((w, k), -e) for e in (1e-4, 2e-4))
        wanted = (8 * fine - coarse) / 12e-4
        assert abs(found[w]["dv"][k] - wanted) < 1e-8 * (1 + np.abs(found[w]["dv"]).max()), (w, k)


def test_gradients_within_memory_are_the_same() -> None:
    rollout = Rollout("hopper")
    steps = 48
    whole = rollout.gradient(steps)
    for limit in (rollout.kept // 4, rollout.kept // 12):
        within = rollout.gradient(steps, limit)
        assert rollout.kept <= limit
        for ours, wanted in zip(within, whole, strict=True):
            for key, values in wanted.items():
                np.testing.assert_array_equal(ours[key], values)

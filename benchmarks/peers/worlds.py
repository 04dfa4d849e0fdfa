"""Rollouts of many worlds of one MJCF model, as MuJoCo and its ports to devices compute them.

Controls are smooth and the same for all. Each world begins with joints and speeds of its own, drawn
by a seed, so that contacts differ. The model's solver gets the limits that throughput is usually
measured with, in place of the model's own, which are those of an oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ITERATIONS, TOLERANCE = 10, 1e-6  # of Newton, and of its line search


@dataclass(frozen=True)
class Rollout:
    """A rollout of all worlds.

    Attributes:
        run: Computes it from the start, to the end of the device's work.
        final: Returns the joints at the end of the last run, shape (worlds, nq).
    """

    run: Callable[[], object]
    final: Callable[[], np.ndarray]


def load(path: Path) -> Any:
    """Return the model of a file, with the solver's limits for throughput."""
    mujoco = import_module("mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.iterations = model.opt.ls_iterations = ITERATIONS
    model.opt.tolerance = TOLERANCE
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_ENERGY)  # which MJX has not
    return model


def start(model: Any, worlds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return joints and speeds of each world, shapes (worlds, nq) and (worlds, nv)."""
    mujoco = import_module("mujoco")
    # World by world, so that a side with fewer worlds begins with the same ones.
    drawn = np.random.default_rng(seed).normal(size=(worlds, 2, model.nv))
    joints = np.tile(model.qpos0, (worlds, 1))
    for one, shift in zip(joints, 0.05 * drawn[:, 0], strict=True):
        mujoco.mj_integratePos(model, one, shift, 1.0)
    return joints, 0.1 * drawn[:, 1]


def controls(model: Any, steps: int, held: int = 1) -> np.ndarray:
    """Return the controls of each step, shape (steps, nu), the same for `held` steps at a time."""
    phases, times = np.arange(model.nu), np.arange(steps) // held * held
    return 0.5 * np.sin(0.05 * times[:, None] + phases)


def by_mujoco(model: Any, worlds: int, steps: int, held: int = 1) -> Rollout:
    """Return the rollout by MuJoCo on one core, in double precision."""
    mujoco = import_module("mujoco")
    data = mujoco.MjData(model)
    joints, speeds = start(model, worlds)
    inputs, ends = controls(model, steps, held), np.zeros_like(joints)

    def run() -> None:
        for world in range(worlds):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = joints[world], speeds[world]
            for one in inputs:
                data.ctrl[:] = one
                mujoco.mj_step(model, data)
            ends[world] = data.qpos

    return Rollout(run, lambda: ends)


def by_warp(model: Any, worlds: int, steps: int, held: int = 1) -> Rollout:
    """Return the rollout by mujoco_warp, in f32; on a GPU all steps are one graph."""
    mujoco, wp, mjw = map(import_module, ("mujoco", "warp", "mujoco_warp"))
    of_model = mjw.put_model(model)
    rows = 4 * 3 * model.ngeom + 2 * model.njnt
    state = mjw.put_data(model, mujoco.MjData(model), nworld=worlds, nconmax=32, njmax=rows)
    joints, speeds = (wp.array(one, dtype=float) for one in start(model, worlds))
    inputs = [wp.array(np.tile(u, (worlds, 1)), dtype=float) for u in controls(model, steps, held)]

    def launch() -> None:
        wp.copy(state.qpos, joints)
        wp.copy(state.qvel, speeds)
        state.qacc_warmstart.zero_()
        for one in inputs:
            wp.copy(state.ctrl, one)
            mjw.step(of_model, state)

    launch()  # compiles
    graph = None
    if wp.get_device().is_cuda:
        with wp.ScopedCapture() as capture:
            launch()
        graph = capture.graph

    def run() -> None:
        launch() if graph is None else wp.capture_launch(graph)
        wp.synchronize()

    return Rollout(run, state.qpos.numpy)


def by_mjx(model: Any, worlds: int, steps: int, held: int = 1, gradient: bool = False) -> Rollout:
    """Return the rollout by MJX, in f32: one `lax.scan` of a `vmap`.

    Args:
        model: As by `load`.
        worlds: Number of worlds.
        steps: Number of steps.
        held: Steps for which a control stays the same.
        gradient: Compute the gradient of the sum of squared speeds at the end by the controls of
            each world too. Newton has four iterations then, all of which run: MJX has no reverse
            mode of its loop, whose end depends on the numbers.
    """
    jax, jnp, mjx, solver = map(
        import_module, ("jax", "jax.numpy", "mujoco.mjx", "mujoco.mjx._src.solver")
    )
    of_model = mjx.put_model(model)
    joints, speeds = (jnp.asarray(one, jnp.float32) for one in start(model, worlds))
    inputs = jnp.asarray(np.repeat(controls(model, steps, held)[:, None], worlds, 1), jnp.float32)
    if gradient:
        of_model = of_model.tree_replace({"opt.iterations": 4, "opt.ls_iterations": 4})
        original, scan = jax.lax.while_loop, solver._while_loop_scan
        jax.lax.while_loop = lambda test, body, first: scan(test, body, first, 4)

    def last(inputs: Any) -> Any:
        first = mjx.make_data(model)
        states = jax.vmap(lambda q, v: first.replace(qpos=q, qvel=v))(joints, speeds)

        def one_step(states: Any, u: Any) -> Any:
            step = lambda state, u: mjx.step(of_model, state.replace(ctrl=u))  # noqa: E731
            return jax.vmap(step)(states, u), None

        one_step = jax.checkpoint(one_step) if gradient else one_step
        return jax.lax.scan(one_step, states, inputs)[0]

    def loss(inputs: Any) -> Any:
        end = last(inputs)
        return jnp.sum(end.qvel**2), end.qpos

    compute = jax.grad(loss, has_aux=True) if gradient else lambda inputs: (0.0, last(inputs).qpos)
    compiled = jax.jit(compute).lower(inputs).compile()
    if gradient:
        jax.lax.while_loop = original
    found: list[Any] = []

    def run() -> None:
        found[:] = jax.block_until_ready(compiled(inputs))

    return Rollout(run, lambda: np.asarray(found[1]))

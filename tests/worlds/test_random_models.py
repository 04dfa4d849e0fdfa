"""Terms, rows, accelerations and steps of random models, compared with MuJoCo itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from difftile import worlds
from difftile.worlds.kinds import ROPE
from difftile.worlds.kinds import SOLVED as FELT
from tests.worlds import plain
from tests.worlds.beside_mujoco import World
from tests.worlds.random_mjcf import mjcf, state
from tests.worlds.test_terms import AFTER, TIGHT, near, state_of, with_accelerations

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")
mujoco.set_mju_user_warning(lambda text: None)  # of light bodies; otherwise to a file, here

GROUPS = 10  # of models, a test each
MODELS = 20  # of a group; all of them together take six seconds
STARTS = 1e-11  # of accelerations from any start; these systems are worse than those of robots
SOLUTION = 1e-8  # of forces and accelerations
SOLVED = 4  # of those, the models whose constraints are solved: a quarter of a second each


def check_solution(seed: int) -> None:
    """Compare the rows, forces and accelerations of one model at one state."""
    world = World(mujoco, mujoco.MjModel.from_xml_string(mjcf(seed)))
    given = state(world.model, np.random.default_rng(seed), size=[0.0, 1e-9, 0.3, 1.0][seed % 4])
    world.data.qfrc_applied[:], world.data.xfrc_applied[:] = given["qfrc"], given["xfrc"]
    world.forward(*(given[key] for key in ("qpos", "qvel", "act", "ctrl")))
    if is_rough(world.data):
        return
    a = world.solve()
    references, regularisations, forces = world.rows()
    if not any(world.crossed(contact) for contact in world.data.contact):
        jacobian = world.data.efc_J.reshape(-1, world.source.nv)  # dense, with room for more
        jacobian = jacobian[: world.data.nefc]
        near(world.jacobian(), jacobian, TIGHT, "the Jacobian")
    near(references, world.data.efc_aref, TIGHT, "references")
    near(regularisations, world.data.efc_R, TIGHT, "regularisations")
    near(forces, world.data.efc_force, SOLUTION, "forces")
    near(a, world.data.qacc, SOLUTION, "accelerations")
    near(world.solve(start=world.data.qacc_smooth), a, STARTS, "accelerations from another start")


def check(seed: int) -> None:
    """Compare one model at one state, a step included."""
    compiled = mujoco.MjModel.from_xml_string(mjcf(seed))
    one, data = worlds.load(compiled), mujoco.MjData(compiled)
    rng = np.random.default_rng(seed)
    given = state(one, rng, size=[0.0, 1e-9, 0.3, 1.0][seed % 4])
    data.qpos[:], data.qvel[:], data.act[:] = given["qpos"], given["qvel"], given["act"]
    data.ctrl[:], data.qfrc_applied[:] = given["ctrl"], given["qfrc"]
    data.xfrc_applied[:] = given["xfrc"]
    mujoco.mj_forward(compiled, data)
    if is_rough(data):
        return
    ours = state_of(one, given | {"qacc": data.qacc})
    found = plain.terms(one, ours)
    M = np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, M)
    near(found["M"], M[np.tril_indices(compiled.nv)], TIGHT, "M")
    near(found["qfrc_bias"], data.qfrc_bias, TIGHT, "bias")
    near(found["qfrc_actuator"], data.qfrc_actuator, TIGHT, "actuator")
    total = found["qfrc_passive"] + found["qfrc_actuator"] + found["qfrc_applied"]
    total -= found["qfrc_bias"]
    near(total, data.qfrc_smooth, TIGHT, "smooth")
    for frame in ("xpos", "xquat", "subtree_com"):
        near(found[frame], getattr(data, frame), TIGHT, frame)
    near(found["energy"], data.energy, TIGHT, "energy")
    for s in range(compiled.nsensor):
        check_sensor(found["sensordata"], data, s)
    mujoco.mj_step(compiled, data)
    if data.warning[mujoco.mjtWarning.mjWARN_INERTIA].number:
        return  # actuators whose forces grow with speed: M̂ is not positive definite
    # Equal up to the residual of MuJoCo's solver, which may be larger than the bound.
    implicit = one.sizes.damped and one.effective["dof_damping"].any()
    explicit = one.sizes.integrator == 0 and not implicit
    total = M @ data.qacc if explicit else total + data.qfrc_constraint
    ours = with_accelerations(one, ours, found["M_hat"], total)
    found = plain.terms(one, ours, felt=False)
    near(found["qvel_next"], data.qvel, AFTER, "qvel after a step")
    near(found["qpos_next"], data.qpos, AFTER, "qpos after a step")
    near(found["act_next"][: one.sizes.na], data.act, AFTER, "act after a step")


def is_rough(data: Any) -> bool:
    """Return whether tendons of a model of MuJoCo lose digits.

    Where one touches a geom from the inside, its moments are off by 3e-9; one that hardly moves,
    in its state, or at rest and is tied, has a force that is rounding times a weight of 1e15.
    """
    objects, points = data.wrap_obj.ravel(), data.wrap_xpos.reshape(-1, 3)
    both = (objects[1:] >= 0) & (objects[:-1] == objects[1:])
    inside = both & (points[1:] == points[:-1]).all(axis=1) & points[1:].any(axis=1)
    model = data.model
    tied = model.eq_obj1id[model.eq_type == ROPE], model.eq_obj2id[model.eq_type == ROPE]
    ropes = [t for t in np.concatenate(tied) if t >= 0]
    rows = data.efc_J.reshape(-1, model.nv)[: data.nefc]  # dense
    still = (np.abs(rows) < 1e-12).all(axis=1)
    return bool(inside.any() or still.any() or (model.tendon_invweight0[ropes] < 1e-12).any())


def check_sensor(found: np.ndarray, data: Any, s: int) -> None:
    """Compare the reading of a sensor, relative to 1 + its largest number, or the largest force."""
    at, size = data.model.sensor_adr[s], data.model.sensor_dim[s]
    wanted = data.sensordata[at : at + size]
    bound, scale = TIGHT, 1 + np.abs(wanted).max()
    if data.model.sensor_type[s] in FELT:
        bound, scale = SOLUTION, scale + np.abs(data.efc_force).max(initial=0)
    assert np.abs(found[at : at + size] - wanted).max() <= bound * scale, f"sensor {s}"


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_models_mean_what_they_mean_in_mujoco(group: int) -> None:
    for seed in range(group * MODELS, (group + 1) * MODELS):
        check(seed)
    for seed in range(group * MODELS, group * MODELS + SOLVED):
        check_solution(seed)


@pytest.mark.parametrize("seed", [1354, 2316])
def test_random_models_that_lose_digits(seed: int) -> None:
    """The axes of two capsules pass each other at 24 µm; a row pushes with 6e9 times its error."""
    check_solution(seed)


@pytest.mark.slow  # 5,000 models
@pytest.mark.parametrize("group", range(100))
def test_many_random_models_mean_what_they_mean_in_mujoco(group: int) -> None:
    for seed in range(1000 + group * 50, 1000 + (group + 1) * 50):
        check(seed)
        check_solution(seed)

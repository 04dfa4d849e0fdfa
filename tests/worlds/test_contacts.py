"""Contacts, rows and Newton's method against MuJoCo; the derivative against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.worlds.beside_mujoco import World, filled
from tests.worlds.conformance import DATA, NAMES, numbers
from tests.worlds.plain import module

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo")
QUADRATIC, CONE = 1, 4  # efc_state


def error(found: Any, wanted: Any) -> float:
    """Return the largest difference, relative to 1 + the largest entry."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    return float(np.abs(found - wanted).max(initial=0) / (1 + np.abs(wanted).max(initial=0)))


def placed(name: str, state: int) -> World:
    """Return a model of the reference in one of its states."""
    world = World(mujoco, mujoco.MjModel.from_xml_path(str(DATA / f"{name}.xml")))
    given = numbers()[name]["states"][state]
    ctrl = given["ctrl"][0] if world.source.nu else []
    world.forward(given["qpos"], given["qvel"], given["act"], ctrl)
    return world


@pytest.mark.parametrize("name", NAMES)
def test_rows_forces_and_accelerations_of_the_reference(name: str) -> None:
    """Those of each state; and with J of both ways in which the solver uses it."""
    for k, given in enumerate(numbers()[name]["states"]):
        world, terms = placed(name, k), given["terms"]
        a = world.solve()
        references, regularisations, forces = world.rows()
        jacobian = np.reshape(terms["jacobian"], (-1, world.source.nv))
        assert error(world.jacobian(), jacobian) < 1e-12
        state, force, soft = (np.array(terms[f"efc_{x}"]) for x in ("state", "force", "R"))
        if CONE not in state:
            bends = (state == QUADRATIC) & (force != 0)  # all edges of a pyramid have one state
            curvature = jacobian[bends].T @ (jacobian[bends] / soft[bends, None])
            assert error(world.curvature(), curvature) < 1e-12
        assert error(references, terms["efc_aref"]) < 1e-12
        assert error(regularisations, terms["efc_R"]) < 1e-12
        assert error(forces, terms["efc_force"]) < 1e-8
        assert error(a, terms["qacc"]) < 1e-8
        other = world.solve(start=100 * np.cos(np.arange(world.source.nv)))
        assert error(other, a) < 1e-12


PLANE, BALL, SPHERE = 'type="plane" size="1 1 1"', 'size="0.2"', 'size="0.3"'
THICK, ROD = ('type="capsule" size="0.2 0.3"', 'type="capsule" size="0.1 0.4"')
BOX = 'type="box" size="0.1 0.2 0.3"'
PAIRS = {
    "spheres": (BALL, SPHERE, "0.1 0.2 0.3"),
    "concentric": (BALL, SPHERE, "0 0 0"),
    "sphere on the side": (BALL, ROD, "0.2 0 0.1"),
    "sphere on the end": (BALL, ROD, "0.1 0 0.5"),
    "crossed": (THICK, f'{ROD} euler="70 20 0"', "0.2 0 0.1"),
    "beside its end": (THICK, f'{ROD} euler="30 20 0"', "0.05 0 0.7"),
    "end on end": (THICK, f'{ROD} euler="10 0 0"', "0.05 0.1 0.9"),
    "parallel": (THICK, ROD, "0.2 0 0.1"),
    "parallel, apart": (THICK, ROD, "0.2 0 0.6"),
    "parallel, end on end": (THICK, ROD, "0 0 0.8"),
    "parallel, head to tail": (THICK, f'{ROD} euler="180 0 0"', "0.2 0 0.5"),
    "nearly parallel": (THICK, f'{ROD} euler="0.003 0.002 0"', "0.2 0 0.1"),
    "on the same axis": (THICK, ROD, "0 0 0.1"),
    "in one place": (THICK, f'{ROD} euler="70 20 0"', "0 0 0"),
    "crossed within each other": (THICK, f'{ROD} euler="90 0 0"', "0 0.1 0.2"),
    "sphere on the axis": (BALL, f'{ROD} euler="70 20 0"', "0 0 0"),
    "concentric and turned": (BALL, f'{SPHERE} euler="70 20 0"', "0 0 0"),
    "upright capsule": (PLANE, ROD, "0 0 0.45"),
    "box on its side": (PLANE, BOX, "0 0 0.29"),
    "box on a corner": (PLANE, f'{BOX} euler="40 30 0"', "0 0 0.29"),
    "box within the plane": (PLANE, f'{BOX} euler="40 30 0"', "0 0 -0.1"),
    "sphere on a box": (BALL, BOX, "0.25 0.1 0.2"),
    "sphere on an edge of a box": (BALL, BOX, "0.25 0.3 0.2"),
    "sphere within a box": (BALL, BOX, "0.05 0.1 0.2"),
    "rod on a box": (ROD, f'{BOX} euler="90 0 10"', "0 0.18 0.1"),
    "rod across an edge of a box": (ROD, f'{BOX} euler="30 50 0"', "0.25 0.1 0.2"),
    "rod on a corner of a box": (ROD, f'{BOX} euler="30 50 0"', "0.2 -0.3 0.5"),
    "rod through a box": (ROD, f'{BOX} euler="10 5 0"', "0.05 0.1 0.2"),
    "margin and gap": (f'{BALL} margin="0.03" gap="0.1"', f'{SPHERE} margin="0.04"', "0 0 0.56"),
    "priority": (f'{BALL} priority="1" condim="1"', f'{SPHERE} solmix="0"', "0 0 0.4"),
    "torsion": (f'{BALL} condim="4"', f'{ROD} friction="0.5 0.3 0.2"', "0.2 0 0.1"),
    "rolling": (f'{BALL} friction="0.4 0.2 0.1"', f'{SPHERE} condim="6"', "0 0 0.4"),
    "rolling on two points": (f'{PLANE} condim="6"', f'{ROD} euler="90 0 10"', "0 0 0.09"),
    "torsion and priority": (
        *(f'{BALL} condim="4" priority="1" friction="0.9 0.1 0.3"', f'{SPHERE} condim="6"'),
        "0 0 0.4",
    ),
}


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("case", PAIRS)
def test_pairs_of_geoms(case: str, cone: str) -> None:
    first, second, at = PAIRS[case]
    text = f"""<mujoco><option jacobian="dense" tolerance="1e-15" cone="{cone}"/><worldbody>
      <geom {first}/><body pos="{at}"><freejoint/><geom {second}/></body></worldbody></mujoco>"""
    world = World(mujoco, mujoco.MjModel.from_xml_string(text))
    world.forward(world.source.qpos0, [0.1, -0.2, 0.3, 0.5, 0.1, -0.4])
    world.solve()
    references, regularisations, forces = world.rows()
    assert error(references, world.data.efc_aref) < 1e-12
    assert error(regularisations, world.data.efc_R) < 1e-12
    assert error(forces, world.data.efc_force) < 1e-8


@pytest.mark.parametrize("densities", [(100, 3000), (3000, 100)])
def test_contacts_of_two_bodies_that_both_move(densities: tuple[int, int]) -> None:
    heavy, light = densities
    text = f"""<mujoco><option jacobian="dense" cone="elliptic" tolerance="1e-15"/><worldbody>
      <body><freejoint/><geom {BALL} density="{heavy}"/></body>
      <body pos="0.1 0.2 0.35"><freejoint/><geom {ROD} density="{light}"/></body>
      </worldbody></mujoco>"""
    world = World(mujoco, mujoco.MjModel.from_xml_string(text))
    world.forward(world.source.qpos0, np.linspace(-1, 1, 12))
    a = world.solve()
    references, regularisations, forces = world.rows()
    assert len(forces) == len(world.data.efc_force) > 0
    assert error(references, world.data.efc_aref) < 1e-12
    assert error(regularisations, world.data.efc_R) < 1e-12
    assert error(forces, world.data.efc_force) < 1e-8
    assert error(a, world.data.qacc) < 1e-8


@pytest.mark.parametrize("given", ['condim="3"', 'condim="6" solreffriction="-5 -40"'])
def test_explicit_pairs_and_excludes(given: str) -> None:
    text = f"""<mujoco><option jacobian="dense" cone="elliptic" impratio="2" tolerance="1e-15"/>
      <worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body name="a" pos="0 0 0.19"><freejoint/><geom name="a" size="0.2" contype="0"/></body>
      <body name="b" pos="0.3 0 0.19"><freejoint/><geom name="b" size="0.2"/></body></worldbody>
      <contact><pair geom1="a" geom2="floor" {given} friction="0.9 0.4 0.3 0.2 0.1" margin="0.01"
        solref="0.03 0.7" solimp="0.1 0.8 0.02"/><exclude body1="a" body2="b"/></contact>
      </mujoco>"""
    world = World(mujoco, mujoco.MjModel.from_xml_string(text))
    world.forward(world.source.qpos0, np.linspace(-1, 1, 12))
    a = world.solve()
    references, regularisations, forces = world.rows()
    assert len(forces) == len(world.data.efc_force) and forces[0] > 0 and abs(forces[1]) > 0
    assert error(references, world.data.efc_aref) < 1e-12
    assert error(regularisations, world.data.efc_R) < 1e-12
    assert error(forces, world.data.efc_force) < 1e-8
    assert error(a, world.data.qacc) < 1e-8


# Penalties


class Cones:
    """The sizes that penalties depend on."""

    def __init__(self, elliptic: bool, condim: int = 3) -> None:
        self.cone, self.condim, self.nrow = int(elliptic), condim, max(condim, 3)


def check_derivatives(penalty: Any, z: np.ndarray) -> tuple[float, np.ndarray]:
    """Compare force and curvature with differences; return the value and the curvature."""
    value, force, s = penalty(z)
    for k, e in enumerate(1e-6 * np.eye(len(z))):
        up, down = penalty(z + e), penalty(z - e)
        np.testing.assert_allclose(np.ravel(force)[k], -(up[0] - down[0]) / 2e-6, 0, 1e-7)
        slope = -(np.ravel(up[1]) - np.ravel(down[1])) / 2e-6
        np.testing.assert_allclose(np.reshape(s, (len(z), -1))[k], slope, 0, 1e-6)
    return value, s


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("elliptic", [False, True])
@pytest.mark.parametrize(("dim", "most"), [(1, 3), (3, 3), (4, 4), (6, 6), (1, 6), (3, 6), (4, 6)])
def test_forces_and_curvatures_of_contacts(
    dim: int, most: int, elliptic: bool, smooth: bool
) -> None:
    cones = module("difftile.worlds.cones").Cones(Cones(elliptic, most), smooth, 0.7)
    frictions = np.where(np.arange(most) < max(dim, 3), [0.6, 0.8, 0.5, 0.3, 0.7, 0.4][:most], 0.0)
    mu, rng, zones = filled([frictions], most)[0], np.random.default_rng(1), set()
    for _ in range(40):
        value, s = check_derivatives(
            lambda z: cones.penalty(dim, filled([z], most)[0], 3.0, mu), rng.standard_normal(most)
        )
        zones.add((value > 0, bool(np.linalg.matrix_rank(s) == dim)))
        assert not np.asarray(s)[dim:].any()
        assert np.linalg.eigvalsh(s).min() > -1e-12  # convex
    assert len(zones) >= 2 - smooth


@pytest.mark.parametrize("smooth", [False, True])
def test_forces_and_curvatures_of_limits_and_friction(smooth: bool) -> None:
    cones = module("difftile.worlds.cones").Cones(Cones(False), smooth, 0.1)
    for z in (-3.0, -0.2, -1e-3, 1e-3, 0.2, 3.0):
        check_derivatives(lambda z: cones.push(z[0], 2.0), np.array([z]))
        check_derivatives(lambda z: cones.rub(z[0], 2.0, 0.5), np.array([z]))
    # Far away, smooth penalties are those of the model.
    for z in (-50.0, 50.0):
        np.testing.assert_allclose(cones.push(z, 2.0)[1], max(-2 * z, 0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(cones.rub(z, 2.0, 0.5)[1], -0.5 * np.sign(z), rtol=1e-4)


# The derivative of the solution

SMOOTH = {"hopper": 1, "box_soft": 1, "chain": 0, "double_pendulum": 2, "ant": 2}


@pytest.mark.parametrize("name", SMOOTH)
def test_phi_has_the_derivative_of_the_solution_by_the_state(name: str) -> None:
    check_phi(placed(name, SMOOTH[name]))


def check_phi(world: World) -> None:
    """Compare differences of the acceleration and of Phi, at the state of a world."""
    qpos, qvel = world.qpos.values.copy(), world.qvel.values.copy()
    act, ctrl = world.data.act.copy(), world.data.ctrl.copy()
    a, nv = world.solve(), world.source.nv
    a_bar = np.random.default_rng(5).standard_normal(nv)
    multipliers = world.multipliers(a_bar.copy())

    def both(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        world.forward(q, v, act, ctrl)
        return np.array([a_bar @ world.solve(start=a), world.phi(a, multipliers)])

    def at(e: np.ndarray, moved: bool, t: float) -> np.ndarray:
        q = qpos.copy()
        if moved:
            mujoco.mj_integratePos(world.source, q, e, t)
        return both(q, qvel if moved else qvel + t * e)

    picked = range(nv) if nv < 8 else (0, 2, 4, nv - 1)
    for e, moved in ((np.eye(nv)[k], moved) for k in picked for moved in (True, False)):
        h = 1e-5
        fine, coarse = (at(e, moved, t) - at(e, moved, -t) for t in (h, 2 * h))
        solution, phi = (8 * fine - coarse) / (12 * h)
        assert abs(solution - phi) < 1e-6 * (1 + abs(solution))


def test_smooth_contact_is_a_smooth_function_of_the_state() -> None:
    """A box on its way into the floor: forces begin without a jump, and near those of the model."""
    world = placed("box", 1)
    qpos, qvel = world.qpos.values.copy(), world.qvel.values.copy()
    smooth = World(mujoco, world.source, smooth=True, width=0.01)

    def force(one: World, height: float) -> float:
        q = qpos.copy()
        q[2] += height
        one.forward(q, qvel)
        return float((one.solve() - one.data.qacc_smooth)[2])

    edge, touching = 0.2, -0.2
    for _ in range(50):  # the height at which the model's contact appears
        middle = 0.5 * (edge + touching)
        edge, touching = (edge, middle) if force(world, middle) > 1 else (middle, touching)
    assert force(world, edge) < 1e-9 and force(world, touching) > 1  # it jumps
    assert abs(force(smooth, touching)) < 1e-3 and abs(force(smooth, edge)) < 1e-3
    deep = edge - 0.01
    assert abs(force(smooth, deep) - force(world, deep)) < 0.05 * force(world, deep)


PARAMETERS = [
    *(("geom_friction", (4, 0)), ("geom_solref", (4, 0)), ("geom_solref", (0, 1))),
    *(("geom_solimp", (0, 1)), ("geom_solimp", (4, 2)), ("geom_margin", 0), ("geom_size", (4, 0))),
    *(("jnt_solref", (4, 0)), ("jnt_solimp", (4, 1)), ("jnt_range", (4, 1)), ("jnt_margin", 4)),
    *(("body_mass", 3), ("body_inertia", (4, 1)), ("body_invweight0", (4, 0))),
    *(("dof_armature", 4), ("dof_invweight0", 4)),
]


def test_phi_has_the_derivative_of_the_solution_by_parameters() -> None:
    """A hopper of which a knee and the foot meet a limit and the floor."""
    world = placed("hopper", 2)
    qpos, qvel = world.qpos.values.copy(), world.qvel.values.copy()
    qpos[4], qpos[5] = -2.45, 0.1
    ctrl, source = world.data.ctrl.copy(), world.source
    source.jnt_margin[4] = world.m.jnt_margin.values[4] = 0.1
    world.forward(qpos, qvel, (), ctrl)
    qpos[1] -= min(world.data.geom_xpos[g][2] for g in range(1, 5)) - 0.05
    world.forward(qpos, qvel, (), ctrl)
    a = world.solve()
    assert np.any(world.laws[1][2].values > 0) and np.any(world.laws[0][4].values > 0)
    a_bar = np.random.default_rng(5).standard_normal(source.nv)
    multipliers = world.multipliers(a_bar.copy())
    for name, index in PARAMETERS:
        theirs, ours = getattr(source, name), getattr(world.m, name).values
        before, found = float(ours[index]), []
        for t in (1e-5, -1e-5, 2e-5, -2e-5):
            theirs[index] = ours[index] = before + t * max(before, 0.1)
            world.forward(qpos, qvel, (), ctrl)
            found.append([a_bar @ world.solve(start=a), world.phi(a, multipliers)])
        theirs[index] = ours[index] = before
        up, down, far, low = np.array(found)
        solution, phi = (8 * (up - down) - (far - low)) / (12e-5 * max(before, 0.1))
        assert abs(solution - phi) < 1e-6 * (1 + abs(solution)), name

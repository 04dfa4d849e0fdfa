"""What `summary` counts, in plain Python beside MuJoCo, and of compiled worlds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds import summary
from difftile.worlds.advice import abrupt_contact
from tests.worlds.beside_mujoco import filled
from tests.worlds.conformance import model
from tests.worlds.plain import Local, module, parameters

PLAIN = module("difftile.worlds.watch")


class Watched:
    """Steps of a model in plain Python, and what is counted of them."""

    def __init__(self, model: worlds.Model, iterations: int = 100) -> None:
        sizes = self.sizes = model.sizes
        self.model, self.m = model, parameters(model)
        self.step = module("difftile.worlds.step").WorldStep(sizes, iterations=iterations)
        self.funcs = PLAIN.StepWatch(sizes, self.step)
        self.qpos, self.qvel = Local(sizes.nq), Local(sizes.nv)
        self.qpos.values[:] = model.qpos0
        self.act, self.acc, self.info = Local(max(1, sizes.na)), Local(sizes.nv), Local(2)
        self.ctrl = Local(max(1, sizes.nu))
        self.zones, self.counts = Local(self.funcs.nrow, int), Local(7, int)
        self.failure, self.residual = Local(3, int), Local(1)
        self.zones.values[:] = -1

    def advance(self) -> None:
        sizes, state = self.sizes, (self.qpos, self.qvel, self.ctrl, self.act)
        forces, b = (Local(sizes.nv), Local(6 * sizes.nbody)), Local(sizes.nv)
        self.info[0], self.info[1] = self.step.accelerate(self.m, *state, *forces, self.acc, b)
        kept = self.zones, self.counts, self.failure, self.residual
        self.funcs.run(self.m, *state, self.acc, self.info, *kept)
        after = Local(sizes.nq), Local(sizes.nv), Local(max(1, sizes.na))
        self.step.advance(self.m, *state, b, *after)
        self.qpos, self.qvel, self.act = after


BALL = """<mujoco><option timestep="0.005" cone="{cone}"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 0.115"><freejoint/>
  <geom name="ball" size="0.1" solref="-5000 -5" solimp="0.9 0.9 0.01"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_made_and_lost_are_those_of_mujoco(cone: str) -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo")
    source = mujoco.MjModel.from_xml_string(BALL.format(cone=cone))
    data, one = mujoco.MjData(source), Watched(worlds.load(source))
    one.qvel.values[0] = data.qvel[0] = 1.0
    touched = []
    for _ in range(60):
        mujoco.mj_step(source, data)
        touched.append(data.ncon)
        one.advance()
    changes = np.diff(touched)
    found = one.counts.values
    assert (changes > 0).sum() > 1 and (changes < 0).sum() > 1  # it bounces
    assert found[PLAIN.MADE] == (changes > 0).sum() and found[PLAIN.LOST] == (changes < 0).sum()
    assert found[PLAIN.CHANGED] >= found[PLAIN.MADE] + found[PLAIN.LOST]
    assert found[PLAIN.STEPS] == 60 and not found[PLAIN.STOPPED :].any()
    assert 0 < one.residual[0] < 1e-10


@pytest.mark.parametrize("dim", [1, 3])
def test_zones_of_a_pyramid_are_the_pieces_of_its_curvature(dim: int) -> None:
    one = Watched(model("hopper"))
    mu, rng, found = filled([[0.6, 0.8, 0.5]], 3)[0], np.random.default_rng(1), {}
    for _ in range(300):
        z = filled([rng.standard_normal(3)], 3)[0]
        curvature = one.step.solver.cones.penalty(dim, z, 3.0, mu)[2]
        found.setdefault(int(one.funcs.zone(dim, z, 3.0, mu)), set()).add(
            tuple(np.round(curvature, 9).ravel())
        )
    assert all(len(pieces) == 1 for pieces in found.values())
    assert len({next(iter(pieces)) for pieces in found.values()}) == len(found) == (14, 2)[dim == 1]


def test_zones_of_a_cone_are_free_sticking_and_sliding() -> None:
    one = Watched(model("box_soft"))
    mu, rng, zones = filled([[0.6, 0.8, 0.5]], 3)[0], np.random.default_rng(1), set()
    for _ in range(100):
        z = filled([rng.standard_normal(3)], 3)[0]
        curvature = one.step.solver.cones.penalty(3, z, 3.0, mu)[2]
        zone = int(one.funcs.zone(3, z, 3.0, mu))
        zones.add(zone)
        diagonal = np.allclose(curvature, np.diag(np.diag(curvature)))
        assert zone == (1 if not curvature.any() else 2 if diagonal else 3)
    assert zones == {1, 2, 3}


def test_limits_and_frictionloss_change_rows() -> None:
    one = Watched(model("cartpole"))
    one.qpos.values[0], one.qvel.values[0] = 0.3, 3.0
    for _ in range(30):
        one.advance()
    assert one.counts.values[PLAIN.CHANGED] > 0 and one.counts.values[PLAIN.MADE] == 0


def test_failures_are_noted_with_step_and_contact() -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo")
    source = mujoco.MjModel.from_xml_string(BALL.format(cone="elliptic"))
    one = Watched(worlds.load(source), iterations=0)
    one.qpos.values[2] = 0.09
    one.advance()
    assert one.failure.values.tolist() == [0, PLAIN.STOPPED, 0]
    said = summary._sentence(one.model, 3, one.failure.values.tolist())
    assert said == (
        "step 0 of world 3: the solver ran out of steps; contact of geoms 'floor' and 'ball'"
    )
    other = Watched(one.model, iterations=3)
    other.advance()
    other.qvel.values[0] = np.nan
    other.advance()
    assert other.counts.values[PLAIN.BROKEN] == 1 and not other.counts.values[PLAIN.STOPPED]
    assert other.failure.values[:2].tolist() == [1, PLAIN.BROKEN]


def test_a_summary_prints_a_table() -> None:
    n = np.array([1, 3])
    none = np.zeros(2, int)
    given = (("model", "distance"), 4 * n, n, none, 2 * n, np.array([1e-9, 2e-7]))
    found = worlds.Summary(*given, none, none, np.array([0, 1]), {1: "step 2 of world 1: why"})
    assert found.failed.tolist() == [1]
    assert str(found).splitlines() == [
        'contact            "model", gradient "distance"',
        "steps              2 worlds, at most 12 steps",
        "contacts made      2 a world, at most 3",
        "contacts lost      0 a world, at most 0",
        "rows that changed  4 a world, at most 6",
        "largest residual   2e-07, in world 1",
        "failed worlds      1",
        "  step 2 of world 1: why",
    ]


def test_worlds_count_for_their_summary() -> None:
    sim = worlds.Worlds(model("cartpole"), 2, dtype=ti.f64, diagnose=True)
    sim.qpos[1, 0], sim.qvel[1, 0] = 0.3, 3.0
    with dt.Tape():
        sim.step(substeps=30)
    one = Watched(model("cartpole"))
    one.qpos.values[0], one.qvel.values[0] = 0.3, 3.0
    for _ in range(30):
        one.advance()
    found = sim.summary()
    assert found.steps.tolist() == [30, 30] and found.contact == ("model", "exact")
    assert found.changed[1] == one.counts.values[PLAIN.CHANGED] > found.changed[0]
    assert not len(found.failed) and found.residual.max() < 1e-8
    sim.reset()
    assert not sim.summary().changed.any()
    with pytest.raises(dt.FieldError, match="diagnose=True"):
        worlds.Worlds(model("cartpole"), 2, dtype=ti.f64).summary()


def test_contacts_that_jump_are_warned_of_once() -> None:
    advice = abrupt_contact(model("box"))
    assert "geom 0 and geom 1, with the impedance 0.9" in advice
    assert 'solimp="0 0.95 0.01"' in advice and "docs/worlds.md" in advice
    assert not any(abrupt_contact(model(name)) for name in ("hopper", "ant"))
    sim = worlds.Worlds(model("cartpole"), 2, dtype=ti.f64)
    sim._advice = advice  # a model that compiles soon
    sim.step()
    with pytest.warns(UserWarning, match="appear with a jump"), dt.Tape():
        sim.step()
    with warnings.catch_warnings(), dt.Tape():
        warnings.simplefilter("error")
        sim.step()

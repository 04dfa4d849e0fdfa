"""Room for fewer contacts than geoms could have, and an error when it is not enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.ir.types import LARGEST_LOCAL
from difftile.worlds.rows import MANY
from difftile.worlds.topology import LARGEST, ROOM, room_of
from tests.worlds.conformance import model

pytest.importorskip("mujoco", reason="needs MuJoCo")


@pytest.fixture(autouse=True)
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield
    dt.init(arch="cpu")


def heap(count: int, apart: float = 0.3, height: float = 0.1) -> worlds.Model:
    """Return balls and a capsule above a floor, on slides along z."""
    kinds = {0: 'type="capsule" size="0.1 0.05"', 1: 'type="box" size="0.1 0.1 0.1"'}
    ball = '<body pos="{} {} {}"><joint type="slide" axis="0 0 1"/><geom {} density="500"/></body>'
    places = [(apart * (k % 5), apart * (k // 5)) for k in range(count)]
    bodies = "".join(
        ball.format(x, y, height, kinds.get(k, 'type="sphere" size="0.1"'))
        for k, (x, y) in enumerate(places)
    )
    floor = '<geom type="plane" size="1 1 1"/>'
    return worlds.load(f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>")


def after(sim: Any, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates, and the gradient of their sum by the first forces."""
    loss, weights = (
        dt.zeros((), ti.f64, grad=True),
        dt.from_numpy(np.arange(sim.model.sizes.nq) + 1.0),
    )
    sim.reset()
    with dt.Tape(loss):
        sim.step(steps)
        weighed(sim.qpos, weights, loss)
    return sim.qpos.to_numpy(), sim.qfrc_applied.grad.to_numpy()


@dt.kernel
def weighed(qpos, weights, loss):
    for k, i in qpos:
        loss[None] += weights[i] * qpos[k, i]


@pytest.mark.filterwarnings("ignore:A gradient passes")
def test_less_room_and_bounds_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    one = heap(5, apart=0.15, height=0.098)
    assert one.sizes.nslot == one.sizes.ncontact > 10
    wanted = after(worlds.Worlds(one, 1, dtype=ti.f64), 2)
    monkeypatch.setattr("difftile.worlds.rows.MANY", 1)
    sim = worlds.Worlds(one, 1, dtype=ti.f64, contacts=one.sizes.nslot - 1)
    assert sim._funcs[0].solver.rows.many
    for a, b in zip(after(sim, 2), wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.abs(wanted[1]).max() > 0


def test_contacts_without_room_are_an_error() -> None:
    one = heap(4, height=0.099)
    sim = worlds.Worlds(one, 2, contacts=3)
    sim.qpos.from_numpy(np.array([[1.0, 1.0, 0, 0], [0, 0, 0, 0]], np.float32))
    said = "World 1 has 7 contacts, and there is room for 3 in Worlds(..., contacts=...), at most"
    with pytest.raises(dt.FieldError) as caught:
        sim.step(3)
    assert str(caught.value).startswith(said)
    found = sim.qpos.to_numpy()
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    sim.reset()
    sim.qpos.fill(1.0)  # no contact
    sim.step(2)
    assert np.isfinite(sim.qpos.to_numpy()).all()


def test_models_that_are_too_large_are_refused() -> None:
    assert LARGEST == LARGEST_LOCAL and ROOM == 455 and MANY < ROOM
    assert [room_of(*given) for given in ((256, 90), (257, 6), (5500, 50), (5500, 500))] == [
        *(256, 128, 200, ROOM)
    ]
    one = model("hopper")
    with pytest.raises(ValueError, match=r"Worlds\(contacts=...\) is 1 to 455, not 0"):
        worlds.Worlds(one, 1, contacts=0)
    chain = '<body pos="0 0 1"><joint/><geom size="0.1" contype="0"/>' * 91 + "</body>" * 91
    large = worlds.load(f"<mujoco><worldbody>{chain}</worldbody></mujoco>")
    with pytest.raises(dt.FieldError, match="has 91 degrees of freedom; a world has at most 90"):
        worlds.Worlds(large, 1)
    option = '<option integrator="implicit"/>'
    chain = '<body pos="0 0 1"><joint/><geom size="0.1" contype="0"/>' * 65 + "</body>" * 65
    large = worlds.load(f"<mujoco>{option}<worldbody>{chain}</worldbody></mujoco>")
    with pytest.raises(dt.FieldError, match="has 65 degrees of freedom; a world has at most 64"):
        worlds.Worlds(large, 1)


def test_readings_of_contacts_without_room_are_an_error() -> None:
    """Nothing that a sensor reads is a number of the model then, so it reads nothing."""
    box = '<body pos="0 0 0.099"><freejoint/><geom type="box" size="0.1 0.1 0.1"/><site name="s"/>'
    touch = '<sensor><touch site="s"/></sensor>'
    floor = '<geom type="plane" size="1 1 1"/>'
    one = worlds.load(f"<mujoco><worldbody>{floor}{box}</body></worldbody>{touch}</mujoco>")
    sim = worlds.Worlds(one, 1, contacts=3)
    with pytest.raises(dt.FieldError, match="World 0 has 4 contacts, and there is room for 3"):
        sim.sense()
    np.testing.assert_array_equal(sim.sensordata.to_numpy(), 0.0)

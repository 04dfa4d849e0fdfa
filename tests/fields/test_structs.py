"""Fields of structs from Python: their members, values, gradients, and launches."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt

Particle = ti.types.struct(pos=ti.math.vec2, m=ti.f32, kind=ti.i32)
Pair = ti.types.struct(a=Particle, scale=float)


@dt.kernel
def weighted(p, loss):
    for i in p:
        loss[None] += p[i].m * p[i].m * p[i].pos.x * p[i].kind


def test_members_are_fields() -> None:
    p = dt.field(Particle, shape=3, grad=True)
    assert isinstance(p, dt.StructField)
    assert p.shape == (3,) and p.ndim == 1 and len(p) == 3
    assert repr(p).startswith("field of structs(\n    pos=field([[0., 0.],")
    assert p.pos.has_grads and p.m.has_grads and not p.kind.has_grads
    p.pos.fill([1.0, 2.0])
    np.testing.assert_array_equal(p.to_numpy()["pos"], [[1, 2]] * 3)
    with pytest.raises(AttributeError, match="has no member 'po'"):
        _ = p.po


def test_precision_follows_as_in_other_fields() -> None:
    types = ti.types.struct(a=ti.f64, b=ti.math.vec3, c=float)
    p = dt.field(types, shape=())
    assert [str(p.members[name].dtype) for name in "ac"] == [str(ti.f64), str(ti.f32)]
    q = dt.from_numpy({"a": [1.0], "b": np.zeros((1, 3)), "c": np.ones(1)}, types)
    assert q.b.to_numpy().dtype == np.float64


def test_elements_are_read_and_written() -> None:
    p = dt.field(Particle, shape=(2, 2))
    p[0, 1] = {"pos": (3, 4), "m": 2.0, "kind": 1}
    p[1, 1] = Particle(ti.math.vec2(5, 6), 7.0, 2)
    p[1, 0] = p[0, 1]
    p[0, 0].m = 9.0
    p[0, 0].pos = [8, 8]
    assert p[0, 0].m == 9.0 and p[1, 1].kind == 2
    assert p[1, 0].to_dict()["m"] == 2.0
    np.testing.assert_array_equal(p.pos.to_numpy()[1], [[3, 4], [5, 6]])
    np.testing.assert_array_equal(p[-1, 1].pos, [5, 6])
    assert repr(p[1, 1]).startswith("<struct {'pos': array(")


def test_whole_contents() -> None:
    p, q = dt.field(Particle, shape=2, grad=True), dt.field(Particle, shape=2)
    p.fill(2)
    assert p[1].m == 2.0 and p[1].kind == 2
    p.fill({"pos": [1, 2], "m": 3, "kind": 4})
    values = p.to_numpy()
    assert list(values) == ["pos", "m", "kind"]
    q.from_numpy(values)
    q.copy_from(p)
    np.testing.assert_array_equal(q.to_numpy()["pos"], [[1, 2], [1, 2]])
    p.clear()
    assert p[0].m == 0.0


def test_nested_structs() -> None:
    p = dt.field(Pair, shape=2, grad=True)
    p[0] = {"a": {"pos": (1, 2), "m": 3, "kind": 4}, "scale": 5}
    assert p.a.m[0] == 3.0 and p[0].a.kind == 4
    p[1] = p[0]
    p[1].a.pos = (7, 8)
    np.testing.assert_array_equal(p.to_numpy()["a"]["pos"], [[1, 2], [7, 8]])
    assert [name for name, _ in p.fields()] == ["a.pos", "a.m", "a.kind", "scale"]
    assert p[1].to_dict()["a"]["kind"] == 4


def test_gradients_are_structs() -> None:
    p = dt.field(Particle, shape=2, grad=True)
    p.fill({"pos": [1, 2], "m": 3, "kind": 1})
    loss = dt.zeros((), grad=True)
    with dt.Tape(loss):
        weighted(p, loss)
    assert list(p.grad.to_numpy()) == ["pos", "m"]
    np.testing.assert_allclose(p.grad.m.to_numpy(), [6, 6])
    np.testing.assert_allclose(p.pos.grad.to_numpy(), [[9, 0], [9, 0]])
    p.zero_grads()
    assert not p.grad.m.to_numpy().any()
    q = dt.field(Particle, shape=2)
    assert not q.has_grads and q.with_grads().m.has_grads


def test_launches_find_struct_fields_again() -> None:
    p = dt.field(Particle, shape=2)
    p.fill(1)
    box = {"p": p}
    loss = dt.zeros(())
    module_p = p

    @dt.kernel
    def captured(loss):
        for i in module_p:
            loss[None] += module_p[i].m

    @dt.kernel
    def aliased(p, m, loss):
        for i in p:
            p[i].m *= 2.0
        for i in m:
            loss[None] += m[i]

    for _ in range(2):
        captured(loss)
    assert loss[None] == 4.0
    module_p = dt.field(Particle, shape=3)
    module_p.m.fill(2)
    captured(loss)
    assert loss[None] == 10.0
    loss.fill(0)
    aliased(box["p"], p.m, loss)
    assert loss[None] == 4.0
    aliased(p, module_p.m, loss)
    assert loss[None] == 10.0 and p[0].m == 4.0


def test_a_struct_made_in_python_is_captured() -> None:
    wind = ti.Struct(speed=2.0, direction=ti.Vector([1.0, 0.5]))
    x = dt.zeros(2)

    @dt.kernel
    def blow(x):
        for i in x:
            w = wind
            x[i] = w.speed * w.direction[i]

    blow(x)
    np.testing.assert_allclose(x.to_numpy(), [2, 1])
    wind.speed = 4.0
    blow(x)
    np.testing.assert_allclose(x.to_numpy(), [4, 2])


def test_roles_hold_for_members() -> None:
    @dt.kernel
    def reads(p: dt.Out):
        for i in p:
            p[i].m = p[i].pos.x

    with pytest.raises(dt.KernelError, match=r"'p.pos' is declared dt.Out"):
        reads(dt.field(Particle, shape=2))

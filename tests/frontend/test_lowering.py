"""Programs that the frontend makes of functions, beyond what golden texts and programs show."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import taichi as ti

import difftile as dt
from difftile.compile.meanings import meaning_of
from difftile.frontend.draws import DRAWS
from difftile.frontend.lower import lower
from difftile.frontend.source import source_of
from difftile.ir.nodes import For, If
from difftile.ir.types import F32, FieldType
from difftile.ir.walk import walk


@dt.func
def advance(
    h: ti.template(),
    c: ti.template(),
    a: ti.template(),
    g: ti.template(),
    e: ti.template(),
    b: ti.template(),
    f: ti.template(),
    d: ti.template(),
):
    h += 1.0
    c += 1.0
    a += 1.0
    g += 1.0
    e += 1.0
    b += 1.0
    f += 1.0
    d += 1.0


def advanced(x):
    s = t = u = v = w = p = q = r = 0.0
    ti.loop_config(serialize=True)
    for _ in range(3):
        advance(h=s, c=t, a=u, g=v, e=w, b=p, f=q, d=r)
    x[None] = s + t + u + v + w + p + q + r


def test_loops_carry_locals_that_funcs_change_in_a_fixed_order() -> None:
    # Otherwise the emitted text, and with it the cache of compiled kernels, differs between runs.
    signature = {"x": FieldType(F32, 0)}
    lowered = lower(source_of(advanced), signature, meaning_of, F32, {}, {})
    (loop,) = [stmt for stmt in walk(lowered.program.body) if isinstance(stmt, For)]
    names = [carry.name for carry in loop.carries if carry.name != DRAWS]
    assert names == ["u", "p", "t", "r", "w", "q", "v", "s"]  # by parameter: a, b, c ...


@dt.func
def fill_pair(pair, value):
    pair.a = value
    pair.b = 2.0 * value


Pair = ti.types.struct(a=float, b=float, __struct_methods={"fill": fill_pair})


def test_a_local_struct_may_have_a_method_called_fill() -> None:
    @dt.kernel
    def kernel(x):
        pair = Pair(0.0, 0.0)
        pair.fill(3.0)
        x[0] = pair.a
        x[1] = pair.b

    x = dt.zeros(2)
    kernel(x)
    np.testing.assert_array_equal(x.to_numpy(), [3.0, 6.0])


@dt.kernel
def weigh(pair, out):
    for i in out:
        v = ti.Vector([0.0, 0.0])
        v.x = pair[0][i]
        v[1] = pair[1][i]
        m = ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
        m[0, 1] = v.y
        out[i] = (m @ v).sum()


def test_lowering_keeps_no_arguments_alive() -> None:
    # A cycle through the lowering's state would hold large fields until Python looks for cycles.
    first, second, out = dt.ones(4), dt.ones(4), dt.zeros(4)
    held = weakref.ref(first)
    gc.disable()
    try:
        weigh((first, second), out)
        weigh.forget()
        del first, second
        assert held() is None
    finally:
        gc.enable()
    assert out.to_numpy().tolist() == [3.0] * 4


@dt.data_oriented(frozen=True)
class Kinds:
    """What a model has, known while compiling."""

    def __init__(self, occurs: bool) -> None:
        self.occurs = occurs

    @dt.func
    def match(self, kind):
        if ti.static(self.occurs):
            return kind > 1.0
        return False


NONE, SOME = Kinds(False), Kinds(True)


def rooted(x):
    for i in x:
        if NONE.match(x[i]):
            x[i] = ti.sqrt(x[i])


def squared(x):
    for i in x:
        if not NONE.match(x[i]) and SOME.match(x[i]):
            x[i] = x[i] * x[i]


def test_an_if_of_a_known_bool_of_a_func_has_one_branch() -> None:
    """Code for joints that a model does not have took a tenth of the time of lowering its step."""
    counts = []
    for function in (rooted, squared):
        lowered = lower(source_of(function), {"x": FieldType(F32, 1)}, meaning_of, F32, {}, {})
        counts.append(sum(isinstance(stmt, If) for stmt in walk(lowered.program.body)))
    assert counts == [0, 1]

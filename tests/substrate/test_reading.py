"""Changes to the compiler while it compiles emitted source are undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti
from taichi.lang import kernel_impl

import difftile as dt
from difftile.substrate.compiler import private
from difftile.substrate.family.build import compiling


def state() -> tuple[object, ...]:
    runtime: Any = private.impl.get_runtime()
    config = runtime.prog.config()
    return (
        config.cfg_optimization,
        config.opt_level,
        config.fast_math,
        runtime.inside_kernel,
        len(runtime.kernels),
    )


def test_the_compiler_is_as_before_after_a_launch() -> None:
    @dt.kernel
    def measured(x):
        for i in x:
            x[i] = ti.Vector([3.0 * x[i], 4.0]).norm()

    before = state()
    x = dt.ones(2)
    measured(x)
    assert x.to_numpy().tolist() == [5, 5]
    assert state() == before
    assert before[:2] == (True, 1)


def test_taichi_does_not_search_for_what_is_around_a_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[object] = []
    monkeypatch.setattr(kernel_impl.inspect, "getframeinfo", searched.append)

    @dt.kernel
    def doubled(x):
        for i in x:
            x[i] = 2.0 * x[i]

    x = dt.ones(2)
    doubled(x)
    assert x.to_numpy().tolist() == [2, 2]
    assert not searched


@pytest.mark.taichi
def test_methods_of_plain_taichi_are_methods_and_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[object] = []
    search = kernel_impl.inspect.getframeinfo

    def noted(frame: object) -> object:
        searched.append(frame)
        return search(frame)

    monkeypatch.setattr(kernel_impl.inspect, "getframeinfo", noted)

    @ti.kernel
    def function(): ...

    @ti.func
    def seven():
        return 7

    assert not searched

    @ti.data_oriented
    class Base:
        @ti.kernel
        def run(self):
            self.found[None] = self.one() + seven()

        @ti.func
        def one(self):
            return 1

    class Derived(Base):
        def __init__(self) -> None:
            self.found = ti.field(ti.i32, shape=())

        @ti.kernel
        def run_again(self):
            self.found[None] += self.one()

    assert len(searched) == 3
    assert [Base.__dict__["run"]._is_classkernel, function._is_classkernel] == [True, False]
    derived = Derived()
    derived.run()
    derived.run_again()
    assert derived.found[None] == 9


def test_the_compiler_is_as_before_after_an_error() -> None:
    before = state()
    with pytest.raises(ZeroDivisionError), compiling() as config:
        assert not config.cfg_optimization
        assert state() != before
        assert state() != before
        raise ZeroDivisionError
    assert state() == before


@pytest.mark.compiled
def test_an_assignment_is_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taichi goes through the statements of a block once for each variable."""
    builder: Any = private.core.ASTBuilder
    made: list[object] = []
    makes = builder.expr_var

    def make(*args: object) -> object:
        made.append(args)
        return makes(*args)

    monkeypatch.setattr(builder, "expr_var", make)

    @dt.kernel
    def measured(x, y):
        for i in x:
            a = x[i] + 1.0
            b = ti.sqrt(a) * a
            y[i] = (ti.Vector([a, b]) * b).norm() + ti.select(a < b and b > 2.0, a, b)

    x, y = dt.ones(2), dt.zeros(2)
    measured(x, y)
    np.testing.assert_allclose(y.to_numpy(), 2 * 2**0.5 * (4 + 8) ** 0.5 + 2, rtol=1e-6)
    assert len(made) == 3  # two locals, and the vector whose components are squared


@pytest.mark.taichi
def test_kernels_of_plain_taichi_keep_their_messages() -> None:
    @ti.kernel
    def wrong():
        print(nowhere)  # noqa: F821 # pyrefly: ignore[unknown-name]

    dt.zeros(1)
    with pytest.raises(ti.TaichiNameError, match=r"print\(nowhere\)"):
        wrong()

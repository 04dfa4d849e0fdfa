"""Changes to Taichi while it reads emitted source are undone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import taichi as ti
from taichi.lang import impl, kernel_impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

import difftile as dt
from difftile.substrate.taichi.reading import reading_emitted_source


def state() -> tuple[object, ...]:
    program: Any = impl.get_runtime().prog
    return (
        program.config().cfg_optimization,
        program.config().opt_level,
        kernel_impl.getsourcelines,
        kernel_impl._inside_class,
        ASTTransformerContext.get_pos_info,
    )


def test_taichi_is_as_before_after_a_launch() -> None:
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


def test_taichi_is_as_before_after_an_error() -> None:
    before = state()
    with pytest.raises(ZeroDivisionError), reading_emitted_source(1000) as config:
        assert not config.cfg_optimization
        assert not config.opt_level
        assert state() != before
        assert state() != before
        raise ZeroDivisionError
    assert state() == before


def test_other_threads_read_kernels_of_plain_taichi_as_ever() -> None:
    @ti.kernel
    def wrong():
        print(nowhere)  # noqa: F821 # pyright: ignore[reportUndefinedVariable]

    def message() -> str:
        with pytest.raises(ti.TaichiNameError) as caught:
            wrong()
        return str(caught.value)

    dt.zeros(1)
    with reading_emitted_source(1), ThreadPoolExecutor(1) as other:
        assert "print(nowhere)" not in message()
        assert "print(nowhere)" in other.submit(message).result()


def test_kernels_of_plain_taichi_keep_their_messages() -> None:
    @ti.kernel
    def wrong():
        print(nowhere)  # noqa: F821 # pyright: ignore[reportUndefinedVariable]

    dt.zeros(1)
    with pytest.raises(ti.TaichiNameError, match=r"print\(nowhere\)"):
        wrong()

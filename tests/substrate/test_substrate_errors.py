"""An error of Taichi is shown once, at the user's line; and every node of Python has an answer."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import CompileError
from difftile.frontend.expressions import EXPRESSIONS
from difftile.frontend.statements import STATEMENTS
from difftile.frontend.syntax import REFUSED
from difftile.substrate import compiler, variants

pytestmark = pytest.mark.compiled


def broken(good: str, bad: str) -> Any:
    """Emit source with a fault in it."""

    def emit(*args: Any, **kwargs: Any) -> Any:
        emitted = real(*args, **kwargs)
        assert good in emitted.text
        return replace(emitted, text=emitted.text.replace(good, bad))

    real = variants.emit
    return mock.patch.object(variants, "emit", emit)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("ti.sine(", "'sine'"),
        ("missing(", "missing"),
        ("ti.sin(1.0, ", "sin"),
        ("ti.Vector([1.0, 2.0]).cross(", ""),
    ],
)
def test_fault_in_emitted_source_is_shown_at_the_users_line(bad: str, said: str) -> None:
    @dt.kernel
    def waves(x):
        for i in x:
            y = x[i] * 2.0
            x[i] = ti.sin(y)

    with broken("ti.sin(", bad), pytest.raises(CompileError) as caught:
        waves(dt.zeros(3))
    error = caught.value
    assert error.span is not None and error.span.text.strip() == "x[i] = ti.sin(y)"
    text = str(error)
    assert said in text and text.count("Note:") == 1 and "Traceback" not in text
    assert '"<difftile' not in text and "site-packages" not in text
    assert error.__suppress_context__ and error.__cause__ is None


def test_fault_in_an_adjoint_is_shown_at_the_users_line() -> None:
    @dt.kernel
    def waves(x, y):
        for i in x:
            y[i] = ti.sin(x[i])

    x, y = dt.zeros(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape() as tape:
        waves(x, y)
    with broken("ti.cos(", "ti.cosine("), pytest.raises(dt.TapeError) as caught:
        tape.backward({y: 1.0})
    assert str(caught.value).count("y[i] = ti.sin(x[i])") == 1
    assert '"<difftile' not in str(caught.value)


@pytest.mark.compiled
def test_fault_while_launching() -> None:
    @dt.kernel
    def waves(x):
        for i in x:
            x[i] = ti.sin(x[i])

    def fail(compiled: Any, context: Any) -> None:
        raise RuntimeError("[cuda_driver.h:operator()@92] CUDA Error: out of memory")

    x = dt.zeros(3)
    waves(x)
    code: Any = waves._latest
    (variant,) = code.stages[0].primal.code.variants.known.values()
    variant = getattr(variant, "_code", variant)  # of a text in the record
    with (
        mock.patch.object(variant, "_run", fail),
        pytest.raises(dt.LaunchError, match=r"could not launch 'waves': .*out of memory") as caught,
    ):
        waves(x)
    assert caught.value.__suppress_context__


def test_every_node_of_python_is_taken_or_refused() -> None:
    elsewhere = {"FormattedValue"}  # a part of an f-string
    unnamed = {"TypeAlias", "TemplateStr", "Interpolation"}  # of later Pythons: as written
    for base in (ast.stmt, ast.expr):
        for node in base.__subclasses__():
            known = node in EXPRESSIONS or node in STATEMENTS or node in REFUSED
            assert known or node.__name__ in elsewhere | unnamed, node.__name__


def test_the_tape_of_the_compiler_refuses_fields() -> None:
    loss = dt.zeros((), grad=True)
    with (
        pytest.raises(
            dt.TapeError, match=rf"A tape of {compiler.private.NAME} records its own kernels"
        ),
        compiler.ti.ad.Tape(loss),
    ):
        pass

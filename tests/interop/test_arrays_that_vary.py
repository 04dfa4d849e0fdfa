"""Arrays that are no fields, into which kernels write values that vary."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

X = np.array([0.3, -0.4, 0.8])
SLOPES = 8 * np.sin(X) * np.cos(X)


@dt.kernel
def sines(x, y):
    for i in x:
        y[i] = 2.0 * ti.sin(x[i])


@dt.kernel
def total(y, loss):
    for i in y:
        loss[None] += y[i] ** 2


def assigned(y: Any, z: Any) -> Any:
    z[:] = y
    return z


def added(y: Any, z: Any) -> Any:
    z += y
    return z


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "launch": lambda y, z: y,
    "view": lambda y, z: y[:],
    "copy_from": lambda y, z: (z.copy_from(y), z)[1],
    "from_numpy": lambda y, z: (z.from_numpy(y), z)[1],
    "assigned": assigned,
    "added": added,
    "asarray": lambda y, z: dt.asarray(y),
    "from_dlpack": lambda y, z: dt.from_dlpack(y),
    "a new field": lambda y, z: dt.from_numpy(y),
}
CUT: dict[str, Callable[[Any, Any], Any]] = {
    "numbers": lambda y, z: (z.from_numpy([y[0], y[1], y[2]]), z)[1],
    "a product": lambda y, z: 1.0 * y,
    "a copy": lambda y, z: (z.from_numpy(y.copy()), z)[1],
}


def through(way: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        loss, y, z = dt.zeros((), ti.f64), np.zeros(3), dt.zeros(3, ti.f64)
        sines(x, y)
        total(way(y, z), loss)
        return loss

    return f


@pytest.mark.filterwarnings("ignore::difftile.GradientCut")
@pytest.mark.parametrize("way", WAYS)
def test_transformations_follow_them(way: str) -> None:
    f = through(WAYS[way])
    np.testing.assert_allclose(dt.grad(f)(X), SLOPES, rtol=1e-12)
    np.testing.assert_allclose(dt.vjp(f, X)[1](1.0)[0], SLOPES, rtol=1e-12)
    np.testing.assert_allclose(dt.jvp(f, (X,), (np.ones(3),))[1], SLOPES.sum(), rtol=1e-12)


@pytest.mark.parametrize("way", CUT)
def test_transformations_report_what_numpy_reads(way: str) -> None:
    f = through(CUT[way])
    line = through.__code__.co_firstlineno + 3
    for run in (
        lambda: dt.grad(f)(X),
        lambda: dt.vjp(f, X)[1](1.0),
        lambda: dt.jvp(f, (X,), (np.ones(3),)),
    ):
        with pytest.warns(dt.GradientCut, match="'y' is an array, and what NumPy reads") as found:
            run()
        assert {(one.filename, one.lineno) for one in found} == {(__file__, line)}


@pytest.mark.parametrize("way", [*WAYS, *CUT])
def test_tapes_report_the_launch(way: str) -> None:
    x, y = dt.from_numpy(X, grad=True), np.zeros(3)
    z, loss = dt.zeros(3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    with warnings.catch_warnings(record=True) as found, dt.Tape():
        warnings.simplefilter("always")
        sines(x, y)
        total({**WAYS, **CUT}[way](y, z), loss)
    assert len(found) == 1
    assert "'y' is an array, and what is read from it is constant" in str(found[0].message)


def test_nothing_is_said_where_nothing_varies() -> None:
    y, loss = np.zeros(3), dt.zeros((), ti.f64, grad=True)
    with dt.Tape():
        sines(X, y)
        with dt.no_grad():
            sines(dt.from_numpy(X, grad=True), y)
    sines(dt.from_numpy(X, grad=True), y)
    dt.jvp(lambda x: (sines(X, y), total(x, loss), loss)[2], (X,), (X,))

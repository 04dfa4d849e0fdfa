"""Habits of other libraries: programs that newcomers write, and the exact text they get.

The programs are in `habits.txt`, in the form of `tests/wrong/`. `pytest --update-golden` rewrites
the texts.
"""

from __future__ import annotations

import inspect
import math
import sys
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.habits import ATTRIBUTES, FUNCTIONS, MODULES
from difftile.substrate.family import device
from tests.wrong.test_diagnostics import Wrong, error_of, folder, read, write

__all__ = ["folder"]  # a fixture

FILE = Path(__file__).parent / "habits.txt"
PROGRAMS = read(FILE)


def _other(name: str, **names: Any) -> ModuleType:
    """A stand-in for a library that is not installed here."""
    module = ModuleType(name)
    vars(module).update(names)
    return module


class _Function:
    """A function that is no function of Python, as those of other libraries are."""

    def __call__(self, **_: object) -> str:
        return "an annotation"


@pytest.fixture(autouse=True)
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put modules by the names of other libraries within reach of programs that import them."""
    names = ("array", "atomic_add", "maximum", "sin", "spam", "tid", "vec3")
    functions = {name: _Function() for name in names}
    nested = _other("jax.numpy", **functions)
    modules = (
        *(_other(name, **functions) for name in ("warp", "torch")),
        *(_other("jax", numpy=nested), nested),
    )
    for module in modules:
        monkeypatch.setitem(sys.modules, module.__name__, module)


def _of_taichi(one: Wrong) -> bool:
    """Tell whether a program needs Taichi to be started."""
    return any(name in one.program for name in ("ti.field", ".field(3", "ti.ndarray", "ti.ad."))


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.taichi] * _of_taichi(one))
        for one in PROGRAMS
    ],
)
def test_habit(one: Wrong, folder: Path, request: pytest.FixtureRequest) -> None:
    error = error_of(one.program, folder)
    if request.config.getoption("--update-golden"):
        found = {other.name: other for other in read(FILE)}
        found[one.name] = Wrong(one.name, one.program, error)
        write(FILE, list(found.values()))
        return
    assert error == one.error


def test_names_of_programs_are_unique() -> None:
    names = [one.name for one in PROGRAMS]
    assert len(names) == len(set(names))


def test_hints_are_sentences() -> None:
    tables = (FUNCTIONS, MODULES, *ATTRIBUTES.values())
    for hint in (hint for table in tables for hint in table.values()):
        assert hint[0].islower() or hint[0] == "'", hint
        assert hint.endswith("."), hint


def _owners() -> dict[str, object]:
    x = dt.zeros(2, grad=True)
    return {
        "difftile": dt,
        "lang": dt.ti,
        "field": x,
        "kernel": _double,
        "optimiser": dt.optim.SGD(x, lr=0.1),
        "tape": dt.Tape(),
    }


@dt.kernel
def _double(x):
    for i in x:
        x[i] *= 2.0


def test_habits_are_no_attributes() -> None:
    """A habit that has become an attribute leaves the table."""
    owners = _owners()
    assert owners.keys() == ATTRIBUTES.keys()
    for owner, one in owners.items():
        for name, hint in ATTRIBUTES[owner].items():
            assert not hasattr(one, name), (owner, name)
            assert name not in dir(one), (owner, name)
            with pytest.raises(dt.DifftileError) as error:
                getattr(one, name)
            assert str(error.value).endswith(f"has no attribute '{name}'.\n  Hint: {hint}")


def test_habits_leave_protocols_alone() -> None:
    for one in _owners().values():
        for name in ("__array_interface__", "__torch_function__", "__wrapped_by__", "_repr_png_"):
            assert not hasattr(one, name)


@dt.kernel
def _by_numpy(x, y):
    for i in x:
        v = x[i]
        y[i, 0] = np.sin(v) + np.cos(v) + np.tan(v) + np.arctan(v) + np.tanh(v)
        y[i, 1] = np.exp(v) + np.expm1(v) + np.sinh(v) + np.cosh(v) + np.arctan2(v, 0.7)
        y[i, 2] = np.log(v) + np.log2(v) + np.log10(v) + np.log1p(v) + np.sqrt(v)
        y[i, 3] = np.floor(v) + np.ceil(v) + np.trunc(v) + np.fmod(v, 0.7) + np.mod(-v, 0.7)
        y[i, 4] = np.arcsin(v - 1.0) + np.arccos(v - 1.0) + np.abs(-v) + np.fabs(-v)
        y[i, 5] = np.radians(v) + np.deg2rad(v) + np.degrees(v) + np.rad2deg(v) + np.hypot(v, 2.0)
        y[i, 6] = np.where(v > 1.0, v, -v) + np.fmax(v, 1.0) + np.fmin(v, 1.0) + np.pi
        y[i, 7] = np.copysign(v, -1.0) + np.float64(2) * v + np.where(np.isnan(v), 1.0, 2.0)
        y[i, 8] = np.where(np.isinf(v), 1.0, 2.0) + np.where(np.isfinite(v), 3.0, 4.0)


def test_functions_of_numpy_mean_in_kernels_what_they_mean_in_numpy() -> None:
    values = np.array([0.3, 0.9, 1.4, 1.9])
    x, y = dt.from_numpy(values), dt.zeros((4, 9), ti.f64)
    _by_numpy(x, y)
    rows: dict[tuple[int, int], float] = {}
    _by_numpy.function(dict(enumerate(values)), rows)  # plain Python
    wanted = np.array([[rows[i, k] for k in range(9)] for i in range(4)])
    np.testing.assert_allclose(y.to_numpy(), wanted, rtol=1e-14)
    assert math.isfinite(wanted.sum())


# What kernels call, and what takes no keyword of its own.
UNBOUNDED = {
    *("bwd_diff", "fwd_diff", "call_id", "grid", "rand", "randint", "randn", "no_grad", "template"),
    *("cholesky", "digamma", "erf", "erfc", "erfinv", "exact", "expm1", "inverse", "lgamma"),
    *(
        "lanes",
        "local",
        "log1p",
        "logit",
        "logsumexp",
        "safe_divide",
        "safe_norm",
        "sigmoid",
        "softplus",
        "solve",
    ),
    *("solve_triangular", "stop_grad", "trigamma", "unique", "data_oriented"),
    *("is_recording", "scratch", "stop_recording"),
    *("steps", "surrogate", "table", "value"),
}


def _functions() -> dict[str, Any]:
    """The functions of the module by name."""
    names = {name: getattr(dt, name) for name in dt.__all__}
    return {name: one for name, one in names.items() if isinstance(one, FunctionType)}


def test_every_function_explains_unknown_keywords() -> None:
    for name, function in _functions().items():
        parameters = inspect.signature(function).parameters.values()
        if name in UNBOUNDED or any(p.kind is p.VAR_KEYWORD for p in parameters):
            continue
        with pytest.raises(dt.LaunchError, match=r"has no argument 'unheard_of'\.\n  Hint: "):
            function(unheard_of=1)


@pytest.mark.taichi
def test_tapes_of_taichi_take_its_own_fields() -> None:
    dt.init()
    x, y = (ti.field(ti.f32, (), needs_grad=True) for _ in range(2))

    @ti.kernel
    def triple():
        y[None] += 3.0 * x[None]

    with ti.ad.Tape(loss=y):
        triple()
    assert x.grad[None] == 3.0


@pytest.mark.taichi
@pytest.mark.parametrize(("given", "found"), [("cpu", "cpu"), ("cuda", "cuda"), ("opengl", "cpu")])
def test_difftile_starts_where_taichi_was(
    given: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dt.init()
    arch = getattr(ti, given, None)  # Quadrants has no OpenGL
    monkeypatch.setattr(device.impl, "current_cfg", lambda: SimpleNamespace(arch=arch))
    assert device.running() == found

"""The funcs of `difftile/worlds` as plain Python over NumPy, without a compiler.

Modules are executed once more with the stand-ins of `tests/plain_python.py`; local arrays belong to
the caller, as in kernels.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.util
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from difftile import ti, worlds
from difftile.worlds import kinds
from difftile.worlds.arrays import ARRAYS
from difftile.worlds.kinds import SOLVED
from difftile.worlds.model import rounding
from tests import plain_python
from tests.faults import probes
from tests.plain_python import DIFFTILE, MATH, TAICHI, Namespace, PlainField, Small


class Local:
    """The stand-in for `dt.local`: elements are copied on the way in and out."""

    def __init__(self, shape: Any, dtype: Any = None) -> None:
        self.shape = shape if isinstance(shape, tuple) else (shape,)
        kind = np.int64 if dtype is int else np.float64
        self.values = np.zeros((*self.shape, *getattr(dtype, "shape", ())), kind)

    def __getitem__(self, index: Any) -> Any:
        found = self.values[self._at(index)]
        return found.copy().view(Small) if np.ndim(found) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[self._at(index)] = value

    def _at(self, index: Any) -> Any:
        for one, size in zip(
            index if isinstance(index, tuple) else (index,), self.shape, strict=True
        ):
            assert 0 <= one < size, (index, self.shape)
        return index


class _Own(plain_python._Values):
    """As in programs; `pushed: ti.template()` has no meaning here."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        for one in node.args.args:
            one.annotation = None
        return super().visit_FunctionDef(node)


def _identity(function: Any) -> Any:
    return function


def _func(function: Any) -> Any:
    function.backward = _identity  # rules are for adjoints
    return function


def _data_oriented(cls: Any = None, *, frozen: bool = False) -> Any:
    return _identity if frozen else cls


def _fwd_diff(function: Any) -> Any:
    """Return the derivative of a func of numbers and vectors, as a difference of fourth order."""

    def derivative(*given: Any) -> Any:
        at, along = given[: len(given) // 2], given[len(given) // 2 :]

        def moved(t: float) -> np.ndarray:
            return np.array(function(*(x + t * v for x, v in zip(at, along, strict=True))))

        t = 1e-3 / (1.0 + max(float(np.abs(v).max()) for v in along))
        slopes = 8 * (moved(t) - moved(-t)) - (moved(2 * t) - moved(-2 * t))
        return tuple(one.view(Small) for one in slopes / (12 * t))

    return derivative


OWN = {
    "func": _func,
    "fwd_diff": _fwd_diff,
    "data_oriented": _data_oriented,
    "local": Local,
    "ti": TAICHI,
}
OWN["exact"] = _identity  # plain Python computes as it is written
DT = Namespace(**{**vars(DIFFTILE), **OWN})


@functools.cache
def module(name: str) -> Any:
    """Return a module of `difftile`, executed as plain Python."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    place = os.path.relpath(spec.origin, probes.ROOT)
    if place in probes.PROBES:  # planted faults are looked for by the tests that reach them
        tree = probes.instrument(tree, place)
    tree = _Own().visit(tree)
    names: dict[str, Any] = {
        "__builtins__": {
            **vars(builtins),
            "__import__": _imported,
            "max": plain_python._max,
            "min": plain_python._min,
            "float": plain_python.Number(np.float64),
            "range": plain_python._range,
        },
        "__name__": name,
        "_own": plain_python._own,
        "_changed": plain_python._changed,
    }
    exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec", dont_inherit=True), names)
    return SimpleNamespace(**names)


_AS_THEY_ARE = {"kinds", "topology", "arrays"}


def _imported(
    name: str, scope: Any = None, own: Any = None, names: Any = (), level: int = 0
) -> Any:
    known = {
        "difftile": DT,
        "difftile.lang": SimpleNamespace(lang=TAICHI),
        "difftile.runtime.funcs": SimpleNamespace(func=_identity),
        "difftile.textures.directions": SimpleNamespace(unit=lambda v: v / v.norm()),
        "difftile.fields.create": SimpleNamespace(vec=DIFFTILE.vec),
        "difftile.worlds": SimpleNamespace(kinds=kinds),
        "math": MATH,
    }
    if name in known:
        return known[name]
    last = name.rpartition(".")[2]
    if name.startswith(("difftile.", "tests.worlds.")) and last not in _AS_THEY_ARE:
        return module(name)
    return builtins.__import__(name, scope, own, names, level)


DT.rotations = SimpleNamespace(
    **vars(module("difftile.rotations.quaternions")),
    skew=module("difftile.rotations.rotation_vectors").skew,
)


def parameters(model: worlds.Model) -> Any:
    """Return the argument `m`: the arrays of a model as fields."""
    found: dict[str, Any] = {}
    arrays = model.effective
    for name, row in ARRAYS.items():
        values = arrays[name][..., : row.used] if row.used else arrays[name]
        found[name] = PlainField(values, row.element)
    for name, table in model.tables.items():
        found[name] = PlainField(table, (3,) if table.ndim == 2 else ())
    found["rounding"] = PlainField(np.array(rounding(ti.f64)), ())
    return SimpleNamespace(**found)


def results(sizes: worlds.Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shapes of what `Smooth.terms` computes."""
    nv, nbody = (sizes.nv,), sizes.nbody
    triangle = (sizes.nv * (sizes.nv + 1) // 2,)
    forces = ("bias", "passive", "applied", "actuator")
    return {
        **{f"qfrc_{name}": nv for name in forces},
        **{"M": triangle, "M_hat": triangle, "energy": (2,), "qvel_next": nv},
        **{"qpos_next": (sizes.nq,), "act_next": (max(1, sizes.na),)},
        **{"xpos": (nbody, 3), "xquat": (nbody, 4), "subtree_com": (nbody, 3)},
        "sensordata": (max(1, sizes.nsensordata),),
    }


def terms(
    model: worlds.Model, state: dict[str, np.ndarray], *, felt: bool = True
) -> dict[str, np.ndarray]:
    """Return what `Smooth.terms` computes for a state; readings of forces only if they are felt."""
    out = SimpleNamespace(**{k: Local(shape) for k, shape in results(model.sizes).items()})
    seen = tuple(kind for kind in model.sizes.sensors if felt or kind not in SOLVED)
    blind = {"sensors": seen}
    smooth = module("tests.worlds.smooth").Smooth(replace(model.sizes, **blind))
    smooth.terms(parameters(model), SimpleNamespace(**state), out)
    return {k: v.values for k, v in vars(out).items()}

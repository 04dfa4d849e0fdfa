"""Import every module of the library, declare kernels and funcs: no compiler is loaded."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

import difftile as dt
from difftile import ti

ROOT = Path(dt.__file__).parent
COMPILERS = ("taichi", "quadrants")
_OF_COMPILERS = tuple(f"difftile.substrate.{name}" for name in ("family", *COMPILERS))
_OTHERS = {"difftile.torch": "torch", "difftile.jax": "jax"}  # of which one may be missing


def check(what: str) -> None:
    loaded = [name for name in COMPILERS if name in sys.modules]
    assert not loaded, f"{what} loads {loaded}"


P = ti.types.struct(x=ti.math.vec3, m=ti.f32)


@dt.func
def square(a: ti.f32):
    return a * a + ti.sin(a)


@dt.kernel
def scale(x: ti.types.ndarray(dtype=ti.f32, ndim=1), p: P):
    for i in x:
        x[i] *= square(p.m)


check("a kernel")
for file in sorted(ROOT.rglob("*.py")):
    name = ".".join(("difftile", *file.relative_to(ROOT).with_suffix("").parts))
    missing = [of for package, of in _OTHERS.items() if name.startswith(package)]
    if name.startswith((*_OF_COMPILERS, "difftile._gallery")) or name.endswith("__main__"):
        continue
    if missing and find_spec(missing[0]) is None:
        continue
    importlib.import_module(name.removesuffix(".__init__"))
    check(name)
for name in dir(dt):
    if name not in _OTHERS.values():
        getattr(dt, name)
        check(f"dt.{name}")
p = P(x=[1, 2, 3], m=2.0)
assert p.x.norm_sqr() == 14
check("a struct")
x = dt.ones(2, ti.f32)
scale(x, p)
assert abs(x[0] - (4 + float(ti.sin(2.0)))) < 1e-5
print(next(name for name in COMPILERS if name in sys.modules))

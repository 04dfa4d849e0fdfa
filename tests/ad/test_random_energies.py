"""Random local energies: the Hessians of their terms against the complex step of a gradient.

All programs run as Python, so that no kernel is compiled; the blocks are added up here.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ad.local_hessian import LocalHessian, local_hessian
from difftile.ad.reverse import reverse
from difftile.ir.derived import After, Bar, Before, Derived
from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import F64, Vector
from difftile.ops.check import check
from tests.random_energies import draw

POINTS, TERMS = 4, 3
VECTOR = Vector(3, F64)
STEP = 1e-30


@pytest.fixture(autouse=True, scope="module")
def taichi() -> Iterator[None]:
    dt.init()
    yield


@dataclass
class Energy:
    """A kernel as a program, and the contents that it is launched with, by name."""

    program: Program
    contents: dict[str, Any]

    def array(self, name: str) -> Array:
        return next(a for a in self.program.arrays if a.name == name)

    def run(self, derived: Derived, memory: dict[Array, Any], numbers: dict[Var, int]) -> None:
        """Run a program over the contents, with more memory for its other parameters."""
        fields: dict[Array, Any] = {}
        for param in derived.program.params:
            role = derived.role(param)
            if isinstance(param, Array):
                of = role.array if isinstance(role, (Before, After)) else param
                fields[param] = memory[param] if param in memory else self.contents[of.name]
        meaning.run(derived.program, fields, numbers, complex_step=True)

    def product(self, direction: Any) -> Any:
        """Return the Hessian times a vector, by the complex step of the gradient."""
        x, energy = self.array("x"), self.array("energy")
        adjoint = reverse(self.program, frozenset((x, energy)))
        bars = adjoint.of(Bar)
        found = np.zeros((POINTS, 3), complex)
        moved = dict(self.contents, x=self.contents["x"] + 1j * STEP * direction)
        memory = {bars[x]: found, bars[energy]: np.ones((), complex)}
        Energy(self.program, moved).run(adjoint, memory, {})
        return found.imag / STEP

    def dense(self) -> Any:
        """Return the Hessian, column by column."""
        units = np.eye(3 * POINTS).reshape(-1, POINTS, 3)
        return np.stack([self.product(unit).ravel() for unit in units], axis=1)


def made(number: int) -> Energy:
    text, file = draw(number), f"<energy {number}>"
    lines = [line + "\n" for line in text.splitlines()]
    linecache.cache[file] = (len(text), None, lines, file)
    names: dict[str, Any] = {"__name__": f"energy_{number}"}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    rng = np.random.default_rng(number)
    contents: dict[str, Any] = {
        "x": rng.uniform(-1, 1, (POINTS, 3)),
        "ends": rng.integers(0, POINTS, (TERMS, 4)).astype(np.int32),
        "weights": rng.uniform(0.5, 1.5, TERMS),
        "energy": np.zeros(()),
    }
    types = {"x": dt.vec(3, ti.f64)}
    fields = [dt.from_numpy(v, dtype=types.get(name)) for name, v in contents.items()]
    kernel = dt.kernel(names["k"])
    kernel._ready(tuple(fields), {})
    assert kernel._latest is not None
    (stage,) = kernel._latest.stages
    floats = {k: v.astype(complex) if v.dtype == float else v for k, v in contents.items()}
    return Energy(stage.program, floats)


def added_up(energy: Energy, found: LocalHessian) -> Any:
    """Return the sum of the blocks, as a dense matrix."""
    bounds = np.zeros(2 * sum(term.axes for term in found.terms), np.int32)
    energy.run(found.bounds, {found.bounds_at: bounds}, {})
    np.testing.assert_array_equal(bounds, [0, TERMS] * len(found.terms))
    (term,) = found.terms
    places = np.full(5 + TERMS * term.sites, -7, np.int32)
    energy.run(found.gather, {found.places_at: places}, {term.first_site: 5})
    size = 9 * len(term.pairs)
    slots = np.full(11 + TERMS * size, np.nan, complex)
    bar = found.blocks.of(Bar)[energy.array("energy")]
    memory = {found.slots: slots, bar: np.ones((), complex)}
    energy.run(found.blocks, memory, {term.first_slot: 11})
    blocks = slots[11:].real.reshape(TERMS, len(term.pairs), 3, 3)
    total = np.zeros((POINTS, 3, POINTS, 3))
    for sites, own in zip(places[5:].reshape(TERMS, -1), blocks, strict=True):
        for (k, m), block in zip(term.pairs, own, strict=True):
            i, j = sites[k], sites[m]
            if i < 0 or j < 0:
                assert not block.any()  # what was not gathered has no derivative
                continue
            total[i, :, j, :] += block
            if k != m:
                total[j, :, i, :] += block.T
    return total.reshape(3 * POINTS, 3 * POINTS)


def compare(number: int) -> str:
    """Check one energy; return what it was."""
    energy = made(number)
    if all(array.name != "x" for array in energy.program.arrays):
        return "constant"
    x, output = energy.array("x"), energy.array("energy")
    wrt, outputs = frozenset((x,)), frozenset((output,))
    wanted = energy.dense()
    scale = max(np.abs(wanted).max(), 1e-3)
    found = local_hessian(energy.program, wrt, outputs, frozenset(), VECTOR, psd=False)
    if found is None:
        np.testing.assert_allclose(wanted, 0.0, atol=1e-12)
        return "linear"
    for one in (found.bounds, found.gather, found.blocks):
        check(one.program)
    dense = added_up(energy, found)
    np.testing.assert_allclose(dense, wanted, rtol=0, atol=1e-9 * scale, err_msg=draw(number))
    if number % 8 == 0:  # eigenvalues take Python long
        check_positive(energy, dense, scale)
    return "local"


def check_positive(energy: Energy, dense: Any, scale: float) -> None:
    """Check the sum of terms that were made positive semidefinite."""
    wrt, outputs = (frozenset((energy.array(name),)) for name in ("x", "energy"))
    found = local_hessian(energy.program, wrt, outputs, frozenset(), VECTOR, psd=True)
    assert found is not None
    positive = added_up(energy, found)
    assert np.linalg.eigvalsh(positive)[0] > -1e-9 * scale
    if lowest_of_terms(energy) >= -1e-12 * scale:
        np.testing.assert_allclose(positive, dense, rtol=0, atol=1e-9 * scale)


def lowest_of_terms(energy: Energy) -> float:
    """Return the lowest eigenvalue of the Hessians of the terms, each by itself."""
    lowest = np.inf
    for term in range(TERMS):
        one = {k: energy.contents[k][[term] * TERMS] for k in ("ends", "weights")}
        alone = Energy(energy.program, energy.contents | one)
        lowest = min(lowest, float(np.linalg.eigvalsh(alone.dense())[0]))
    return lowest


def test_random_energies() -> None:
    kinds = [compare(number) for number in range(16)]
    assert kinds.count("local") >= 13


@pytest.mark.slow  # a thousand programs, of which the test above checks the first
def test_many_random_energies() -> None:
    for number in range(16, 1000):
        compare(number)

"""Sparse Hessians of sums of local energies."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.field import Field, make
from difftile.fields.numbers import Number
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.storage import Storage, scratch
from difftile.fields.structs import StructField
from difftile.ir.nodes import Var
from difftile.ir.types import I32, is_float, scalar_of, shape_of
from difftile.linearization.local_energies import (
    FieldCopy,
    LocalCode,
    LocalEnergies,
    StageRun,
    Weights,
    local_code,
    run_local,
)
from difftile.runtime.number_operations import value as field_with
from difftile.substrate import Session, current_session
from difftile.tracebacks import boundary
from difftile.transforms.block_pattern import BlockPattern, Sites, block_pattern
from difftile.transforms.stretch import refuse_nesting
from difftile.transforms.trees import Tree, lifted

_MOST_SLOTS = 2**31 - 1


class CsrFields(NamedTuple):
    """A sparse matrix in compressed rows, on the device.

    Args:
        data: The numbers, row after row.
        indices: The column of each number.
        indptr: Where each row starts in them, and after the last.
        shape: The shape of the matrix.
    """

    data: Field
    indices: Field
    indptr: Field
    shape: tuple[int, int]


@boundary
def sparse_hessian(f: Callable[..., Any], argnum: int = 0, *, psd: bool = False) -> SparseHessian:
    """Return the function that computes the Hessian of a sum of local energies.

    Each iteration of the parallel loops of `f` gathers a few elements of one field, at indices that
    it reads or computes, and adds an energy to the sum. The Hessian of each term is computed in the
    thread of the iteration, and stored without atomic additions.

    Args:
        f: A function as for `dt.grad`, which returns the sum; or a kernel that returns the sum, or
            adds it to an argument of one element.
        argnum: The position of the field.
        psd: Replace the negative eigenvalues of the Hessian of each term by zero: the sum is then
            positive semidefinite, as Newton's method needs.

    Returns:
        A function of the arguments of `f` that returns a matrix of SciPy in compressed rows. Rows
        and columns count the numbers in the field, the last axis fastest. Its method `fields`
        returns the same as fields on the device.
    """
    return SparseHessian(f, argnum, psd=psd)


class SparseHessian:
    """A function that computes the Hessian of a sum of local energies; see `sparse_hessian`."""

    def __init__(self, f: Callable[..., Any], argnum: int, *, psd: bool) -> None:
        self._f = f
        self._argnum = argnum
        self._psd = psd
        self._plan: _Plan | None = None

    def __repr__(self) -> str:
        return f"<sparse Hessian of {self._f!r}>"

    @boundary
    def __call__(self, *args: Tree, **kwargs: Any) -> Any:
        """Return the Hessian as a `scipy.sparse.csr_matrix`.

        Raises:
            NotLocal: The function is not a sum of local energies.
            LaunchError: An argument has no derivative, or SciPy is not installed.
        """
        try:
            sparse: Any = importlib.import_module("scipy.sparse")
        except ImportError:
            raise LaunchError(
                "dt.sparse_hessian needs SciPy for its matrix: install it with 'pip install "
                "difftile[scipy]', or use the method 'fields'."
            ) from None
        found = self.fields(*args, **kwargs)
        parts = tuple(one.to_numpy() for one in found[:3])
        return sparse.csr_matrix(parts, shape=found.shape)

    @boundary
    def fields(self, *args: Tree, **kwargs: Any) -> CsrFields:
        """Return the Hessian in compressed rows, as fields.

        The fields are good until the next call, and are not to be written.
        """
        refuse_nesting("sparse_hessian", "jvp of dt.grad")
        given = list(args)
        if not -len(args) <= self._argnum < len(args):
            raise LaunchError(
                f"The function is called with {len(args)} arguments; argnum is {self._argnum}."
            )
        wrt = given[self._argnum] = _field(given[self._argnum], f"argument {self._argnum}")
        plan, session = self._plan, current_session()
        if plan is None or not plan.fits(wrt, session):
            plan = self._plan = _Plan(wrt, session, psd=self._psd)
        seen = LocalEnergies(wrt)
        try:
            with Recording(seen, observer=RECORDING.get().observer):
                value = self._f(*given, **kwargs)
                if isinstance(value, Number):
                    value = field_with(value)
            with Recording():
                return plan.evaluated(seen, self._output(value, [*given, *kwargs.values()], seen))
        finally:
            seen.release()

    def _output(self, value: object, given: list[Any], seen: LocalEnergies) -> Field:
        """Return the field that holds the sum.

        Raises:
            LaunchError: No field qualifies, or several do.
        """
        name = getattr(self._f, "__name__", "the function")
        if isinstance(value, Field):
            found = [value]
        elif value is None:
            found = [one for one in given if isinstance(one, Field) and seen.varies(one)]
        else:
            found = []
        sums = [one for one in found if is_float(one.element) and _count(one) == 1]
        if len(sums) == 1:
            return sums[0]
        several = "several fields of one element" if sums else f"{value!r} and no sum"
        raise LaunchError(
            f"dt.sparse_hessian takes a function that returns the sum of its energies, as a number "
            f"or a field with one element; {name} returns {several}."
        )


def _count(one: Field) -> int:
    return int(np.prod((*one.shape, *shape_of(one.element)), dtype=int))


def _field(given: Any, name: str) -> Field:
    """Return the field of an argument; of an array or number a new one."""
    if isinstance(given, Field):
        if is_float(given.element):
            return given
        raise LaunchError(f"{name} is a field of {given.element}, which has no derivative.")
    if isinstance(given, (tuple, list, Mapping, StructField)):
        raise LaunchError(f"{name} is not one field; dt.sparse_hessian is for one.")
    return lifted(given, name, [])


class _Piece(NamedTuple):
    """A stage that ran, and the programs of the Hessians of its terms."""

    run: StageRun
    code: LocalCode

    @property
    def sources(self) -> tuple[object, ...]:
        """The sources of the indices."""
        return (self.code, *self.run.sources(self.code.bounds), *self.run.sources(self.code.gather))


class _Plan:
    """The pattern and the memory of a Hessian, kept while the indices do not change."""

    def __init__(self, wrt: Field, session: Session, *, psd: bool) -> None:
        self._element = wrt.element
        self._shape = wrt.shape
        self._session = session
        self._psd = psd
        self._sources: list[tuple[object, ...]] | None = None
        self._firsts: list[dict[Var, int]] = []
        self._sites: list[Sites] = []
        self._pattern: BlockPattern | None = None
        self._slots: Field | None = None
        self._data: Field | None = None

    def fits(self, wrt: Field, session: Session) -> bool:
        """Tell whether the plan is for such a field."""
        alike = (wrt.element, wrt.shape) == (self._element, self._shape)
        return alike and session is self._session

    def evaluated(self, seen: LocalEnergies, output: Field) -> CsrFields:
        """Return the Hessian of a sum."""
        weights = Weights(output)
        steps = self._steps(seen, weights)
        pieces = [one for one in steps if isinstance(one, _Piece)]
        pattern = self._arranged(pieces)
        slots, data = self._slots, self._data
        assert slots is not None and data is not None
        firsts = iter(self._firsts)
        for one in steps:
            if isinstance(one, Storage):
                weights.written(one)
                continue
            if isinstance(one, FieldCopy):
                weights.copied(one)
                continue
            memory = {one.code.hessian.slots: slots}
            run_local(one.run, one.code.blocks, memory, next(firsts), weights)
        pattern.add_up(slots, data)
        return CsrFields(data, pattern.indices, pattern.indptr, pattern.shape)

    def _steps(self, seen: LocalEnergies, weights: Weights) -> list[_Piece | FieldCopy | Storage]:
        """Return the stages that add to the sum, the last one first, and the writes of Python."""
        steps: list[_Piece | FieldCopy | Storage] = []
        for run in reversed(seen.runs):
            if isinstance(run, (Storage, FieldCopy)):
                steps.append(run)
                if isinstance(run, FieldCopy) and run.target in weights:
                    weights.of(run.source)
                continue
            outputs = run.held(weights) - run.wrt
            if not outputs:
                continue
            code = local_code(run, outputs, self._element, psd=self._psd)
            if code is not None:
                steps.append(_Piece(run, code))
                for array in code.weighted:
                    weights.of(run.field(array))
        return steps

    def _arranged(self, pieces: list[_Piece]) -> BlockPattern:
        """Return the pattern for the present indices, and have memory for the slots."""
        sources = [one.sources for one in pieces]
        if self._pattern is not None and sources == self._sources:
            return self._pattern
        firsts: list[dict[Var, int]] = []
        found: list[Sites] = []
        slots = 0
        for one in pieces:
            sites, numbers, slots = self._gathered(one, slots)
            firsts.append(numbers)
            found += sites
        if self._pattern is None or not _same(found, self._sites):
            size, elements = prod(shape_of(self._element)), prod(self._shape)
            self._pattern = block_pattern(found, size, elements)
            number = scalar_of(self._element)
            with scratch():
                self._slots = make(number, (max(slots, 1),))
                self._data = make(number, self._pattern.indices.shape)
        self._sources, self._firsts, self._sites = sources, firsts, found
        return self._pattern

    def _gathered(self, one: _Piece, slot: int) -> tuple[list[Sites], dict[Var, int], int]:
        """Return the sites of a stage, the places of its terms, and the first slot after them."""
        run, hessian = one.run, one.code.hessian
        if not hessian.terms:
            return [], {}, slot
        bounds = make(I32, (2 * sum(term.axes for term in hessian.terms),))
        run_local(run, one.code.bounds, {hessian.bounds_at: bounds}, {})
        ends = iter(bounds.buffer.read().reshape(-1, 2))
        numbers: dict[Var, int] = {}
        counts: list[int] = []
        size, site = prod(shape_of(self._element)) ** 2, 0
        for term in hessian.terms:
            lengths = [
                int(stop) - int(start) for start, stop in (next(ends) for _ in range(term.axes))
            ]
            counts.append(prod(max(length, 0) for length in lengths))
            numbers[term.first_site], numbers[term.first_slot] = site, slot
            site += counts[-1] * term.sites
            slot += counts[-1] * len(term.pairs) * size
        if slot > _MOST_SLOTS:
            raise LaunchError(
                f"The terms have blocks of {slot} numbers, more than 2**31: add up the Hessians of "
                "parts of the energy."
            )
        places = make(I32, (max(site, 1),))
        run_local(run, one.code.gather, {hessian.places_at: places}, numbers)
        flat = places.buffer.read()
        found: list[Sites] = []
        for term, count in zip(hessian.terms, counts, strict=True):
            first = numbers[term.first_site]
            part = flat[first : first + count * term.sites].reshape(count, term.sites)
            found.append(Sites(part, term.pairs, numbers[term.first_slot]))
        return found, numbers, slot


def _same(found: list[Sites], known: list[Sites]) -> bool:
    return len(found) == len(known) and all(
        (a.pairs, a.first) == (b.pairs, b.first) and np.array_equal(a.places, b.places)
        for a, b in zip(found, known, strict=True)
    )

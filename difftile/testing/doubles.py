"""Copies that take the place of fields for a while, wherever the fields are held.

A field is a handle to its storage. While copies stand in, every handle to a storage leads to the
copy: those that are arguments, those that kernels capture, those in lists and objects. The
contents and gradients of the fields themselves are out of reach, so nothing can change them.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.fields.create import CREATION, zeros_like
from difftile.fields.field import Field, Storage
from difftile.ir.types import F64, Type, field_type, is_float, numpy_dtype, scalar_of, with_scalar
from difftile.launch.func import forget_launches
from difftile.substrate.memory import POOL


@dataclass(slots=True, eq=False)
class Double:
    """A copy that stands in.

    Args:
        original: The storage that is out of reach meanwhile.
        storage: The copy.
        name: What the field is called, as far as is known.
        is_gradient: Whether it is the gradient of another field; then it starts with zeros.
        read: Whether a launch reads it.
        written: Whether something writes it.
        is_output: Whether it is to be differentiated.
        field: The field that has the gradient, or the one that was met.
        met: The field that was met first.
    """

    original: Storage
    storage: Storage
    name: str
    is_gradient: bool
    read: bool = False
    written: bool = False
    is_output: bool = False
    field: Field | None = None
    met: weakref.ref[Field] | None = None

    @property
    def element(self) -> Type:
        """The type of its elements."""
        return self.storage.buffer.element

    @property
    def has_grads(self) -> bool:
        """Whether there is a gradient to be checked."""
        return self.field is not None and self.field.has_grads

    def contents(self) -> npt.NDArray[np.generic]:
        """Return what the field held, in the precision of the copy."""
        dtype = numpy_dtype(scalar_of(self.element))
        return self.original.buffer.read().astype(dtype, copy=False)

    def reset(self) -> None:
        """Let the copy hold what the field held."""
        self.storage.buffer.write(self.contents())


class Doubles:
    """The copies of a check; the fields have their memory back when its block is left."""

    def __init__(self) -> None:
        self._by_storage: dict[Storage, Double] = {}
        self._attached: list[Field] = []

    def __enter__(self) -> Doubles:
        forget_launches()
        return self

    def __exit__(self, *error: object) -> None:
        CREATION.in_double = False
        for field in self._attached:
            field.grad_in = field.grad_out = None
        exchange({one.storage: one.original for one in self._by_storage.values()})
        forget_launches()

    def __iter__(self) -> Iterator[Double]:
        return iter(list(self._by_storage.values()))

    def of(self, field: Field) -> Double:
        """Return the copy that a field has now."""
        return self._by_storage[field.storage]

    def find(self, field: Field) -> Double | None:
        """Return the copy that a field has, or None if it has none."""
        return self._by_storage.get(field.storage)

    def take(self, fields: Iterable[tuple[str, Field]]) -> None:
        """Let copies in the same precision stand in for fields, given by name, and for gradients.

        Those that have copies already keep them.
        """
        new: dict[Storage, Double] = {}
        for name, field in fields:
            if field.storage not in self._by_storage and field.storage not in new:
                one = new[field.storage] = _copy(field.storage, name, is_gradient=False)
                one.met = weakref.ref(field)
        for holder in holders(new):
            for gradient in (holder.grad_in, holder.grad_out):
                if gradient is not None and gradient.storage not in {*self._by_storage, *new}:
                    name = f"{new[holder.storage].name}.grad"
                    new[gradient.storage] = _copy(gradient.storage, name, is_gradient=True)
        exchange({one.original: one.storage for one in new.values()})
        self._by_storage |= {one.storage: one for one in new.values()}

    def widen(self) -> None:
        """Let the copies of floats be in double precision, and fields that are made be so, too.

        Copies of fields that nobody holds any more are dropped.
        """
        forget_launches()  # which hold the fields of the latest one
        held: dict[Storage, Field] = {}
        for holder in holders(self._by_storage):
            known = held.setdefault(holder.storage, self._met(holder))
            if holder.has_grads and not known.has_grads:
                held[holder.storage] = holder.origin
        wide: dict[Storage, Double] = {}
        copies: dict[Storage, Storage] = {}
        for storage, field in held.items():
            one = self._by_storage[storage]
            element = with_scalar(one.element, F64) if is_float(one.element) else one.element
            copy = Storage(POOL.take(element, storage.buffer.shape))
            copy.graded = storage.graded
            copies[storage] = one.storage = copy
            one.field = field
            wide[copy] = one
            if one.is_gradient:
                copy.buffer.fill(0.0)
            else:
                one.reset()
        exchange(copies)
        self._by_storage = wide
        CREATION.in_double = True

    def attach_gradient(self, one: Double) -> None:
        """Give a field a gradient as long as the copies stand in."""
        assert one.field is not None
        gradient = zeros_like(one.field, grad=False)
        one.field.grad_in = one.field.grad_out = gradient
        self._attached.append(one.field)

    def _met(self, holder: Field) -> Field:
        met = self._by_storage[holder.storage].met
        first = None if met is None else met()
        return (holder if first is None else first).origin


def _copy(original: Storage, name: str, *, is_gradient: bool) -> Double:
    old = original.buffer
    copy = Storage(POOL.take(old.element, old.shape))
    copy.buffer.copy_from(old)
    copy.graded = original.graded
    return Double(original, copy, name, is_gradient)


def holders(storages: Iterable[Storage]) -> list[Field]:
    """Return all fields that lead to some storages."""
    wanted = set(storages)
    # Nothing else knows them all: a list of living fields would cost every field its share.
    found = gc.get_referrers(*wanted) if wanted else []
    return [one for one in found if isinstance(one, Field) and one.storage in wanted]


def exchange(storages: Mapping[Storage, Storage]) -> None:
    """Let all fields that lead to some storages lead to others."""
    for field in holders(storages):
        new = storages[field.storage]
        field.storage = new
        field.type = field_type(new.buffer.element, len(field.shape))

"""Copies that take the place of fields' contents for a while, wherever the fields are held.

A field is a handle to its storage, and a storage leads to a buffer. While copies stand in, storages
lead to copies of their buffers, and so does every field: those that are arguments, those that
kernels capture, those in lists and objects. The buffers themselves are pinned and out of reach, so
nothing can change them.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.compile.func import forget_launches
from difftile.fields.create import CREATION, zeros_like
from difftile.fields.field import Field, Storage
from difftile.ir.types import F64, Type, field_type, is_float, numpy_dtype, scalar_of, with_scalar
from difftile.substrate import Buffer, current_session, unpin
from difftile.testing.naming import FieldNames


@dataclass(slots=True, eq=False)
class ShadowField:
    """A storage that leads to a copy.

    Args:
        storage: The storage.
        original: Its buffer, which is out of reach meanwhile.
        name: What the field is called, as far as is known.
        is_gradient: Whether it is the gradient of another field; then it starts with zeros.
        read: Whether a launch reads it.
        written: Whether something writes it.
        is_output: Whether it is to be differentiated.
        field: The field that has the gradient, or the one that was met.
        met: The field that was met first.
        spoiled: What it holds is of no account, and starts as something else than it was.
    """

    storage: Storage
    original: Buffer
    name: str
    is_gradient: bool
    read: bool = False
    written: bool = False
    is_output: bool = False
    field: Field | None = None
    met: weakref.ref[Field] | None = None
    spoiled: bool = False

    @property
    def element(self) -> Type:
        """The type of its elements."""
        return self.storage.buffer.element

    @property
    def has_grads(self) -> bool:
        """Whether there is a gradient to be checked."""
        return self.field is not None and self.field.has_grads

    @property
    def is_scratch(self) -> bool:
        """Whether an operation of the library keeps the memory for itself."""
        return self.storage.is_scratch

    @property
    def is_parameter(self) -> bool:
        """Whether it is the user's, and has a gradient to be checked."""
        return self.has_grads and not self.is_gradient and not self.is_scratch

    def reset(self) -> None:
        """Let the copy hold what the field held, or zeros."""
        buffer = self.storage.buffer
        if self.is_gradient:
            buffer.fill(0.0)
        else:
            dtype = numpy_dtype(scalar_of(self.element))
            contents = self.original.read().astype(dtype, copy=False)
            buffer.write(_spoil(contents) if self.spoiled else contents)

    def put_back(self) -> None:
        """Let the storage lead to its own buffer again."""
        self.storage.move(self.original)
        unpin(self.original)


class ShadowFields:
    """The copies of a check; the fields have their memory back when its block is left."""

    def __init__(self) -> None:
        self._by_storage: dict[Storage, ShadowField] = {}
        self._widened = 0  # how many copies there were at that time
        self._holders: list[Field] = []
        self._attached: list[Field] = []

    def __enter__(self) -> ShadowFields:
        forget_launches()
        return self

    def __exit__(self, *error: object) -> None:
        CREATION.in_double = False
        for field in self._attached:
            field.grad_in = field.grad_out = None
        changed = [one.storage for one in self if one.element != one.original.element]
        for one in self:
            one.put_back()
        _set_types(holders(changed))
        forget_launches()

    def __iter__(self) -> Iterator[ShadowField]:
        return iter(list(self._by_storage.values()))

    def of(self, field: Field) -> ShadowField:
        """Return the copy that a field has."""
        return self._by_storage[field.storage]

    def find(self, field: Field) -> ShadowField | None:
        """Return the copy that a field has, or None if it has none."""
        return self._by_storage.get(field.storage)

    def take(self, fields: Iterable[tuple[str, Field]]) -> None:
        """Let copies in the same precision stand in for fields, given by name.

        Those that have copies already keep them.
        """
        for name, field in fields:
            if field.storage not in self._by_storage:
                one = _copy(field.storage, name, is_gradient=False)
                one.met = weakref.ref(field)
                self._by_storage[field.storage] = one

    def widen(self) -> None:
        """Let the copies of floats be in double precision, and fields that are made be so, too.

        Gradients get copies as well. Copies of fields that nobody holds any more are dropped.
        """
        forget_launches()  # which hold the fields of the latest one
        if len(self._by_storage) > self._widened:
            self._look_around()
        for one in self:
            storage = one.storage
            if is_float(one.element) and scalar_of(one.element) != F64:
                element = with_scalar(one.element, F64)
                storage.move(current_session().pool.allocate(element, storage.buffer.shape))
            one.reset()
        _set_types(self._holders)
        self._holders = []
        self._widened = len(self._by_storage)
        CREATION.in_double = True

    def _look_around(self) -> None:
        """Find out who holds the fields that were met, and take their gradients, too."""
        met = [field for one in self if (field := one.met and one.met()) is not None]
        own = {gradient.storage for field in met for gradient in _gradients(field.origin)}
        found = {id(one): one for one in (*met, *holders({*self._by_storage, *own}))}
        held: dict[Storage, Field] = {}
        graded: dict[Storage, str] = {}
        for holder in found.values():
            one = self._by_storage.get(holder.storage)
            if one is None:
                continue
            known = held.setdefault(holder.storage, self._met(holder))
            if holder.has_grads and not known.has_grads:
                held[holder.storage] = holder.origin
            graded |= {g.storage: f"{one.name}.grad" for g in _gradients(holder)}
        for one in self:
            one.field = held.get(one.storage)
            if one.field is None:
                one.put_back()
                del self._by_storage[one.storage]
        for storage, name in graded.items():
            if storage not in self._by_storage:
                self._by_storage[storage] = _copy(storage, name, is_gradient=True)
            self._by_storage[storage].is_gradient = True
        self._holders = [*found.values(), *holders(graded.keys() - own)]

    def name_apart(self, names: FieldNames) -> None:
        """Give each field a name of its own, so that reports tell them apart.

        Args:
            names: What the user's function calls them; for the rest the first kernel counts.
        """
        taken = set[str]()
        for one in self:
            if one.is_gradient or one.is_scratch:
                continue
            name = names.of(one.field) or one.name or f"field of shape {one.storage.buffer.shape}"
            others = (f"{name} ({k})" for k in count(2))
            one.name = next(each for each in chain((name,), others) if each not in taken)
            taken.add(one.name)

    def attach_gradient(self, one: ShadowField) -> None:
        """Give a field a gradient as long as the copies stand in."""
        assert one.field is not None
        gradient = zeros_like(one.field, grad=False)
        one.field.grad_in = one.field.grad_out = gradient
        self._attached.append(one.field)

    def _met(self, holder: Field) -> Field:
        met = self._by_storage[holder.storage].met
        first = None if met is None else met()
        return (holder if first is None else first).origin


def _spoil(contents: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return other numbers of the same signs and magnitudes."""
    factors = np.random.default_rng(contents.size).uniform(0.3, 0.7, contents.shape)
    return contents * factors.astype(contents.dtype)


def _copy(storage: Storage, name: str, *, is_gradient: bool) -> ShadowField:
    original = storage.buffer
    original.pins += 1
    copy = original.empty_like()
    copy.copy_from(original)
    storage.move(copy)
    return ShadowField(storage, original, name, is_gradient)


def _gradients(field: Field) -> list[Field]:
    return [one for one in (field.grad_in, field.grad_out) if one is not None]


def holders(storages: Iterable[Storage]) -> list[Field]:
    """Return all fields that lead to some storages."""
    wanted = set(storages)
    if not wanted:
        return []
    gc.unfreeze()  # what is frozen is not looked through, and a field left out would not be checked
    # Nothing else knows them all: a list of living fields would cost every field its share.
    return [one for one in gc.get_referrers(*wanted) if isinstance(one, Field)]


def _set_types(fields: Iterable[Field]) -> None:
    """Let fields have the type of what they lead to."""
    for field in fields:
        field.type = field_type(field.storage.buffer.element, len(field.shape))

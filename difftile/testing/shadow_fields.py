"""Shadow fields: copies that replace the contents of fields for a while, wherever they are held.

A field is a handle to its storage, and a storage refers to a buffer. During a check storages refer
to copies of their buffers, and therefore all fields do: arguments, captured fields, fields in lists
and objects. The original buffers are pinned and unreachable, so they cannot change.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from difftile.compile.func import forget_launches
from difftile.fields.create import CREATION, zeros_like
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.ir.types import F64, Type, field_type, is_float, numpy_dtype, scalar_of, with_scalar
from difftile.substrate import Buffer, current_session, unpin
from difftile.testing.naming import FieldNames


@dataclass(slots=True, eq=False)
class ShadowField:
    """A storage that refers to a copy of its buffer.

    Args:
        storage: The storage.
        original: Its original buffer.
        name: The name of the field, if known.
        is_gradient: Whether it is the gradient of another field, which starts with zeros.
        read: Whether a launch reads it.
        written: Whether a launch, a step or Python writes it.
        is_output: Whether it is differentiated.
        field: The field that has the gradient, or else the first one.
        met: The first field that was used.
        spoiled: Whether its contents do not matter, and are replaced by other numbers.
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
        """Whether the field has a gradient."""
        return self.field is not None and self.field.has_grads

    @property
    def is_scratch(self) -> bool:
        """Whether the storage is internal memory of a library operation."""
        return self.storage.is_scratch

    @property
    def is_parameter(self) -> bool:
        """Whether the field is the user's, and has a gradient."""
        return self.has_grads and not self.is_gradient and not self.is_scratch

    def reset(self) -> None:
        """Reset the copy to the contents of the original, or to zeros for a gradient."""
        buffer = self.storage.buffer
        if self.is_gradient:
            buffer.fill(0.0)
        else:
            dtype = numpy_dtype(scalar_of(self.element))
            # Uninitialised memory may hold any bits, such as a signalling NaN.
            with np.errstate(invalid="ignore"):
                contents = self.original.read().astype(dtype, copy=False)
            if self.spoiled:  # other numbers of the same signs and magnitudes
                factors = np.random.default_rng(contents.size).uniform(0.3, 0.7, contents.shape)
                contents = contents * factors.astype(contents.dtype)
            buffer.write(contents)

    def put_back(self) -> None:
        """Let the storage refer to its original buffer again."""
        self.storage.move(self.original)
        unpin(self.original)


class ShadowFields:
    """The shadow fields of a check; its block restores all fields at the end."""

    def __init__(self) -> None:
        self._by_storage: dict[Storage, ShadowField] = {}
        self._widened = 0  # the number of copies at the last call of `widen`
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
        """Return the copy of a field."""
        return self._by_storage[field.storage]

    def find(self, field: Field) -> ShadowField | None:
        """Return the copy of a field, or None."""
        return self._by_storage.get(field.storage)

    def take(self, fields: Iterable[tuple[str, Field]]) -> None:
        """Replace named fields by copies in the same precision, unless they have one already."""
        for name, field in fields:
            if field.storage not in self._by_storage:
                one = _copy(field.storage, name, is_gradient=False)
                one.met = weakref.ref(field)
                self._by_storage[field.storage] = one

    def widen(self) -> None:
        """Convert the copies of floats, and fields that are created later, to double precision.

        Gradients get copies as well. Copies of fields that no longer exist are dropped.
        """
        forget_launches()  # a kernel holds the fields of its last launch
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
        """Find all fields that share the copied storages, and copy their gradients."""
        met = [field for one in self if one.met is not None and (field := one.met()) is not None]
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
        """Give each field a unique name for reports.

        Args:
            names: The names in the user's function; other fields keep a name of a kernel parameter.
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
        """Give a field a gradient for the duration of the check."""
        assert one.field is not None
        gradient = zeros_like(one.field, grad=False)
        one.field.grad_in = one.field.grad_out = gradient
        self._attached.append(one.field)

    def _met(self, holder: Field) -> Field:
        met = self._by_storage[holder.storage].met
        first = None if met is None else met()
        return (holder if first is None else first).origin


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
    """Return all fields that refer to some storages."""
    return [field for storage in set(storages) for field in storage.fields]


def _set_types(fields: Iterable[Field]) -> None:
    """Give fields the type of their buffers."""
    for field in fields:
        field.type = field_type(field.storage.buffer.element, len(field.shape))

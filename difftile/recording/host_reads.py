"""Reads from Python on an open tape, and the warnings of numbers that are taken for constants."""

from __future__ import annotations

from collections.abc import Container, Iterable

import numpy as np
import numpy.typing as npt

from difftile.fields.field import Field
from difftile.fields.numbers import HostRead
from difftile.fields.recording import Where
from difftile.fields.storage import Storage
from difftile.fields.window import Window
from difftile.ir.types import is_float


class HostReads:
    """The reads from varying fields by Python, on one tape.

    An element of a field with a gradient varies, unless Python has set it to a constant since the
    last launch that wrote the field. A field without one may hold values that vary with others;
    `Cuts` reports where these are used.

    Attributes:
        constant: Which elements Python has set to constants since, by the memory of their field.
        ungraded: The memory of the fields without gradient that were read.
    """

    def __init__(self) -> None:
        self._identity = object()  # a number that the user keeps must not keep the tape alive
        self.constant: dict[Storage, npt.NDArray[np.bool_]] = {}
        self.ungraded: dict[HostRead, Storage] = {}
        self._returned: dict[str, HostRead] = {}

    def read(self, field: Field, where: Where, held: Container[Storage]) -> HostRead | None:
        """Return a read of what varies, or None where a constant is read.

        Args:
            field: The field.
            where: The element or the part; None stands for all.
            held: The fields without gradient whose values vary with others.
        """
        if not is_float(field.element):
            return None
        if self._is_constant(field, where) if field.has_grads else field.storage not in held:
            return None
        read = HostRead(self._identity, repr(field), field.has_grads)
        if not field.has_grads:
            self.ungraded[read] = field.storage
        return read

    def returned(self, kernel: str) -> HostRead:
        """Return a read of a result of a kernel that varies."""
        if kernel not in self._returned:
            self._returned[kernel] = HostRead(self._identity, result_of(kernel))
        return self._returned[kernel]

    def _is_constant(self, field: Field, where: Where) -> bool:
        constant = self.constant.get(field.storage)
        return constant is not None and bool(_part(constant, field, where).all())

    def varying(self, reads: Iterable[HostRead]) -> list[HostRead]:
        """Return the reads that this tape has seen of fields with gradients."""
        return [read for read in reads if read.recorder is self._identity and read.graded]

    def set_constant(self, field: Field, where: Where) -> None:
        """Note that Python has set an element, a part or with None all of a field to constants."""
        if not field.has_grads:
            return
        if where is None:
            self.constant[field.storage] = np.broadcast_to(True, field.shape)
            return
        constant = self.constant.setdefault(field.storage, np.zeros(field.shape, np.bool_))
        if constant.flags.writeable:
            _part(constant, field, where)[...] = True

    def written(self, storages: Iterable[Storage]) -> None:
        """Note another kind of write to fields."""
        for storage in storages:
            self.constant.pop(storage, None)


def _part(constant: npt.NDArray[np.bool_], field: Field, where: Where) -> npt.NDArray[np.bool_]:
    """Return the marks of an element, a part, or all of a field."""
    whole = constant.reshape(field.shape)
    return where.of(whole) if isinstance(where, Window) else whole[(*(where or ()), ...)]


def result_of(kernel: str) -> str:
    """Return the result of a kernel in the words of an error."""
    return f"what kernel '{kernel}' returns"

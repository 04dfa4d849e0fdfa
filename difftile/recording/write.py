"""Writes from Python: constants, or a copy of a field, replace a field, a part or an element."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.number_field import NumberField
from difftile.fields.recording import Where
from difftile.fields.storage import Storage
from difftile.fields.window import Window
from difftile.recording.steps import Derivatives, StepRecord, TapeStep
from difftile.records import dataclass


@dataclass(slots=True, eq=False)
class Write(TapeStep, StepRecord):
    """A write from Python, linear and therefore its own record: its derivative needs no old values.

    Args:
        field: The written field.
        where: The written element or part; None stands for all.
        source: The field or part that is copied; None for constants.
        values: The constants, of which one element stands for all of a whole field; None if the
            write does not run again.
        constant: Whether no gradient passes to the copied field.
        in_place: Whether to write into memory whose contents records need, but a patch has saved.
        happened: Whether others have written so already, and the first run has nothing to do.
    """

    field: Field
    where: Where
    source: ArrayLike | None = None
    values: HostArray | None = None
    constant: bool = False
    in_place: bool = False
    happened: bool = False
    _lasts: bool = False

    @property
    def step(self) -> Write:
        """The step itself."""
        return self

    @property
    def reads(self) -> list[Field]:
        """The copied field."""
        return [] if self.source is None else [self.source.base]

    @property
    def writes(self) -> list[Field]:
        """The written field."""
        return [self.field]

    @property
    def hidden(self) -> Collection[Field]:
        """The fields that hold numbers of Python."""
        return [one for one in self.fields if isinstance(one, NumberField)]

    def accesses(self) -> Iterator[tuple[Field, bool]]:
        """Yield the copied field and the written one."""
        if self.source is not None:
            yield self.source.base, False
        yield self.field, self.where is None

    def growth(self, leaving: Callable[[Storage], int], *, recording: bool) -> int:
        """Return the bytes of the buffer that the field leaves."""
        return leaving(self.field.storage)

    def run(self, records: list[StepRecord] | None, *, repeats: bool = False) -> None:
        """Write, and add the step as its own record.

        Args:
            records: The records.
            repeats: Whether the step may run again, for which it copies the constants.
        """
        if repeats and not self._lasts and self.values is not None:
            self.values, self._lasts = self.values.copy(), True
        if self.happened:
            self.happened = False
        else:
            given = self.values if self.source is None else self.source
            assert given is not None
            self.field.put(self.where, given, in_place=self.in_place)
        if records is not None and self.field.has_grads:
            if not repeats:
                self.values = None
            self.constant = self.source is not None and not self.source.has_grads
            records.append(self)

    def passes_to(self, outputs: Collection[Storage]) -> bool:
        """Tell whether an output varies with the copied field."""
        source = self.source
        return source is not None and source.has_grads and self.field.storage in outputs

    def reverse(self, gradients: Derivatives) -> None:
        """Move the gradient to the copied field, to which it is added, or set it to zero."""
        target, source, where = self.field, self.source, self.where
        if source is None or self.constant:
            gradients.drop(target, where)
        elif self._is_whole:
            bar = gradients.gradient(target).buffer
            gradients.gradient(source.base).buffer.add(bar)
            bar.fill(0.0)
        else:
            taken = _parts(gradients, target, where)
            gradients.drop(target, where)
            gradients.change(source.base, adding(source.window, taken))

    def push(self, tangents: Derivatives) -> None:
        """Copy the tangent of the copied field, or set the tangent to zero."""
        target, source, where = self.field, self.source, self.where
        if source is None:
            tangents.drop(target, where)
        elif self._is_whole:
            tangents.gradient(target).buffer.copy_from(tangents.gradient(source.base).buffer)
        else:
            copied = _parts(tangents, source.base, source.window)
            tangents.change(target, setting(where, copied))

    @property
    def _is_whole(self) -> bool:
        """Whether a field is copied to another one, apart in memory, of its shape and element."""
        source = self.source
        return (
            source is not None
            and self.where is None
            and source.base.storage is not self.field.storage
            and source.window is None
            and source.base.shape == self.field.shape
            and source.base.element == self.field.element
        )


def _part(array: HostArray, where: Where) -> HostArray:
    """Return an element, a part, or with None all of an array, in the same memory."""
    return where.of(array) if isinstance(where, Window) else array[(*(where or ()), ...)]


def _parts(derivatives: Derivatives, field: Field, where: Where) -> list[HostArray]:
    """Return copies of the derivatives of a part, for each direction."""
    return [_part(array, where).copy() for array in derivatives.arrays(field)]


def setting(where: Where, values: Iterable[npt.ArrayLike]) -> Callable[[HostArray], None]:
    """Return a function that sets a part of an array, of each direction in turn."""
    left = iter(values)

    def change(array: HostArray) -> None:
        _part(array, where)[...] = next(left)

    return change


def adding(window: Window | None, values: Iterable[HostArray]) -> Callable[[HostArray], None]:
    """Return a function that adds to a part of an array, of each direction in turn."""
    left = iter(values)

    def change(array: HostArray) -> None:
        if window is None:
            np.add(array, next(left), out=array)
        else:
            window.add(array, next(left))

    return change

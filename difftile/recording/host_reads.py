"""Reads from Python under an open recorder, and writes computed from them, which cut gradients."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import GradientCut, TapeError, render
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, Where
from difftile.fields.tracked import HostRead, reads_in
from difftile.fields.window import Window
from difftile.frontend.lower import as_written
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.user_line import warn_user

_CONSTANTS = "Writes from Python are constants for a tape, and so is what Python reads."
FOLLOWED = (
    "Gradients follow numbers that a kernel returns, or that Python reads from a field not written "
    "again since, through Python's operators."
)
_IN_A_KERNEL = (
    "compute it in a kernel, or with fields instead of numbers, such as 'loss /= 4' or "
    "'y.copy_from(2 * x)'; if a constant is meant, write it under 'with dt.no_grad():'."
)


class HostReads:
    """The reads from varying fields by Python, on one tape.

    An element of a field with a gradient varies, unless Python has set it to a constant since the
    last launch that wrote the field. A field without one may hold values that vary with others:
    computing from them in Python is not an error, as the gradient is cut there already, which
    `Cuts` reports.

    Attributes:
        constant: Which elements Python has set to constants since, by the memory of their field.
        seen: The reads of elements that vary since, by the memory of their field.
        permissive: Writes that cut a gradient are let through: the caller compares it with others.
    """

    def __init__(self) -> None:
        self._identity = object()  # a number that the user keeps must not keep the tape alive
        self.constant: dict[Storage, npt.NDArray[np.bool_]] = {}
        self.seen: dict[Storage, dict[tuple[int, ...], HostRead]] = {}
        self.permissive = False
        self._ungraded: dict[HostRead, Storage] = {}
        self._returned: dict[str, HostRead] = {}

    def read(self, field: Field, where: Where, held: Container[Storage]) -> HostRead | None:
        """Return a read to be tracked, or None where a constant is read.

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
        if field.has_grads:
            if isinstance(where, tuple):
                return self.seen.setdefault(field.storage, {}).setdefault(where, read)
        else:
            self._ungraded[read] = field.storage
        return read

    def returned(self, kernel: str) -> HostRead:
        """Return a read of a result of a kernel that varies."""
        if kernel not in self._returned:
            self._returned[kernel] = HostRead(self._identity, result_of(kernel))
        return self._returned[kernel]

    def _is_constant(self, field: Field, where: Where) -> bool:
        constant = self.constant.get(field.storage)
        return constant is not None and bool(_part(constant, field, where).all())

    def check_constant(self, target: Field, values: HostArray) -> list[Storage]:
        """Check a write from Python; return the fields without gradient that it was computed from.

        Raises:
            TapeError: It was computed from fields that have gradients.
        """
        if RECORDING.get().constant or not is_float(target.element):
            return []
        reads = [read for read in reads_in(values) if read.recorder is self._identity]
        graded = self.varying(reads)
        if graded and not self.permissive:
            raise computed_by_python(target, graded)
        return [self._ungraded[read] for read in reads if read in self._ungraded]

    def check_result(self, target: Field, where: Where, values: HostArray) -> None:
        """Check that a write from Python does not replace a result by a number derived from it.

        After `float(x)` a number no longer remembers its reads, so any number may follow from it.
        Zeros are allowed: they start the next sum.

        Raises:
            TapeError: The write does.
        """
        if RECORDING.get().constant or self.permissive or not isinstance(where, tuple):
            return
        read = self.seen.get(target.storage, {}).get(where)
        if read is None or not read.lost or not np.any(values):
            return
        if not self._is_constant(target, where):
            raise overwritten_by_python(target)

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
            self.seen.pop(storage, None)


def _part(constant: npt.NDArray[np.bool_], field: Field, where: Where) -> npt.NDArray[np.bool_]:
    """Return the marks of an element, a part, or all of a field."""
    whole = constant.reshape(field.shape)
    return where.of(whole) if isinstance(where, Window) else whole[(*(where or ()), ...)]


def computed_by_python(target: Field, reads: Iterable[HostRead]) -> TapeError:
    """Return the error of a write from Python that was computed from fields that vary."""
    written = f"what Python writes into {target!r}"
    title = f"The gradient would be cut: {written} depends on {named(reads)}."
    return TapeError(render(title, (), (_CONSTANTS,), _IN_A_KERNEL))


def overwritten_by_python(target: Field) -> TapeError:
    """Return the error of a number that may follow from the result in whose place it is put."""
    title = f"The gradient would be cut: Python has read {target!r}, and overwrites what it read."
    return TapeError(render(title, (), (_CONSTANTS,), _IN_A_KERNEL))


@dataclass(frozen=True, slots=True)
class ConstantNumber:
    """A number that is taken for a constant, although it may vary.

    Args:
        what: The number, in the words of an error.
        instead: The code to write so that the number carries its gradient.
        name: Its name where it is passed.
        plain: The function that makes a constant of it.
    """

    what: str
    instead: str
    name: str
    plain: str = "float"

    def warn(self, reads: Iterable[HostRead]) -> None:
        """Warn at the user's line that the gradient is cut, naming the fields that were read."""
        title = f"The gradient is cut: {self.what} depends on {named(reads)}."
        hint = f"{self.instead}; if a constant is meant, {self.plain}({self.name})."
        warn_user(GradientCut(render(title, (), (FOLLOWED,), hint)))


def number_of(launch: PreparedLaunch, k: int) -> ConstantNumber:
    """Return the number at a position among the arguments of a launch."""
    name, kernel = as_written(launch.code.params[k].name), launch.code.name
    if k < launch.captured_at:
        what = f"the number '{name}' of kernel '{kernel}'"
        return ConstantNumber(what, "pass the field and read it in the kernel", name)
    what = f"the number '{name}' that kernel '{kernel}' takes from outside"
    return ConstantNumber(what, "pass it to the kernel", name)


def result_of(kernel: str) -> str:
    """Return the result of a kernel in the words of an error."""
    return f"what kernel '{kernel}' returns"


def named(reads: Iterable[HostRead]) -> str:
    """Return the names of the fields that a number depends on, joined for an error."""
    return " and ".join(dict.fromkeys(read.field for read in reads))

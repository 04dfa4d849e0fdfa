"""Elements that an operation should have overwritten and has not, found under debug.

Before the call each number is set to a NaN that no computation makes by chance; a number that is
still this NaN afterwards was not written, or was computed from one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np

from difftile.diagnostics import LaunchError, counted
from difftile.fields.exchange import HostArray
from difftile.ir.types import is_float, shape_of
from difftile.runtime.operands import FieldOperand

_MARKS: dict[int, HostArray] = {
    2: np.array(0x7EAD, np.uint16),
    4: np.array(0x7FC0DEAD, np.uint32),
    8: np.array(0x7FF8DEAD00C0FFEE, np.uint64),
}


@contextmanager
def poisoned(title: str, operands: Sequence[FieldOperand]) -> Generator[None]:
    """Check that all of each field declared `dt.Out` is overwritten inside a block.

    Raises:
        LaunchError: An element is not overwritten.
    """
    outputs = [o for o in operands if o.role == "Out" and is_float(o.value.element)]
    for operand in outputs:
        field, window = operand.value.base, operand.value.window
        buffer = field.fresh_if_pinned(keep=window is not None)

        def mark(array: HostArray, operand: FieldOperand = operand) -> None:
            part = array if operand.value.window is None else operand.window.of(array)
            part[...] = _MARKS[array.itemsize].view(array.dtype)

        buffer.change(mark)
    yield
    for operand in outputs:
        array = operand.value.base.buffer.array()
        part = array if operand.value.window is None else operand.window.of(array)
        left = np.ascontiguousarray(part).view(_MARKS[array.itemsize].dtype)
        found = np.argwhere(left == _MARKS[array.itemsize])
        if len(found):
            outer = len(found[0]) - len(shape_of(operand.value.element))
            first = ", ".join(str(index) for index in found[0][:outer])
            raise LaunchError(
                f"'{operand.name}' is declared dt.Out, and {title} does not overwrite all of it: "
                f"{counted(len(found), 'number')}, the first at [{first}]. Declare it dt.InOut."
            )

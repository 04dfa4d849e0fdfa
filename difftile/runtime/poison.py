"""Elements that an operation should have overwritten and has not, found under debug.

Before the call each number is set to a NaN that no computation makes by chance; what still is one
afterwards was not written, or was computed from it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError, counted
from difftile.ir.types import is_float, shape_of
from difftile.runtime.operands import Operand

_MARKS: dict[int, npt.NDArray[Any]] = {
    2: np.array(0x7EAD, np.uint16),
    4: np.array(0x7FC0DEAD, np.uint32),
    8: np.array(0x7FF8DEAD00C0FFEE, np.uint64),
}


@contextmanager
def poisoned(title: str, operands: Sequence[Operand]) -> Generator[None]:
    """Check that all of each field declared `dt.Out` is overwritten inside a block.

    Raises:
        LaunchError: It is not.
    """
    outputs = [o for o in operands if o.role == "Out" and is_float(o.value.element)]
    for operand in outputs:
        field, window = operand.value.base, operand.value.window
        buffer = field.fresh_if_pinned(keep=window is not None)

        def mark(array: npt.NDArray[Any], operand: Operand = operand) -> None:
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

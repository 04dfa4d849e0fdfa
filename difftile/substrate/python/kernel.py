"""Programs as functions of Python, which stop, fail and are interrupted at the user's lines."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError, IndexRefused
from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import numpy_dtype, scalar_of
from difftile.meaning import print_python
from difftile.meaning.run import globals_of
from difftile.substrate.memory import Buffer
from difftile.substrate.python.lines import at_lines, span_of


class PythonKernel:
    """A program that is ready to run.

    Args:
        program: The program.
        params: The parameters of a launch.
        written: The positions of the buffers that the program writes.
        report: Where failures are counted, and where the first one leaves its number and values.
    """

    def __init__(
        self,
        program: Program,
        params: tuple[Array | Var, ...],
        *,
        written: Sequence[int],
        report: tuple[Array, Array] | None,
    ) -> None:
        printed = print_python(program, params, report=report)
        self.text = printed.text
        self._written = written
        self._passed = [
            numpy_dtype(scalar_of(p.type)).type if isinstance(p, Var) else Buffer.array
            for p in params
        ]
        names = globals_of(_report)
        code = at_lines(printed)
        exec(code, names)
        self._file = code.co_filename
        self._function = names[printed.function]
        self._ended = ""
        LIVING.add(self)

    def end(self, why: str) -> None:
        """Refuse later launches."""
        self._ended = why

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each parameter.

        Raises:
            FieldError: The session has ended.
            IndexRefused: An index is outside the shape of its array.
        """
        if self._ended:
            raise FieldError(self._ended)
        for position in self._written:
            args[position].contents.known = None
        values = [passed(arg) for passed, arg in zip(self._passed, args, strict=True)]
        with np.errstate(all="ignore"):
            try:
                self._function(*values)
            except IndexError as error:
                raise IndexRefused(span_of(error, self._file), str(error)) from None


LIVING: weakref.WeakSet[PythonKernel] = weakref.WeakSet()


def _report(count: Any, values: Any, number: int, *found: Any) -> None:
    """Count a failure, and keep the values of the first one."""
    count[()] += 1
    if count[()] == 1:
        values[0] = number
        values[1 : 1 + len(found)] = found

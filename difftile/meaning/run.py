"""Runs of programs as Python: the oracle of the tests.

Every statement runs one after the other, parallel iterations in order. With `complex_step` floats
are complex numbers, so that the derivative of any smooth program comes without difference errors.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from difftile.ir.nodes import Array, Program, Stmt, Value, Var
from difftile.ir.types import scalar_of, shape_of
from difftile.meaning.memory import dtype_of, memory_of
from difftile.meaning.operations import OPERATIONS
from difftile.meaning.stop import stop
from difftile.meaning.text import Printed, print_python
from difftile.records import dataclass


def run(
    program: Program,
    fields: Mapping[Array, npt.NDArray[Any]],
    numbers: Mapping[Var, float | int] | None = None,
    *,
    complex_step: bool = False,
    watch: Callable[[Stmt, Machine], None] | None = None,
) -> None:
    """Run a program on NumPy arrays, in place.

    Args:
        program: The program.
        fields: The contents of each field parameter that the program uses; element components are
            trailing axes.
        numbers: The value of each number passed in.
        complex_step: Compute floats as complex numbers; float fields must then be complex arrays.
        watch: Called after each statement that has run.

    Raises:
        IndexError: An index is outside.
        TypeError: An array has another number type than its field.
        DifftileError: The program reports a failure.
    """
    arrays: dict[Array, Any] = dict(fields)
    for temp in program.temps:
        if temp not in arrays:
            arrays[temp] = memory_of(temp, arrays, complex_step=complex_step)
    if not complex_step:
        for array, contents in arrays.items():
            _check_type(array, contents)
    given: dict[Array | Var, Any] = {**arrays}
    for var, number in (numbers or {}).items():
        given[var] = dtype_of(scalar_of(var.type), complex_step=complex_step).type(number)
    params = (*program.params, *program.temps)
    printed, code = _printed(program, complex_step, watch is not None)
    names = globals_of(partial(_fail, printed))
    with np.errstate(all="ignore"):
        if watch is None:
            exec(code, names)
            names[printed.function](*[given.get(param) for param in params])
            return
        machine = Machine(printed, names, complex_step)

        def watched(number: int) -> None:
            watch(printed.stmts[number], machine)

        names["watch"] = watched
        names.update((printed.names[param], given.get(param)) for param in params)
        exec(code, names)


def _check_type(array: Array, contents: Any) -> None:
    wanted = dtype_of(scalar_of(array.type.element), complex_step=False)
    if contents.dtype != wanted:
        raise TypeError(f"the contents of {array.name} are of {contents.dtype}, not of {wanted}")


def _fail(printed: Printed, number: int, *values: Any) -> NoReturn:
    stmt = printed.fails[number]
    raise stmt.failure.error(stmt.span, [float(value) for value in values])


def globals_of(fail: Callable[..., None]) -> dict[str, Any]:
    """Return the names that texts of programs use."""
    return {"np": np, "ops": OPERATIONS, "check_index": check_index, "fail": fail, "stop": stop}


def check_index(name: str, shape: tuple[int, ...], *index: Any) -> tuple[Any, ...]:
    """Return an index.

    Raises:
        IndexError: It is outside.
    """
    if any(not 0 <= i < size for i, size in zip(index, shape, strict=False)):
        raise IndexError(f"{name}{[int(i) for i in index]} of shape {shape}")
    return index


# By identity: equality would compare all statements. The program is held with its text, so that
# its identity is not given to another one.
_texts: OrderedDict[tuple[int, bool, bool], tuple[Program, Printed, CodeType]] = OrderedDict()
_MOST_TEXTS = 256


def _printed(program: Program, complex_step: bool, watched: bool) -> tuple[Printed, CodeType]:
    key = (id(program), complex_step, watched)
    found = _texts.get(key)
    if found is None:
        printed = print_python(program, complex_step=complex_step, watched=watched)
        code = compile(printed.text, f"<{program.name}>", "exec", dont_inherit=True)
        found = _texts[key] = (program, printed, code)
        if len(_texts) > _MOST_TEXTS:
            _texts.popitem(last=False)
    return found[1], found[2]


@dataclass(frozen=True, slots=True)
class Machine:
    """What a program has computed so far: the contents of arrays and the values of variables."""

    _printed: Printed
    _names: Mapping[str, Any]
    _complex_step: bool

    def contents(self, array: Array) -> Any:
        """Return what is in an array now."""
        return self._names[self._printed.names[array]]

    def value(self, value: Value) -> Any:
        """Return what a variable or a literal is worth now."""
        if isinstance(value, Var):
            return self._names[self._printed.names[value]]
        shape = shape_of(value.type)
        dtype = dtype_of(scalar_of(value.type), complex_step=self._complex_step)
        return np.full(shape, value.value, dtype) if shape else dtype.type(value.value)

    def index(self, array: Array, index: tuple[Value, ...]) -> tuple[int, ...]:
        """Return an index as numbers."""
        return tuple(int(self.value(i)) for i in index)

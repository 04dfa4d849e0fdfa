"""Emitted source to a kernel of the compiler's core.

The compiler's own way from Python to its core reads all of Python that its users may write, twice
for Quadrants. Emitted source is read here instead, by `reader`: parameters are declared, and the
statements of the one kernel appended. Nothing of the compiler is replaced, and nothing of it keeps
the source.

Programs arrive without the work of two passes, which are left out:

`cfg_optimization` forwards stores to loads and drops dead stores, at a cost that grows with the
square of a loop nest. Programs arrive here without either (`cse`, `promote`, `dce`), and LLVM does
the same for locals: no kernel of `benchmarks/kernels.py` runs slower without it.

`opt_level` turns on the search for common subexpressions, which goes through the whole kernel for
each one that it finds. Programs have few left, but addresses of elements are still computed for
each access, and LLVM does not see that a store leaves the sizes of arrays alone: small kernels that
scatter vectors run 1.2 times as long without the search. In large ones it took two thirds of the
time of compiling.

These options and fast math belong to the one configuration of the compiler's program, which kernels
of users have too: they are set for each compilation and put back.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import textwrap
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, cast

from difftile.ir.types import FieldType, scalar_of, shape_of
from difftile.records import dataclass
from difftile.substrate.compiler import private, ti
from difftile.substrate.emit import Emitted
from difftile.substrate.family import (
    accurate,
    dense,
    linalg,
    predicates,
    vector_math,
    warps,
)
from difftile.substrate.family.dtypes import dtype_of
from difftile.substrate.family.fingerprint import fingerprint
from difftile.substrate.family.operations import Operations, Value, core, impl
from difftile.substrate.family.reader import Inlined, Outlined, Reader

_LARGEST_SEARCHED = 768  # expressions among which equal ones are looked for
_FIRST_FUNCTION = 1 << 20  # so many functions of users the compiler numbers before ours

_kernels = itertools.count()
_functions = itertools.count(_FIRST_FUNCTION)

_NAMES = {
    **vars(builtins),
    "ti": ti,
    "accurate": accurate,
    "dense": dense,
    "linalg": linalg,
    "predicates": predicates,
    "vector_math": vector_math,
    "warps": warps,
}


class UnreadSource(Exception):
    """The compiler refused a statement.

    Args:
        line: The number of its line in the source.
        error: What the compiler said.
    """

    def __init__(self, line: int, error: Exception) -> None:
        super().__init__(str(error))
        self.line = line
        self.error = error


def kernel_of(emitted: Emitted) -> Any:
    """Return the kernel of a source, not compiled yet.

    Raises:
        UnreadSource: The compiler refused a statement.
    """
    program: Any = impl.get_runtime().prog
    source = _Source(emitted, program.config().debug)

    def body(kernel: Any) -> None:
        with private.building(kernel):
            source.read(kernel, emitted.name)
        if source.made > _LARGEST_SEARCHED:
            program.config().opt_level = 0

    return private.create_kernel(program, f"{emitted.name}_c{next(_kernels)}_0", body)


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter of a kernel or function.

    Args:
        name: The name in the source.
        dtype: The type of the number, or of the elements of the array.
        ndim: How many dimensions the array has; None for numbers.
    """

    name: str
    dtype: Any
    ndim: int | None

    def declared(self, kernel: Any, to: Operations) -> Value:
        """Declare it in a kernel or function, and return its value."""
        if self.ndim is not None:
            return private.array_parameter(kernel, self.dtype, self.ndim, self.name)
        return to.free(to.typed(private.number_parameter(kernel, self.dtype, self.name)))


class _Source:
    """A source and what its functions share.

    Args:
        emitted: The source.
        debug: Statements have their place, for messages about accesses out of range.

    Attributes:
        made: The number of expressions so far, including outlined functions.
    """

    def __init__(self, emitted: Emitted, debug: bool) -> None:
        self.made = 0
        self._emitted = emitted
        self._lines = emitted.text.splitlines()
        self._debug = debug
        self._definitions: dict[str, ast.FunctionDef] = {}
        outside: dict[str, Any] = dict(_NAMES)
        for found in ast.parse(emitted.text).body:
            assert isinstance(found, ast.FunctionDef)
            (decorator,) = found.decorator_list
            assert isinstance(decorator, ast.Attribute)
            self._definitions[found.name] = found
            if decorator.attr == "real_func":
                outside[found.name] = Outlined(functools.partial(self._call, found.name))
            elif decorator.attr == "func":
                outside[found.name] = Inlined(found, outside)
        self._outside = outside

    def read(self, kernel: Any, name: str) -> None:
        """Append the statements of a kernel or function."""
        to = Operations(kernel.ast_builder())
        kernel.finalize_rets()
        names = {p.name: p.declared(kernel, to) for p in self._parameters(name)}
        kernel.finalize_params()
        reader = Reader(to, names, self._outside, definition_of, self._place)
        try:
            reader.block(self._definitions[name].body)
        except (UnreadSource, RecursionError, MemoryError):
            raise
        except Exception as error:
            raise UnreadSource(reader.line, error) from error
        self.made += to.made

    def _parameters(self, name: str) -> list[_Parameter]:
        return [
            self._parameter(one.arg, cast(ast.expr, one.annotation))
            for one in self._definitions[name].args.args
        ]

    def _parameter(self, name: str, hint: ast.expr) -> _Parameter:
        if isinstance(hint, ast.Name):
            type_ = self._emitted.annotations[hint.id]
            ndim = max(type_.ndim, self._emitted.least_ndim)
            return _Parameter(name, _element(type_), ndim)
        assert isinstance(hint, ast.Attribute)
        return _Parameter(name, getattr(ti, hint.attr), None)

    def _call(self, name: str, reader: Reader, values: Sequence[Value]) -> None:
        """Append a call of a function that has code of its own, which is made for each call."""
        to = reader.to
        to.builder.insert_expr_stmt(to.constant(self._fingerprint(name), ti.i64))
        function: Any = impl.get_runtime().prog.create_function(
            core.FunctionKey(name, next(_functions), 0)
        )

        def body() -> None:
            with private.building(function):
                self.read(function, name)

        with _keyed_by_fingerprint():
            function.set_function_body(body)
        group = core.ExprGroup()
        for parameter, value in zip(self._parameters(name), values, strict=True):
            if parameter.ndim is None:
                group.push_back(to.cast(value, parameter.dtype))
            else:
                for one in core.get_external_tensor_real_func_args(value.ptr, to.place):
                    group.push_back(one)
        to.builder.insert_func_call(function, group, to.place)

    def _fingerprint(self, name: str) -> int:
        return fingerprint(name, self._lines[: self._lines.index("@ti.kernel")])

    def _place(self, node: ast.AST) -> str:
        """Describe the place of a statement, for messages of debug mode."""
        if not self._debug:
            return ""
        line = cast(ast.stmt, node).lineno
        return f'File "<difftile {self._emitted.name}>", line {line}:\n{self._lines[line - 1]}\n'


def _element(type_: FieldType) -> Any:
    """Return the core's type of the elements of an array."""
    shape, dtype = shape_of(type_.element), dtype_of(scalar_of(type_.element))
    if not shape:
        return dtype
    return core.get_type_factory_instance().get_tensor_type(list(shape), dtype)


@functools.cache
def definition_of(function: FunctionType) -> ast.FunctionDef:
    """Return the definition of a helper function of this package."""
    lines, _ = inspect.getsourcelines(function)
    (found,) = ast.parse(textwrap.dedent("".join(lines))).body
    assert isinstance(found, ast.FunctionDef)
    return found


@contextmanager
def compiling(*, as_written: bool = False) -> Generator[Any]:
    """While this is open, emitted source is compiled with the configuration that is handed out.

    Args:
        as_written: Compile without fast math, whatever the session has.
    """
    program: Any = impl.get_runtime().prog
    config = program.config()
    options = (config.cfg_optimization, config.opt_level, config.fast_math)
    config.cfg_optimization = False
    config.fast_math = config.fast_math and not as_written
    try:
        yield config
    finally:
        config.cfg_optimization, config.opt_level, config.fast_math = options


@contextmanager
def _keyed_by_fingerprint() -> Generator[None]:
    """While this is open, functions add nothing but fingerprints to the keys of compiled kernels.

    What the compiler adds for a function of its own accord may differ between equal ones, so that
    about every second process compiled such kernels again.
    """
    config: Any = impl.get_runtime().prog.config()
    before = config.offline_cache
    config.offline_cache = False
    try:
        yield
    finally:
        config.offline_cache = before


@contextmanager
def without_fast_math() -> Generator[None]:
    """While this is open, machine code is written without fast math."""
    program: Any = impl.get_runtime().prog
    config = program.config()
    before = config.fast_math
    config.fast_math = False
    try:
        yield
    finally:
        config.fast_math = before

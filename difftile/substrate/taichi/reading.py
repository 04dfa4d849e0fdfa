"""How Taichi reads emitted source: without what it does in vain, and without a pass of its own.

For every node of a kernel, Taichi writes out the line and marks the place, in case of an error, and
for every call of a function of its own library it cuts the text out of the file again. Emitted
source has no errors that a user should see, and the library does not change; together that is two
thirds of the time that Taichi spends in Python.

`cfg_optimization` forwards stores to loads and drops dead stores, at a cost that grows with the
square of a loop nest. Programs arrive here without either (`cse`, `promote`, `dce`), and LLVM does
the same for locals: no kernel of `benchmarks/kernels.py` runs slower without it.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taichi.lang import impl, kernel_impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

_library_lines = functools.cache(kernel_impl.getsourcelines)


@contextmanager
def reading_emitted_source(*, as_written: bool = False) -> Iterator[Any]:
    """While this is open, let Taichi compile with the configuration that is handed out.

    Args:
        as_written: Compile without fast math, whatever the session has.
    """
    program: Any = impl.get_runtime().prog
    context: Any = ASTTransformerContext
    config = program.config()
    before = (kernel_impl.getsourcelines, context.get_pos_info)
    options = (config.cfg_optimization, config.fast_math)
    kernel_impl.getsourcelines = _lines
    if not config.debug:  # there, Taichi's message about an access out of range holds the place
        context.get_pos_info = _no_place
    config.cfg_optimization = False
    config.fast_math = config.fast_math and not as_written
    try:
        yield config
    finally:
        kernel_impl.getsourcelines, context.get_pos_info = before
        config.cfg_optimization, config.fast_math = options


@contextmanager
def without_fast_math() -> Iterator[None]:
    """While this is open, let Taichi write machine code without fast math."""
    program: Any = impl.get_runtime().prog
    config = program.config()
    before = config.fast_math
    config.fast_math = False
    try:
        yield
    finally:
        config.fast_math = before


@contextmanager
def defining_emitted_source() -> Iterator[None]:
    """While this is open, a kernel is no method: Taichi searches all modules for what is around."""
    before = kernel_impl._inside_class
    kernel_impl._inside_class = _nowhere
    try:
        yield
    finally:
        kernel_impl._inside_class = before


def _nowhere(level_of_class_stackframe: int) -> bool:
    return False


def _lines(function: Any) -> tuple[list[str], int]:
    """Return the lines of an emitted kernel or func, or of a library function, and the first."""
    code = function.__code__
    if not code.co_filename.startswith("<"):
        return _library_lines(function)
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    after = [k for k, line in enumerate(lines) if k > 0 and line.startswith("@")]
    return lines[: after[0] if after else None], code.co_firstlineno


def _no_place(_context: object, _node: object) -> str:
    return ""

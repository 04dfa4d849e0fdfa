"""How Taichi reads and compiles emitted source: by our own reader, and without needless passes.

A kernel in emitted source is read by `reader`; Taichi only declares its parameters. Functions of
Taichi's library that it calls are Taichi's to read. For each of their nodes, Taichi writes out the
line and marks the place, in case of an error, and cuts the text out of the file again at each call.
Emitted source has no errors that a user should see, and the library does not change.

Three functions of Taichi are therefore replaced, once, when this module is imported. The
replacements are Taichi's own functions except in a thread that compiles emitted source, so that
kernels that users write for Taichi itself keep their messages, in other threads too.

`cfg_optimization` forwards stores to loads and drops dead stores, at a cost that grows with the
square of a loop nest. Programs arrive here without either (`cse`, `promote`, `dce`), and LLVM does
the same for locals: no kernel of `benchmarks/kernels.py` runs slower without it.

`opt_level` turns on Taichi's search for common subexpressions, which goes through the whole kernel
for each one that it finds. Programs have few left, but addresses of elements are still computed for
each access, and LLVM does not see that a store leaves the sizes of arrays alone: small kernels that
scatter vectors run 1.2 times as long without the search. In large ones it took two thirds of the
time of compiling.

These options and fast math belong to the one configuration of the Taichi program, which kernels of
users have too: they are set for each compilation and put back.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from taichi.lang import impl, kernel_impl
from taichi.lang.any_array import AnyArray
from taichi.lang.ast.ast_transformer import ASTTransformer
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

from difftile.substrate.taichi.operations import Operations
from difftile.substrate.taichi.reader import Reader

_LARGEST_SEARCHED = 768  # expressions among which equal ones are looked for


class _Now(threading.local):
    """The state of a thread: it reads emitted source, and leaves out places."""

    reads = False
    no_places = False


_NOW = _Now()
_taichis_lines = kernel_impl.getsourcelines
_context: Any = ASTTransformerContext
_taichis_place = _context.get_pos_info
_taichis_transform = kernel_impl.transform_tree
_library_lines = functools.cache(_taichis_lines)


def _is_emitted(function: Any) -> bool:
    return function.__code__.co_filename.startswith("<difftile ")


def _lines(function: Any) -> tuple[list[str], int]:
    """Return the lines of a kernel or func and the number of the first."""
    if not _NOW.reads:
        return _taichis_lines(function)
    if not _is_emitted(function):
        return _library_lines(function)
    code = function.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    after = [k for k, line in enumerate(lines) if k > 0 and line.startswith("@")]
    return lines[: after[0] if after else None], code.co_firstlineno


def _place(context: Any, node: Any) -> str:
    """Return the lines of a node, marked."""
    return "" if _NOW.no_places else _taichis_place(context, node)


def _transform(tree: Any, context: Any) -> Any:
    """Append the statements of a kernel or func."""
    own = context.is_kernel or context.is_real_function
    if not (_NOW.reads and own and _is_emitted(context.func.func)):
        return _taichis_transform(tree, context)
    (kernel,) = tree.body
    body = kernel.body
    kernel.body = [ast.copy_location(ast.Pass(), body[0])]
    with impl.get_runtime().src_info_guard(""), context.variable_scope_guard():
        ASTTransformer()(context, kernel)  # which declares the parameters
        to = Operations(context.ast_builder)
        parameters = {
            name: value if isinstance(value, AnyArray) else to.free(value.ptr)
            for name, value in context.current_scope().items()
        }
        outside = {**vars(builtins), **context.global_vars}
        Reader(to, parameters, outside, _definition, context.get_pos_info).block(body)
    if to.made > _LARGEST_SEARCHED:
        program: Any = impl.get_runtime().prog
        program.config().opt_level = 0
    return None


def _definition(function: FunctionType) -> ast.FunctionDef:
    """Return the definition of a function of Taichi's language."""
    return _parsed(function) if _is_emitted(function) else _library_definition(function)


def _parsed(function: FunctionType) -> ast.FunctionDef:
    (found,) = ast.parse(textwrap.dedent("".join(_lines(function)[0]))).body
    assert isinstance(found, ast.FunctionDef)
    return found


_library_definition = functools.cache(_parsed)

kernel_impl.getsourcelines = _lines
kernel_impl.transform_tree = _transform
_context.get_pos_info = _place


@contextmanager
def reading_emitted_source(*, as_written: bool = False) -> Iterator[Any]:
    """While this is open, let Taichi compile with the configuration that is handed out.

    Args:
        as_written: Compile without fast math, whatever the session has.
    """
    program: Any = impl.get_runtime().prog
    config = program.config()
    options = (config.cfg_optimization, config.opt_level, config.fast_math)
    _NOW.reads = True
    # Under debug, Taichi's message about an access out of range holds the place.
    _NOW.no_places = not config.debug
    config.cfg_optimization = False
    config.fast_math = config.fast_math and not as_written
    try:
        yield config
    finally:
        _NOW.reads = _NOW.no_places = False
        config.cfg_optimization, config.opt_level, config.fast_math = options


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

"""Faults planted into modules that are imported already: the code of functions is exchanged.

That is possible where only bodies of functions change, where no import of difftile or of the tests
has run these functions yet, and where they run as Python: the source of kernels is read, and a
decorator may have done anything with a function. Everything else needs another process.
"""

from __future__ import annotations

import ast
import gc
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType

from tests.faults.entries import ROOT

# They leave functions to run as they are.
_PLAIN = {
    *("abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "getter"),
    *("lru_cache", "override", "property", "setter", "staticmethod", "total_ordering"),
}
_LISTS = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)


class NotHere(Exception):
    """A fault that needs another process: why."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A function whose code changes.

    Args:
        function: The function.
        code: Its code from then on.
    """

    function: FunctionType
    code: CodeType


def functions_by_file() -> dict[str, list[FunctionType]]:
    """Return all functions of this process, by the file of their code."""
    gc.unfreeze()  # what is frozen is not among the objects that are known
    found: dict[str, list[FunctionType]] = {}
    for one in gc.get_objects():
        if type(one) is FunctionType:
            found.setdefault(one.__code__.co_filename, []).append(one)
    gc.freeze()
    return found


def exchanges(
    before: str, after: str, file: str, functions: Mapping[str, list[FunctionType]]
) -> list[Exchange]:
    """Return how to change the functions of a file.

    Args:
        before: The source that the functions were compiled from.
        after: The source with the fault.
        file: The name of the file in their code.
        functions: Those that there are, by file.

    Raises:
        NotHere: More than functions changes, or something else than functions has used them.
    """
    old, new = (compile(text, file, "exec", dont_inherit=True) for text in (before, after))
    found: list[Exchange] = []
    for one, other, changed in _pairs(old, new):
        alive = [f for f in functions.get(file, ()) if f.__code__ == one]
        if changed and not alive:
            raise NotHere(f"{one.co_name} is not at hand")
        for function in alive:
            if function.__code__.co_freevars != other.co_freevars:
                raise NotHere(f"{one.co_name} uses other variables")
            found.append(Exchange(function, other))
    return found


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType, bool]]:
    """Yield the codes of functions that differ, and whether that is more than their lines."""
    olds, news = _nested(old), _nested(new)
    if _own(old) != _own(new) or len(olds) != len(news):
        raise NotHere("more than functions changes")
    for one, other in zip(olds, news, strict=True):
        if one.co_name != other.co_name:
            raise NotHere("more than functions changes")
        if _is_class(one):
            yield from _pairs(one, other)
        elif one != other:
            yield one, other, _meaning(one) != _meaning(other)
            # Those inside are made by it, and some that it has made before may be alive.
            if _own(one) == _own(other):
                yield from ((inner, new, False) for inner, new, _ in _pairs(one, other))


def _is_class(code: CodeType) -> bool:
    return not code.co_flags & 1  # CO_OPTIMIZED


def _nested(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _own(code: CodeType) -> tuple[object, ...]:
    """Return what a code does, without the codes in it and without lines."""
    constants = tuple(
        "code" if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts
    )
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return (
        code.co_code,
        constants,
        *names,
        code.co_flags,
        code.co_argcount,
        getattr(code, "co_exceptiontable", b""),
    )


def _meaning(code: CodeType) -> tuple[object, ...]:
    return _own(code), tuple(_meaning(one) for one in _nested(code))


def plan(
    before: Mapping[str, str],
    after: Mapping[str, str],
    functions: Mapping[str, list[FunctionType]],
) -> Callable[[], None]:
    """Return a function that plants a fault into this process.

    Args:
        before: The sources of the changed files, by path.
        after: The same with the fault.
        functions: All functions, by file.

    Raises:
        NotHere: It needs another process.
    """
    found: list[Exchange] = []
    for path, text in after.items():
        for function in changed_functions(before[path], text):
            for decorator in getattr(function, "decorator_list", ()):
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = ast.unparse(called).rpartition(".")[2]
                if name not in _PLAIN:
                    raise NotHere(f"'{name}' has used the function")
        found += exchanges(before[path], text, str(ROOT / path), functions)

    def plant() -> None:
        for path, text in after.items():
            # What is read from now on is the new text.
            file = str(ROOT / path)
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        for one in found:
            one.function.__code__ = one.code  # pyrefly: ignore[read-only]

    return plant


def changed_functions(before: str, after: str) -> list[ast.AST]:
    """Return the functions of a source, with those around them, whose text another one changes."""
    kept = {ast.dump(node) for node in _functions(after)}
    return [node for node in _functions(before) if ast.dump(node) not in kept]


def _functions(source: str) -> list[ast.AST]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, _LISTS)]

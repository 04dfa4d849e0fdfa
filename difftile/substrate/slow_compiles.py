"""Notes about code that takes long to compile: that it does, the line that takes most, a remedy."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections import Counter
from pathlib import Path

from difftile.diagnostics import Label, SlowCompile, Span, render
from difftile.ir.nodes import Alloc, Let, Program, Stmt
from difftile.ir.types import shape_of
from difftile.ir.walk import definitions, walk

LONGEST = 5.0  # seconds that a kernel takes to compile without a note
QUIET = "DIFFTILE_QUIET"  # a variable that turns off what is told before
_LINES_A_SECOND = 300  # of steps of worlds, from nothing, on a core of an AMD EPYC
_SYSTEMS = ("solve", "solve_lower", "solve_upper", "inverse", "cholesky", "cofactors")
_LIBRARY = str(Path(__file__).parents[1]) + os.sep
_LONG = 16  # components of a vector that is the reason


class _Told:
    """Whether this process has said that something is compiled."""

    already = False


def announce_slow_compile(name: str, lines: int) -> None:
    """Say on a terminal, once, that code is compiled which will take long.

    Args:
        name: The name of the kernel.
        lines: The lines of its source.
    """
    seconds = lines / _LINES_A_SECOND
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if seconds < LONGEST or _Told.already or not terminal or os.environ.get(QUIET):
        return
    _Told.already = True
    print(
        f"difftile: compiling '{name}', {lines:,} lines, takes about {seconds:.0f} s, once: later "
        f"runs find it on disk. {QUIET}=1 leaves this line out.",
        file=sys.stderr,
        flush=True,
    )


def note_slow_compile(program: Program, seconds: float) -> None:
    """Warn about a program that took long to compile, with the line that most of the code is for.

    Kernels of the library are not warned of: users who launch them could not rewrite them.

    Args:
        program: The program, as it was emitted.
        seconds: How long its compilation took.
    """
    if seconds < LONGEST:
        return
    weights: Counter[tuple[str, int]] = Counter()
    lines: dict[tuple[str, int], list[Stmt]] = {}
    for stmt in walk(program.body):
        if stmt.span is not None:
            place = (stmt.span.file, stmt.span.line)
            weights[place] += _numbers(stmt)
            lines.setdefault(place, []).append(stmt)
    title = f"Compiling '{program.name}' took {seconds:.0f} s"
    if not weights:
        warnings.warn(SlowCompile(f"{title}."), stacklevel=2)
        return
    if all(file.startswith(_LIBRARY) for file, _ in weights):
        return
    ((place, weight),) = weights.most_common(1)
    share = round(100 * weight / weights.total())
    span = lines[place][0].span
    assert span is not None
    text = render(f"{title}.", [_label(span, share)], (), _advice(lines[place]))
    warnings.warn_explicit(SlowCompile(text), SlowCompile, span.file, span.line)


def _label(span: Span, share: int) -> Label:
    start = len(span.text) - len(span.text.lstrip())
    whole = Span(span.file, span.line, start, len(span.text.rstrip()), span.text)
    return Label(whole, f"{share} % of the code")


def _advice(stmts: list[Stmt]) -> str:
    """Return a replacement for the statements of a line, as advice."""
    kept = [s.array for s in stmts if isinstance(s, Alloc) and s.array.type.ndim]
    for array in kept:
        if (size := math.prod(shape_of(array.type.element))) >= _LONG:
            return (
                f"the adjoint keeps whole vectors of {size} numbers, since the loop has no literal "
                "bounds: give it some, or keep the vector in a field."
            )
    longest = max(map(_components, stmts))
    if any(isinstance(s, Let) and s.op in _SYSTEMS for s in stmts) and longest >= _LONG:
        return "systems of this size take long to compile: split them, or use dt.linear_solve."
    if longest >= _LONG:
        return f"these are whole vectors of {longest} numbers: change single components in a loop."
    return (
        f"the line makes {len(stmts)} statements, unrolled or in place of calls: write 'for' "
        "without 'ti.static', and call funcs in a loop."
    )


def _components(stmt: Stmt) -> int:
    types = [out.type for out in definitions(stmt)]
    return max((math.prod(shape_of(one)) for one in types), default=1)


def _numbers(stmt: Stmt) -> int:
    """Return about how many numbers Taichi has to follow for a statement."""
    if isinstance(stmt, Alloc):
        return (stmt.array.size or 1) * math.prod(shape_of(stmt.array.type.element))
    return _components(stmt)

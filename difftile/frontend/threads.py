"""Threads: statements that run once for each index of a box, in any order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from difftile.diagnostics import KernelError, Span
from difftile.frontend.context import Context
from difftile.frontend.draws import DRAWS
from difftile.frontend.inline import run_func
from difftile.frontend.items import Item, Static
from difftile.ir.nodes import Block, Const, ParallelFor, Value, Var
from difftile.ir.types import I32


class OneThread(Exception):
    """A kernel declares an array of a thread outside of its loops: it has to run on one thread."""


@contextmanager
def alone(cx: Context) -> Generator[None]:
    """Put the statements appended inside into a loop of one iteration, whose loops are serial."""
    span = cx.keyword_span(cx.source.tree)
    one = in_parallel(cx, ["thread"], [Const(0, I32)], [Const(1, I32)], span)
    with cx.frame(cx.env), one:
        yield


@contextmanager
def in_parallel(
    cx: Context,
    names: Sequence[str],
    starts: Sequence[Value],
    stops: Sequence[Value],
    span: Span | None,
    *,
    ordered: bool = False,
) -> Generator[tuple[Var, ...]]:
    """Put the statements appended inside into a parallel loop; give its indices.

    Args:
        cx: The context; it must be at the top level.
        names: A name for each index.
        starts: The first index along each axis.
        stops: The index after the last one.
        span: The loop, for errors.
        ordered: See `ParallelFor`.
    """
    indices = tuple(Var(name, I32) for name in names)
    axes = tuple(zip(indices, starts, stops, strict=True))
    scope = replace(cx.scope, top_level=False, axes=axes, stream=cx.draws.streams)
    cx.draws.streams += 1
    outside, cx.draws.pending = cx.draws.pending, 0
    with cx.within(scope), cx.b.region() as stmts:
        cx.env[DRAWS] = Const(0, I32)
        yield indices
    body = Block(tuple(stmts))
    loop = ParallelFor(indices, tuple(starts), tuple(stops), body, span, ordered=ordered)
    cx.b.append(loop)
    cx.draws.pending = outside


@contextmanager
def for_each(
    cx: Context, sizes: Sequence[Value], span: Span | None
) -> Generator[tuple[Value, ...]]:
    """Run the statements appended inside for each index of a box; once if that has no axes."""
    if not sizes:
        with cx.nested():
            yield ()
        return
    names = [f"i{axis}" for axis in range(len(sizes))] if len(sizes) > 1 else ["i"]
    parallel = in_parallel(cx, names, [Const(0, I32)] * len(sizes), sizes, span)
    with cx.frame(dict(cx.env)), parallel as indices:
        yield indices


def index_item(cx: Context, indices: Sequence[Value], name: str) -> Item:
    """Return the index of a thread: an integer, or a vector of them in the order of the axes."""
    if len(indices) == 1:
        return indices[0]
    return cx.call("vec", *indices, name=name) if indices else Const(0, I32)


def run_threads(cx: Context, name: str, sizes: Sequence[Value]) -> None:
    """Lower the body of a kernel for each index of a box, which is its argument `name`.

    Raises:
        KernelError: It returns a value.
    """
    source = cx.source
    with for_each(cx, sizes, cx.keyword_span(source.tree)) as indices:
        env = {**cx.env, name: index_item(cx, indices, name)}
        returned, _ = run_func(cx, source, env)
        if not (isinstance(returned, Static) and returned.value is None):
            raise KernelError(
                f"Kernel '{source.name}' runs once for each index of 'dt.grid', "
                "and returns a value.",
                cx.keyword_span(source.tree),
                hint="store it in a field at that index.",
            )

"""A kernel of one world, lowered for many: its batched fields have the worlds as first axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from difftile.diagnostics import KernelError
from difftile.frontend.context import Context
from difftile.frontend.field_views import element_of, size_of
from difftile.frontend.inline import run_func
from difftile.frontend.items import FieldRef, Item, Static, ViewBounds, leaf_names, leaves, regrown
from difftile.frontend.threads import in_parallel
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, Scalar
from difftile.ir.views import AxisMap, ViewKind
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class WorldFields:
    """Which fields of a kernel have an axis of worlds.

    Args:
        batched: The parameters, or parts of them such as 'm.body_mass', that have it.
        shared: The arguments without the axis; of two names the longer one decides.
        slots: The loops of the kernel run for all worlds at once; otherwise a thread runs a world.
        numbers: The parameters that are numbers, which may be given a field with one for each
            world: 'float', or a type of integers.
    """

    batched: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    slots: bool = False
    numbers: Mapping[str, str | Scalar] = field(default_factory=dict[str, Any])

    def has_axis(self, name: str) -> bool | None:
        """Tell whether a field has the axis; None if neither list names it and both could."""
        while name:
            if name in self.batched:
                return True
            if name in self.shared:
                return False
            name = name.rpartition(".")[0]
        return None if self.batched and self.shared else not self.batched

    def of_world(self, cx: Context, name: str, item: Item, world: Value) -> Item:
        """Return an argument as one world sees it."""
        parts = zip(leaf_names(name, item), leaves(item), strict=True)
        seen = regrown(item, iter([self._of_world(cx, path, one, world) for path, one in parts]))
        kind = self.numbers.get(name)
        if kind is None or not isinstance(seen, FieldRef):
            return seen
        found = cx.value(cx.loaded(element_of(cx, seen, ()), name))
        return cx.b.cast(found, kind if isinstance(kind, Scalar) else cx.float_type)

    def _of_world(self, cx: Context, name: str, item: Item, world: Value) -> Item:
        if not isinstance(item, FieldRef) or not self.has_axis(name):
            return item
        return _sliced(item, cx, world)

    def count(self, cx: Context, names: Iterable[str]) -> Value:
        """Return the number of worlds, which all fields with the axis have in common."""
        for name in names:
            item = cx.env[name]
            for path, one in zip(leaf_names(name, item), leaves(item), strict=True):
                if isinstance(one, FieldRef) and self.has_axis(path):
                    return size_of(cx, one, 0)
        raise AssertionError("no argument has an axis of worlds")


def _sliced(whole: FieldRef, cx: Context, world: Value) -> FieldRef:
    """Return the part of a field, or of a view, at one index of its first axis."""
    view = whole.view or _all_of(whole.array.type.ndim)
    maps: list[AxisMap] = []
    starts: list[Value | None] = []
    for one, start in zip(view.kind.axes, view.starts, strict=True):
        if one.axis != 0:
            maps.append(one if one.axis is None else one._replace(axis=one.axis - 1))
            starts.append(start)
            continue
        maps.append(AxisMap(None, 0, False))
        offset = cx.call("mul", world, Const(one.step, I32))
        starts.append(offset if start is None else cx.call("add", start, offset))
    kind = ViewKind(tuple(maps), view.kind.ndim - 1)
    return FieldRef(whole.array, ViewBounds(kind, tuple(starts), view.sizes[1:]))


def _all_of(ndim: int) -> ViewBounds:
    """Return the view that is all of a field."""
    maps = tuple(AxisMap(axis, 1, True) for axis in range(ndim))
    return ViewBounds(ViewKind(maps, ndim), (None,) * ndim, (None,) * ndim)


def run_worlds(cx: Context, names: Iterable[str], worlds: WorldFields) -> None:
    """Lower the body of a kernel once for each world, which one thread runs.

    Raises:
        KernelError: It returns a value.
    """
    source, names = cx.source, list(names)
    span = cx.keyword_span(source.tree)
    count = worlds.count(cx, names)
    loop = in_parallel(cx, ["world"], [Const(0, I32)], [count], span, ordered=True)
    with cx.frame(dict(cx.env)), loop as (world,):
        own = {name: worlds.of_world(cx, name, cx.env[name], world) for name in names}
        returned, _ = run_func(cx, source, {**cx.env, **own})
        if not (isinstance(returned, Static) and returned.value is None):
            raise no_results(cx)


def open_worlds(cx: Context, names: Iterable[str], worlds: WorldFields) -> tuple[Var, Value]:
    """Let the arguments of a kernel be those of one world, an index that no loop binds yet.

    Returns:
        The index, and the number of worlds.
    """
    names, world = list(names), Var("world", I32)
    count = worlds.count(cx, names)
    cx.env |= {name: worlds.of_world(cx, name, cx.env[name], world) for name in names}
    return world, count


def no_results(cx: Context) -> KernelError:
    """Return the error about a kernel for many worlds that returns a value."""
    return KernelError(
        f"Kernel '{cx.source.name}' is batched, and returns a value: there is one for each world.",
        cx.keyword_span(cx.source.tree),
        hint="store it in a field of shape (), which has one element a world.",
    )

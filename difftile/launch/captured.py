"""What a prepared launch takes from outside, compared with what is there at the next launch.

An object with twenty fields is looked into at every launch of its kernels. Nearly always the same
fields are found there again, so what is found is compared by identity, by a few calls of functions
written in C; only where that fails does `current_captures` look at everything.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter, is_not, itemgetter
from typing import Any

from difftile.frontend.captures import MISSING, Capture, Path, SameObject, key_of, look_up, plain
from difftile.ir.nodes import Var
from difftile.ir.types import I32


@dataclass(frozen=True, slots=True)
class _Group:
    """What is found from one place on: attributes of an argument, or names of a module.

    Args:
        argument: The position of the argument; None for `scope`.
        scope: The names of a module.
        get: Returns what is found there, as a tuple.
        objects: What was found there.
        captures: What each of them is.
        positions: The places of numbers, which are passed at each launch, among its values; None
            for what must be the same object again, or have the key the kernel was compiled for.
        every: The places of all of these.
    """

    argument: int | None
    scope: dict[str, Any]
    get: Callable[[Any], tuple[Any, ...]]
    objects: tuple[Any, ...]
    captures: tuple[Capture, ...]
    positions: tuple[int | None, ...]
    every: range

    def put(self, args: Sequence[Any], values: list[Any]) -> bool:
        """Write the numbers that changed; return whether all is there and nothing else changed."""
        try:
            found = self.get(self.scope if self.argument is None else args[self.argument])
        except (AttributeError, KeyError):
            return False
        for changed in compress(self.every, map(is_not, found, self.objects)):
            if not self._put_one(changed, found[changed], values):
                return False
        return True

    def _put_one(self, k: int, new: Any, values: list[Any]) -> bool:
        position, capture = self.positions[k], self.captures[k]
        if position is None:
            return capture.key is not None and key_of(new) == capture.key
        values[position] = new
        return type(new) is type(self.objects[k])


@dataclass(frozen=True, slots=True)
class Captured:
    """What a prepared launch takes from outside.

    Args:
        groups: What is found together.
        single: The rest, which is looked up one by one: captures, what they were, and the places
            of numbers among the values.
        arguments: The positions of the arguments in which captures are found, by parameter.
    """

    groups: tuple[_Group, ...]
    single: tuple[tuple[Capture, Any, int | None], ...]
    arguments: Mapping[str, int]

    def put(self, args: Sequence[Any], values: list[Any]) -> bool:
        """Write the captured numbers of now into the values of a launch.

        Args:
            args: The arguments of the launch.
            values: Those of the launch before, which are changed.

        Returns:
            Whether all else is as it was at the launch before.
        """
        for group in self.groups:
            if not group.put(args, values):
                return False
        if not self.single:
            return True
        known = {name: args[k] for name, k in self.arguments.items()}
        for capture, before, position in self.single:
            found = look_up(capture.path, known)
            if position is not None:
                number = plain(found)
                if type(number) is not type(before):
                    return False
                values[position] = number
            elif found is not before and (capture.key is None or key_of(found) != capture.key):
                return False
        return True


def captured(
    captures: Sequence[Capture],
    args: Sequence[Any],
    arguments: Mapping[str, int],
    values: Sequence[Any],
    first: int,
) -> Captured | None:
    """Return what a launch that has just been prepared takes from outside, if anything.

    Args:
        captures: What the specialisation takes.
        args: The arguments of the launch.
        arguments: The positions of those in which a capture may be found, by parameter.
        values: The values of the launch.
        first: The place of the first captured value among those.
    """
    if not captures:
        return None
    groups: dict[_Root, list[tuple[str, Any, Capture, int | None]]] = {}
    single: list[tuple[Capture, Any, int | None]] = []
    known = {name: args[k] for name, k in arguments.items()}
    position = first
    for capture in captures:
        value = look_up(capture.path, known)
        place: int | None = None
        if capture.param is not None:
            place = position if isinstance(capture.param, Var) else None
            position += 1
        root, name = _split(capture.path)
        wanted = int if isinstance(capture.param, Var) and capture.param.type == I32 else float
        if root is None or (place is not None and type(value) is not wanted):
            single.append((capture, plain(value), place))
        else:
            was = value if place is None else values[place]
            groups.setdefault(root, []).append((name, was, capture, place))
    return Captured(
        tuple(_group(root, found, arguments) for root, found in groups.items()),
        tuple(single),
        arguments,
    )


@dataclass(frozen=True, slots=True)
class _Root:
    """Where a group begins.

    Args:
        argument: The name of an argument; None for `scope`.
        scope: The names of a module.
        builtin: Whether the names are Python's own, which a module may hide.
    """

    argument: str | None
    scope: SameObject | None = None
    builtin: bool = False


def _split(path: Path) -> tuple[_Root | None, str]:
    """Return where a path begins and what follows, or None for what is no plain name in there."""
    (kind, first), *rest = path.steps
    if kind == "argument" and rest and all(step == "attribute" for step, _ in rest):
        return _Root(first), ".".join(key for _, key in rest)
    scope = path.function.__globals__
    if kind == "name" and not rest and first not in path.function.__code__.co_freevars:
        return _Root(None, SameObject(scope), builtin=first not in scope), first
    return None, ""


def _group(
    root: _Root,
    found: Sequence[tuple[str, Any, Capture, int | None]],
    arguments: Mapping[str, int],
) -> _Group:
    """Return what finds some names from one place on again."""
    names, objects, captures, positions = zip(*found, strict=True)
    if root.argument is not None:
        get, argument = _getter(attrgetter, names), arguments[root.argument]
        return _Group(argument, {}, get, objects, captures, positions, range(len(names)))
    assert root.scope is not None
    get = _visible(names) if root.builtin else _getter(itemgetter, names)
    return _Group(None, root.scope.value, get, objects, captures, positions, range(len(names)))


def _getter(make: Callable[..., Any], names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that finds several names, also where there is one alone."""
    get = make(*names)
    return get if len(names) > 1 else lambda place: (get(place),)


def _visible(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that finds names in a module, or where it has none Python's own."""

    def get(scope: dict[str, Any]) -> tuple[Any, ...]:
        return tuple([scope.get(name, getattr(builtins, name, MISSING)) for name in names])

    return get

"""What a prepared launch takes from outside, compared with what is there at the next launch.

An object with twenty fields is looked into at every launch of its kernels. Nearly always the same
fields are found there again, so what is found is compared by identity, by a few calls of functions
written in C; only where that fails does `current_captures` look at everything.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, is_, itemgetter
from typing import Any

from difftile.frontend.captures import Capture, SameObject, key_of, look_up, plain
from difftile.frontend.items import Path
from difftile.ir.nodes import Var
from difftile.ir.types import I32

_Roots = Mapping[str, Any]
_BUILTINS = SameObject(vars(builtins))


@dataclass(frozen=True, slots=True)
class _Group:
    """What is found from one place on: attributes of an argument, or names of a module.

    Args:
        argument: The name of the argument; None for `scope`.
        scope: The names of a module.
        get: Returns what is found there, as a tuple.
    """

    argument: str | None
    scope: dict[str, Any]
    get: Callable[[Any], tuple[Any, ...]]

    def find(self, known: _Roots) -> tuple[Any, ...] | None:
        """Return what is there now, or None if something is gone."""
        try:
            return self.get(self.scope if self.argument is None else known[self.argument])
        except (AttributeError, KeyError):
            return None


@dataclass(frozen=True, slots=True)
class _Same:
    """Things that are the same objects again, or have the keys that the kernel was compiled for."""

    group: _Group
    objects: tuple[Any, ...]
    captures: tuple[Capture, ...]

    def holds(self, known: _Roots) -> bool:
        found = self.group.find(known)
        if found is None:
            return False
        if all(map(is_, found, self.objects)):
            return True
        return all(
            new is old or (capture.key is not None and key_of(new) == capture.key)
            for new, old, capture in zip(found, self.objects, self.captures, strict=True)
        )


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers that are passed at each launch, and their places among its values."""

    group: _Group
    objects: tuple[Any, ...]
    types: tuple[type, ...]
    positions: tuple[int, ...]

    def put(self, known: _Roots, values: list[Any]) -> bool:
        """Write the numbers of now, or leave those that the values began with, if they are these.

        Returns:
            Whether they are of the types that they had.
        """
        found = self.group.find(known)
        if found is None:
            return False
        if all(map(is_, found, self.objects)):
            return True
        if tuple(map(type, found)) != self.types:
            return False
        for position, number in zip(self.positions, found, strict=True):
            values[position] = number
        return True


@dataclass(frozen=True, slots=True)
class Captured:
    """What a prepared launch takes from outside.

    Args:
        absent: Names that must not be in a module, since they are taken from the builtins.
        same: What must be as it was.
        numbers: What is passed anew.
        single: The rest, which is looked up one by one: captures, what they were, and the places
            of numbers among the values.
    """

    absent: tuple[tuple[dict[str, Any], frozenset[str]], ...]
    same: tuple[_Same, ...]
    numbers: tuple[_Numbers, ...]
    single: tuple[tuple[Capture, Any, int | None], ...]

    def put(self, known: _Roots, values: list[Any]) -> bool:
        """Write the captured numbers of now into the values of a launch.

        Args:
            known: The arguments in which a capture may be found, by parameter.
            values: A copy of those that the launch was prepared with, which is changed.

        Returns:
            Whether all else is as it was at the launch before.
        """
        for scope, names in self.absent:
            if not scope.keys().isdisjoint(names):
                return False
        for same in self.same:
            if not same.holds(known):
                return False
        for numbers in self.numbers:
            if not numbers.put(known, values):
                return False
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


def captured(captures: Sequence[Capture], known: _Roots, first: int) -> Captured | None:
    """Return what a launch that has just been prepared takes from outside, if anything.

    Args:
        captures: What the specialisation takes.
        known: The arguments in which a capture may be found, by parameter.
        first: The place of the first captured value among those of the launch.
    """
    if not captures:
        return None
    same: dict[Any, list[tuple[Capture, str, Any]]] = {}
    numbers: dict[Any, list[tuple[int, str, Any]]] = {}
    single: list[tuple[Capture, Any, int | None]] = []
    absent: dict[SameObject, set[str]] = {}
    position = first
    for capture in captures:
        value = look_up(capture.path, known)
        place: int | None = None
        if capture.param is not None:
            place = position if isinstance(capture.param, Var) else None
            position += 1
        root, name = _split(capture.path)
        if root is not None and root.scope == _BUILTINS:
            module = SameObject(capture.path.function.__globals__)
            absent.setdefault(module, set()).add(name)
        wanted = int if isinstance(capture.param, Var) and capture.param.type == I32 else float
        if root is None or (place is not None and type(value) is not wanted):
            single.append((capture, plain(value), place))
        elif place is not None:
            numbers.setdefault(root, []).append((place, name, value))
        else:
            same.setdefault(root, []).append((capture, name, value))
    return Captured(
        tuple((module.value, frozenset(names)) for module, names in absent.items()),
        tuple(
            _Same(
                _group(root, [name for _, name, _ in found]),
                tuple(value for _, _, value in found),
                tuple(capture for capture, _, _ in found),
            )
            for root, found in same.items()
        ),
        tuple(
            _Numbers(
                _group(root, [name for _, name, _ in found]),
                tuple(value for _, _, value in found),
                tuple(map(type, (value for _, _, value in found))),
                tuple(place for place, _, _ in found),
            )
            for root, found in numbers.items()
        ),
        tuple(single),
    )


@dataclass(frozen=True, slots=True)
class _Root:
    """Where a group begins: an argument, or with None the names of a module."""

    argument: str | None
    scope: SameObject | None


def _split(path: Path) -> tuple[_Root | None, str]:
    """Return where a path begins and what follows, or None for what is no plain name in there."""
    (kind, first), *rest = path.steps
    if kind == "argument" and rest and all(step == "attribute" for step, _ in rest):
        return _Root(first, None), ".".join(key for _, key in rest)
    scope = path.function.__globals__
    if kind == "name" and not rest and first not in path.function.__code__.co_freevars:
        if first in scope:
            return _Root(None, SameObject(scope)), first
        if first in _BUILTINS.value:
            return _Root(None, _BUILTINS), first
    return None, ""


def _group(root: _Root, names: Sequence[str]) -> _Group:
    """Return what finds some names from one place on."""
    if root.scope is None:
        return _Group(root.argument, {}, _getter(attrgetter, names))
    return _Group(None, root.scope.value, _getter(itemgetter, names))


def _getter(make: Callable[..., Any], names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that finds several names, also where there is one alone."""
    get = make(*names)
    return get if len(names) > 1 else lambda place: (get(place),)

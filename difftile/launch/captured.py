"""The names that a prepared launch takes from outside, compared at the next launch.

An object with twenty fields is looked into at every launch of its kernels. Nearly always the same
fields are found there again, so they are compared by identity, by a few calls of functions written
in C; only where that fails does `current_captures` look at everything. What cannot change is not
compared: attributes of frozen objects, and the names of this library's own modules.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from inspect import getattr_static
from itertools import compress
from operator import attrgetter, is_, is_not, itemgetter
from types import MemberDescriptorType
from typing import Any, TypeAlias

from difftile.compile.arguments import Argument, Arguments
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_frozen
from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.frontend.captures import MISSING, Capture, Path, SameObject, key_of, look_up, plain
from difftile.frontend.parameters import as_written
from difftile.ir.nodes import Array, Var
from difftile.ir.types import I32
from difftile.ops.vocabulary import FuncMeaning
from difftile.records import dataclass
from difftile.substrate import current_session

_Objects: TypeAlias = tuple[Any, ...]
_Getter: TypeAlias = Callable[[object], _Objects]
_Steps: TypeAlias = tuple[tuple[str, Any], ...]
_Root: TypeAlias = tuple[str | SameObject, _Steps, bool]
"""Where a group begins: at an argument, by name, or in the names of a module.

Of an argument there are the steps to the sequence or mapping that has the names as items, or none,
and the names are attributes. The flag tells names of Python's own, which a module may hide, from
its other names.
"""
_LENGTH = object()  # in the place of a key, the length of a sequence


@dataclass(frozen=True, slots=True)
class _Group:
    """Names that are looked up together: of an argument, attributes or items; or of a module.

    Args:
        argument: The position of the argument; None for `scope`.
        scope: The names of a module.
        get: Returns the objects of all names.
        objects: The objects of the launch before.
        captures: The capture of each.
        positions: The places of numbers, which are passed at each launch, among its values; None
            for objects that must be the same again, or have the key the kernel was compiled for.
        every: The places of all names in the group.
    """

    argument: int | None
    scope: object
    get: _Getter
    objects: _Objects
    captures: tuple[Capture, ...]
    positions: tuple[int | None, ...]
    every: range

    def put(self, args: Sequence[object], values: Arguments) -> bool:
        """Write the numbers that changed; return False if anything else changed."""
        try:
            found = self.get(self.scope if self.argument is None else args[self.argument])
        except (AttributeError, LookupError, TypeError):
            return False
        for k in compress(self.every, map(is_not, found, self.objects)):
            new, position = found[k], self.positions[k]
            if position is not None:
                if type(new) is not type(self.objects[k]):
                    return False
                values[position] = new  # pyrefly: ignore[unknown-argument-type]
            elif (key := self.captures[k].key) is None or key_of(new) != key:
                return False
        return True

    def is_same(self, args: Sequence[object]) -> bool:
        """Tell quickly whether all objects are the same as at the previous launch."""
        try:
            found = self.get(self.scope if self.argument is None else args[self.argument])
        except (AttributeError, LookupError, TypeError):
            return False
        return all(map(is_, found, self.objects))


@dataclass(frozen=True, slots=True)
class Captured:
    """The names that a prepared launch takes from outside.

    Args:
        groups: The names that are looked up together.
        single: The rest, which is looked up one by one: captures, their values at the launch
            before, and the places of numbers among the values.
        frozen: The positions of arguments whose attributes cannot change, and these arguments.
        arguments: The positions of the arguments in which captures are found, by parameter.
    """

    groups: tuple[_Group, ...]
    single: tuple[tuple[Capture, object, int | None], ...]
    frozen: tuple[tuple[int, object], ...]
    arguments: Mapping[str, int]

    def put(self, args: Sequence[object], values: Arguments) -> bool:
        """Write the present captured numbers into the values of a launch.

        Args:
            args: The arguments of the launch.
            values: The values of the previous launch, which are changed.

        Returns:
            Whether all else is as it was at the launch before.
        """
        for position, argument in self.frozen:
            if args[position] is not argument:
                return False
        for group in self.groups:
            if not group.put(args, values):
                return False
        if not self.single:
            return True
        known = {name: args[k] for name, k in self.arguments.items()}
        for capture, before, position in self.single:
            found = look_up(capture.path, known)
            if position is not None:
                number = plain(found, capture.path)
                if type(before) is not type(number):
                    return False
                values[position] = number
            elif found is not before and (capture.key is None or key_of(found) != capture.key):
                return False
        return True


def captured(
    captures: Sequence[Capture],
    args: Sequence[object],
    arguments: Mapping[str, int],
    values: Sequence[Argument],
    first: int,
) -> Captured | None:
    """Return the names that a launch which has just been prepared takes from outside, if any.

    Args:
        captures: The captures of the specialisation.
        args: The arguments of the launch.
        arguments: The positions of arguments that captures may be looked up in, by parameter.
        values: The values of the launch.
        first: The position of the first captured value among the values.
    """
    if not captures:
        return None
    groups: dict[_Root, list[tuple[Any, object, Capture, int | None]]] = {}
    single: list[tuple[Capture, object, int | None]] = []
    frozen: dict[int, object] = {}
    known = {name: args[k] for name, k in arguments.items()}
    position = first
    for capture in captures:
        value = look_up(capture.path, known)
        place: int | None = None
        if capture.param is not None:
            place = position if isinstance(capture.param, Var) else None
            position += 1
        if _is_constant(capture.path, known):
            (kind, name), *_ = capture.path.steps
            if kind == "argument":
                frozen[arguments[name]] = known[name]
            continue
        root, name = _split(capture.path)
        wanted = int if isinstance(capture.param, Var) and capture.param.type == I32 else float
        if root is None or (place is not None and type(value) is not wanted):
            single.append((capture, plain(value, capture.path), place))
        else:
            before = value if place is None else values[place]
            groups.setdefault(root, []).append((name, before, capture, place))
    made: list[_Group] = []
    for (start, steps, builtin), found in groups.items():
        found.sort(key=lambda one: one[0] is not _LENGTH)
        names, objects, own, positions = zip(*found, strict=True)
        every = range(len(names))
        if isinstance(start, str):
            get = _items_getter(steps, names) if steps else _getter(attrgetter, names)
            made.append(_Group(arguments[start], None, get, objects, own, positions, every))
        else:
            get = _builtins_getter(names) if builtin else _getter(itemgetter, names)
            made.append(_Group(None, start.value, get, objects, own, positions, every))
    return Captured(tuple(made), tuple(single), tuple(frozen.items()), arguments)


def _is_constant(path: Path, arguments: Mapping[str, object]) -> bool:
    """Tell whether a path leads to the same value at each launch with the same arguments."""
    (kind, name), *steps = path.steps
    if kind == "argument":
        value: Any = arguments.get(name, MISSING)
        for step, key in steps:
            if step != "attribute" or not is_frozen(value) or not _is_stored(value, key):
                return False
            value = getattr(value, key, MISSING)
        return bool(steps)
    module = path.function.__module__ or ""  # of functions that are made from text
    own = module.partition(".")[0] == __name__.partition(".")[0]
    return own and kind == "name" and name not in path.function.__code__.co_freevars


def _is_stored(value: object, name: str) -> bool:
    """Tell whether an attribute is one of the object, or a func of its class, and not computed."""
    found = getattr_static(value, name, None)
    of_class = getattr_static(type(value), name, None)
    if of_class is None or isinstance(of_class, MemberDescriptorType):
        return True
    return found is of_class and isinstance(meaning_of(found), FuncMeaning)


def _split(path: Path) -> tuple[_Root | None, Any]:
    """Return the root of a path and the key to look up there; None where it has other steps."""
    (kind, first), *rest = path.steps
    if kind == "argument" and rest:
        kinds = {step for step, _ in rest}
        if kinds == {"attribute"}:
            return (first, (), False), ".".join(key for _, key in rest)
        *before, (last, key) = rest
        if kinds <= {"attribute", "item", "length"} and last != "attribute":
            # The length of a sequence is found with its items.
            return (first, (*before, ("items", None)), False), key if last == "item" else _LENGTH
    scope = path.function.__globals__
    if kind == "name" and not rest and first not in path.function.__code__.co_freevars:
        return (SameObject(scope), (), first not in scope), first
    return None, ""


def _getter(make: Callable[..., Callable[[Any], Any]], names: Sequence[str]) -> _Getter:
    """Return a function that returns the objects of several names, or of only one, as a tuple."""
    get = make(*names)
    return get if len(names) > 1 else lambda place: (get(place),)


def _items_getter(steps: _Steps, keys: Sequence[Any]) -> _Getter:
    """Return a getter for items, by keys, of the object that steps lead to; lengths come first."""
    *before, _ = steps
    items = [key for key in keys if key is not _LENGTH]
    inside = _getter(itemgetter, items) if items else None
    lengths = len(keys) - len(items)

    def get(value: Any) -> _Objects:
        for kind, key in before:
            value = getattr(value, key) if kind == "attribute" else value[key]
        found = () if inside is None else inside(value)
        return (len(value),) * lengths + found if lengths else found

    return get


def _builtins_getter(names: Sequence[str]) -> _Getter:
    """Return a function that looks names up in a module, and then among Python's own."""
    get_builtins = _getter(itemgetter, names)

    def get(scope: Any) -> _Objects:
        if scope.keys().isdisjoint(names):
            return get_builtins(vars(builtins))
        return tuple([scope.get(name, getattr(builtins, name, MISSING)) for name in names])

    return get


def current_captures(
    captures: tuple[Capture, ...], arrays: Mapping[str, Field], known: Mapping[str, object]
) -> Arguments | None:
    """Return the values of captured parameters now, or None if the specialisation does not fit.

    Args:
        captures: The captures of the specialisation.
        arrays: The field passed for each array. A captured field shares memory with one of them,
            or with another captured field, exactly if it did when the kernel was compiled.
        known: The arguments in which a capture may be found, by parameter.

    Raises:
        LaunchError: A captured field and an argument are the same, and one of them is detached.
    """
    values: Arguments = []
    met = {field.storage for field in arrays.values()}
    at = dict(arrays)
    for capture in captures:
        value = look_up(capture.path, known)
        param = capture.param
        if capture.same_as is not None:
            one = at[capture.same_as.name]
            if not isinstance(value, Field):
                return None
            if value.storage is not one.storage or value.shape != one.shape:
                return None
            if value.is_cut != one.is_cut:
                names = capture.path.identifier, as_written(capture.same_as.name)
                raise LaunchError(
                    f"'{names[0]}' and '{names[1]}' are the same memory, and one of them is "
                    "detached. Pass both as parameters."
                )
        elif param is None:
            if key_of(value) != capture.key:
                return None
        elif isinstance(param, Array):
            if not isinstance(value, Field) or value.type is not param.type:
                return None
            if value.storage.memory.pool is not current_session().pool:
                _ = value.buffer  # raises an error that tells why
            if value.storage in met:
                return None
            met.add(value.storage)
            at[param.name] = value
            values.append(value)
        else:
            number = plain(value, capture.path)
            if not isinstance(number, int if param.type == I32 else float):
                return None
            values.append(number)
    return values

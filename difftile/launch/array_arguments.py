"""Fields and parts of fields as arguments: which of them may have elements in common.

Arguments that may share elements are one array of the program, so that the checks for races and the
gradients see it. Parts of one field that have no element in common are arrays of their own, and so
is what is detached: it is constant where the field itself is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TypeAlias

from difftile.compile.arguments import Arguments
from difftile.compile.meanings import field_meaning
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.storage import Storage
from difftile.fields.view import View
from difftile.fields.window import whole
from difftile.frontend.parameters import SameAs, ViewOf
from difftile.ir.types import FieldType
from difftile.launch.overlaps import together
from difftile.ops.vocabulary import FieldMeaning
from difftile.records import dataclass
from difftile.substrate import Session

ArrayGiven: TypeAlias = FieldType | SameAs | ViewOf


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """A field, or a part of one, as an argument.

    Args:
        value: The field or the part.
        key: The key by which a kernel is specialised on the argument.
        given: The argument in the words of the frontend.
        run_time: The run-time values: the field if it is met first, and the numbers of a part.
        meaning: The meaning of an array of its own.
    """

    value: ArrayLike
    key: Hashable
    given: ArrayGiven
    run_time: Arguments
    meaning: FieldMeaning | None = None


def array_arguments(
    named: Mapping[str, ArrayLike], session: Session, *, joined: bool = False
) -> dict[str, ArrayArgument]:
    """Return the fields and parts of fields among the arguments of a launch, by name.

    Args:
        named: The arguments.
        session: The session, to which they must belong.
        joined: Whether what is detached is one array with the field, which the kernel writes.

    Raises:
        LaunchError: Two share memory under different shapes.
        FieldError: One belongs to another session.
    """
    by_storage: dict[Storage, dict[str, ArrayLike]] = {}
    for name, value in zip(named, together([*named.values()]), strict=True):
        base = value.base
        if base.storage.memory.pool is not session.pool:
            _ = base.buffer  # raises an error that tells why
        by_storage.setdefault(base.storage, {})[name] = value
    found: dict[str, ArrayArgument] = {}
    for sharing in by_storage.values():
        if len(sharing) > 1:
            found |= _related(sharing, joined=joined)
        else:
            ((name, value),) = sharing.items()
            found[name] = _of_its_own(value, field_meaning(value.base))
    return {name: found[name] for name in named}


def _of_its_own(value: ArrayLike, meaning: FieldMeaning) -> ArrayArgument:
    """Return an argument that is an array of its own."""
    base = value.base
    if not isinstance(value, View):
        return ArrayArgument(value, id(base.type), base.type, [base], meaning)
    key, given = (id(base.type), value.kind), ViewOf(base.type, value.kind)
    return ArrayArgument(value, key, given, [base, *value.numbers], meaning)


def _sharing(value: ArrayLike, leader: str) -> ArrayArgument:
    """Return an argument that may have elements in common with an earlier one."""
    kind, numbers = (value.kind, value.numbers) if isinstance(value, View) else (None, ())
    return ArrayArgument(value, ("shares", leader, kind), ViewOf(leader, kind), [*numbers])


def _related(values: Mapping[str, ArrayLike], *, joined: bool) -> dict[str, ArrayArgument]:
    """Return the arguments that share one memory."""
    shapes = {value.base.shape for value in values.values()}
    if len(shapes) > 1:
        first, *_ = values.values()
        raise LaunchError(
            f"{first!r} and other arguments share memory under different shapes; "
            "pass them under one shape, or copy one of them."
        )
    windows = {
        k: whole(value.base.shape) if value.window is None else value.window
        for k, value in values.items()
    }
    leaders: dict[str, str] = {}
    for k, window in windows.items():
        alike = [j for j in leaders if joined or values[j].base.is_cut == values[k].base.is_cut]
        met = {leaders[j] for j in alike if window.shares(windows[j])}
        leader = next((j for j in leaders if j in met), k)
        leaders[k] = leader
        leaders |= {j: leader for j, of in leaders.items() if of in met}
    in_parts = len(set(leaders.values())) > 1
    found: dict[str, ArrayArgument] = {}
    for k, value in values.items():
        sharing = [j for j in found if leaders[j] == leaders[k]]
        same = next((j for j in sharing if windows[j] == windows[k]), None)
        if same is not None:
            found[k] = ArrayArgument(value, ("same", same), SameAs(same), [])
        elif leaders[k] != k:
            found[k] = _sharing(value, leaders[k])
        else:
            meaning = field_meaning(value.base)
            meaning = replace(meaning, identity=("part", k)) if in_parts else meaning
            found[k] = _of_its_own(value, meaning)
    return found

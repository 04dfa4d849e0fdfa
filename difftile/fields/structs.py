"""Fields of structs: a field for each member, so that kernels touch only the members in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from html import escape
from typing import Any, TypeAlias, cast

from difftile.diagnostics import FieldError, did_you_mean
from difftile.fields.elements import Shaped
from difftile.fields.exchange import as_index
from difftile.fields.field import Field
from difftile.fields.gradients import zero_grads
from difftile.fields.halos import exchange
from difftile.fields.shown import asked_by_library, table_of, text_of
from difftile.ir.types import Struct, is_float
from difftile.lang.structs import struct_values

Member: TypeAlias = "Field | StructField"

_OWN = frozenset(
    (
        *("clear", "copy_from", "exchange", "fields", "fill", "from_global", "from_numpy", "grad"),
        *("has_grads", "members", "methods", "ndim", "shape", "struct", "to_global", "to_numpy"),
        *("with_grads", "zero_grads"),
    )
)


class StructField(Shaped):
    """Structs in a grid of any number of dimensions, kept as one field a member.

    Made by `dt.field` of a struct type. `p.pos` is the field of one member; kernels index the
    struct field itself: `p[i].pos`.

    Args:
        members: A field of the same shape for each member, by name.
        methods: Name and function of each method that elements have in kernels.
    """

    __slots__ = ("__weakref__", "members", "methods", "shape")

    members: dict[str, Member]
    methods: tuple[tuple[str, Any], ...]

    def __init__(
        self, members: Mapping[str, Member], methods: tuple[tuple[str, Any], ...] = ()
    ) -> None:
        for name, member in members.items():
            if name in _OWN or name.startswith("_"):
                raise FieldError(f"A member cannot be called '{name}', which fields have already.")
            first = next(iter(members.values()))
            if member.shape != first.shape:
                raise FieldError(f"{member!r} has another shape than {first!r}.")
        if not members:
            raise FieldError("A struct has at least one member.")
        put = object.__setattr__
        put(self, "members", dict(members))
        put(self, "methods", methods)
        put(self, "shape", next(iter(members.values())).shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        member = self.members.get(name)
        if member is None:
            guess = did_you_mean(name, self.members) or f"it has {', '.join(self.members)}."
            raise AttributeError(f"{self!r} has no member '{name}'; {guess}")
        return member

    def __setattr__(self, name: str, value: object) -> None:
        raise FieldError(
            f"Members of {self!r} stay the fields they are; write into one: 'p.pos.fill(0)'."
        )

    @property
    def struct(self) -> Struct:
        """The type of one element."""
        types = tuple(
            (name, m.element if isinstance(m, Field) else m.struct)
            for name, m in self.members.items()
        )
        return Struct(types, self.methods)

    @property
    def has_grads(self) -> bool:
        """Tell whether some member has a gradient."""
        return any(field.has_grads for _, field in self.fields())

    def fields(self, prefix: str = "") -> Iterator[tuple[str, Field]]:
        """Yield the fields of all members, also of nested structs, with dotted names."""
        for name, member in self.members.items():
            dotted = f"{prefix}.{name}" if prefix else name
            if isinstance(member, StructField):
                yield from member.fields(dotted)
            else:
                yield dotted, member

    def __repr__(self) -> str:
        if not asked_by_library():
            members = (f"    {name}={text}" for name, text in self._texts())
            return "field of structs(\n{}\n)".format(",\n".join(members))
        grad = ", grad" if self.has_grads else ""
        return f"<field {self.struct} {self.shape}{grad}>"

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield the dotted name of each member with the text of its values."""
        for name, field in self.fields():
            yield name, text_of(field).replace("\n", "\n" + " " * (len(name) + 5))

    def _repr_html_(self) -> str:
        return "".join(f"<div>{escape(n)}</div>{table_of(f)}" for n, f in self.fields())

    def __copy__(self) -> StructField:
        """Return a field with memory of its own: the contents, and gradients of zeros."""
        return StructField({name: copy(m) for name, m in self.members.items()}, self.methods)

    def __reduce__(self) -> Any:
        return StructField, (self.members, self.methods)

    # Values

    def to_numpy(self) -> dict[str, Any]:
        """Return a copy of each member's contents, by name."""
        return {name: member.to_numpy() for name, member in self.members.items()}

    def from_numpy(self, values: Mapping[str, Any]) -> None:
        """Set the contents of all members from arrays by name."""
        for member, given in self._matched(values):
            member.from_numpy(given)

    def fill(self, value: Any) -> None:
        """Set every element: a number for all members, or a value for each member by name."""
        if _by_name(value) is None:
            for member in self.members.values():
                member.fill(value)
            return
        for member, given in self._matched(value):
            member.fill(given)

    def clear(self) -> None:
        """Set everything to zero."""
        self.fill(0)

    def copy_from(self, other: StructField) -> None:
        """Set the contents from a field of the same structs; gradients flow through."""
        if not isinstance(other, StructField) or other.members.keys() != self.members.keys():
            raise FieldError(f"{self!r} cannot be copied from {other!r}: the members differ.")
        for name, member in self.members.items():
            member.copy_from(cast(Any, other.members[name]))

    def exchange(self) -> None:
        """Fill the halos of all members of a split field; see `Field.exchange`.

        Raises:
            FieldError: The field is not split.
        """
        fields = [field for _, field in self.fields()]
        if not all(one.split for one in fields):
            raise FieldError(
                f"{self!r} is not split among ranks and has no halos. Make it with "
                "dt.distributed.Grid(...).field(...)."
            )
        exchange(fields)

    def from_global(self, values: Mapping[str, Any]) -> None:
        """Set all members from the elements of all ranks by name; see `Field.from_global`."""
        for member, given in self._matched(values):
            member.from_global(given)

    def to_global(self, *, root: int | None = None) -> dict[str, Any]:
        """Return the elements of all ranks of each member by name; see `Field.to_global`."""
        return {name: member.to_global(root=root) for name, member in self.members.items()}

    def __getitem__(self, index: Any) -> StructElement:
        return StructElement(self, as_index(self, self.shape, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        where = as_index(self, self.shape, index)
        for member, given in self._matched(value):
            member[where] = given

    def _matched(self, values: Any) -> list[tuple[Member, Any]]:
        """Return each member with the value that is given for it.

        Raises:
            FieldError: Some name is missing, or is no member.
        """
        given = _by_name(values)
        if given is None:
            raise FieldError(
                f"{self!r} takes a value for each member: "
                f"{{{', '.join(f'{name!r}: ...' for name in self.members)}}}."
            )
        for name in given:
            if name not in self.members:
                guess = did_you_mean(name, self.members) or f"it has {', '.join(self.members)}."
                raise FieldError(f"{self!r} has no member '{name}'; {guess}")
        missing = [name for name in self.members if name not in given]
        if missing:
            raise FieldError(f"{self!r} is given no '{missing[0]}'; each member takes a value.")
        return [(member, given[name]) for name, member in self.members.items()]

    # Gradients

    @property
    def grad(self) -> StructField:
        """The gradients of the members that have one.

        Raises:
            FieldError: No member has one.
        """
        found: dict[str, Member] = {
            name: member.grad for name, member in self.members.items() if member.has_grads
        }
        if not found:
            raise FieldError(
                f"{self!r} has no gradient. Make it with grad=True, or use p = p.with_grads()."
            )
        return StructField(found)

    def with_grads(self) -> StructField:
        """Return a field with the same memory, and with gradients of all float members."""
        made = {
            name: member.with_grads() if has_floats(member) else member
            for name, member in self.members.items()
        }
        return StructField(made, self.methods)

    def zero_grads(self) -> None:
        """Set the gradients of all members to zero."""
        zero_grads([field for _, field in self.fields()])


class StructElement:
    """One element of a struct field: its members are read and written as attributes."""

    __slots__ = ("_field", "_index")

    def __init__(self, field: StructField, index: tuple[int, ...]) -> None:
        object.__setattr__(self, "_field", field)
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._field, name)[self._index]

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(self._field, name)[self._index] = value

    def __reduce__(self) -> Any:
        return StructElement, (self._field, self._index)

    def to_dict(self) -> dict[str, Any]:
        """Return the value of each member by name."""
        found = {name: member[self._index] for name, member in self._field.members.items()}
        return {n: v.to_dict() if isinstance(v, StructElement) else v for n, v in found.items()}

    def __repr__(self) -> str:
        return f"<struct {self.to_dict()}>"


def values_of(element: StructElement) -> tuple[dict[str, Any], Struct]:
    """Return the value of each member of an element by name, and the type of the element."""
    field: StructField = object.__getattribute__(element, "_field")
    index: tuple[int, ...] = object.__getattribute__(element, "_index")
    return {name: member[index] for name, member in field.members.items()}, field.struct


def _by_name(value: object) -> Mapping[str, Any] | None:
    """Return the members of a dict, of an element or of a struct made in Python, by name."""
    if isinstance(value, StructElement):
        return value.to_dict()
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    return struct_values(value)


def has_floats(member: Member) -> bool:
    """Tell whether a member can have a gradient."""
    fields = [member] if isinstance(member, Field) else [f for _, f in member.fields()]
    return any(is_float(field.element) for field in fields)

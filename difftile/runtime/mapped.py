"""The calls of a func as the body of a kernel, and the types of their results."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import ClassVar

from difftile.compile.annotations import Kind
from difftile.compile.arguments import Arguments
from difftile.compile.definition import lowered_for
from difftile.compile.func import Func
from difftile.compile.meanings import meaning_of
from difftile.fields.array_like import ArrayLike
from difftile.frontend.captures import Capture
from difftile.frontend.lower import Lowered, lower_mapping
from difftile.frontend.mapping import Form, Mapped
from difftile.frontend.parameters import Signature
from difftile.frontend.source import Source, source_of
from difftile.ir.types import Scalar
from difftile.launch.captured import current_captures
from difftile.launch.parse_arguments import parse_arguments
from difftile.ops.vocabulary import FieldMeaning
from difftile.records import dataclass
from difftile.substrate import current_session


@dataclass(frozen=True)
class MappedBody:
    """The calls of a func as the body of a kernel."""

    func: Func
    mapped: Mapped
    kinds: Mapping[str, Kind]

    takes_elements: ClassVar[bool] = True

    @property
    def title(self) -> str:
        """The func in the words of an error."""
        return repr(self.func)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters, as Python sees them."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return [inspect.Parameter(name, kind) for name in self.kinds]

    def check(self, kernel: object, fields: Mapping[str, ArrayLike | None]) -> None:
        """Check the fields of a launch: all fit."""

    def lower(
        self, signature: Signature, float_type: Scalar, fields: Mapping[str, FieldMeaning]
    ) -> Lowered:
        """Return the program for arguments of certain types."""
        given = (self._source, self.mapped, signature, meaning_of, float_type, fields)
        return lower_mapping(*given)

    @cached_property
    def _source(self) -> Source:
        return source_of(self.func.function)


@dataclass
class ResultTypes:
    """The types of a func's results, by the types of its arguments."""

    body: MappedBody
    _found: dict[Hashable, list[tuple[tuple[Capture, ...], Form]]] = field(
        default_factory=dict[Hashable, list[tuple[tuple[Capture, ...], Form]]]
    )

    def of(self, args: Sequence[object]) -> tuple[Form, Arguments]:
        """Return the types for some arguments, and the values that the func captures for them."""
        session = current_session()
        parsed = parse_arguments(self.body.func, self.body, args, session)
        key = (session, *parsed.key)
        for captures, form in self._found.get(key, ()):
            captured = current_captures(captures, parsed.arrays, parsed.known)
            if captured is not None:
                return form, captured
        lowered, _ = lowered_for(self.body, parsed.signature, parsed.meanings, session)
        self._found.setdefault(key, []).append((lowered.captures, lowered.form))
        captured = current_captures(lowered.captures, parsed.arrays, parsed.known)
        return lowered.form, captured or []

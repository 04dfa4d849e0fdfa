"""Operations of `torch.library` for calls that torch traces: `torch.compile`, export, fake tensors.

Two operations belong together: one runs the function, and one pulls cotangents back, for which it
runs the function again. So graphs hold tensors and numbers only. The last result of the first one
is the position of the streams of random numbers, so that the second one draws the same numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any, Protocol

from difftile.diagnostics import LaunchError
from difftile.interop.operation import ArrayLayout, Operation, Output
from difftile.torch.call import OperationCall, Planner, Tensors, Values
from difftile.torch.layouts import NUMPY_DTYPES, TORCH_DTYPES
from difftile.torch.library import Tensor, torch

_KINDS = {bool: "bool", int: "SymInt", float: "float", str: "str"}
_TAGS = (torch.Tag.nondeterministic_seeded,)  # two calls may draw different numbers
_numbers = itertools.count()


class Traceable(Planner, Protocol):
    """An operation on tensors, of which operations of `torch.library` are made."""

    operation: Operation

    def overwrite(self, tensors: Tensors, constants: Values) -> None:
        """Run the function in the memory of the tensors."""
        ...


def kinds_of(constants: Values) -> Values:
    """Return the types of the constants that are numbers or texts, and the others themselves."""
    return tuple([type(one) if type(one) in _KINDS else one for one in constants])


def numbers_in(constants: Values) -> Values:
    """Return the constants that are numbers or texts."""
    return tuple([one for one in constants if type(one) in _KINDS])


class Traced:
    """The operations of `torch.library` of an operation, one pair for each kind of constants.

    Args:
        op: The operation.
    """

    def __init__(self, op: Traceable) -> None:
        self._op = op
        self._made: dict[tuple[Any, ...], str] = {}

    def of(self, kinds: Values) -> str:
        """Return the name of the operation for constants of some kinds."""
        made = self._made.get(kinds)
        if made is None:
            made = self._made[kinds] = self._define(kinds)
        return made

    def _define(self, key: tuple[Any, ...]) -> str:
        """Define the operation for constants of some types, or of some values."""
        operation = self._op.operation
        word = re.sub(r"\W", "", operation.name) or "function"
        name = f"difftile::{word}_{next(_numbers)}"
        given = [_KINDS.get(one) for one in key]
        numbers = [f"{kind} c{k}" for k, kind in enumerate(given) if kind is not None]
        if operation.mutates:
            letters = iter("abcdefghijklmnopqrstuvwxyz")
            tensors = [
                f"Tensor({next(letters)}!) t{k}" if one in operation.mutates else f"Tensor t{k}"
                for k, one in enumerate(operation.names)
            ]
            torch.library.define(name, f"({', '.join([*tensors, *numbers])}) -> ()")
            self._implement_overwriting(name, key)
        else:
            tensors = [f"Tensor t{k}" for k in range(len(operation.names))]
            self._define_pull(f"{name}_pull", tensors, numbers, key)
            self._define_run(name, tensors, numbers, key)
        return name.partition("::")[2]

    def _constants(self, key: tuple[Any, ...], numbers: Sequence[Any]) -> Values:
        each = iter(numbers)
        return tuple([next(each) if one in _KINDS else one for one in key])

    def _implement_overwriting(self, name: str, key: tuple[Any, ...]) -> None:
        count = len(self._op.operation.names)

        def run(*args: Any) -> None:
            self._op.overwrite(args[:count], self._constants(key, args[count:]))

        def fake(*args: Any) -> None:
            return None

        torch.library.impl(name, ("CPU", "CUDA"), run)
        torch.library.register_fake(name, fake)

    def _define_run(
        self, name: str, tensors: list[str], numbers: list[str], key: tuple[Any, ...]
    ) -> None:
        """Define the operation, whose derivative is another one."""
        count = len(tensors)
        returned = ", ".join(["Tensor"] * (len(self._results) + 1))
        torch.library.define(
            name, f"({', '.join([*tensors, *numbers])}) -> ({returned})", tags=_TAGS
        )

        def run(*args: Any) -> tuple[Tensor, ...]:
            call = OperationCall(self._op, self._constants(key, args[count:]))
            found = call.run(args[:count])
            return (*found, torch.tensor(call.position, dtype=torch.int64))

        def fake(*args: Any) -> tuple[Tensor, ...]:
            found = self._fake_results(args[:count])
            return (*found, torch.empty((), dtype=torch.int64, device="cpu"))

        def setup(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.set_materialize_grads(False)
            ctx.numbers = inputs[count:]
            ctx.wanted = [
                needed and one.is_floating_point()
                for needed, one in zip(ctx.needs_input_grad[:count], inputs[:count], strict=True)
            ]
            ctx.save_for_backward(*inputs[:count], output[-1])

        def backward(ctx: Any, *cotangents: Any) -> Any:
            *saved, position = ctx.saved_tensors
            operator = getattr(torch.ops.difftile, f"{name.partition('::')[2]}_pull").default
            found = iter(operator(*saved, *cotangents[:-1], position, ctx.wanted, *ctx.numbers))
            bars = [next(found) if one else None for one in ctx.wanted]
            return *bars, *[None for _ in ctx.numbers]

        torch.library.impl(name, ("CPU", "CUDA"), run)
        torch.library.register_fake(name, fake)
        torch.library.register_autograd(name, backward, setup_context=setup)

    def _define_pull(
        self, name: str, tensors: list[str], numbers: list[str], key: tuple[Any, ...]
    ) -> None:
        """Define the operation that pulls cotangents back."""
        count, end = len(tensors), len(tensors) + len(self._results)
        seeds = [f"Tensor? s{k}" for k in range(end - count)]
        given = [*tensors, *seeds, "Tensor position", "bool[] wanted", *numbers]
        torch.library.define(name, f"({', '.join(given)}) -> Tensor[]")

        def pull_back(*args: Any) -> list[Tensor]:
            position, wanted, *rest = args[end:]
            call = OperationCall(self._op, self._constants(key, rest))
            call.plan(args[:count])
            call.position = int(position)
            return list(call.pull(tuple(wanted), None, args[:count], args[count:end]))

        def fake_back(*args: Any) -> list[Tensor]:
            pairs = zip(args[:count], args[end + 1], strict=True)
            return [
                torch.empty(one.shape, dtype=one.dtype, device=one.device)
                for one, is_wanted in pairs
                if is_wanted
            ]

        torch.library.impl(name, ("CPU", "CUDA"), pull_back)
        torch.library.register_fake(name, fake_back)

    @property
    def _results(self) -> tuple[Output, ...]:
        """The results, whose shapes follow from the tensors.

        Raises:
            LaunchError: The function returns fields, whose shapes are known after it has run.
        """
        results = self._op.operation.results
        if results is None:
            raise LaunchError(
                f"{self._op!r} returns fields, whose shapes torch has to know before it runs; name "
                "the results, outputs={...}, or call it outside of what torch compiles."
            )
        return results

    def _fake_results(self, tensors: Tensors) -> list[Tensor]:
        """Return tensors without memory like the results."""
        operation = self._op.operation
        shapes = [tuple(one.shape) for one in tensors]
        found: list[Tensor] = []
        for one in self._results:
            like = one.start if one.like is None else one.like
            if like is not None:
                of = tensors[like]
                found.append(torch.empty(of.shape, dtype=of.dtype, device=of.device))
                continue
            layouts = [
                ArrayLayout(s, NUMPY_DTYPES[x.dtype]) for s, x in zip(shapes, tensors, strict=True)
            ]
            layout = operation.layout_of(one, layouts)
            dtype = TORCH_DTYPES[layout.dtype]
            found.append(torch.empty(layout.shape, dtype=dtype, device=tensors[0].device))
        return found

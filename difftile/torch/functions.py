"""The functions of `torch.autograd` around calls: derivatives, transformations, forward mode."""

# torch has no types here: see `library.py`.
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access, unknown-base-class]
# pyrefly: ignore-errors[unknown-variable-type]

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.interop.linear import KeptNumbers
from difftile.torch.call import OperationCall, Some, Tensors
from difftile.torch.library import Tensor, torch


def _floats(tensors: Tensors, needed: Sequence[bool]) -> tuple[bool, ...]:
    """Return which tensors need derivatives."""
    return tuple([n and x.is_floating_point() for n, x in zip(needed, tensors, strict=True)])


def spread(wanted: Sequence[bool], found: Some) -> list[Tensor | None]:
    """Return the found tensors at the chosen positions, and None at the others."""
    each = iter(found)
    return [next(each) if one else None for one in wanted]


def _there(tensors: Some) -> list[bool]:
    return [one is not None for one in tensors]


class Recorded(torch.autograd.Function):
    """An eager call, which keeps values for its backward pass."""

    @staticmethod
    def forward(ctx: Any, call: OperationCall, *tensors: Tensor) -> Any:
        """Run the function."""
        ctx.call = call
        ctx.set_materialize_grads(False)
        ctx.kept = None
        ctx.wanted = wanted = _floats(tensors, ctx.needs_input_grad[1:])
        if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
            # Hooks that save or recompute tensors themselves do not expect values kept here.
            ctx.save_for_backward(*tensors)
            return tuple(call.run(tensors))
        results, kept = call.record(wanted, tensors)
        if isinstance(kept, KeptNumbers):
            ctx.kept = kept
            ctx.save_for_backward(*tensors, *[results[j] for j in kept.outputs])
        else:
            # Attached to a saved tensor, the values are freed when torch frees the others.
            holder = torch.empty(0)
            holder.kept = kept
            ctx.save_for_backward(*tensors, holder)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Pull cotangents back; on request so that torch can differentiate it."""
        call: OperationCall = ctx.call
        saved, count = ctx.saved_tensors, len(ctx.wanted)
        tensors, more = saved[:count], saved[count:]
        if torch.is_grad_enabled():
            found = Pulled.apply(call, ctx.wanted, count, *tensors, *cotangents)
        elif ctx.kept is not None:
            found = call.pull(ctx.wanted, ctx.kept, tensors, cotangents, more)
        else:
            found = call.pull(ctx.wanted, more[0].kept if more else None, tensors, cotangents)
        return None, *spread(ctx.wanted, found)


def _for_each(cls: Any, info: Any, in_dims: Any, call: OperationCall, *args: Any) -> Any:
    """Run a function of this file for each entry of a batch; return the results and their axes."""
    found: list[Any] = []
    for k in range(info.batch_size):
        given = [
            one.select(axis, k) if isinstance(axis, int) else one
            for one, axis in zip(args, in_dims[1:], strict=True)
        ]
        found.append(cls.apply(call.part(k, begins=cls is Transformed), *given))
    columns = list(zip(*found, strict=True))
    results = tuple([None if one[0] is None else torch.stack(one) for one in columns])
    return results, tuple([None if one is None else 0 for one in results])


class Transformed(torch.autograd.Function):
    """A call below `torch.func`, or in forward mode."""

    @staticmethod
    def forward(call: OperationCall, *tensors: Tensor) -> Any:
        """Run the function."""
        return tuple(call.run(tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the tensors."""
        ctx.call, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.wanted = _floats(tensors, ctx.needs_input_grad[1:])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Pull cotangents back."""
        tensors = ctx.saved_tensors
        found = Pulled.apply(ctx.call, ctx.wanted, len(tensors), *tensors, *cotangents)
        return None, *spread(ctx.wanted, found)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        """Push tangents."""
        tensors = ctx.saved_tensors
        return Pushed.apply(ctx.call, len(tensors), *tensors, *tangents)

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: OperationCall, *tensors: Any) -> Any:
        """Run the function for each entry of a batch."""
        return _for_each(Transformed, info, in_dims, call, *tensors)


class Pulled(torch.autograd.Function):
    """Cotangents of the tensors, as a function of the tensors and the results' cotangents."""

    @staticmethod
    def forward(call: OperationCall, wanted: tuple[bool, ...], count: int, *given: Any) -> Any:
        """Pull cotangents back."""
        return tuple(call.pull(wanted, None, given[:count], given[count:]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep all tensors."""
        ctx.call, ctx.wanted, ctx.count, *given = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*given)
        ctx.save_for_forward(*given)

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> Any:
        """Pull cotangents of cotangents back."""
        given, wanted, count = ctx.saved_tensors, ctx.wanted, ctx.count
        found = PulledTwice.apply(ctx.call, wanted, count, len(given), *given, *directions)
        each = (*wanted, *_there(given[count:]))
        return None, None, None, *spread(each, found)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Push tangents through the pullback."""
        given = ctx.saved_tensors
        return PushedPull.apply(ctx.call, ctx.wanted, ctx.count, len(given), *given, *tangents[3:])

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: OperationCall, *args: Any) -> Any:
        """Pull back for each entry of a batch."""
        return _for_each(Pulled, info, in_dims, call, *args)


class _Last(torch.autograd.Function):
    """A function that cannot be differentiated; `text` is the message of its error."""

    text = ""

    def __init_subclass__(cls) -> None:
        def refuse(ctx: Any, *_: Any) -> Any:
            raise LaunchError(f"{ctx.name}: {cls.text}")

        def vmap(info: Any, in_dims: Any, call: OperationCall, *args: Any) -> Any:
            return _for_each(cls, info, in_dims, call, *args)

        cls.backward = cls.jvp = staticmethod(refuse)
        cls.vmap = staticmethod(vmap)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep only the name, for errors."""
        ctx.name = repr(inputs[0].op)


class PulledTwice(_Last):
    """Second derivatives."""

    text = (
        "third derivatives are not known; leave out create_graph=True where second ones are taken."
    )

    @staticmethod
    def forward(call: OperationCall, wanted: Any, count: int, middle: int, *given: Any) -> Any:
        """Pull cotangents of cotangents back."""
        first, second = given[:count], given[count:middle]
        return tuple(call.second(wanted, first, second, given[middle:]))


class Pushed(_Last):
    """Tangents of the results."""

    text = "derivatives of forward mode are not known; take reverse mode below forward mode."

    @staticmethod
    def forward(call: OperationCall, count: int, *given: Any) -> Any:
        """Push tangents."""
        return tuple(call.push(given[:count], given[count:]))


class PushedPull(_Last):
    """Tangents of cotangents."""

    text = PulledTwice.text

    @staticmethod
    def forward(call: OperationCall, wanted: Any, count: int, middle: int, *given: Any) -> Any:
        """Push tangents through the pullback."""
        dots = given[middle : middle + count], given[middle + count :]
        return tuple(call.push_pull(wanted, given[:count], given[count:middle], *dots))

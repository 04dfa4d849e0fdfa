"""One call of a wrapped module, as a step of a tape.

The call leaves a graph of torch, whose leaves are tensors over the fields: the tape keeps the
contents of these. The reverse goes through the graph, and so do tangents and second derivatives, so
that the module runs once: with J = dy/dx, u^T J is linear in u, and the adjoint of that, along
tangents of x, is J x_dot.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from difftile.diagnostics import LaunchError, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.numbers import Number
from difftile.fields.recording import RECORDING
from difftile.interop.foreign_call import ForeignCall, leaves_of
from difftile.ir.types import is_float
from difftile.recording.replayed_fields import ReverseContext
from difftile.runtime.operands import fingerprint
from difftile.runtime.tape_recorder import TapeRecorder
from difftile.torch.graphs import graph_nbytes, other_leaves
from difftile.torch.library import Tensor, torch
from difftile.torch.module_state import CallState, changed_since
from difftile.torch.parameters import FieldParameter
from difftile.torch.tensors import add_tensor, as_scalar, tensor_of, tensor_over, write_tensor
from difftile.transforms.trees import mapped

if TYPE_CHECKING:
    from difftile.torch.wrap import WrappedModule

_OVERWRITTEN = "modified by an inplace operation"  # in torch's error about saved tensors


@dataclass(frozen=True, slots=True)
class WantedDerivatives:
    """The derivatives that a call has to support.

    Args:
        any: Whether there are any; otherwise the call leaves no graph.
        of_all: Whether any field may be differentiated, and not only fields with gradients.
        of_parameters: Whether the reverse adds to the gradients of parameters.
        again: Whether the call may have to run again.
        nested: Whether a transformation that is part of a tape asks for them.
    """

    any: bool
    of_all: bool = False
    of_parameters: bool = False
    again: bool = False
    nested: bool = False

    @staticmethod
    def wanted() -> WantedDerivatives:
        """Return the derivatives that the open recorder asks for."""
        recording = RECORDING.get()
        recorder = recording.recorder
        if recorder is None or recording.constant:
            return WantedDerivatives(False, again=recorder is not None)
        parameters = torch.is_grad_enabled()
        if isinstance(recorder, TapeRecorder):
            return WantedDerivatives(True, of_parameters=parameters, again=recorder.runs_again)
        nested = parameters and any(isinstance(one, TapeRecorder) for one in recording.hidden)
        return WantedDerivatives(True, of_all=True, again=True, nested=nested)


@dataclass(slots=True)
class ModuleRun:
    """A run of the module.

    Args:
        inputs: The tensors of the fields, in the order of the operands.
        outputs: The tensors of the result, in the number type of their fields.
        nbytes: The bytes that the graph keeps besides fields; 0 where they are not counted.
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    nbytes: int = 0

    @property
    def varying(self) -> list[int]:
        """The places of the outputs through which derivatives pass."""
        return [k for k, one in enumerate(self.outputs) if one.requires_grad]

    @property
    def leaves(self) -> list[int]:
        """The places of the inputs to which derivatives pass."""
        return [k for k, one in enumerate(self.inputs) if one.requires_grad]


class ModuleCall(ForeignCall[ModuleRun]):
    """A call of a wrapped module.

    Args:
        wrapped: The module.
        args: The arguments.
        kwargs: The arguments by name.
        out: The fields that take the result, in its structure; None for new ones.
        derivatives: The derivatives to be ready for.
    """

    kind, array = "module", "tensor"
    is_seen = False

    def __init__(
        self,
        wrapped: WrappedModule,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        derivatives: WantedDerivatives,
    ) -> None:
        arguments = wrapped.signature.named(args, kwargs)
        self._wrapped = wrapped
        self._args, self._kwargs = args, kwargs
        self._derivatives = derivatives
        self._prints = fingerprint(arguments) if derivatives.again else None
        self._state: CallState | None = None
        super().__init__(
            wrapped.name, arguments, out, wrapped.dtype, differentiates=derivatives.any
        )

    # Running

    def ends_gradients(self, first: ModuleRun) -> bool:
        """Tell whether gradients pass to parameters."""
        if self._derivatives.nested and other_leaves(first.outputs, first.inputs):
            raise TapeError(
                f"{self.title} has parameters, whose gradients do not pass through a "
                "transformation or a solver on a tape. Call the module on the tape itself; or, if "
                "its parameters are constants, call it in 'with torch.no_grad():'."
            )
        self.has_parameters = self._derivatives.of_parameters and bool(first.varying)
        if self.has_parameters:
            self._refuse_fields(first)
        return self.has_parameters

    def _refuse_fields(self, first: ModuleRun) -> None:
        """Refuse parameters that are fields; asked once for inputs of the same shapes.

        Raises:
            LaunchError: There is one, whose gradient would be the tape's and torch's at once.
        """
        key = self._key(first)
        if key in self._wrapped.seen:
            return
        if any(
            isinstance(one, FieldParameter) for one in other_leaves(first.outputs, first.inputs)
        ):
            raise LaunchError(
                f"{self.title} uses a tensor that dt.torch.parameters has made of a field. Pass "
                "the field itself as an argument, so that the tape knows of it."
            )
        self._wrapped.seen.add(key)

    def is_array(self, value: object) -> bool:
        """Tell whether a value is a tensor."""
        return isinstance(value, torch.Tensor)

    def write(self, target: ArrayLike, array: Tensor) -> None:
        """Set the contents of a field."""
        write_tensor(target, array)

    def again(self) -> ModuleRun:
        """Call the module again, in the state of torch in which it was called first."""
        assert self._state is not None
        if fingerprint(self.arguments) != self._prints:
            raise TapeError(changed_since(self.title))
        with self._state.restored(self.title):
            return self.evaluated()[0]

    def evaluated(self) -> tuple[ModuleRun, Any]:
        """Call the module on tensors over the fields.

        Raises:
            LaunchError: The module has written to one of the tensors, or its result does not fit.
        """
        derivatives, inputs = self._derivatives, list[Tensor]()

        def give(value: Any, name: str) -> Any:
            if isinstance(value, Number):
                return value.plain
            if not isinstance(value, ArrayLike):
                return value
            tensor = tensor_over(value)
            if derivatives.any and is_float(value.element):
                tensor.requires_grad_(derivatives.of_all or value.has_grads)
            inputs.append(tensor)
            return tensor

        with torch.inference_mode(False), torch.set_grad_enabled(derivatives.any):
            args, kwargs = mapped(self._args, give, ""), mapped(self._kwargs, give, "")
            versions = [one._version for one in inputs]
            first = None
            if derivatives.again and self._state is None:
                tensors = [one for _, one in leaves_of(self.arguments) if self.is_array(one)]
                first = CallState(self._wrapped.modules, tensors, self._wrapped.buffers)
            with self.noted(inputs):
                result = self._wrapped.function(*args, **kwargs)
            if first is not None:
                first.ran()
                self._state = first
            for operand, one, version in zip(self.inputs, inputs, versions, strict=True):
                if one._version != version:
                    raise LaunchError(
                        f"{self.title} has written into its argument {operand.name}, whose field "
                        "now holds other numbers. Give the module a copy: wrap a function that "
                        "calls it on x.clone(), or make it without 'inplace=True'."
                    )
            found = ModuleRun(inputs, self.converted(result, as_scalar))
        if derivatives.any and derivatives.again:
            found.nbytes = self._graph_nbytes(found)
        return found, result

    def _graph_nbytes(self, found: ModuleRun) -> int:
        """Return the bytes that a graph keeps, estimated once for inputs of the same shapes."""
        key = self._key(found)
        known = self._wrapped.graph_nbytes.get(key)
        if known is None:
            known = graph_nbytes(found.outputs, found.inputs)
            self._wrapped.graph_nbytes[key] = known
        return known

    def _key(self, found: ModuleRun) -> object:
        return tuple((one.dtype, one.shape, one.requires_grad) for one in found.inputs)

    # Derivatives

    def reverse(self, then: ReverseContext, saved: ModuleRun) -> None:
        """Pull cotangents back to the fields, and to the parameters."""
        if not saved.varying:
            return
        places, bars = saved.leaves, self._after(then, saved)
        outputs = [saved.outputs[k] for k in saved.varying]
        leaves = [saved.inputs[k] for k in places]
        with self._differentiating("backward"):
            if self._derivatives.of_parameters:
                torch.autograd.backward(outputs, bars, retain_graph=True)
                found = [one.grad for one in leaves]
                for one in leaves:
                    one.grad = None
            else:
                found = _pulled(outputs, leaves, bars)
        self._add(then, places, found)

    def derivative(self, at: Sequence[ReverseContext], saved: ModuleRun) -> bool:
        """Push tangents through the reverse.

        The reverse is g = J(x)^T y_bar. The tangent of g is J^T y_bar_dot + H x_dot, and H, the
        second derivative of y . y_bar, is symmetric: H x_dot is the adjoint of g along x_dot.
        """
        if not saved.varying:
            return True
        if len(at) > 2:
            self._push_reverse(at, saved)
            return True
        then, dots = at
        places, bars = saved.leaves, self._after(then, saved)
        bar_dots = self._after(dots, saved)
        outputs = [saved.outputs[k] for k in saved.varying]
        leaves = [saved.inputs[k] for k in places]
        along = [self.stand(dots, self.inputs[k]) for k in places]
        with self._differentiating("second derivative"):
            found = _pulled(outputs, leaves, bars, create_graph=True)
            moved = _pulled(outputs, leaves, bar_dots)
            pairs = [
                (one, tensor_of(dot))
                for one, dot in zip(found, along, strict=True)
                if one is not None and one.requires_grad
            ]
            bent = _pulled([one for one, _ in pairs], leaves, [dot for _, dot in pairs])
        self._add(then, places, found)
        self._add(dots, places, moved)
        self._add(dots, places, bent)
        return True

    def _push_reverse(self, at: Sequence[ReverseContext], saved: ModuleRun) -> None:
        """Push tangents through the reverse along several directions, one after the other."""
        places, outputs = saved.leaves, [saved.outputs[k] for k in saved.varying]
        leaves = [saved.inputs[k] for k in places]
        given = [
            leaves if part == 0 else [tensor_of(self.stand(one, self.inputs[k])) for k in places]
            for part, one in enumerate(at)
        ]
        given = [
            [one.requires_grad_() for one in (*contents, *self._after(context, saved))]
            for contents, context in zip(given, at, strict=True)
        ]
        with self._differentiating("third derivative"), torch.enable_grad():
            bars = given[0][len(leaves) :]
            parts = [_pulled(outputs, leaves, bars, create_graph=True)]
            while len(parts) < len(at):
                inputs = [one for each in given[: len(parts)] for one in each]
                dots = [one for each in given[len(parts) : 2 * len(parts)] for one in each]
                parts += [_pushed(one, inputs, dots) for one in parts]
        for context, found in zip(at, parts, strict=True):
            self._add(context, places, [one if one is None else one.detach() for one in found])

    def push(self, at: Sequence[ReverseContext], saved: ModuleRun) -> bool:
        """Push tangents from the fields to the result, along one direction."""
        if len(at) > 1:
            return False
        (then,) = at
        places = saved.leaves
        outputs = [saved.outputs[k] for k in saved.varying]
        leaves = [saved.inputs[k] for k in places]
        with self._differentiating("second backward, by which tangents pass,"):
            dots = _pushed(outputs, leaves, [self._tangent(then, k) for k in places])
        for k, dot in zip(saved.varying, dots, strict=True):
            target = self.stand(then, self.outputs[k]).grad_in
            if target is not None and dot is not None:
                write_tensor(target, dot)
        return True

    def _tangent(self, then: ReverseContext, k: int) -> Tensor:
        dot = self.stand(then, self.inputs[k]).grad_out
        assert dot is not None
        return tensor_of(dot)

    def _after(self, then: ReverseContext, saved: ModuleRun) -> list[Tensor]:
        """Return copies of the gradients of the results, which torch may keep as its own.

        Torch makes a gradient that it is given the `.grad` of a parameter where it can.
        """
        bars: list[Tensor] = []
        for k in saved.varying:
            bar = self.stand(then, self.outputs[k]).grad_in
            zeros = torch.zeros_like(saved.outputs[k])
            bars.append(zeros if bar is None else tensor_of(bar).to(zeros.device))
        return bars

    def _add(self, then: ReverseContext, places: list[int], found: Sequence[Tensor | None]) -> None:
        """Add to the gradients of the inputs."""
        for k, tensor in zip(places, found, strict=True):
            target = self.stand(then, self.inputs[k]).grad_out
            if target is not None and tensor is not None:
                add_tensor(target, tensor)

    @contextmanager
    def _differentiating(self, what: str) -> Generator[None]:
        """Note the differentiated call on an error of torch.

        Raises:
            TapeError: A tensor that the graph keeps was changed since.
        """
        with self.differentiating(what):
            try:
                yield
            except RuntimeError as error:
                if _OVERWRITTEN in str(error):
                    raise TapeError(changed_since(self.title)) from error
                raise


def _pushed(
    outputs: Sequence[Tensor | None], inputs: Sequence[Tensor], dots: Sequence[Tensor]
) -> list[Tensor | None]:
    """Return the tangents of outputs, which depend on all that is given; None for constants.

    Adjoints are linear in the adjoints that they come from: their adjoint pushes tangents.
    """
    varying = [one for one in outputs if one is not None and one.requires_grad]
    seeds = [torch.zeros_like(one).requires_grad_() for one in varying]
    with torch.enable_grad():
        found = _pulled(varying, inputs, seeds, create_graph=True)
        pairs = [
            (one, dot)
            for one, dot in zip(found, dots, strict=True)
            if one is not None and one.requires_grad
        ]
        bars = [dot for _, dot in pairs]
        moved = iter(_pulled([one for one, _ in pairs], seeds, bars, create_graph=True))
    return [None if one is None or not one.requires_grad else next(moved) for one in outputs]


def _pulled(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    bars: Sequence[Tensor],
    *,
    create_graph: bool = False,
) -> list[Tensor | None]:
    """Return the adjoints of inputs, given adjoints of outputs; None for independent inputs."""
    if not outputs or not inputs:
        return [None] * len(inputs)
    return list(
        torch.autograd.grad(
            outputs, inputs, bars, retain_graph=True, create_graph=create_graph, allow_unused=True
        )
    )

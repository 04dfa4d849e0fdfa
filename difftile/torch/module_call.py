"""One call of a wrapped module, as a step of a tape.

The call leaves a graph of torch, whose leaves are tensors over the fields: the tape keeps the
contents of these. The reverse goes through the graph, and so do tangents and second derivatives, so
that the module runs once: with J = dy/dx, u^T J is linear in u, and the adjoint of that, along
tangents of x, is J x_dot.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from difftile.diagnostics import Label, LaunchError, Span, TapeError, render
from difftile.fields.array_like import ArrayLike, check_is_field
from difftile.fields.field import Field, fields_with_grads, make
from difftile.fields.recording import RECORDING
from difftile.fields.tracked import TrackedFloat
from difftile.ir.types import Type, is_float, shape_of
from difftile.recording.access_observer import RefusingObserver, observed_by
from difftile.recording.opaque import Keeps, OpaqueStep, Use, closed, watched
from difftile.recording.replayed_fields import ReverseContext
from difftile.runtime.operands import FieldOperand, fingerprint, stand_in, uses_of
from difftile.runtime.source_location import caller, span_of
from difftile.runtime.tape import Tape
from difftile.torch.graphs import graph_nbytes, other_leaves
from difftile.torch.library import Tensor, torch
from difftile.torch.module_state import CallState, changed_since
from difftile.torch.tensors import (
    add_tensor,
    as_scalar,
    check_fits,
    element_of_tensor,
    tensor_of,
    tensor_over,
    write_tensor,
)
from difftile.transforms.trees import aligned, mapped

if TYPE_CHECKING:
    from difftile.torch.wrap import Wrapped

_OVERWRITTEN = "modified by an inplace operation"  # what torch says of tensors that it has saved


@dataclass(frozen=True, slots=True)
class Derivatives:
    """The derivatives that a call has to be ready for.

    Args:
        any: Whether there are any; otherwise the call leaves no graph.
        of_all: Whether those of every field may be asked for, and not only of those with gradients.
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
    def wanted() -> Derivatives:
        """Return what the open recorder asks for."""
        recording = RECORDING.get()
        recorder = recording.recorder
        if recorder is None or recording.constant:
            return Derivatives(False, again=recorder is not None)
        parameters = torch.is_grad_enabled()
        if isinstance(recorder, Tape):
            return Derivatives(True, of_parameters=parameters, again=recorder.runs_again)
        nested = parameters and any(isinstance(one, Tape) for one in recording.hidden)
        return Derivatives(True, of_all=True, again=True, nested=nested)


@dataclass(slots=True)
class Evaluation:
    """A run of the module.

    Args:
        inputs: The tensors of the fields, in the order of the operands.
        outputs: The tensors of the result, in the number type of their fields.
        names: The places of those in the result.
        nbytes: The bytes that the graph keeps, beside the fields; 0 where nobody counts them.
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    names: list[str]
    nbytes: int = 0

    @property
    def varying(self) -> list[int]:
        """The places of the outputs through which derivatives pass."""
        return [k for k, one in enumerate(self.outputs) if one.requires_grad]

    @property
    def leaves(self) -> list[int]:
        """The places of the inputs to which derivatives pass."""
        return [k for k, one in enumerate(self.inputs) if one.requires_grad]


class ModuleCall(OpaqueStep):
    """A call of a wrapped module.

    Args:
        wrapped: The module.
        args: The arguments.
        kwargs: The arguments by name.
        out: The fields that take the result, in its structure; None for new ones.
        derivatives: The derivatives to be ready for.

    Attributes:
        result: The result of the module with fields in place of tensors.
    """

    def __init__(
        self,
        wrapped: Wrapped,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        derivatives: Derivatives,
    ) -> None:
        self.name, self.title = wrapped.name, f"module '{wrapped.name}'"
        self._wrapped = wrapped
        self._arguments = wrapped.named(args, kwargs)
        self._args, self._kwargs = args, kwargs
        self._derivatives = derivatives
        self._where = caller()
        self._inputs = [
            FieldOperand(name, value, "In")
            for name, value in leaves_of(self._arguments)
            if isinstance(value, ArrayLike)
        ]
        self._prints = fingerprint(self._arguments) if derivatives.again else None
        self._state: CallState | None = None
        self._outputs: list[FieldOperand] = []
        self._elements: list[Type] = []
        self._given = out
        self.result: Any = None
        first = self._first_run()
        self._first: Evaluation | None = first
        super().__init__(wrapped.name, self._uses(), kind="module")
        self.has_parameters = derivatives.of_parameters and bool(first.varying)

    # The fields

    def _uses(self) -> list[Use]:
        """Return the uses of the fields; those that take the result may be arguments as well."""
        inputs, outputs = list(self._inputs), list(self._outputs)
        for k, out in enumerate(outputs):
            for j, operand in enumerate(inputs):
                same = out.value.base.storage is operand.value.base.storage
                if same and out.window == operand.window:
                    outputs[k] = replace(out, role="InOut")
                    inputs[j] = replace(operand, role="InOut")
        return [
            replace(use, keeps=Keeps.BEFORE if use.reads else Keeps.NOTHING)
            for use in uses_of(self.title, [*inputs, *outputs])
        ]

    def _make_fields(self, result: Any, found: Evaluation) -> None:
        """Make the fields of the result, unless they are given."""
        graded = self._derivatives.of_parameters and bool(found.varying)
        graded = graded or any(operand.value.has_grads for operand in self._inputs)
        names = iter(found.names)
        given = None if self._given is None else iter(aligned(result, self._given, "out"))
        elements = iter(self._elements)

        def replace_tensor(value: Any, name: str) -> Any:
            field = None if given is None else next(given)
            if not isinstance(value, torch.Tensor):
                return value
            element = next(elements)
            if field is None:
                inner = len(shape_of(element))
                shape = tuple(value.shape)
                field = make(element, shape[: len(shape) - inner])
                field = field.with_grads() if graded and is_float(element) else field
            self._outputs.append(FieldOperand(next(names), field, "Out"))
            return field

        self.result = mapped(result, replace_tensor, "the result")

    # Running

    def _first_run(self) -> Evaluation:
        """Run the module before the step, whose fields follow from the result."""
        uses = uses_of(self.title, self._inputs)
        with watched(self.title, tuple(uses)) as writes:
            with closed(keeping={use.field.storage for use in uses}), self._refusing(uses):
                found, result = self._evaluated()
            writes.uses()
        if self._derivatives.nested and other_leaves(found.outputs, found.inputs):
            raise TapeError(
                f"{self.title} has parameters, whose gradients do not pass through a "
                "transformation or a solver on a tape. Call the module on the tape itself; or, if "
                "its parameters are constants, call it in 'with torch.no_grad():'."
            )
        self._make_fields(result, found)
        return found

    def run(self) -> Evaluation:
        """Write the result into its fields.

        Raises:
            TapeError: The call runs again, and what it depends on has changed.
        """
        found, self._first = self._first, None
        if found is None:
            found = self._run_again()
        for operand, tensor in zip(self._outputs, found.outputs, strict=True):
            write_tensor(operand.value, tensor)
        return found

    def _run_again(self) -> Evaluation:
        assert self._state is not None
        if fingerprint(self._arguments) != self._prints:
            raise TapeError(changed_since(self.title))
        with self._state.restored(self.title), self._refusing(self.uses):
            return self._evaluated()[0]

    def _evaluated(self) -> tuple[Evaluation, Any]:
        """Call the module on tensors over the fields; return its tensors and its result.

        Raises:
            LaunchError: It has written into one of them, or its result does not fit.
        """
        derivatives, inputs = self._derivatives, list[Tensor]()

        def give(value: Any, name: str) -> Any:
            if isinstance(value, TrackedFloat):
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
                tensors = [one for _, one in leaves_of(self._arguments) if is_tensor(one)]
                first = CallState(self._wrapped.modules, tensors, self._wrapped.buffers)
            with self._noted(inputs):
                result = self._wrapped.function(*args, **kwargs)
            if first is not None:
                first.ran()
                self._state = first
            for operand, one, version in zip(self._inputs, inputs, versions, strict=True):
                if one._version != version:
                    raise LaunchError(
                        f"{self.title} has written into its argument {operand.name}, whose field "
                        "now holds other numbers. Give the module a copy: wrap a function that "
                        "calls it on x.clone(), or make it without 'inplace=True'."
                    )
            found = self._fitted(inputs, result)
        if derivatives.any and derivatives.again:
            found.nbytes = self._graph_nbytes(found)
        return found, result

    def _fitted(self, inputs: list[Tensor], result: Any) -> Evaluation:
        """Return the tensors of a result in the number types of their fields."""
        leaves = leaves_of({"the result": result})
        tensors = [(name, one) for name, one in leaves if is_tensor(one)]
        if not tensors:
            raise LaunchError(f"{self.title} returned {result!r}, in which there is no tensor.")
        if not self._elements:
            self._elements = self._elements_of(result, tensors)
        outputs = [
            as_scalar(one, element)
            for (_, one), element in zip(tensors, self._elements, strict=True)
        ]
        return Evaluation(inputs, outputs, [name for name, _ in tensors])

    def _elements_of(self, result: Any, tensors: list[tuple[str, Tensor]]) -> list[Type]:
        """Return the element types of the fields of a result.

        Raises:
            LaunchError: The fields that are given do not fit, or the type does not.
        """
        leaves = [one for _, one in leaves_of({"": result})]
        if self._given is None:
            several = isinstance(self._wrapped.dtype, (tuple, list, Mapping))
            asked = (
                aligned(result, self._wrapped.dtype, "dtype")
                if several
                else [self._wrapped.dtype] * len(leaves)
            )
            asked = [want for want, one in zip(asked, leaves, strict=True) if is_tensor(one)]
            return [
                element_of_tensor(one, want, f"{name} of {self.title}")
                for (name, one), want in zip(tensors, asked, strict=True)
            ]
        given = aligned(result, self._given, "out")
        given = [field for field, one in zip(given, leaves, strict=True) if is_tensor(one)]
        for (name, one), field in zip(tensors, given, strict=True):
            check_is_field(field, f"{self!r}: 'out' takes")
            check_fits(field, one, f"{name} of {self.title}")
        return [field.element for field in given]

    def _graph_nbytes(self, found: Evaluation) -> int:
        """Return what a graph keeps; calls with inputs of the same shapes are taken to be alike."""
        key = tuple((one.dtype, one.shape, one.requires_grad) for one in found.inputs)
        known = self._wrapped.graph_nbytes.get(key)
        if known is None:
            known = graph_nbytes(found.outputs, found.inputs)
            self._wrapped.graph_nbytes[key] = known
        return known

    # Derivatives

    def reverse(self, then: ReverseContext, saved: Evaluation) -> None:
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

    def second(self, then: ReverseContext, dots: ReverseContext, saved: Evaluation) -> bool:
        """Push tangents through the reverse.

        The reverse is g = J(x)^T y_bar. The tangent of g is J^T y_bar_dot + H x_dot, and H, the
        second derivative of y . y_bar, is symmetric: H x_dot is the adjoint of g along x_dot.
        """
        if not saved.varying:
            return True
        places, bars = saved.leaves, self._after(then, saved)
        bar_dots = self._after(dots, saved)
        outputs = [saved.outputs[k] for k in saved.varying]
        leaves = [saved.inputs[k] for k in places]
        along = [self._stand(dots, k) for k in places]
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

    def forward(self) -> OpaqueStep:
        """Return the call as a step whose reverse pushes tangents."""
        return _ModuleTangent(self)

    def push(self, then: ReverseContext, saved: Evaluation) -> None:
        """Push tangents from the fields to the result."""
        places = saved.leaves
        outputs = [saved.outputs[k] for k in saved.varying]
        leaves = [saved.inputs[k] for k in places]
        seeds = [torch.zeros_like(one).requires_grad_() for one in outputs]
        with self._differentiating("second backward, by which tangents pass,"):
            with torch.enable_grad():
                found = _pulled(outputs, leaves, seeds, create_graph=True)
            pairs = [
                (one, self._tangent(then, k))
                for one, k in zip(found, places, strict=True)
                if one is not None and one.requires_grad
            ]
            dots = _pulled([one for one, _ in pairs], seeds, [dot for _, dot in pairs])
        for k, dot in zip(saved.varying, dots, strict=True):
            target = self._stand_out(then, k).grad_in
            if target is not None and dot is not None:
                write_tensor(target, dot)

    def _tangent(self, then: ReverseContext, k: int) -> Tensor:
        dot = self._stand(then, k).grad_out
        assert dot is not None
        return tensor_of(dot)

    def _stand(self, then: ReverseContext, k: int) -> ArrayLike:
        """Return what stands for an input in a derivative."""
        uses = {use.field.storage: use for use in self.uses}
        return stand_in(then, uses, self._inputs[k].value)

    def _stand_out(self, then: ReverseContext, k: int) -> ArrayLike:
        """Return what stands for an output in a derivative."""
        uses = {use.field.storage: use for use in self.uses}
        return stand_in(then, uses, self._outputs[k].value)

    def _after(self, then: ReverseContext, saved: Evaluation) -> list[Tensor]:
        """Return copies of the gradients of what the call wrote, which torch may keep as its own.

        Torch makes a gradient that it is given the `.grad` of a parameter where it can.
        """
        bars: list[Tensor] = []
        for k in saved.varying:
            bar = self._stand_out(then, k).grad_in
            zeros = torch.zeros_like(saved.outputs[k])
            bars.append(zeros if bar is None else tensor_of(bar).to(zeros.device))
        return bars

    def _add(self, then: ReverseContext, places: list[int], found: Sequence[Tensor | None]) -> None:
        """Add to the gradients of the inputs."""
        for k, tensor in zip(places, found, strict=True):
            target = self._stand(then, k).grad_out
            if target is not None and tensor is not None:
                add_tensor(target, tensor)

    # Errors

    @property
    def place(self) -> Span | None:
        """The call."""
        return span_of(*self._where)

    @contextmanager
    def _refusing(self, uses: Sequence[Use]) -> Generator[None]:
        """Refuse that the function reads fields with gradients that are not arguments."""
        if not self._derivatives.any:
            yield
            return
        outside = {one.storage for one in fields_with_grads()}
        outside -= {use.field.storage for use in uses}
        with observed_by(RefusingObserver(outside, self._refuse_outside)):
            yield

    def _refuse_outside(self, field: Field, what: str) -> None:
        if what == "reads" and not field.has_grads:
            return
        label = "no gradient would flow to it" if what == "reads" else "no tape would know"
        title = f"{self.title} {what} {field!r}, which has a gradient and is not an argument."
        hint = "pass it as an argument, or read x.detach() if it is a constant."
        raise LaunchError(render(title, [Label(span_of(*caller()), label)], (), hint))

    @contextmanager
    def _noted(self, inputs: Sequence[Tensor]) -> Generator[None]:
        """Let an exception of the module say what it was given."""
        try:
            yield
        except Exception as error:
            given = ", ".join(
                f"{operand.name}: {str(one.dtype).removeprefix('torch.')} {tuple(one.shape)} on "
                f"{one.device}"
                for operand, one in zip(self._inputs, inputs, strict=True)
            )
            _note(error, f"In {self.title}, which was given {given or 'no field'}.")
            raise

    @contextmanager
    def _differentiating(self, what: str) -> Generator[None]:
        """Let an error of torch say which call is differentiated.

        Raises:
            TapeError: A tensor that the graph keeps was changed since.
        """
        try:
            yield
        except RuntimeError as error:
            if _OVERWRITTEN in str(error):
                raise TapeError(changed_since(self.title)) from error
            file, line = self._where
            _note(error, f'In the {what} of {self.title}, called at File "{file}", line {line}.')
            raise


class _ModuleTangent(OpaqueStep):
    """A call whose reverse pushes tangents."""

    def __init__(self, call: ModuleCall) -> None:
        super().__init__(call.name, call.uses)
        self.title = call.title
        self._call = call

    def run(self) -> Evaluation:
        """Write the result into its fields."""
        return self._call.run()

    def reverse(self, then: ReverseContext, saved: Evaluation) -> None:
        """Push tangents."""
        self._call.push(then, saved)


def leaves_of(tree: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the leaves of nested values, with their places in words."""
    found: list[tuple[str, Any]] = []

    def note(value: Any, name: str) -> Any:
        found.append((name, value))
        return value

    for name, value in tree.items():
        mapped(value, note, name)
    return found


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor of torch."""
    return isinstance(value, torch.Tensor)


def _pulled(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    bars: Sequence[Tensor],
    *,
    create_graph: bool = False,
) -> list[Tensor | None]:
    """Return the adjoints of inputs for those of outputs; None where nothing passes."""
    if not outputs or not inputs:
        return [None] * len(inputs)
    return list(
        torch.autograd.grad(
            outputs, inputs, bars, retain_graph=True, create_graph=create_graph, allow_unused=True
        )
    )


def _note(error: Exception, text: str) -> None:
    add_note: Callable[[str], None] | None = getattr(error, "add_note", None)
    if add_note is not None:  # from Python 3.11 on
        add_note(text)

"""`@dt.custom_op`: Python code over fields as a step of a tape, with derivatives of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, overload

from difftile.compile.annotations import role_of
from difftile.compile.arguments import CallArgs, CallKwargs
from difftile.compile.by_name import ByName
from difftile.compile.methods import BoundMethod
from difftile.compile.redefinition import redefines
from difftile.diagnostics import FieldError, Label, LaunchError, brief, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import field_of, is_array
from difftile.fields.numbers import plain_numbers, take_constants
from difftile.fields.recording import RECORDING
from difftile.linearization.sweep import forward_of
from difftile.recording.opaque import Pushing
from difftile.recording.perform import perform
from difftile.runtime.explicit import run_adjoint_of_step, run_tangents_of_step
from difftile.runtime.host_op import HostCall, HostRule
from difftile.runtime.operands import FieldOperand, operands_of
from difftile.runtime.source_location import definition_of
from difftile.tracebacks import boundary


class CustomOp(ByName):
    """Python code over fields: NumPy, SciPy, another library, launches of kernels.

    A call runs the code. On an open tape the call is one step: the code inside is not recorded, and
    gradients pass by the `backward` rule. A tape with a limit, and `@dt.checkpoint`, run it again:
    its results must depend only on its arguments.

    Fields among the arguments may be declared `dt.In` (read), `dt.Out` (all of it is overwritten)
    or `dt.InOut`. Of a field that is not declared the tape finds out whether it was written.

    `rules` are the derivatives that the user wrote: 'backward' and 'forward'.
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        functools.update_wrapper(self, function)
        self._signature = inspect.signature(function)
        self._roles = {
            p.name: role
            for p in self._signature.parameters.values()
            if (role := role_of(p.annotation)) is not None
        }
        self.rules: dict[str, HostRule] = {}

    def __repr__(self) -> str:
        return f"<custom op {self.function.__name__}({', '.join(self._signature.parameters)})>"

    def __get__(self, instance: object, owner: type | None = None) -> CustomOp | BoundOp:
        """Return the operation as a method of an object."""
        return self if instance is None else BoundOp(self, instance)

    @property
    def approximate(self) -> bool:
        """Whether the backward is marked as an approximate derivative."""
        rule = self.rules.get("backward")
        return rule is not None and rule.approximate

    @boundary
    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the operation; on an open tape it is recorded.

        Returns:
            The result of the function, which the rules get as the saved value.

        Raises:
            LaunchError: The arguments do not fit, or a field is written that is declared dt.In.
            NotDifferentiable: A gradient passes through the call, and there is no backward.
        """
        recording = RECORDING.get()
        names = [*self._signature.parameters][: len(args)]
        take_constants(repr(self), {**dict(zip(names, args, strict=False)), **kwargs})
        args, kwargs = plain_numbers(args), plain_numbers(kwargs)
        step = self._step(args, kwargs, checked=recording.recorder is not None)
        return perform(step).value

    @boundary
    def bwds(self, *args: object, **kwargs: object) -> None:
        """Run the backward of one call, without a tape; see `bwds` of kernels.

        Fields hold their contents from before that call, and hold them afterwards as well. The
        operation runs once more, in other memory.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no gradient comes in.
            NotDifferentiable: There is no backward.
        """
        self._refuse_tape("bwds")
        run_adjoint_of_step(repr(self), self._step(args, kwargs))

    @boundary
    def fwds(self, *args: object, **kwargs: object) -> Any:
        """Run the operation and push tangents through it, without a tape; see `fwds` of kernels.

        Returns:
            The result of the function.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no field has a gradient.
            NotDifferentiable: There is neither a forward nor a backward.
            TapeError: There is only a backward, and it computes in Python.
        """
        self._refuse_tape("fwds")
        call = self._step(args, kwargs)
        step = forward_of(call) if self.rules else Pushing(call)
        return run_tangents_of_step(repr(self), step).value

    def _refuse_tape(self, method: str) -> None:
        if RECORDING.get().recorder is not None:
            raise LaunchError(f"{self!r}: {method}() is for calls without a tape, and one is open.")

    def _step(self, args: CallArgs, kwargs: CallKwargs, *, checked: bool = True) -> HostCall:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LaunchError(f"{self!r}: {error}.") from None
        bound.apply_defaults()
        operands: list[FieldOperand] = []
        for name, given in bound.arguments.items():
            role, arg = self._roles.get(name), given
            if role is not None and is_array(given):
                arg = bound.arguments[name] = self._field_of(name, given)
            found = list(operands_of(name, arg, role))
            if role is not None and not found:
                raise LaunchError(f"{self!r}: '{name}' is a field, not {brief(arg)}.")
            operands += found
        return HostCall(
            self.function.__name__,
            self.function,
            bound,
            operands,
            self.rules,
            checked=checked,
        )

    def _field_of(self, name: str, array: Any) -> ArrayLike:
        try:
            return field_of(array)
        except FieldError as error:
            raise LaunchError(f"{self!r}: '{name}' makes no field. {error}") from None

    # Rules

    @overload
    def backward(self, rule: FunctionType) -> FunctionType: ...
    @overload
    def backward(self, *, approx: bool = False) -> Callable[[FunctionType], FunctionType]: ...
    def backward(self, rule: object = None, *, approx: bool = False) -> Any:
        """Give the operation a backward rule; the decorator `@op.backward`.

        The rule takes the arguments of the operation, and in one optional further parameter the
        result of the operation. Its fields have the contents of the fields of the call: `dt.In`
        and `dt.InOut` from before the call, `dt.Out` from after it. The rule reads `grad_in` of
        fields that the operation writes and adds to `grad_out` of fields that it reads, which are
        zero to begin with.

        Args:
            rule: A Python function.
            approx: Whether reports name the rule as an approximate derivative.

        Raises:
            LaunchError: The parameters are others, or there is a backward already.
        """
        return self._with_rule("backward", rule, approx)

    def forward(self, rule: FunctionType) -> FunctionType:
        """Give the operation a forward rule; the decorator `@op.forward`.

        As `backward`, but `grad_out` of fields that the operation reads holds tangents, and the
        rule sets `grad_in` of fields that it writes.

        Raises:
            LaunchError: The parameters are others, or there is a forward already.
        """
        return self._with_rule("forward", rule, False)

    def _with_rule(self, kind: str, rule: object, approximate: bool) -> Any:
        if rule is None:
            return functools.partial(self._with_rule, kind, approximate=approximate)
        if not isinstance(rule, FunctionType):
            raise LaunchError(
                f"@{self.function.__name__}.{kind} decorates a function, not {brief(rule)}."
            )
        if kind in self.rules and not redefines(rule, self.rules[kind].function):
            raise LaunchError(f"{self!r} has a {kind} already; remove one of the two.")
        signature = inspect.signature(rule)
        self.rules[kind] = HostRule(rule, signature, self._saved_in(kind, rule), approximate)
        return rule

    def _saved_in(self, kind: str, rule: FunctionType) -> str:
        """Return the parameter of a rule that takes saved values, if there is one.

        Raises:
            LaunchError: The parameters differ from the operation's, apart from one more at the end.
        """
        names, given = list(self._signature.parameters), list(inspect.signature(rule).parameters)
        if given[: len(names)] == names and len(given) <= len(names) + 1:
            return given[len(names)] if len(given) > len(names) else ""
        title = f"The {kind} of custom op '{self.function.__name__}' has other parameters."
        labels = [
            Label(definition_of(rule), f"takes ({', '.join(given)})"),
            Label(definition_of(self.function), f"takes ({', '.join(names)})"),
        ]
        hint = f"write 'def _({', '.join(names)})', with one more for the result of the operation."
        raise LaunchError(render(title, labels, (), hint))


class BoundOp(BoundMethod):
    """A custom op as a method of an object."""

    __slots__ = ()

    @property
    def __name__(self) -> str:
        return self._unbound.function.__name__

    @property
    def rules(self) -> Mapping[str, HostRule]:
        """The derivatives that the user wrote."""
        return self._unbound.rules


@overload
def custom_op(function: object) -> CustomOp: ...
@overload
def custom_op() -> Callable[[object], CustomOp]: ...
@boundary
def custom_op(function: object = None) -> Any:
    """Make a Python function over fields a step of tapes; the decorator `@dt.custom_op`.

    Raises:
        LaunchError: The object is not a plain Python function.
    """
    if function is None:
        return custom_op
    if isinstance(function, CustomOp) or not isinstance(function, FunctionType):
        decorated = hasattr(function, "function")
        raise LaunchError(
            f"{function!r} is decorated already; remove one of the two decorators."
            if decorated
            else f"@dt.custom_op decorates a function, not {brief(function)}."
        )
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise LaunchError(
            f"@dt.custom_op: a call of '{function.__name__}' would return before its body has run; "
            "decorate a plain function."
        )
    return CustomOp(function)

"""`@dt.func`: a function that is inlined into the kernels that call it, and may have rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any, Protocol, TypeAlias
from weakref import WeakSet

from difftile.compile.by_name import ByName
from difftile.compile.methods import check_class
from difftile.compile.redefinition import redefines
from difftile.diagnostics import LaunchError, brief
from difftile.frontend.annotations import resolve
from difftile.ops.vocabulary import RuleMeaning, Rules
from difftile.substrate import LOCK
from difftile.tracebacks import boundary


class Compiled(Protocol):
    """A kernel, which is compiled again when funcs that it calls change."""

    def forget(self) -> None:
        """Forget the compiled code."""
        ...

    def forget_launch(self) -> None:
        """Forget the latest launch, which the next one might repeat."""
        ...


KernelValue: TypeAlias = Any
"""A value in the kernel language: a number, vector, matrix, struct, field or function."""
_WATCHING: WeakSet[Compiled] = WeakSet()


def forget_all() -> None:
    """Invalidate the compiled code of every kernel: a func has other rules now."""
    for one in _watching():
        one.forget()


def forget_launches() -> None:
    """Discard the prepared launches of every kernel: fields have changed their types."""
    for one in _watching():
        one.forget_launch()


def watch(one: Compiled) -> None:
    """Tell something that is compiled from funcs when they change, for as long as it lives."""
    with LOCK:
        _WATCHING.add(one)


def _watching() -> list[Compiled]:
    with LOCK:
        return list(_WATCHING)


class Calling:
    """The runner of funcs that Python calls, set by `runtime` to avoid an import from here."""

    caller: Callable[[Func], Any] | None = None


class Func(ByName):
    """A function of the kernel language.

    Python calls it with fields, arrays and numbers: it runs for each of their elements.

    Args:
        function: The Python function.
        rules: The rules of its derivative; None where the derivative follows from the body.
    """

    def __init__(self, function: FunctionType, rules: Rules | None = None) -> None:
        self.function = function
        self.rules = rules
        resolve(function)
        functools.update_wrapper(self, function)

    @functools.cached_property
    def _caller(self) -> Any:
        if Calling.caller is None:
            raise LaunchError(f"{self!r} is called only from kernels here.")
        return Calling.caller(self)

    @boundary
    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the func for each element of its arguments, in one launch.

        Sizes of fields are equal, or 1; fields of fewer axes are repeated along the first ones.
        Numbers are constants, and so are arrays and tensors. An open tape records the launch.

        Args:
            args: Fields, arrays, numbers and functions; `dt.grid`, `dt.call_id`, `dt.rand(seed)`.
            kwargs: The same by name. `_result` is a field that takes the results, or "field",
                "numpy" or "torch".

        Returns:
            A field of the results, with a gradient if one of the arguments has one; a tuple of
            fields if the func returns a tuple. If all arguments are numbers, the result itself.

        Raises:
            LaunchError: The arguments do not fit the func, or each other.
            KernelError: The func is not a program of the kernel language.
        """
        return self._caller(*args, **kwargs)

    @boundary
    def bwds(self, *args: object, **kwargs: object) -> None:
        """Run the adjoint of one call, without a tape.

        It takes the arguments of the call, and `_result`, the field of the results. The adjoint
        reads the gradient of the results, and adds to the gradients of the arguments.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no gradient comes in.
            KernelError: The func is not a program of the kernel language.
        """
        self._caller.bwds(*args, **kwargs)

    @boundary
    def fwds(self, *args: object, **kwargs: object) -> Any:
        """Call the func and push tangents through the call, without a tape.

        Gradients of the arguments are tangents; the gradient of the result is set to its tangent.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no argument has a gradient.
            KernelError: The func is not a program of the kernel language.
        """
        return self._caller.fwds(*args, **kwargs)

    def return_type(self, kind: object) -> Any:
        """Return the func with another kind of results: "field", "numpy" or "torch".

        Raises:
            LaunchError: The kind is another one.
        """
        return self._caller.return_type(kind)

    def map(self, **axes: object) -> Any:
        """Return the func with the axes of some arguments along others of the call.

        `f.map(x=(0,), y=(1,))(x, y)` is an outer product, and `f.map(x=(1, 0))(x)` a transpose.
        `table=None` gives each call the whole field.

        Raises:
            LaunchError: The func has no such arguments, or the values are not axes.
        """
        return self._caller.map(**axes)

    def backward(self, rule: object = None, *, approx: bool = False) -> Any:
        """Give the func a backward rule; a decorator.

        The rule takes the arguments of the func, and the adjoint of the result. It returns a
        gradient for each argument that holds floats: a number, vector or matrix of the same shape,
        or a struct of these. The rule itself adds gradients of fields, `buf.grad_out[i] += ...`;
        the body of the func is not differentiated any more. Rules may call other funcs,
        `dt.bwd_diff(g)` and `dt.fwd_diff(g)`. A result that does not fit is an error when a kernel
        calls the func.

        Args:
            rule: A function of the kernel language.
            approx: Whether reports name the rule as an approximate derivative.

        Raises:
            LaunchError: The rule is not such a function, or the func has one already.
        """
        return self._with_rule("backward", rule, approx)

    def forward(self, rule: object = None, *, approx: bool = False) -> Any:
        """Give the func a forward rule; a decorator.

        The rule takes the arguments of the func, and a tangent for each of them that holds floats,
        and returns the tangent of the result. In it `buf.grad_out[i]` is the tangent of a field.

        Args:
            rule: A function of the kernel language.
            approx: Whether reports name the rule as an approximate derivative.

        Raises:
            LaunchError: The rule is not such a function, or the func has one already.
        """
        return self._with_rule("forward", rule, approx)

    def _with_rule(self, word: str, rule: object, approx: bool) -> Any:
        if rule is None:
            return lambda rule: self._with_rule(word, rule, approx)  # pyrefly: ignore[implicit-any-lambda, unknown-argument-type]
        rules, function = self.rules or Rules(), plain(rule)
        former: RuleMeaning | None = getattr(rules, word)
        if former is not None and not redefines(function, former.function):
            raise LaunchError(f"{self!r} has a {word} rule already.")
        change: dict[str, Any] = {word: RuleMeaning(function, approx)}
        self.rules = replace(rules, **change)
        forget_all()
        return rule

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the func as a method of an object."""
        if instance is None:
            return self
        check_class(f"Func '{self.function.__name__}'", instance)
        return MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<func {self.function.__name__}>"


def plain(function: object) -> FunctionType:
    """Return the Python function of a rule, which may be decorated as a func.

    Raises:
        LaunchError: The object is not a function.
    """
    if isinstance(function, Func):
        return function.function
    if not isinstance(function, FunctionType):
        raise LaunchError(f"a rule is a function, not {brief(function)}.")
    return function


@boundary
def func(function: object = None, *, opaque: bool = False) -> Any:
    """Make a function callable from kernels; the decorator `@dt.func`.

    Args:
        function: A plain Python function.
        opaque: Whether the body has no derivative: without a rule, a gradient through a call of the
            func is an error there.

    Raises:
        LaunchError: The object is not a plain Python function.
    """
    if function is None:
        return functools.partial(func, opaque=opaque)
    if isinstance(function, Func) or getattr(function, "_is_difftile_kernel", False):
        raise LaunchError(f"{function!r} is decorated already; remove one of the two decorators.")
    if not isinstance(function, FunctionType):
        raise LaunchError(f"@dt.func decorates a function, not {brief(function)}.")
    return Func(function, Rules() if opaque else None)

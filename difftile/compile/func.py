"""`@dt.func`: a function that kernels call; it is inlined there. It may have rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any, Protocol
from weakref import WeakSet

from difftile.compile.methods import check_class
from difftile.diagnostics import LaunchError
from difftile.ops.vocabulary import RuleMeaning, Rules
from difftile.substrate import LOCK


class Compiled(Protocol):
    """What is compiled from funcs, and has to be compiled again when they change."""

    def forget(self) -> None:
        """Forget what is compiled."""
        ...

    def forget_launch(self) -> None:
        """Forget the latest launch, which the next one might repeat."""
        ...


_WATCHING: WeakSet[Compiled] = WeakSet()


def forget_all() -> None:
    """Have every kernel compiled again: a func has other rules now."""
    for one in _watching():
        one.forget()


def forget_launches() -> None:
    """Have every kernel prepare its next launch anew: fields have changed their types."""
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
    """Who runs the funcs that Python calls: `runtime` says so, which nothing here depends on."""

    caller: Callable[[Func], Any] | None = None


class Func:
    """A function of the kernel language.

    Python calls it with fields, arrays and numbers: it runs for each of their elements.

    Args:
        function: The Python function.
        rules: What stands for its derivative; None where it follows from the body.
    """

    def __init__(self, function: FunctionType, rules: Rules | None = None) -> None:
        self.function = function
        self.rules = rules
        functools.update_wrapper(self, function)

    @functools.cached_property
    def _caller(self) -> Any:
        if Calling.caller is None:
            raise LaunchError(f"{self!r} is called from kernels alone here.")
        return Calling.caller(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the func for each element of its arguments, in one launch.

        Sizes of fields are equal, or 1; fields of fewer axes are repeated along the first ones.
        Numbers are constants, and so are arrays and tensors. An open tape records the launch.

        Args:
            args: Fields, arrays, numbers and functions; `dt.grid`, `dt.call_id`, `dt.rand(seed)`.
            kwargs: The same by name. `_result` is a field that takes the results, or "field",
                "numpy" or "torch".

        Returns:
            A field of the results, with a gradient if one of the arguments has one; a tuple of
            fields if the func returns a tuple. If there are numbers alone, what it returns.

        Raises:
            LaunchError: The arguments do not fit the func, or each other.
            KernelError: The func is no program of the kernel language.
        """
        return self._caller(*args, **kwargs)

    def bwds(self, *args: Any, **kwargs: Any) -> None:
        """Run the adjoint of one call, without a tape.

        It takes the arguments of the call, and `_result`: the field of the results. It reads their
        gradient, and adds to that of the arguments.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no gradient comes in.
            KernelError: The func is no program of the kernel language.
        """
        self._caller.bwds(*args, **kwargs)

    def fwds(self, *args: Any, **kwargs: Any) -> Any:
        """Call the func and push tangents through the call, without a tape.

        Gradients of the arguments are tangents, and that of the result becomes one.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no argument has a gradient.
            KernelError: The func is no program of the kernel language.
        """
        return self._caller.fwds(*args, **kwargs)

    def return_type(self, kind: Any) -> Any:
        """Return the func with another kind of results: "field", "numpy" or "torch".

        Raises:
            LaunchError: It is none of these.
        """
        return self._caller.return_type(kind)

    def map(self, **axes: Any) -> Any:
        """Return the func with the axes of some arguments along others of the call.

        `f.map(x=(0,), y=(1,))(x, y)` is an outer product, and `f.map(x=(1, 0))(x)` a transpose.
        `table=None` gives each call the whole field.

        Raises:
            LaunchError: The func has no such arguments, or these are no axes.
        """
        return self._caller.map(**axes)

    def backward(self, rule: Any = None, *, approx: bool = False) -> Any:
        """Give the func a backward rule; a decorator.

        The rule takes the arguments of the func, and the adjoint of what it returns. It returns a
        gradient for each argument that holds floats: a number, vector or matrix of the same shape,
        or a struct of those. Gradients of fields it adds itself, `buf.grad_out[i] += ...`; the body
        of the func is not differentiated any more. It may call other funcs, `dt.bwd_diff(g)` and
        `dt.fwd_diff(g)`. What does not fit is an error when a kernel calls the func.

        Args:
            rule: A function of the kernel language.
            approx: It is no exact derivative, and says so in reports.

        Raises:
            LaunchError: The rule is no such function, or there is one already.
        """
        return self._with_rule("backward", rule, approx)

    def forward(self, rule: Any = None, *, approx: bool = False) -> Any:
        """Give the func a forward rule; a decorator.

        The rule takes the arguments of the func, and a tangent for each of them that holds floats;
        it returns the tangent of the result. In it `buf.grad_out[i]` is the tangent of a field.

        Args:
            rule: A function of the kernel language.
            approx: It is no exact derivative, and says so in reports.

        Raises:
            LaunchError: The rule is no such function, or there is one already.
        """
        return self._with_rule("forward", rule, approx)

    def _with_rule(self, word: str, rule: Any, approx: bool) -> Any:
        if rule is None:
            return lambda rule: self._with_rule(word, rule, approx)  # pyright: ignore
        rules = self.rules or Rules()
        if getattr(rules, word) is not None:
            raise LaunchError(f"{self!r} has a {word} rule already.")
        self.rules = replace(rules, **{word: RuleMeaning(plain(rule), approx)})
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


def plain(function: Any) -> FunctionType:
    """Return the Python function of a rule, which may be decorated as a func.

    Raises:
        LaunchError: It is none.
    """
    if isinstance(function, Func):
        return function.function
    if not isinstance(function, FunctionType):
        raise LaunchError(f"a rule is a function, not {function!r}.")
    return function


def func(function: Any = None, *, opaque: bool = False) -> Any:
    """Make a function callable from kernels; the decorator `@dt.func`.

    Args:
        function: A plain Python function.
        opaque: Its body has no derivative: without a rule, a gradient that is wanted through a call
            of it is an error there.

    Raises:
        LaunchError: It is not a plain Python function.
    """
    if function is None:
        return functools.partial(func, opaque=opaque)
    if isinstance(function, Func) or getattr(function, "_is_difftile_kernel", False):
        raise LaunchError(f"{function!r} is decorated already; remove one of the two decorators.")
    if not isinstance(function, FunctionType):
        raise LaunchError(f"@dt.func decorates a function, not {function!r}.")
    return Func(function, Rules() if opaque else None)

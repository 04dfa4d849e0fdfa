"""The operators of fields, as funcs that map over them."""

from __future__ import annotations

from difftile.compile.arguments import CallArgs
from difftile.compile.func import KernelValue
from difftile.fields.arithmetic import Operators
from difftile.runtime.funcs import func


@func
def add(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a + b."""
    return a + b


@func
def subtract(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a - b."""
    return a - b


@func
def multiply(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a * b."""
    return a * b


@func
def divide(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a / b."""
    return a / b


@func
def remainder(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a modulo b, with the sign of b."""
    return a % b


@func
def power(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a to the power b."""
    return a**b


@func
def negative(a: KernelValue) -> KernelValue:
    """Return -a."""
    return -a


@func
def absolute(a: KernelValue) -> KernelValue:
    """Return the absolute value of a."""
    return abs(a)


@func
def positive(a: KernelValue) -> KernelValue:
    """Return a itself."""
    return +a


_FUNCS = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "remainder": remainder,
    "power": power,
    "absolute": absolute,
    "negative": negative,
    "positive": positive,
}


def apply(name: str, operands: CallArgs, into: object) -> KernelValue:
    """Return the result of an operator of fields.

    Args:
        name: The operator.
        operands: Fields and numbers.
        into: The field that takes the result; None for a new one.

    Raises:
        LaunchError: The shapes or types do not go together.
    """
    return _FUNCS[name](*operands, _result=into)


Operators.apply = apply

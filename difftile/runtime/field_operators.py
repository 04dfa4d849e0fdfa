"""The operators of fields, as funcs that map over them."""

from __future__ import annotations

from typing import Any

from difftile.fields.arithmetic import Operators
from difftile.runtime.funcs import func


@func
def add(a: Any, b: Any) -> Any:
    """Return a + b."""
    return a + b


@func
def subtract(a: Any, b: Any) -> Any:
    """Return a - b."""
    return a - b


@func
def multiply(a: Any, b: Any) -> Any:
    """Return a * b."""
    return a * b


@func
def divide(a: Any, b: Any) -> Any:
    """Return a / b."""
    return a / b


@func
def power(a: Any, b: Any) -> Any:
    """Return a to the power b."""
    return a**b


@func
def negative(a: Any) -> Any:
    """Return -a."""
    return -a


@func
def positive(a: Any) -> Any:
    """Return a itself."""
    return +a


_FUNCS = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "power": power,
    "negative": negative,
    "positive": positive,
}


def apply(name: str, operands: tuple[Any, ...], into: Any) -> Any:
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

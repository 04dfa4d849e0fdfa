"""Rules for functions that one cannot edit, and derivatives as functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from difftile.compile.func import Func, forget_all, plain
from difftile.diagnostics import LaunchError
from difftile.ops.vocabulary import DerivativeOf, FuncMeaning, RuleMeaning, Rules
from difftile.substrate import meaning_of as language_meaning

# The rules of functions that are no funcs of difftile, such as those of `@ti.func`.
_FOREIGN: WeakKeyDictionary[Any, Rules] = WeakKeyDictionary()


def with_foreign_rules(meaning: FuncMeaning) -> FuncMeaning:
    """Return the meaning of a function that is no func of difftile, with the rules it was given."""
    rules = _FOREIGN.get(meaning.function)
    return meaning if rules is None else replace(meaning, rules=rules)


def register_backward(f: Any, rule: Any, *, approx: bool = False) -> None:
    """Give a function a backward rule, as `@f.backward` does, where one cannot edit it.

    Args:
        f: A func of difftile or of Taichi.
        rule: A function of the arguments of `f` and of the adjoint of its result, which returns a
            gradient for each argument that is a float, vector, matrix or struct.
        approx: The rule is no exact derivative, and says so in reports.

    Raises:
        LaunchError: One of them is no function of the kernel language.
    """
    _change(f, backward=RuleMeaning(plain(rule), approx), substitute=None, differences=None)


def register_forward(f: Any, rule: Any, *, approx: bool = False) -> None:
    """Give a function a forward rule, as `@f.forward` does, where one cannot edit it.

    Args:
        f: A func of difftile or of Taichi.
        rule: A function of the arguments of `f` and of a tangent for each that holds floats, which
            returns the tangent of the result.
        approx: The rule is no exact derivative, and says so in reports.

    Raises:
        LaunchError: One of them is no function of the kernel language.
    """
    _change(f, forward=RuleMeaning(plain(rule), approx))


def register_substitute(f: Any, g: Any, *, approx: bool = False) -> None:
    """Let a function have the derivative of another one; what it computes stays as it is.

    Args:
        f: A func of difftile or of Taichi.
        g: A func of the same arguments, or a function such as `ti.sin`.
        approx: `g` is not the same function, and reports say so.

    Raises:
        LaunchError: `f` is no function of the kernel language.
    """
    _change(f, backward=None, forward=None, substitute=g, differences=None, approximate=approx)


def _change(f: Any, **changes: Any) -> None:
    if isinstance(f, Func):
        f.rules = replace(f.rules or Rules(), **changes)
    else:
        meaning = language_meaning(f)
        if not isinstance(meaning, FuncMeaning):
            raise LaunchError(
                f"{f!r} is no func; rules are for those of '@dt.func' and '@ti.func'."
            )
        known = _FOREIGN.get(meaning.function) or Rules()
        _FOREIGN[meaning.function] = replace(known, **changes)
    forget_all()


def bwd_diff(f: Any) -> DerivativeOf:
    """Return the adjoint of a func, to be called in kernels and rules.

    `dt.bwd_diff(f)(x, y, d_out)` takes the arguments of `f` and the adjoint of its result. It
    gives a gradient for each argument that holds floats: one alone as it is, several as a tuple. In
    a rule, what reaches fields that `f` reads is added to their gradients; elsewhere they are
    constants. Where `f` has a rule, that is what it is.
    """
    return DerivativeOf(f, forward=False)


def fwd_diff(f: Any) -> DerivativeOf:
    """Return the tangent of a func, to be called in kernels and rules.

    `dt.fwd_diff(f)(x, y, x_dot, y_dot)` takes the arguments of `f` and a tangent for each of them
    that holds floats, and gives the tangent of the result.
    """
    return DerivativeOf(f, forward=True)

"""Rules for functions that one cannot edit, and derivatives as functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from difftile.compile.func import Func, forget_all, plain
from difftile.diagnostics import LaunchError
from difftile.lang.meanings import meaning_of as language_meaning
from difftile.ops.vocabulary import DerivativeOf, FuncMeaning, RuleMeaning, Rules
from difftile.tracebacks import boundary

# The rules of functions that are not funcs of difftile, such as functions under `@ti.func`.
_FOREIGN: WeakKeyDictionary[Any, Rules] = WeakKeyDictionary()


def with_foreign_rules(meaning: FuncMeaning) -> FuncMeaning:
    """Return the meaning of a function that is not a func of difftile, with its rules."""
    rules = _FOREIGN.get(meaning.function)
    return meaning if rules is None else replace(meaning, rules=rules)


@boundary
def register_backward(f: object, rule: object, *, approx: bool = False) -> None:
    """Give a function a backward rule, as `@f.backward` does, where one cannot edit it.

    Args:
        f: A func of difftile or of Taichi.
        rule: A function of the arguments of `f` and of the adjoint of its result, which returns a
            gradient for each argument that is a float, vector, matrix or struct.
        approx: Whether reports name the rule as an approximate derivative.

    Raises:
        LaunchError: One of them is not a function of the kernel language.
    """
    _change(f, backward=RuleMeaning(plain(rule), approx), substitute=None, differences=None)


@boundary
def register_forward(f: object, rule: object, *, approx: bool = False) -> None:
    """Give a function a forward rule, as `@f.forward` does, where one cannot edit it.

    Args:
        f: A func of difftile or of Taichi.
        rule: A function of the arguments of `f` and of a tangent for each that holds floats, which
            returns the tangent of the result.
        approx: Whether reports name the rule as an approximate derivative.

    Raises:
        LaunchError: One of them is not a function of the kernel language.
    """
    _change(f, forward=RuleMeaning(plain(rule), approx))


@boundary
def register_substitute(f: object, g: object, *, approx: bool = False) -> None:
    """Give a function the derivative of another one; its values stay unchanged.

    Args:
        f: A func of difftile or of Taichi.
        g: A func of the same arguments, or a function such as `ti.sin`.
        approx: Whether reports name the derivative as approximate, as `g` is another function.

    Raises:
        LaunchError: `f` is not a function of the kernel language.
    """
    _change(f, backward=None, forward=None, substitute=g, differences=None, approximate=approx)


def _change(f: object, **changes: Any) -> None:
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


def bwd_diff(f: object) -> DerivativeOf:
    """Return the adjoint of a func, to be called in kernels and rules.

    `dt.bwd_diff(f)(x, y, d_out)` takes the arguments of `f` and the adjoint of its result. The
    result is a gradient for each argument that holds floats: a single one as it is, several as a
    tuple. In a rule, gradients of fields that `f` reads are added to theirs; elsewhere the fields
    are constants. Where `f` has a rule, the rule is called.
    """
    return DerivativeOf(f, forward=False)


def fwd_diff(f: object) -> DerivativeOf:
    """Return the tangent of a func, to be called in kernels and rules.

    `dt.fwd_diff(f)(x, y, x_dot, y_dot)` takes the arguments of `f` and a tangent for each of them
    that holds floats, and gives the tangent of the result.
    """
    return DerivativeOf(f, forward=True)

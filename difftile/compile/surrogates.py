"""Functions whose derivative is chosen: taken from elsewhere, clipped, scaled, or by differences.

All of them are funcs with rules, written as a user would write them.
"""

# The decorators that give a rule return any rule.
# pyrefly: ignore-errors[untyped-function-decorator]

from __future__ import annotations

from types import FunctionType
from typing import cast

from difftile.compile.func import Func, KernelValue, func
from difftile.compile.language_functions import sigmoid
from difftile.compile.rules import bwd_diff
from difftile.diagnostics import LaunchError, brief
from difftile.lang.meanings import meaning_of as language_meaning
from difftile.ops.table import OPS
from difftile.ops.vocabulary import Differences, FuncMeaning, OpName, Rules
from difftile.tracebacks import boundary


@func
def straight_through(hard: KernelValue, x: KernelValue) -> KernelValue:
    """Return `hard(x)`, with the derivative of the identity.

    Source: Bengio, Leonard and Courville, Estimating or Propagating Gradients Through Stochastic
    Neurons, 2013.

    Args:
        hard: A function of one argument, such as `ti.floor`.
        x: A float, vector or matrix.
    """
    return hard(x)


@straight_through.backward(approx=True)
def _(hard: KernelValue, x: KernelValue, d_out: KernelValue) -> KernelValue:
    return d_out


@straight_through.forward(approx=True)
def _(hard: KernelValue, x: KernelValue, x_dot: KernelValue) -> KernelValue:
    return x_dot


@func
def clip_grad(x: KernelValue, limit: KernelValue) -> KernelValue:
    """Return `x`; the gradient on its way back is kept between `-limit` and `limit`.

    Args:
        x: A float, vector or matrix; each component is clipped by itself.
        limit: A number.
    """
    return x


@clip_grad.backward(approx=True)
def _(x: KernelValue, limit: KernelValue, d_out: KernelValue) -> KernelValue:
    return max(min(d_out, limit), -limit), 0.0


@clip_grad.forward(approx=True)
def _(
    x: KernelValue, limit: KernelValue, x_dot: KernelValue, limit_dot: KernelValue
) -> KernelValue:
    return x_dot


@func
def scale_grad(x: KernelValue, factor: KernelValue) -> KernelValue:
    """Return `x`; the gradient on its way back is multiplied by `factor`.

    A factor of -1 turns the gradient round, one of 0 cuts it.

    Args:
        x: A float, vector or matrix.
        factor: A number.
    """
    return x


@scale_grad.backward(approx=True)
def _(x: KernelValue, factor: KernelValue, d_out: KernelValue) -> KernelValue:
    return factor * d_out, 0.0


@scale_grad.forward(approx=True)
def _(
    x: KernelValue, factor: KernelValue, x_dot: KernelValue, factor_dot: KernelValue
) -> KernelValue:
    return factor * x_dot


def surrogate(hard: KernelValue, soft: KernelValue) -> Func:
    """Return a function with the values of `hard` and the derivative of `soft`.

    `step = dt.surrogate(hard=lambda x: 1.0 if x > 0.5 else 0.0, soft=smooth_step)` is called in
    kernels as `step(x)`.

    Args:
        hard: A function of the kernel language, or one such as `ti.floor`.
        soft: A function of the same arguments.

    Raises:
        LaunchError: `hard` is not such a function.
    """
    return Func(_function(hard), Rules(substitute=soft, approximate=True))


@boundary
def finite_difference(f: KernelValue, eps: float | None = None, *, relative: bool = True) -> Func:
    """Return a function with the values of `f` and a derivative by central differences.

    The function is called twice for each float among the components of its arguments. The error is
    of the order `eps**2` by truncation, and of the precision over `eps` by rounding.

    Args:
        f: A function of the kernel language, or one such as `ti.sin`.
        eps: The step; 5e-3 in single, 6e-6 in double precision by default.
        relative: The step grows with the magnitude of arguments above 1.

    Raises:
        LaunchError: `f` is not such a function, or the step is not positive.
    """
    if eps is not None and not eps > 0:
        raise LaunchError(f"the step of differences is positive, not {brief(eps)}.")
    return Func(_function(f), Rules(differences=Differences(eps, relative), approximate=True))


def _function(f: KernelValue) -> FunctionType:
    """Return a Python function of the kernel language with the values of `f`."""
    if isinstance(f, Func):
        return f.function
    meaning = language_meaning(f)
    if isinstance(meaning, OpName):
        return _of_arity(f, OPS[meaning.name].arity)
    if isinstance(meaning, FuncMeaning):
        return cast(FunctionType, meaning.function)
    if not isinstance(f, FunctionType):
        raise LaunchError(f"pass a function of the kernel language, not {brief(f)}.")
    return f


def _of_arity(f: KernelValue, arity: int) -> FunctionType:
    def one(a: KernelValue) -> KernelValue:
        return f(a)

    def two(a: KernelValue, b: KernelValue) -> KernelValue:
        return f(a, b)

    def three(a: KernelValue, b: KernelValue, c: KernelValue) -> KernelValue:
        return f(a, b, c)

    return (one, two, three)[arity - 1]


def _blended(
    cond: KernelValue, margin: KernelValue, a: KernelValue, b: KernelValue, k: KernelValue = 10.0
) -> KernelValue:
    return a if cond else b


def _blend(
    cond: KernelValue, margin: KernelValue, a: KernelValue, b: KernelValue, k: KernelValue = 10.0
) -> KernelValue:
    return b + sigmoid(k * margin) * (a - b)


class SurrogateIf:
    """The type of `dt.surrogate_if`."""

    def __call__(
        self, comparison: KernelValue, a: KernelValue, b: KernelValue, k: float = 10.0
    ) -> KernelValue:
        """Return `a` where the comparison holds, else `b`; a derivative passes through it, too.

        The derivative is taken of `sigmoid(k * margin) * a + (1 - sigmoid(k * margin)) * b`, where
        the margin is by how much the comparison holds: `x` for `x > 0`.

        Args:
            comparison: `<`, `<=`, `>` or `>=` of two numbers, written here.
            a: A float, vector or matrix; both values are computed.
            b: Another one of the same type.
            k: How sharp the blend is.

        Raises:
            LaunchError: The function is called outside a kernel.
        """
        raise LaunchError("dt.surrogate_if is called in kernels.")

    def __repr__(self) -> str:
        return "<func surrogate_if>"


surrogate_if = SurrogateIf()
BLENDED = Func(_blended, Rules(substitute=func(_blend), approximate=True))


def _between(low: KernelValue, high: KernelValue, t: KernelValue) -> KernelValue:
    return low + t * (high - low)


_BETWEEN = func(_between)


@func
def lookup(table: KernelValue, x: KernelValue, surrogate: str = "linear") -> KernelValue:
    """Return the entry of a table nearest to a position; the ends go on beyond it.

    The entry takes the gradient. So does the position: the slope of the straight line between the
    entries on both sides of it.

    Args:
        table: A field with one index.
        x: The position, in entries from 0: a float.
        surrogate: "linear", or "none", which gives the position no gradient.
    """
    last = table.shape[0] - 1
    return table[int(min(max(x, 0.0), last) + 0.5)]


@lookup.backward(approx=True)
def _(
    table: KernelValue, x: KernelValue, surrogate: KernelValue, d_out: KernelValue
) -> KernelValue:
    last = table.shape[0] - 1
    at = min(max(x, 0.0), last)
    table.grad_out[int(at + 0.5)] += d_out
    low = max(min(int(at), last - 1), 0)
    high = min(low + 1, last)
    slope = bwd_diff(_BETWEEN)(table[low], table[high], at - low, d_out)[2]
    inside = x > 0 and x < last and surrogate == "linear"
    return slope if inside else 0.0

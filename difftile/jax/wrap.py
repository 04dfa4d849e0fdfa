"""`dt.jax.wrap`: functions of JAX over fields, as steps of tapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from difftile.diagnostics import LaunchError, brief
from difftile.interop.signature import WrappedFunction
from difftile.jax.derivatives import ArrayDerivatives
from difftile.jax.form import Form
from difftile.jax.function_call import FunctionCall


class Wrapped(WrappedFunction):
    """A function of JAX arrays that takes and returns fields.

    Fields among the arguments, in any pytree, arrive as arrays; the components of vectors are a
    trailing axis. Arrays in the result become new fields, in the same pytree; `out=` names fields
    to write instead. On a tape a call is one step, and gradients pass to the fields. Other arrays
    and numbers are constants.
    """

    def __init__(self, function: Callable[..., Any], dtype: Any, *, jit: bool) -> None:
        super().__init__(function, dtype)
        self._jit = jit
        self._known: dict[Form, ArrayDerivatives] = {}

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Call the function; on an open tape the call is recorded.

        Args:
            args: The arguments of the function, with fields in place of arrays.
            out: Fields, or parts of fields, that take the result, in its structure.
            kwargs: More arguments.

        Returns:
            The result with fields in place of arrays: `out`, or new ones.

        Raises:
            LaunchError: The result does not fit, or JAX would cut numbers to 32 bits.
        """
        self.signature.announce(args, kwargs)
        return FunctionCall(self, args, kwargs, out).perform()

    def derivatives(self, form: Form) -> ArrayDerivatives:
        """Return the function and its derivatives for one form of arguments."""
        known = self._known.get(form)
        if known is None:
            known = self._known[form] = ArrayDerivatives(self.function, form.rebuilt, jit=self._jit)
        return known


def wrap(function: Callable[..., Any] | None = None, *, dtype: Any = None, jit: bool = True) -> Any:
    """Make a function of JAX arrays a function of fields and a step of tapes.

        policy = dt.jax.wrap(lambda params, x: jnp.tanh(params["w"] @ x))
        params = dt.jax.fields({"w": jnp.ones((2, 3))})
        with dt.Tape(loss):
            u = policy(params, x)
            simulate(x, u)

    The function must be pure, as for `jax.jit`: each derivative runs it again. Its parameters are
    arguments, and those with gradients are fields: `dt.jax.fields` makes them of a pytree. Also a
    decorator: `@dt.jax.wrap`, or `@dt.jax.wrap(dtype=ti.math.vec2)`.

    Args:
        function: A function of arrays that returns arrays.
        dtype: The element type of the fields that are made: `ti.math.vec2` takes the last axis of
            an array for components. One for all arrays in the result, or in the structure of the
            result; numbers of the arrays' type by default.
        jit: Compile the function and its derivatives by `jax.jit`. Texts and functions among the
            arguments are compiled in; numbers are traced.

    Raises:
        ImportError: JAX is not installed.
        LaunchError: The object cannot be called, or is wrapped already.
    """
    if function is None:
        return functools.partial(wrap, dtype=dtype, jit=jit)
    if isinstance(function, Wrapped) or not callable(function) or isinstance(function, type):
        raise LaunchError(f"dt.jax.wrap takes a function of arrays, not {brief(function)}.")
    return Wrapped(function, dtype, jit=jit)

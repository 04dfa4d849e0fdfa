"""`dt.jax.op`: a function over fields as an operation of JAX."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from difftile.diagnostics import LaunchError, brief
from difftile.fields.recording import check_no_tape
from difftile.interop.operation import Names, Operation
from difftile.jax.calls import Call, CallSource, JaxConstant, Signatures, Site
from difftile.jax.ffi import ArraySignature
from difftile.jax.library import jax
from difftile.jax.primitives import bind
from difftile.substrate import current_session


def op(
    function: Callable[..., Any],
    inputs: Names = (),
    params: Names = (),
    outputs: Names | None = None,
    *,
    vmap: str | None = "leading",
) -> JaxOp:
    """Return a function over fields as an operation of JAX.

    The operation is a function of its arrays: kernels may overwrite their arguments, and the
    caller's arrays stay as they are. All transformations of JAX apply to it, up to second
    derivatives. A backward pass runs the function again.

    Args:
        function: A kernel, a func, or a Python function that launches kernels. It runs whenever JAX
            runs the compiled program, and must not call JAX.
        inputs: The parameters that are arrays. A mapping gives the type of their elements: a type
            such as `ti.math.vec3`, the sizes of the last axes, `(3,)`, or None for numbers.
        params: More of them, which stand for parameters; a number is a field of shape (). Other
            parameters are constants, for each value of which JAX compiles once.
        outputs: The parameters whose contents after the function are its results; by default the
            fields that the function returns. Outputs that are not inputs begin as zeros, and a
            mapping gives the input whose shape and type they have, or their shape: `{"y": "x"}`,
            `{"y": (3,)}`, a `jax.ShapeDtypeStruct`, or a function of the shapes by name.
        vmap: "leading" runs the function for each element of a batch, in one call; with None,
            `jax.vmap` is refused.

    Raises:
        LaunchError: Names or shapes do not fit the function.
    """
    return JaxOp(function, inputs, params, outputs, vmap)


class JaxOp:
    """A function over fields as an operation of JAX; `dt.jax.op` makes one."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Names = (),
        params: Names = (),
        outputs: Names | None = None,
        vmap: str | None = "leading",
    ) -> None:
        if vmap not in ("leading", None):
            raise LaunchError(f"vmap={vmap!r} is not an option; write vmap='leading' or vmap=None.")
        self._made = (function, inputs, params, outputs, vmap)
        shapes, self._dtypes = _as_shapes(outputs)
        self.operation = Operation(function, inputs, params, shapes)
        self._source = CallSource(self.operation, batches=vmap is not None)
        self.__name__ = self.operation.name
        parameters = [self.operation.parameters[name] for name in self.operation.taken]
        self.__signature__ = inspect.Signature(parameters)  # for static_argnames of jax.jit

    def __repr__(self) -> str:
        return f"<JAX op {self.operation.name}({', '.join(self.operation.taken)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return JaxOp, self._made

    def __deepcopy__(self, memo: object) -> JaxOp:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function on arrays, or trace it.

        Args:
            args: An array for each of `inputs` and `params`, and constants for other parameters.
            kwargs: The same by name.

        Returns:
            The array of the output, or a tuple of them.

        Raises:
            LaunchError: The arguments do not fit.
            TapeError: A tape is open.
        """
        check_no_tape(repr(self))
        given, rest = self.operation.bind(args, kwargs)
        arrays = [self._array(k, one) for k, one in enumerate(given)]
        constants = tuple([self._constant(k, one) for k, one in enumerate(rest)])
        signatures = tuple([ArraySignature(np.dtype(one.dtype), one.shape) for one in arrays])
        outputs = self._outputs(signatures, constants)
        call = Call("run", Site(self._source, constants, signatures, outputs))
        results = bind(call, 0, arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def _array(self, k: int, one: Any) -> Any:
        """Return an argument as an array of a type that fields have."""
        declared = self.operation.elements[k].dtype
        title = self.operation.title(k)
        if declared is not None:
            self._check_width(declared, title)
        if isinstance(one, (bool, int, float)):
            # Python's numbers are weakly typed: they take the type that is declared.
            one = np.asarray(one, declared or jax.dtypes.canonicalize_dtype(type(one)))
        try:
            array = jax.numpy.asarray(one)
        except TypeError:
            raise LaunchError(
                f"{title} is an array, not {brief(one)}; pass jnp.asarray(x)."
            ) from None
        if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
            raise LaunchError(f"{title} is a key; pass numbers, such as jax.random.normal(key).")
        return array

    def _check_width(self, dtype: np.dtype[Any], title: str) -> None:
        if jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise LaunchError(
                f"{title} has elements of {dtype}, and JAX is set to 32 bits; declare "
                f"{jax.dtypes.canonicalize_dtype(dtype)}, or call "
                "jax.config.update('jax_enable_x64', True)."
            )

    def _constant(self, k: int, one: Any) -> Any:
        """Return an argument that compiled programs hold.

        Raises:
            LaunchError: The argument is traced, or has no hash to tell programs apart.
        """
        name = self.operation.constants[k]
        if isinstance(one, jax.core.Tracer):
            raise LaunchError(
                f"{self.operation.name}: '{name}' is a constant, and the number passed is traced; "
                f"name it in params=('{name}',), which makes it a field of shape (), {name}[None]; "
                "or keep it from being traced, jax.jit(f, static_argnames=...)."
            )
        if isinstance(one, (jax.Array, np.ndarray)) and one.ndim == 0:
            one = one.item()
        try:
            hash(one)
        except TypeError:
            raise LaunchError(
                f"{self.operation.name}: '{name}' is a constant, and {brief(one)} has no hash by "
                f"which compiled programs are told apart; name it in inputs=('{name}',) if it is "
                "an array, or pass a tuple."
            ) from None
        # 1, 1.0 and True are equal, and differ for a kernel.
        return JaxConstant(cast(object, one).__class__, one)

    def _outputs(self, arrays: Signatures, constants: tuple[JaxConstant, ...]) -> Signatures:
        """Return the outputs; functions that return fields run once to tell."""
        device = None if current_session().on_host else 0
        plan = self._source.plan(arrays, device)
        layouts = plan.outputs
        if layouts is None:
            values = [one.value for one in constants]
            with jax.ensure_compile_time_eval():
                given = [_example(one, device) for one in arrays]
                layouts = plan.discover([address for address, _ in given], values)
        outputs = tuple([ArraySignature(one.dtype, one.shape) for one in layouts])
        for k, one in enumerate(outputs):
            name = self._output_name(k)
            self._check_width(one.dtype, f"{self.operation.name}: {name}")
            expected = self._dtypes.get(k, one.dtype)
            if expected != one.dtype:
                raise LaunchError(
                    f"{self.operation.name}: {name} has elements of {one.dtype}, as the first "
                    f"array of floats has, and {expected} is declared."
                )
        return outputs

    def _output_name(self, k: int) -> str:
        results = self.operation.results
        return f"the result {k}" if results is None else f"the output '{results[k].name}'"


def _as_shapes(outputs: Any) -> tuple[Any, dict[int, np.dtype[Any]]]:
    """Return outputs with shapes in the place of `jax.ShapeDtypeStruct`, and the types of these."""
    if not isinstance(outputs, Mapping):
        return outputs, {}
    shapes: dict[str, Any] = {}
    dtypes: dict[int, np.dtype[Any]] = {}
    for k, (name, one) in enumerate(cast("Mapping[str, Any]", outputs).items()):
        is_struct = isinstance(one, jax.ShapeDtypeStruct)
        shapes[name] = tuple(one.shape) if is_struct else one
        if is_struct:
            dtypes[k] = np.dtype(one.dtype)
    return shapes, dtypes


def _example(one: ArraySignature, device: int | None) -> tuple[int, Any]:
    """Return the address of an array that a function may be tried on, and its owner."""
    # Ones for floats, which may be divided by; zeros for integers, which may be indices.
    number = 1 if one.dtype.kind == "f" else 0
    array: Any = np.full(one.shape, number, one.dtype)
    if device is None:
        return array.ctypes.data, array
    array = jax.block_until_ready(jax.device_put(array, jax.devices("cuda")[device]))
    return array.unsafe_buffer_pointer(), array

"""Calls of an operation in compiled programs: by XLA's foreign functions, or by callbacks."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.interop.foreign_stream import Among
from difftile.jax import ffi
from difftile.jax.calls import Call, Shape, runner
from difftile.jax.ffi import ArraySignature, CallTarget
from difftile.jax.library import jax

mlir: Any = importlib.import_module("jax.interpreters.mlir")

# How programs for a platform call us, and on which device of CUDA their arrays are; other platforms
# are given arrays of the host.
WAYS: dict[str, tuple[str, int | None]] = {"cpu": ("ffi", None), "cuda": ("ffi", 0)}
_OTHERWISE = ("callback", None)


def lower(ctx: Any, *operands: Any, call: Call, batch: int) -> Any:
    """Write a call in the program that is being compiled.

    Raises:
        LaunchError: The call has no implementation, or the arrays are elsewhere than fields are.
    """
    if call.kind == "bend":
        raise LaunchError(
            f"{call.site.name}: a tangent of a tangent is not supported; take the second "
            "derivative as jax.hessian does, forward over reverse, or by jax.grad twice."
        )
    batches = tuple([tuple(one.shape[:batch]) for one in ctx.avals_in])
    platforms = ctx.platforms or ctx.module_context.platforms
    way, device = WAYS.get(platforms[0], _OTHERWISE) if len(platforms) == 1 else _OTHERWISE
    if way == "ffi":
        number = _target(call, batches, device)
        write = jax.ffi.ffi_lowering(ffi.NAME)
        return write(ctx, *operands, **{ffi.ATTRIBUTE: np.int64(number)})
    write = mlir.lower_fun(_callback(call, batches), multiple_results=True)
    return write(ctx, *operands)


@cache
def _target(call: Call, batches: tuple[Shape, ...], device: int | None) -> int:
    run = runner(call, batches, device)

    def on_stream(operands: Sequence[int], results: Sequence[int], stream: int) -> None:
        with Among(stream):
            run(operands, results)

    def on_host(operands: Sequence[int], results: Sequence[int], _: int) -> None:
        run(operands, results)

    batch = np.broadcast_shapes(*batches)
    operands = tuple(map(_with, batches, call.operands))
    results = tuple([_with(batch, one) for one in call.results])
    target = CallTarget(on_host if device is None else on_stream, operands, results, device)
    return ffi.target_number(target)


@cache
def _callback(call: Call, batches: tuple[Shape, ...]) -> Any:
    """Return a function of JAX's arrays that hands them to Python, as arrays of NumPy."""
    run = runner(call, batches, None)
    batch = np.broadcast_shapes(*batches)
    results = [_with(batch, one) for one in call.results]
    shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in results]

    def on_host(*arrays: Any) -> list[Any]:
        # Do not call JAX here: its arrays may wait for the program that waits for this call.
        operands = [np.ascontiguousarray(one) for one in arrays]
        found = [np.empty(one.shape, one.dtype) for one in results]
        run([one.ctypes.data for one in operands], [one.ctypes.data for one in found])
        return found

    def program(*operands: Any) -> Any:
        return jax.pure_callback(on_host, shapes, *operands)

    return program


def _with(batch: Shape, one: ArraySignature) -> ArraySignature:
    return ArraySignature(one.dtype, (*batch, *one.shape))

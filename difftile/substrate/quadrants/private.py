"""What the modules of `family` use of Quadrants that is not public."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from quadrants._lib import core as _core
from quadrants.lang import impl as _impl
from quadrants.lang import matrix_ops, misc
from quadrants.lang.any_array import AnyArray
from quadrants.lang.expr import Expr, make_constant_expr
from quadrants.lang.matrix import MatrixType, VectorType
from quadrants.types.annotations import template
from quadrants.types.enums import AutodiffMode, BoundaryMode
from quadrants.types.ndarray_type import NdarrayType
from quadrants.types.utils import is_real

core: Any = _core
impl: Any = _impl

ARCHS = ("cpu", "cuda", "vulkan", "metal", "amdgpu", "gpu")
HAS_STREAMS = True  # launches may be on another one than the null stream
NAME = "Quadrants"

DataType = core.DataTypeCxx
FORMATTED = "__qd_fmt_value__"  # marks a number with a format, in what is printed
Expression = core.ExprCxx
format_numbers = impl.qd_format
print_numbers = impl.qd_print

__all__ = [
    "ARCHS",
    "FORMATTED",
    "HAS_STREAMS",
    "NAME",
    "AnyArray",
    "DataType",
    "Expr",
    "Expression",
    "MatrixType",
    "NdarrayType",
    "VectorType",
    "annotations_of",
    "array_parameter",
    "building",
    "compiled",
    "core",
    "create_kernel",
    "format_numbers",
    "function_of",
    "impl",
    "is_real",
    "is_running",
    "kernel_of",
    "make_constant_expr",
    "materialised",
    "matrix_ops",
    "misc",
    "number_parameter",
    "place_of",
    "print_numbers",
    "template",
]


def create_kernel(program: Any, name: str, body: Any) -> Any:
    """Return a kernel whose statements a function appends to it."""
    return program.create_kernel(body, name, AutodiffMode.NONE)


@contextmanager
def building(kernel: Any) -> Generator[None]:
    """While this is open, functions of Quadrants append to a kernel or function."""
    runtime = impl.get_runtime()
    before = runtime._compiling_callable, runtime.inside_kernel
    runtime._compiling_callable, runtime.inside_kernel = kernel, True
    try:
        with runtime.src_info_guard(""):
            yield
    finally:
        runtime._compiling_callable, runtime.inside_kernel = before


def number_parameter(kernel: Any, dtype: Any, name: str) -> Any:
    """Declare a parameter of a kernel or function, a number, and return its expression."""
    index = kernel.insert_scalar_param(dtype, name)
    return core.make_arg_load_expr(
        index, dtype, False, create_load=True, dbg_info=core.DebugInfo("")
    )


def annotations_of(kernel: Any) -> dict[str, Any]:
    """Return the annotation of each parameter of a kernel that is written for the compiler."""
    return {parameter.name: parameter.annotation for parameter in kernel.arg_metas}


def array_parameter(kernel: Any, dtype: Any, ndim: int, name: str) -> Any:
    """Declare a parameter of a kernel or function, an array, and return that."""
    index = kernel.insert_ndarray_param(dtype, ndim, name, False)
    return AnyArray(core.make_external_tensor_expr(dtype, ndim, index, False, BoundaryMode.UNSAFE))


def compiled(program: Any, config: Any, kernel: Any) -> Any:
    """Return the code of a kernel."""
    return program.compile_kernel(config, program.get_device_caps(), kernel).compiled_kernel_data


def is_running() -> bool:
    """Tell whether the compiler has been started, by users or here."""
    return impl.get_runtime()._prog is not None


def kernel_of(decorated: Any) -> Any:
    """Return the kernel that a decorated function stands for."""
    return decorated._primal


def materialised(kernel: Any, examples: Sequence[Any]) -> Any:
    """Return the kernel of the core for arguments like some examples."""
    kernel.raise_on_templated_floats = False
    return kernel.materialized_kernels[kernel.ensure_compiled(*examples)]


def function_of(value: Any) -> FunctionType | None:
    """Return the function that a `@ti.func` stands for; None for other objects."""
    if not getattr(value, "_is_quadrants_function", False):
        return None
    found: FunctionType = value.__wrapped__
    return None if found.__module__.partition(".")[0] == "quadrants" else found


def place_of(position: int) -> Any:
    """Return the place of a parameter as launch contexts take it."""
    return position

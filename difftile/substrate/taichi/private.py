"""What the modules of `family` use of Taichi that is not public."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, cast

from taichi._lib import core as _core
from taichi.lang import impl as _impl
from taichi.lang import kernel_impl as _kernel_impl
from taichi.lang import matrix_ops, misc
from taichi.lang.any_array import AnyArray
from taichi.lang.enums import AutodiffMode, BoundaryMode
from taichi.lang.expr import Expr, make_constant_expr
from taichi.lang.matrix import MatrixType, VectorType
from taichi.types.ndarray_type import NdarrayType
from taichi.types.utils import is_real

core: Any = _core
impl: Any = _impl
template: Any = cast(Any, _kernel_impl).template

ARCHS = ("cpu", "cuda", "vulkan", "metal", "gpu")
HAS_STREAMS = False  # launches may be on another one than the null stream
NAME = "Taichi"

DataType = core.DataType
FORMATTED = "__ti_fmt_value__"  # marks a number with a format, in what is printed
Expression = core.Expr
format_numbers = impl.ti_format
print_numbers = impl.ti_print

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
    return program.create_kernel(body, name, AutodiffMode.NONE)  # pyrefly: ignore[unknown-attribute-access]


@contextmanager
def building(kernel: Any) -> Generator[None]:
    """While this is open, functions of Taichi append to a kernel or function."""
    runtime = impl.get_runtime()
    before = runtime.compiling_callable, runtime.inside_kernel
    runtime.compiling_callable, runtime.inside_kernel = kernel, True
    try:
        with runtime.src_info_guard(""):
            yield
    finally:
        runtime.compiling_callable, runtime.inside_kernel = before


def number_parameter(kernel: Any, dtype: Any, name: str) -> Any:
    """Declare a parameter of a kernel or function, a number, and return its expression."""
    index = kernel.insert_scalar_param(dtype, name)
    return core.make_arg_load_expr(
        index, dtype, False, create_load=True, arg_depth=0, dbg_info=core.DebugInfo("")
    )


def annotations_of(kernel: Any) -> dict[str, Any]:
    """Return the annotation of each parameter of a kernel that is written for the compiler."""
    return {parameter.name: parameter.annotation for parameter in kernel.arguments}


def array_parameter(kernel: Any, dtype: Any, ndim: int, name: str) -> Any:
    """Declare a parameter of a kernel or function, an array, and return that."""
    index = kernel.insert_ndarray_param(dtype, ndim, name, False)
    mode: Any = BoundaryMode
    return AnyArray(core.make_external_tensor_expr(dtype, ndim, index, False, 0, mode.UNSAFE))


def compiled(program: Any, config: Any, kernel: Any) -> Any:
    """Return the code of a kernel."""
    return program.compile_kernel(config, program.get_device_caps(), kernel)


def is_running() -> bool:
    """Tell whether the compiler has been started, by users or here."""
    return impl.get_runtime().prog is not None


def kernel_of(decorated: Any) -> Any:
    """Return the kernel that a decorated function stands for."""
    return decorated._primal


def materialised(kernel: Any, examples: Sequence[Any]) -> Any:
    """Return the kernel of the core for arguments like some examples."""
    return kernel.compiled_kernels[kernel.ensure_compiled(*examples)]


def function_of(value: Any) -> FunctionType | None:
    """Return the function that a `@ti.func` stands for; None for other objects."""
    if not getattr(value, "_is_taichi_function", False):
        return None
    found: FunctionType = value.__wrapped__
    return None if found.__module__.partition(".")[0] == "taichi" else found


def place_of(position: int) -> Any:
    """Return the place of a parameter as launch contexts take it."""
    return (position,)

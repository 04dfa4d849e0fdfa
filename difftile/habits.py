"""Habits from other libraries: names that difftile spells otherwise, and how it spells them.

Each table is for one place where such a name may be written: functions in kernels, attributes of
what difftile hands out, keywords of calls. Wrong names that are no habit get the closest right one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import getattr_static
from typing import TypeVar

from difftile.diagnostics import UnknownName, did_you_mean, render

Class = TypeVar("Class", bound=type)

# Functions in kernels, by their name in any library.
_ABSOLUTE = "write 'abs(x)'."
_CLAMP = "write 'ti.math.clamp(x, low, high)', which is 'low' where x is NaN."
_DETACH = "write 'dt.stop_grad(x)'."
_DRAW = "draw with 'dt.rand()', 'dt.randn()' or 'dt.randint(low, high)'."
_POWER = "write 'x ** y'."
_ROUND = "write 'ti.round(x)', which rounds ties away from zero, not to even."
_SIZES = "write 'ti.Vector([...])' for a few numbers, and pass many as a field."
_LOOP = "loop over a field, 'for i in x:', or over a range, 'for i in range(n):'."
_CAST = "cast with 'ti.cast(value, type)', such as 'ti.cast(x, ti.f32)'."
_DECORATE = "decorate kernels with '@dt.kernel' and functions that they call with '@dt.func'."
_CALL = "call the kernel from Python: 'kernel(x, y)'."
FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("absolute", "fabs"), _ABSOLUTE),
    **dict.fromkeys(("clip", "clamp"), _CLAMP),
    **dict.fromkeys(("detach", "stop_grad", "stop_gradient"), _DETACH),
    **dict.fromkeys(("rand", "random", "uniform", "randf", "normal", "randn", "randint"), _DRAW),
    **dict.fromkeys(("power", "pow", "float_power"), _POWER),
    **dict.fromkeys(("round", "rint", "around"), _ROUND),
    **dict.fromkeys(("array", "asarray", "tensor", "zeros", "ones", "full", "empty"), _SIZES),
    **dict.fromkeys(("tid", "program_id", "thread_id"), _LOOP),
    **dict.fromkeys(("float16", "float32", "float64", "int32", "int64", "uint8"), _CAST),
    **dict.fromkeys(("launch", "launch_tiled"), _CALL),
    **dict.fromkeys(("jit", "kernel", "func"), _DECORATE),
    **{f"arc{name}": f"write 'ti.a{name}(x)'." for name in ("sin", "cos")},
    **{f"vec{n}": f"write 'ti.math.vec{n}'." for n in (2, 3, 4)},
    **{f"mat{n}{n}": f"write 'ti.math.mat{n}'." for n in (2, 3, 4)},
    "arctan": "write 'math.atan(x)'.",
    "arctan2": "write 'ti.atan2(y, x)'.",
    "atomic_add": "write 'x[i] += value', which is atomic where it has to be.",
    "cbrt": "write 'ti.math.sign(x) * abs(x) ** (1.0 / 3.0)'.",
    "dot": "write 'a.dot(b)' for vectors, 'a @ b' for matrices.",
    "exp2": "write '2.0 ** x'.",
    "isclose": "compare the difference: 'abs(a - b) < 1e-6'.",
    "lerp": "write 'ti.math.mix(a, b, t)'.",
    "logsumexp": "write 'dt.logsumexp(v)'.",
    "matmul": "write 'a @ b'.",
    "max": "write 'ti.max(a, b)' for numbers, 'v.max()' for a vector.",
    "maximum": "write 'ti.max(a, b)', which is the number where the other one is NaN.",
    "mean": "write 'v.sum() / v.n' for a vector; over a field, add in a loop.",
    "min": "write 'ti.min(a, b)' for numbers, 'v.min()' for a vector.",
    "minimum": "write 'ti.min(a, b)', which is the number where the other one is NaN.",
    "norm": "write 'v.norm()'.",
    "outer": "write 'a.outer_product(b)'.",
    "printf": "write 'print(...)'.",
    "reciprocal": "write '1.0 / x'.",
    "relu": "write 'ti.max(x, 0.0)'.",
    "sign": "write 'ti.math.sign(x)', which is 0 where x is NaN.",
    "square": "write 'x * x'.",
    "sum": "write 'v.sum()' for a vector; over a field, add in a loop: 'total[None] += x[i]'.",
    "trace": "write 'm.trace()'.",
    "transpose": "write 'm.transpose()'.",
    "where": "write 'ti.select(condition, a, b)', or 'a if condition else b'.",
}

# Packages whose functions are called in kernels: as they should be, and out of habit.
LANGUAGE = ("taichi", "quadrants", "difftile", "math")
LIBRARIES = ("numpy", "scipy", "torch", "jax", "jaxlib", "warp", "cupy", "tensorflow", "triton")

# Modules by the names that they are imported under, for programs that have not imported them.
_IMPORTS = {
    "dt": "write 'import difftile as dt' at the top of the file.",
    "math": "write 'import math' at the top of the file.",
    "np": "write 'import numpy as np' at the top of the file.",
    "ti": "write 'import taichi as ti', or 'from difftile import ti', at the top of the file.",
}
OF_KERNELS = "kernels call the functions of 'ti', 'ti.math', 'dt' and 'math', such as 'ti.sin'."
MODULES: dict[str, str] = {
    **_IMPORTS,
    **dict.fromkeys(("cp", "jax", "jnp", "tf", "tl", "torch", "warp", "wp"), OF_KERNELS),
}

# Attributes of what difftile hands out.
_STAYS = (
    "a field stays on the device that dt.init(arch=...) names; 'x.to_numpy()' is an array, "
    "'torch.from_dlpack(x)' a tensor over its memory."
)
_OF_GRADIENTS = "write 'x = x.with_grads()', or make the field with 'grad=True'."
_ZERO = "write 'x.grad.clear()', or 'dt.zero_grads(x)'."
_BACKWARD = (
    "gradients come from a tape: put the launches in 'with dt.Tape(loss):' and read 'x.grad' after."
)
_CLEARED = "a tape clears the gradients of the fields that it meets; 'dt.zero_grads()' clears all."
_COMPONENT = (
    "elements that are vectors have it: 'v[i].x', and from Python 'v.to_numpy()[..., 0]' of all."
)
_FIELD: dict[str, str] = {
    **dict.fromkeys((*"xyzwrgba", "xy", "xyz", "rgb"), _COMPONENT),
    **{
        name: f"elements that are vectors or matrices have it: 'v[i].{name}(...)' in a kernel."
        for name in ("dot", "cross", "outer_product", "normalized", "trace", "determinant")
    },
    **dict.fromkeys(
        ("append", "extend", "insert"), "a field keeps its shape; write 'x[i] = value'."
    ),
    **dict.fromkeys(("to", "cpu", "cuda"), _STAYS),
    **dict.fromkeys(("requires_grad_", "enable_grad"), _OF_GRADIENTS),
    **dict.fromkeys(("requires_grad", "needs_grad"), f"ask 'x.has_grads'; {_OF_GRADIENTS}"),
    **dict.fromkeys(("zero_grad", "zero_grads"), _ZERO),
    **dict.fromkeys(("copy_", "assign"), "write 'x.copy_from(y)', or 'x.from_numpy(values)'."),
    **{name: f"write 'x.to_numpy().{name}()'." for name in ("argmax", "argmin", "std", "var")},
    **dict.fromkeys(("T", "permute", "swapaxes"), "write 'x.transpose(1, 0)', the same memory."),
    **dict.fromkeys(("flatten", "ravel"), "write 'x.view(-1)', which is the same memory."),
    "astype": "write 'dt.from_numpy(x.to_numpy().astype(np.float64))'.",
    "at": "write 'x[i] = value' or 'x[i] += value', in a kernel or from Python.",
    "backward": _BACKWARD,
    "block_until_ready": "leave it out: reading a field waits for its launches.",
    "clone": "write 'x.copy()'.",
    "dim": "write 'x.ndim'.",
    "dual": "tangents come from 'kernel.fwds(...)' and 'dt.jvp'.",
    "fill_": "write 'x.fill(value)'.",
    "numel": "write 'x.size'.",
    "numpy": "write 'x.to_numpy()' for a copy, 'np.from_dlpack(x)' for an array over its memory.",
    "reshape": "write 'x.view(shape)', which is the same memory.",
    "to_torch": "write 'torch.from_dlpack(x)'.",
    "zero_": "write 'x.clear()'.",
}
_TAPE: dict[str, str] = {
    **dict.fromkeys(("zero", "reset", "clear"), _CLEARED),
    "grad": "write 'tape.backward(loss)', and read 'x.grad' or 'tape.gradient(x)' after.",
    "record_func": "decorate the function with '@dt.custom_op'.",
    "stop_recording": "write 'with dt.stop_recording():'.",
    "watch": "leave it out: a tape follows the fields that have gradients.",
}
_KERNEL: dict[str, str] = {
    "grad": "write 'kernel.bwds(...)' with the same arguments, or launch it in a tape.",
    "launch": _CALL,
    "vmap": "loop over the batch in the kernel.",
}
_OPTIMISER: dict[str, str] = {
    "apply_gradients": "write 'step()', which reads the gradients of the fields.",
    "minimize": "write 'step()' after each tape.",
    "param_groups": "give a rate for each field: 'lr={x: 0.1, y: 0.01}'.",
    "update": "write 'step()', which changes the fields.",
    "zero_grad": _CLEARED,
}
_DEVICE = "write 'dt.init(arch=\"cpu\")', with the name of the device."
_ADDS = "in a kernel, add in a loop: 'total[None] += x[i] * y[i]'."
_TYPE_NAMES = {"float": "f32", "double": "f64", "half": "f16", "int": "i32", "long": "i64"}
_LITERALS = ("f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_TAICHI = (
    *("static", "ndrange", "grouped", "cast", "bit_cast", "loop_config", "math", "types"),
    *("Vector", "Matrix", "Struct", "dataclass", "svd", "eig", "sym_eig", "polar_decompose"),
)
_MATHS = (
    *("sin", "cos", "tan", "asin", "acos", "atan2", "tanh", "exp", "log", "sqrt", "rsqrt"),
    *("floor", "ceil", "round", "abs", "max", "min", "pow"),
)
_MAKERS = (
    *("arange", "linspace", "logspace", "eye", "identity", "diag", "meshgrid", "tile"),
    *("stack", "concatenate", "hstack", "vstack"),
)
_MADE = "write 'dt.zeros(shape)', 'dt.from_numpy(array)' or 'dt.asarray(values)'."
_WAITS = "leave it out: reading a field waits for its launches."
_RECORDED = "leave it out: a tape records what is inside 'with dt.Tape(loss):'."
_PYTHON = "write Python's own 'for', 'while' and 'if', in a kernel or around launches."
_BY_RULE = "write the derivative as '@f.backward', below a func, a kernel or a '@dt.custom_op'."
_DIFFTILE: dict[str, str] = {
    **{name: f"kernels call 'ti.{name}'." for name in _MATHS},
    **{name: f"write 'ti.{name}'." for name in (*_LITERALS, *_TAICHI)},
    **{name: f"write 'dt.optim.{name}'." for name in ("Adam", "AdamW", "LBFGS", "RMSProp", "SGD")},
    **{f"float{n}": f"write 'ti.f{n}'." for n in (16, 32, 64)},
    **{f"int{n}": f"write 'ti.i{n}'." for n in (8, 16, 32, 64)},
    **{name: f"write 'dt.from_numpy(np.{name}(...))'." for name in _MAKERS},
    **{name: f"write 'x.{name}()' of a field." for name in ("sum", "mean", "norm")},
    **dict.fromkeys(("dot", "vdot", "inner"), _ADDS),
    **dict.fromkeys(("where", "select"), f"in a kernel, {FUNCTIONS['where']}"),
    **dict.fromkeys(("clip", "clamp"), f"in a kernel, {FUNCTIONS['clip']}"),
    **{name: f"in a kernel, {FUNCTIONS[name]}" for name in ("maximum", "minimum", "relu")},
    **dict.fromkeys(("matmul", "einsum"), "loop in a kernel: 'y[i] += a[i, j] * x[j]'."),
    **dict.fromkeys(("device", "set_device", "cpu", "cuda", "gpu"), _DEVICE),
    **dict.fromkeys(("sync", "synchronize", "block_until_ready"), _WAITS),
    **dict.fromkeys(("enable_grad", "set_grad_enabled"), _RECORDED),
    **dict.fromkeys(("fori_loop", "while_loop", "scan", "cond"), _PYTHON),
    **dict.fromkeys(("custom_vjp", "custom_jvp", "grad_replaced", "grad_for"), _BY_RULE),
    **dict.fromkeys(("random", "normal", "uniform"), _DRAW),
    **dict.fromkeys(("array", "tensor"), "write 'dt.asarray(...)'."),
    **dict.fromkeys(("Array", "Tensor", "ndarray", "NDArray"), f"fields are 'dt.Field'; {_MADE}"),
    **{name: f"write 'ti.{type_}'." for name, type_ in _TYPE_NAMES.items()},
    "from_torch": "write 'dt.from_dlpack(tensor)', which is the same memory.",
    "remat": "decorate the function with '@dt.checkpoint'.",
    "tid": _LOOP,
    "to_numpy": "write 'x.to_numpy()'.",
    "to_torch": "write 'torch.from_dlpack(x)'.",
    "atomic_add": FUNCTIONS["atomic_add"],
    "backward": "write 'with dt.Tape(loss):' around the launches, or 'tape.backward(loss)'.",
    "jit": _DECORATE,
    "manual_seed": "write 'dt.init(seed=...)'.",
    "seed": "write 'dt.init(seed=...)'.",
    "vmap": "call a func with fields, or loop over the batch in a kernel.",
    "zero_grad": "write 'dt.zero_grads()'.",
    **dict.fromkeys(("vec2", "vec3", "vec4"), "write 'ti.math.vec3', or 'dt.vec(3)'."),
}
# Names of Taichi that are no part of the kernel language.
_WINDOW = "write 'dt.viewer.App()'."
_DEVICE_CODE = "share a loop with 'for j in dt.lanes(n)', and memory with 'dt.local(n)'."
_LANG: dict[str, str] = {
    **dict.fromkeys(("kernel", "func", "real_func", "pyfunc"), _DECORATE),
    **dict.fromkeys(("field", "ndarray"), "write 'dt.field(ti.f32, shape)'."),
    **dict.fromkeys(("root", "FieldsBuilder", "axes"), "write 'dt.field(ti.f32, shape)'."),
    **dict.fromkeys(("Field", "MatrixField", "Ndarray"), "fields are 'dt.Field'."),
    **dict.fromkeys(("cpu", "gpu", "cuda", "vulkan", "metal", "opengl", "x64", "arm64"), _DEVICE),
    **dict.fromkeys(("GUI", "ui"), _WINDOW),
    **dict.fromkeys(("simt", "block_local", "block_dim"), _DEVICE_CODE),
    **dict.fromkeys(("pi", "e", "inf", "nan"), "it is in 'ti.math', as in 'ti.math.pi'."),
    "ad": "write 'with dt.Tape(loss):'.",
    "data_oriented": "decorate the class with '@dt.data_oriented'.",
    "init": "write 'dt.init(arch=\"cpu\")'.",
    "reset": "write 'dt.init()' again, which ends what was made before.",
    "static_assert": "write 'assert', or check it in Python.",
    "static_print": "write 'print', or print it from Python.",
    "stop_grad": _DETACH,
    "sync": "leave it out: reading a field waits for its launches.",
}
ATTRIBUTES: dict[str, dict[str, str]] = {
    "difftile": _DIFFTILE,
    "lang": _LANG,
    "field": _FIELD,
    "kernel": _KERNEL,
    "optimiser": _OPTIMISER,
    "tape": _TAPE,
}

# Keywords of calls: the names that difftile may have for them.
KEYWORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("needs_grad", "requires_grad", "with_grad", "needs_grads"), ("grad",)),
    **dict.fromkeys(("params", "parameters", "variables"), ("fields",)),
    **dict.fromkeys(("learning_rate", "step_size", "alpha"), ("lr",)),
    **dict.fromkeys(("loss", "grads", "grad_tensors", "outputs"), ("seeds",)),
    **dict.fromkeys(("maxiter", "max_iter", "max_iterations"), ("iterations", "steps")),
    **dict.fromkeys(("tolerance", "atol", "gtol", "ftol"), ("tol", "rtol")),
    "bounds": ("low", "high"),
    "history_size": ("history",),
    "max_memory": ("memory",),
    "retain_graph": ("keep",),
    "size": ("shape",),
}
# Keywords without a counterpart, with what to do instead.
UNKNOWN_KEYWORDS: dict[str, str] = {
    "device": "leave it out: fields are on the device that dt.init(arch=...) names.",
    "enable_backward": "leave it out: only what a tape records is differentiated.",
    **dict.fromkeys(
        ("fastmath", "fast_math"), "write 'dt.init(fast_math=True)', which is for all kernels."
    ),
}


def attribute(owner: str, name: str, known: Iterable[str] = ()) -> str | None:
    """Return the hint about an attribute that something does not have, or None."""
    return ATTRIBUTES[owner].get(name) or did_you_mean(name, known)


def keyword(name: str, known: Sequence[str]) -> str | None:
    """Return the hint about a keyword that a function does not take, or None.

    Args:
        name: The keyword.
        known: The arguments that it takes, the first one first.
    """
    meant = [one for one in KEYWORDS.get(name, ()) if one in known]
    if meant and meant[0] == known[0]:
        return f"pass it first, without a name, or as '{meant[0]}'."
    if meant:
        return f"write {' and '.join(map(repr, meant))}."
    return UNKNOWN_KEYWORDS.get(name) or did_you_mean(name, known)


def is_habit(name: str, known: Collection[str]) -> bool:
    """Tell whether a keyword stands for one of some arguments in another library."""
    return any(one in known for one in KEYWORDS.get(name, ()))


def missing(what: str, name: str, hint: str | None) -> UnknownName:
    """Return the error about an attribute that something does not have."""
    # With a name, and no object, Python adds no suggestion of its own.
    return UnknownName(render(f"{what} has no attribute '{name}'.", (), (), hint), name="")


class _Habit:
    """The place of an attribute that a class does not have: reading or setting it raises."""

    def __init__(self, what: str, name: str, hint: str) -> None:
        self._error = what, name, hint
        self.__doc__ = hint

    def __get__(self, instance: object, owner: type | None = None) -> object:
        raise missing(*self._error)

    def __set__(self, instance: object, value: object) -> None:
        raise missing(*self._error)


def taught(owner: str, what: str) -> Callable[[Class], Class]:
    """Return a decorator of classes that gives hints about the habits of a row of `ATTRIBUTES`.

    Reading such an attribute raises an `AttributeError`, so that `hasattr` is False. Attributes
    that the class or its subclasses have are found as before, at no cost.

    Args:
        owner: The row.
        what: The beginning of the message: 'A field'.
    """
    habits = ATTRIBUTES[owner]

    def decorate(cls: Class) -> Class:
        for name, hint in habits.items():
            if not hasattr(cls, name):
                setattr(cls, name, _Habit(what, name, hint))

        def names(self: object) -> list[str]:
            kind = type(self)
            return [
                name
                for name in object.__dir__(self)
                if name not in habits or not isinstance(getattr_static(kind, name, None), _Habit)
            ]

        setattr(cls, "__dir__", names)  # noqa: B010
        return cls

    return decorate

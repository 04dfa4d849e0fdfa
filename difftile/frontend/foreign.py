"""Python objects that cannot be called in a kernel, and hints about replacements."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

_FROM_PYTHON = "call it from Python, before or after the launch."
_TYPES = "types are known while compiling; test them in Python."
_SIZES = "write 'ti.Vector([...])' for a few numbers, and pass many as a field."


def _each(module: str, names: Iterable[str], hint: str) -> dict[tuple[str, str], str]:
    return {(module, name): hint for name in names}


# By the package and the name of the object.
_KNOWN: dict[tuple[str, str], str] = {
    **_each("builtins", ("isinstance", "issubclass", "type", "callable", "hasattr"), _TYPES),
    **_each(
        "builtins", ("str", "repr", "format"), "kernels have text in 'print' and 'assert' only."
    ),
    **_each("builtins", ("input", "open", "exec", "eval"), _FROM_PYTHON),
    **_each("builtins", ("list", "tuple", "dict", "set"), "write a tuple, or 'ti.Vector([...])'."),
    **_each("builtins", ("map", "filter", "reversed"), "write an explicit 'for' loop."),
    **_each("numpy", ("array", "asarray", "zeros", "ones", "full", "empty"), _SIZES),
}


def instead(value: Any) -> str:
    """Return a hint about a Python object that is called in a kernel."""
    name = getattr(value, "__name__", "it")
    module = (getattr(value, "__module__", None) or "").partition(".")[0]
    owner = type(getattr(value, "__self__", None)).__module__
    known = _KNOWN.get((module, name))
    if known is not None:
        return known
    if isinstance(value, (bool, int, float, str)):
        return "numbers and texts are not functions."
    if "random" in (module, *owner.split(".")):
        return "draw with 'dt.rand()', 'dt.randn()' or 'dt.randint(low, high)'."
    if isinstance(value, type) and module == "numpy":
        return "cast with 'ti.cast(value, type)', such as 'ti.cast(x, ti.f32)'."
    if module == "numpy" or type(value).__module__.startswith("numpy"):
        return "use the functions of 'ti' and 'ti.math', such as 'ti.sin'."
    if module in ("difftile", "time"):
        return _FROM_PYTHON
    if isinstance(value, type):
        return "make the object in Python, and use its attributes in the kernel."
    if isinstance(getattr(value, "__func__", value), FunctionType):
        return f"decorate '{name}' with '@dt.func'."
    return "it is not part of the kernel language."

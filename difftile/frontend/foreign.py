"""Python objects that cannot be called in a kernel, and hints about replacements.

`habits` has the names of other libraries; here are Python's own, and objects of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

from difftile.diagnostics import did_you_mean
from difftile.frontend.syntax import OF_LISTS
from difftile.habits import ATTRIBUTES, FUNCTIONS, LANGUAGE, LIBRARIES, OF_KERNELS
from difftile.ops.table import NAMED

_FROM_PYTHON = "call it from Python, before or after the launch."
_TYPES = "types are known while compiling; test them in Python."


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
}

_OURS = ("ti", "ti.math", "dt", "math")


def spelled(name: str) -> str | None:
    """Return the hint about a function that other libraries know by a name, or None."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    found = (f"{module}.{name}" for module in _OURS if f"{module}.{name}" in NAMED)
    ours = next(found, None)
    return None if ours is None else f"write '{ours}'."


def attribute_hint(module: str, name: str, known: Iterable[str]) -> str | None:
    """Return the hint about a name that a module does not have, in a kernel."""
    package = module.partition(".")[0]
    habit = spelled(name) if package in (*LANGUAGE, *LIBRARIES) else None
    if habit is None and module.startswith("difftile.lang"):
        habit = ATTRIBUTES["lang"].get(name)
    return habit or did_you_mean(name, sorted(known))


def instead(value: Any, library: str = "", called: str = "") -> str:
    """Return a hint about a Python object that is called in a kernel.

    Args:
        value: The object.
        library: The package that it was reached through: `torch` for `torch.nn.functional.relu`.
        called: Its name there.
    """
    name = getattr(value, "__name__", "it")
    module = (getattr(value, "__module__", None) or "").partition(".")[0]
    owner = str(type(getattr(value, "__self__", None)).__module__)
    known = _KNOWN.get((module, name))
    if known is not None:
        return known
    if isinstance(getattr(value, "__self__", None), list) and name in OF_LISTS:
        return OF_LISTS[name]
    if isinstance(value, (bool, int, float, str)):
        return "numbers and texts are not functions."
    package = library or module
    if package in LIBRARIES:
        return spelled(called or name) or OF_KERNELS
    if package in LANGUAGE and package != "difftile":
        return spelled(called or name) or "it is not part of the kernel language."
    if "random" in (module, *owner.split(".")):
        return "draw with 'dt.rand()', 'dt.randn()' or 'dt.randint(low, high)'."
    if str(type(value).__module__).startswith("numpy"):
        return spelled(called or name) or OF_KERNELS
    if module in ("difftile", "time"):
        return _FROM_PYTHON
    if isinstance(value, type):
        return "make the object in Python, and use its attributes in the kernel."
    if isinstance(getattr(value, "__func__", value), FunctionType):
        return f"decorate '{name}' with '@dt.func'."
    return "it is not part of the kernel language."

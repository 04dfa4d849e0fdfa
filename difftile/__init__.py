"""difftile: differentiable kernels over mutable fields.

Names load on first use, so that the command line answers without starting Taichi. The stub beside
this file lists them.
"""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import Any

from difftile.caches import name_caches
from difftile.uncollected import uncollected

name_caches()

# Left out by `import *`: packages that import other libraries, and the name of the kernel language,
# which may be Taichi's already.
_ASKED_FOR = {"jax", "ti", "torch"}
_PACKAGES = {"ti": "lang"}  # under another name than their own


@cache
def _homes() -> dict[str, str]:
    """Return the module of each public name, as the stub has it."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    named = [(alias, node.module or "") for node in imports for alias in node.names]
    homes = {alias.name: module for alias, module in named if alias.asname == alias.name}
    return {**homes, **dict.fromkeys(_PACKAGES, "difftile")}


@cache
def _version() -> str:
    metadata = importlib.import_module("importlib.metadata")
    try:
        return metadata.version("difftile")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "0+unknown"


@uncollected()
def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "__all__":
        return sorted(_homes().keys() - _ASKED_FOR)
    module = _homes().get(name)
    if module is None:
        if name.startswith("_"):
            raise AttributeError(f"module 'difftile' has no attribute '{name}'")
        habits = importlib.import_module("difftile.habits")
        hint = habits.attribute("difftile", name, _homes())
        raise habits.missing("The module 'difftile'", name, hint)
    if module == "difftile":  # a package, used whole: `dt.optim.Adam`
        found: Any = importlib.import_module(f"difftile.{_PACKAGES.get(name, name)}")
    else:
        if module.startswith("difftile.fields"):
            importlib.import_module("difftile.runtime")  # the operators and sums of fields
        found = getattr(importlib.import_module(module), name)
    globals()[name] = found  # the next `dt.zeros` takes 0.03 us in place of 10
    return found


def __dir__() -> list[str]:
    return sorted((*_homes(), "__version__"))

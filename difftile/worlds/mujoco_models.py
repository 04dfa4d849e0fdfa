"""Models as MuJoCo compiles them: the one place that imports it."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from difftile.worlds.arrays import ARRAYS, COUNTS, KEYS, SIZES
from difftile.worlds.mjcf import check_mjcf
from difftile.worlds.refusals import InspectedModel

# The kind of object by which `mj_id2name` knows an element.
_OBJECTS = {"jnt": "JOINT", "eq": "EQUALITY"}


def mujoco_module() -> Any:
    """Return the module of MuJoCo.

    Raises:
        ImportError: It is not installed.
    """
    try:
        return importlib.import_module("mujoco")
    except ImportError:
        raise ImportError(
            "worlds.load needs MuJoCo to compile a model: install it with "
            "'pip install difftile[worlds]', or load a saved one with 'worlds.load_arrays'."
        ) from None


def compiled(given: Any, outside: bool = False) -> Any:
    """Return an `mjModel` of a path to MJCF, URDF or MJB, a text of MJCF, an `MjSpec`, or itself.

    Args:
        given: The model.
        outside: Whether names of files in a path or a text may lead out of its folder.

    Raises:
        DatasetError: A name leads out of the folder, or the model is too large.
        ImportError: MuJoCo is not installed.
        ValueError: MuJoCo refuses the file.
    """
    mujoco = mujoco_module()
    if isinstance(given, mujoco.MjModel):
        return given
    if isinstance(given, mujoco.MjSpec):
        return given.compile()
    if isinstance(given, str) and given.lstrip().startswith("<"):
        check_mjcf(given, outside)
        return mujoco.MjModel.from_xml_string(given)
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(
            f"worlds.load takes a path, a text of MJCF, an MjSpec or an MjModel, not {given!r}."
        )
    path = Path(given)
    if not path.is_file():
        raise FileNotFoundError(f"worlds.load: there is no file '{path}'.")
    if path.suffix == ".mjb":
        return mujoco.MjModel.from_binary_path(str(path))
    check_mjcf(path, outside)
    return mujoco.MjModel.from_xml_path(str(path))


def source_of(model: Any) -> InspectedModel:
    """Return an `mjModel` as refusals see it."""
    mujoco = mujoco_module()

    def get(name: str) -> Any:
        found = getattr(model, name, None)
        return getattr(model.opt, name, None) if found is None else found

    def label(kind: str, index: int) -> str:
        known = getattr(mujoco.mjtObj, f"mjOBJ_{_OBJECTS.get(kind, kind.upper())}", None)
        return (mujoco.mj_id2name(model, known, index) or "") if known is not None else ""

    return InspectedModel(get, label)


def arrays_of(model: Any) -> dict[str, Any]:
    """Return the arrays and names of an `mjModel` that a `Model` keeps."""
    source = source_of(model)
    found: dict[str, Any] = {name: int(source[name]) for name in SIZES}
    for name in (*ARRAYS, *KEYS):
        value = source.get(name)
        if value is not None:
            found[name] = np.array(value)
            if name == "eq_data":  # later releases have numbers for other types
                found[name] = found[name][:, : ARRAYS[name].element[0]]
    for kind, count in COUNTS.items():
        names = [source.label(kind, k) for k in range(found[count])]
        found[f"{kind}_name"] = np.array(names, dtype=np.str_)
    return found

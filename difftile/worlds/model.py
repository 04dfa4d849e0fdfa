"""`worlds.Model`: a robot and its surroundings as arrays, from MuJoCo or from an archive."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import make_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.files.arrays import read_arrays, write_arrays
from difftile.worlds import kinds
from difftile.worlds.arrays import (
    ARRAYS,
    Array,
    ArrayMisfit,
    Arrays,
    ArrayShape,
    completed,
    without,
)
from difftile.worlds.mujoco_models import arrays_of, compiled, source_of
from difftile.worlds.refusals import (
    OPTIONS,
    InspectedModel,
    MissingFeature,
    refuse,
    refused_sensors,
)
from difftile.worlds.topology import Sizes, derived

PathLike: TypeAlias = "str | os.PathLike[str]"
_FORMAT = "difftile worlds 1"
_STIFF = 0.999  # impedances above it lose digits of f32
_LEAST = 1e-15  # MuJoCo's mjMINVAL


@final
class Model:
    """A model of one world: the arrays of `mjModel`, by MuJoCo's names.

    `model.body_mass` is an array that may be changed in place, before worlds are made of it. As in
    MuJoCo, `body_invweight0` and `dof_invweight0` do not follow.

    Args:
        arrays: Arrays and sizes by MuJoCo's names, as `load_arrays` reads them.

    Attributes:
        arrays: The arrays, f64 and i32.
        tables: Tables of indices that kernels read; see `topology`.
        sizes: What is compiled into a step.
        skipped: The features of the file that were left out, with the elements that use them; see
            `load`.

    Raises:
        Unsupported: The model uses a feature that worlds do not have.
        ValueError: The arrays do not form a model.
    """

    arrays: Arrays
    tables: Arrays
    sizes: Sizes
    skipped: tuple[MissingFeature, ...]

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        try:
            self.arrays, counts = completed(arrays)
            self.skipped = _skipped_of(arrays)
            self.tables, self.sizes = derived(self.arrays, counts)
        except ArrayMisfit as fault:
            raise ValueError(f"The model {fault.found}; expected {fault.expected}.") from None
        refuse(_source({**arrays, **self.arrays}), {one.option for one in self.skipped})

    def __getattr__(self, name: str) -> Array:
        arrays = self.__dict__.get("arrays", {})
        if name not in arrays:
            raise AttributeError(f"a model has no array '{name}'.")
        return arrays[name]

    def __repr__(self) -> str:
        one = self.sizes
        counts = (("body", one.nbody, "bodies"), ("joint", one.njnt, ""), ("geom", one.ngeom, ""))
        said = ", ".join(
            f"{n} {name if n == 1 else plural or name + 's'}" for name, n, plural in counts
        )
        return f"<worlds.Model: {said}, {one.nv} degrees of freedom, {one.nu} controls>"

    def id(self, kind: str, name: str) -> int:
        """Return the index of an element by its name.

        Args:
            kind: "body", "joint", "geom", "site", "actuator", "sensor" or "key".
            name: The name.

        Raises:
            KeyError: There is none of this name.
        """
        names = self.arrays["jnt_name" if kind == "joint" else f"{kind}_name"]
        found = np.flatnonzero(names == name)
        if not name or not len(found):
            known = ", ".join(repr(str(one)) for one in names if one) or "none with a name"
            raise KeyError(f"the model has no {kind} '{name}'; it has {known}.")
        return int(found[0])

    def save(self, path: PathLike) -> None:
        """Write the model as an archive of arrays, which `load_arrays` reads without MuJoCo.

        Args:
            path: The file, "robot.npz".

        Raises:
            OSError: It cannot be written.
        """
        counts = {row.count: len(self.arrays[name]) for name, row in ARRAYS.items() if row.count}
        counts |= {name: getattr(self.sizes, name) for name in ("na", "nsensordata")}
        counts["nkey"] = len(self.arrays["key_time"])
        sizes = {name: np.array(count) for name, count in counts.items()}
        found = {**sizes, **self.arrays, **_archived(self.skipped)}
        write_arrays(Path(path), {"format": np.array(_FORMAT), **found})

    def parameters(
        self,
        dtype: Any = ti.f64,
        grad: tuple[str, ...] = (),
        *,
        worlds: int = 1,
        per_world: tuple[str, ...] = (),
    ) -> Any:
        """Return the arrays and tables as one struct of fields, the argument `m` of kernels.

        Elements of several numbers are vectors; `m.gravity`, `m.timestep` and `m.impratio` have the
        shape (). Lengths are in metres, masses in kilograms, angles in radians. `m.rounding` is the
        size up to which lengths, sines and Jacobians count as zero.

        Args:
            dtype: `ti.f32` or `ti.f64`.
            grad: The names of arrays that are given gradients.
            worlds: The number of worlds.
            per_world: The names of arrays of which each world has its own, filled with the model's.
                Their fields have the worlds as first axis, which is the last one in memory.

        Raises:
            KeyError: A name is none of an array of numbers.
        """
        for name in (*grad, *per_world):
            if name not in _PASSED or _PASSED[name].integer:
                raise KeyError(f"no array of numbers is called {name!r}.")
        if dtype == ti.f32:
            self._warn_of_stiffness()
        arrays = self.effective
        found = {
            name: _field(
                arrays[name], row, dtype, name in grad, worlds if name in per_world else None
            )
            for name, row in _PASSED.items()
        }
        found |= {
            name: _field(table, _POINT if table.dtype.kind == "f" else _INDEX, dtype)
            for name, table in self.tables.items()
        }
        found["rounding"] = _field(np.array(rounding(dtype)), ArrayShape(""), dtype)
        return _parameters(tuple(found))(**found)

    @property
    def effective(self) -> Arrays:
        """The arrays with the disabled effects of `opt.disableflags` set to zero."""
        off = int(self.arrays["disableflags"])
        without = [name for bits, names in _WITHOUT.items() if off & bits == bits for name in names]
        return {
            name: np.zeros_like(array) if name in without else array
            for name, array in self.arrays.items()
        }

    def _warn_of_stiffness(self) -> None:
        for kind in ("geom", "jnt", "dof", "pair"):
            stiff = np.flatnonzero(self.arrays[f"{kind}_solimp"][:, 1] > _STIFF)
            if len(stiff):
                place = _source(self.arrays).place(kind, int(stiff[0]))
                warnings.warn(
                    f"{place} has an impedance above {_STIFF}, which loses digits in f32: "
                    "lower the second number of its solimp, or use dtype=ti.f64.",
                    UserWarning,
                    stacklevel=3,
                )
                return


def rounding(dtype: Any) -> float:
    """Return the size of what is rounding: MuJoCo's least number, as many last places in f32."""
    places = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)
    return _LEAST * places if dtype == ti.f32 else _LEAST


def load(
    source: Any,
    *,
    allow_outside: bool = False,
    collisions: str = "refuse",
    sensors: str = "refuse",
    noslip: str = "sweep",
    sleep: str = "refuse",
) -> Model:
    """Return a model that MuJoCo compiles.

    Args:
        source: The path of a file of MJCF, URDF or MJB, a text of MJCF, an `MjSpec` or `MjModel`.
        allow_outside: Whether names in a file or a text, of included files, meshes and so on, and
            links in its folder may lead to files outside of it; the folder of a text is the working
            folder.
        collisions: "refuse", or "skip" to let pairs of geoms pass through each other whose contact
            worlds do not have.
        sensors: "refuse", or "skip" to leave out the sensors that worlds do not have. Those that
            are left keep their places in `sensordata`, and the places of the others stay 0.
        noslip: "sweep", or "skip" to take steps without `noslip_iterations`: contacts slip as much
            as the solution of the constraints lets them.
        sleep: "refuse", or "skip" to step all bodies of a model whose islands fall asleep.

    What is left out stands in one warning, and in `Model.skipped`.

    Raises:
        DatasetError: A name leads out of the folder, the text is not XML, or the model has more
            than 100,000 elements.
        ImportError: MuJoCo is not installed.
        Unsupported: The model uses features that worlds do not have.
        ValueError: MuJoCo refuses the model, or an option is another word.
    """
    given = dict(zip(OPTIONS, (collisions, sensors, sleep), strict=True))
    if noslip not in ("sweep", "skip"):
        raise ValueError(f'load(noslip=...) is "sweep" or "skip", not {noslip!r}.')
    for name, word in given.items():
        if word not in ("refuse", "skip"):
            raise ValueError(f'load({name}=...) is "refuse" or "skip", not {word!r}.')
    model = compiled(source, allow_outside)
    seen = source_of(model)
    skipped = refuse(seen, [name for name, word in given.items() if word == "skip"])
    arrays = arrays_of(model)
    if noslip == "skip" and arrays["noslip_iterations"]:
        arrays["noslip_iterations"] = np.zeros((), np.int32)
        skipped += (MissingFeature("noslip iterations", ("<option>",), option="noslip"),)
    if skipped:
        said = "; ".join(str(one) for one in skipped)
        warnings.warn(f"worlds.load left out: {said}.", UserWarning, stacklevel=2)
        arrays = without(arrays, "nsensor", refused_sensors(seen)) | _archived(skipped)
    return Model(arrays)


def load_arrays(path: PathLike) -> Model:
    """Return a model that `Model.save` wrote. MuJoCo is not needed.

    Raises:
        DatasetError: The file cannot be read, is broken, or is not a model.
    """
    arrays = read_arrays(Path(path))
    if str(arrays.pop("format", "")) != _FORMAT:
        raise dt.DatasetError(path, "is not a model", "an archive that Model.save wrote")
    try:
        return Model(arrays)
    except ValueError as fault:
        if isinstance(fault, dt.DifftileError):
            raise
        raise dt.DatasetError(path, f"is not a model ({fault})", "one of Model.save") from None


_WITHOUT = {
    kinds.NO_SPRING: (
        *("jnt_stiffness", "tendon_stiffness", "jnt_stiffnesspoly", "tendon_stiffnesspoly"),
    ),
    kinds.NO_DAMPER: (
        *("dof_damping", "tendon_damping", "dof_dampingpoly", "tendon_dampingpoly"),
        *("actuator_damping", "actuator_dampingpoly"),
    ),
    # Both: MuJoCo has no passive forces.
    kinds.NO_SPRING | kinds.NO_DAMPER: ("body_gravcomp", "density", "viscosity"),
    kinds.NO_GRAVITY: ("gravity",),
    kinds.NO_CLAMPCTRL: ("actuator_ctrllimited",),
}
_SKIPPED = ("skipped_feature", "skipped_place", "skipped_option")
_INDEX, _POINT = ArrayShape("", (), True), ArrayShape("", (3,))
_UNREAD = {
    "body_simple",
    "geom_rgba",
    "geom_matid",
    "mat_rgba",
    "integrator",
    "cone",
    "tolerance",
    "iterations",
}
_PASSED = {
    name: row
    for name, row in ARRAYS.items()
    if name not in _UNREAD and not name.startswith("mesh_")  # kernels read tables of hulls
}


def _field(
    values: Array, row: ArrayShape, dtype: Any, grad: bool = False, worlds: int | None = None
) -> Any:
    """Return a field of an array; with a number of worlds, one that has them as first axis."""
    width = row.used or (row.element[0] if row.element else 0)
    values = values[..., :width] if width else values
    scalar = ti.i32 if row.integer else dtype
    shape = values.shape[: values.ndim - bool(width)]
    if worlds is not None:
        values = np.broadcast_to(values, (worlds, *values.shape))
        field = dt.field(
            dt.vec(width, scalar) if width else scalar, (*reversed(shape), worlds), grad=grad
        )
        field = field.transpose()
    else:
        field = dt.field(dt.vec(width, scalar) if width else scalar, shape, grad=grad)
    if values.size:
        field.from_numpy(np.array(values))
    return field


@cache
def _parameters(names: tuple[str, ...]) -> Any:
    """Return the class of the struct of fields, a frozen dataclass: launches look into it once."""
    members = {"struct_of_fields": True, "__module__": __name__}
    options = {"frozen": True, "repr": False, "eq": False}
    return make_dataclass("Parameters", names, namespace=members, **options)


def _archived(skipped: tuple[MissingFeature, ...]) -> Arrays:
    """Return arrays of what was left out, with a row for each element."""
    rows = [(one.feature, place, one.option) for one in skipped for place in one.places]
    columns = zip(*rows, strict=True) if rows else ()
    return {
        name: np.array(column, dtype=np.str_)
        for name, column in zip(_SKIPPED, columns, strict=False)
    }


def _skipped_of(arrays: Mapping[str, Any]) -> tuple[MissingFeature, ...]:
    """Return what was left out of a set of arrays; see `_archived`."""
    columns = [np.asarray(arrays.get(name, ()), dtype=np.str_) for name in _SKIPPED]
    if any(one.ndim != 1 or len(one) != len(columns[0]) for one in columns):
        raise ArrayMisfit(f"has other lengths of '{_SKIPPED[0]}'", f"those of '{_SKIPPED[1]}'")
    found: dict[tuple[str, str], list[str]] = {}
    for feature, place, option in zip(*(one.tolist() for one in columns), strict=True):
        found.setdefault((feature, option), []).append(place)
    return tuple(
        MissingFeature(feature, tuple(places), option=option)
        for (feature, option), places in found.items()
    )


def _source(arrays: Mapping[str, Any]) -> InspectedModel:
    """Return a set of arrays as refusals see it."""

    def label(kind: str, index: int) -> str:
        names = arrays.get(f"{kind}_name", ())
        return str(names[index]) if index < len(names) else ""

    return InspectedModel(arrays.get, label)

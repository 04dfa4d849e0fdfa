"""The arrays of a model, by MuJoCo's names: their shapes, and what makes a set of them complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Arrays: TypeAlias = "dict[str, Array]"


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """The shape of an array.

    Args:
        count: The size that its first axis has, such as "nbody"; "" for a single element.
        element: The shape of an element: () for numbers.
        integer: Whether the elements are integers, otherwise floats.
        used: The leading components of an element that kernels read; None for all.
    """

    count: str
    element: tuple[int, ...] = ()
    integer: bool = False
    used: int | None = None


SIZES = (
    *("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "nsensor", "nsensordata"),
    *("npair", "nexclude", "neq", "ntendon", "nwrap", "ncam", "nmat", "nkey"),
    *("nmesh", "nmeshvert", "nmeshgraph", "nmeshpoly", "nmeshpolyvert", "nmeshface"),
)


def _rows(
    count: str, integers: str = "", numbers: str = "", **others: Any
) -> dict[str, ArrayShape]:
    """Return rows of integers, of numbers, and of elements with shapes."""
    return {
        **{name: ArrayShape(count, integer=True) for name in integers.split()},
        **{name: ArrayShape(count) for name in numbers.split()},
        **{name: ArrayShape(count, *given) for name, given in others.items()},
    }


_3, _4 = ((3,),), ((4,),)
_REF, _IMP, _RANGE, _PAIR = ((2,),), ((5,),), ((2,),), ((2,), True)
ARRAYS: dict[str, ArrayShape] = {
    **_rows(
        "",
        "integrator cone disableflags disableactuator",
        "timestep impratio density viscosity",
        gravity=_3,
        magnetic=_3,
        wind=_3,
    ),
    **_rows("", "iterations noslip_iterations", "tolerance noslip_tolerance"),
    **_rows(
        "nbody",
        "body_parentid body_rootid body_weldid body_jntnum body_jntadr body_dofnum body_dofadr "
        "body_simple",
        "body_mass body_subtreemass body_gravcomp",
        body_pos=_3,
        body_quat=_4,
        body_ipos=_3,
        body_iquat=_4,
        body_inertia=_3,
        body_invweight0=_RANGE,
    ),
    **_rows(
        "njnt",
        "jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_limited jnt_actfrclimited jnt_actgravcomp",
        "jnt_margin jnt_stiffness",
        jnt_stiffnesspoly=_RANGE,
        jnt_pos=_3,
        jnt_axis=_3,
        jnt_range=_RANGE,
        jnt_actfrcrange=_RANGE,
        jnt_solref=_REF,
        jnt_solimp=_IMP,
    ),
    **_rows("nq", "", "qpos0 qpos_spring"),
    **_rows(
        "nv",
        "dof_bodyid dof_jntid dof_parentid",
        "dof_armature dof_damping dof_frictionloss dof_invweight0",
        dof_dampingpoly=_RANGE,
        dof_solref=_REF,
        dof_solimp=_IMP,
    ),
    **_rows(
        "ngeom",
        "geom_type geom_bodyid geom_contype geom_conaffinity geom_condim geom_priority geom_matid",
        "geom_dataid geom_margin geom_gap geom_solmix geom_rbound",
        geom_pos=_3,
        geom_quat=_4,
        geom_size=_3,
        geom_friction=_3,
        geom_solref=_REF,
        geom_solimp=_IMP,
        geom_rgba=_4,
        geom_fluid=((12,),),
    ),
    **_rows(
        "nmesh",
        "mesh_vertadr mesh_vertnum mesh_graphadr mesh_polyadr mesh_polynum mesh_faceadr "
        "mesh_facenum",
    ),
    **_rows("nmeshface", mesh_face=((3,), True)),
    **_rows("nmeshvert", mesh_vert=_3),
    **_rows("nmeshgraph", "mesh_graph"),
    **_rows("nmeshpoly", "mesh_polyvertadr mesh_polyvertnum", mesh_polynormal=_3),
    **_rows("nmeshpolyvert", "mesh_polyvert"),
    **_rows("nsite", "site_type site_bodyid", "", site_pos=_3, site_quat=_4, site_size=_3),
    **_rows(
        "nu",
        "actuator_trntype actuator_dyntype actuator_gaintype actuator_biastype actuator_actadr "
        "actuator_ctrllimited actuator_forcelimited actuator_actlimited actuator_actearly "
        "actuator_group",
        "actuator_armature actuator_damping actuator_cranklength actuator_acc0",
        actuator_trnid=_PAIR,
        actuator_gear=((6,),),
        actuator_dynprm=((10,), False, 3),
        actuator_gainprm=((10,), False, 9),
        actuator_biasprm=((10,), False, 9),
        actuator_dampingpoly=_RANGE,
        actuator_lengthrange=_RANGE,
        actuator_ctrlrange=_RANGE,
        actuator_forcerange=_RANGE,
        actuator_actrange=_RANGE,
    ),
    **_rows(
        "nsensor",
        "sensor_type sensor_datatype sensor_objtype sensor_objid sensor_reftype sensor_refid "
        "sensor_adr sensor_dim",
        "sensor_cutoff",
    ),
    **_rows("nmat", mat_rgba=_4),
    **_rows("ncam", "cam_bodyid", "", cam_pos=_3, cam_quat=_4),
    **_rows(
        "npair",
        "pair_dim pair_geom1 pair_geom2",
        "pair_margin pair_gap",
        pair_friction=_IMP,
        pair_solref=_REF,
        pair_solreffriction=_REF,
        pair_solimp=_IMP,
    ),
    **_rows("nexclude", "exclude_signature"),
    **_rows(
        "ntendon",
        "tendon_adr tendon_num tendon_limited tendon_actfrclimited",
        "tendon_stiffness tendon_damping tendon_margin tendon_frictionloss tendon_invweight0 "
        "tendon_length0 tendon_armature",
        tendon_stiffnesspoly=_RANGE,
        tendon_dampingpoly=_RANGE,
        tendon_lengthspring=_RANGE,
        tendon_range=_RANGE,
        tendon_actfrcrange=_RANGE,
        tendon_solref_lim=_REF,
        tendon_solimp_lim=_IMP,
        tendon_solref_fri=_REF,
        tendon_solimp_fri=_IMP,
    ),
    **_rows("nwrap", "wrap_type wrap_objid", "wrap_prm"),
    **_rows(
        "neq",
        "eq_type eq_obj1id eq_obj2id eq_objtype eq_active0",
        "",
        eq_data=((11,),),
        eq_solref=_REF,
        eq_solimp=_IMP,
    ),
}
# With a second axis that a size gives.
KEYS = {"key_time": "", "key_qpos": "nq", "key_qvel": "nv", "key_act": "na", "key_ctrl": "nu"}
NAMES = (
    "body",
    "jnt",
    "geom",
    "site",
    "actuator",
    "sensor",
    "pair",
    "exclude",
    "eq",
    "tendon",
    "key",
)
COUNTS = {kind: "nu" if kind == "actuator" else f"n{kind}" for kind in NAMES}

# Values of arrays that sets of an earlier origin lack; all others are required.
_ABSENT: dict[str, Any] = {
    "disableflags": 0,
    "disableactuator": 0,
    "iterations": 100,
    "tolerance": 1e-8,
    "noslip_iterations": 0,
    "noslip_tolerance": 1e-6,
    "actuator_actrange": 0.0,
    "body_gravcomp": 0.0,
    "body_simple": 0,
    "jnt_actfrcrange": 0.0,
    "jnt_actfrclimited": 0,
    "jnt_actgravcomp": 0,
    "actuator_actlimited": 0,
    "actuator_actearly": 0,
    "actuator_group": 0,
    "actuator_cranklength": 0.0,
    "actuator_acc0": 0.0,
    "actuator_lengthrange": 0.0,
    **{f"{kind}_dampingpoly": 0.0 for kind in ("dof", "tendon", "actuator")},
    **{f"{kind}_stiffnesspoly": 0.0 for kind in ("jnt", "tendon")},
    **{f"{kind}_armature": 0.0 for kind in ("tendon", "actuator")},
    "actuator_damping": 0.0,
    "geom_matid": -1,
    "geom_rgba": 0.5,
    "geom_dataid": -1,
    "geom_rbound": 0.0,
    "mesh_faceadr": 0,
    "mesh_facenum": 0,
    "sensor_cutoff": 0.0,
    "sensor_datatype": 0,
    "sensor_reftype": 0,
    "sensor_refid": -1,
    **dict.fromkeys(("magnetic", "density", "viscosity", "wind", "geom_fluid"), 0.0),
    "tendon_limited": 0,
    "tendon_actfrclimited": 0,
    "tendon_margin": 0.0,
    "tendon_frictionloss": 0.0,
    "tendon_invweight0": 0.0,
    "tendon_length0": 0.0,
    "tendon_range": 0.0,
    "tendon_actfrcrange": 0.0,
    **{f"tendon_solref_{name}": (0.02, 1.0) for name in ("lim", "fri")},
    **{f"tendon_solimp_{name}": (0.9, 0.95, 0.001, 0.5, 2.0) for name in ("lim", "fri")},
    "site_type": 2,
    "site_size": 0.005,
}


class ArrayMisfit(Exception):
    """A set of arrays that is not a model: the fault and what was expected, in words."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found, self.expected = found, expected


def completed(given: Mapping[str, Any]) -> tuple[Arrays, dict[str, int]]:
    """Return the arrays of a model with their types and shapes, and its sizes.

    Raises:
        Misfit: An array is missing, has another shape, or is not finite.
    """
    sizes = {name: _size(given, name) for name in SIZES}
    found: Arrays = {}
    for name, row in ARRAYS.items():
        shape = (*((sizes[row.count],) if row.count else ()), *row.element)
        found[name] = _array(given, name, shape, row.integer)
    for name, axis in KEYS.items():
        shape = (sizes["nkey"], *((sizes[axis],) if axis else ()))
        found[name] = _array(given, name, shape, False)
    for name in ("timestep", "impratio"):
        if found[name] <= 0.0:
            raise ArrayMisfit(f"has the {name} {found[name]:g}", "a number above 0")
    for kind, count in COUNTS.items():
        names = np.asarray(given.get(f"{kind}_name", [""] * sizes[count]), dtype=np.str_)
        if names.shape != (sizes[count],):
            raise ArrayMisfit(f"has {names.shape} names in '{kind}_name'", f"{sizes[count]}")
        found[f"{kind}_name"] = names
    return found, sizes


def without(given: Mapping[str, Any], count: str, removed: Array) -> Arrays:
    """Return a set of arrays without some of the elements that a size counts.

    Args:
        given: The arrays.
        count: The size, such as "nsensor".
        removed: The indices of the elements.
    """
    names = {name for name, row in ARRAYS.items() if row.count == count}
    names |= {f"{kind}_name" for kind, size in COUNTS.items() if size == count}
    left = {name: np.delete(given[name], removed, axis=0) for name in names & given.keys()}
    return {**given, **left, count: given[count] - len(removed)}


def _size(given: Mapping[str, Any], name: str) -> int:
    if name not in given:
        if name in SIZES[SIZES.index("npair") :]:
            return 0
        if name == "nsensor":
            return len(given.get("sensor_type", ()))
        if name == "nsensordata":
            return int(np.sum(given.get("sensor_dim", 0)))
        raise ArrayMisfit(f"has no '{name}'", "an archive that Model.save wrote")
    value = np.asarray(given[name])
    if value.shape != () or value.dtype.kind not in "iu" or value < (name == "nbody"):
        raise ArrayMisfit(f"has {value!r} for '{name}'", "a whole number")
    return int(value)


def _array(given: Mapping[str, Any], name: str, shape: tuple[int, ...], integer: bool) -> Array:
    dtype = np.int32 if integer else np.float64
    if name not in given:
        if name not in _ABSENT and 0 not in shape:
            raise ArrayMisfit(f"has no '{name}'", "an archive that Model.save wrote")
        return np.full(shape, _ABSENT.get(name, 0), dtype)
    value = np.asarray(given[name])
    if value.size == 0 and 0 in shape:
        value = value.reshape(shape)
    if value.shape != shape:
        raise ArrayMisfit(f"has '{name}' of the shape {value.shape}", f"{shape}")
    if value.dtype.kind not in ("biu" if integer else "biuf") or not np.isfinite(value).all():
        raise ArrayMisfit(
            f"has '{name}' of {value.dtype}", "finite numbers" if not integer else "integers"
        )
    return value.astype(dtype)

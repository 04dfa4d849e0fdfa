"""The features of MuJoCo that models may not use yet: a table, and the error that names them.

A row finds the places where a model uses a feature. Each error names the feature, the element of
the model, and what to write instead; `docs/worlds.md` has the table of supported features.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

import difftile as dt
from difftile.worlds import kinds
from difftile.worlds.arrays import Array
from difftile.worlds.topology import COLLISIONS, pairs_of, turning, visible

# Arguments of `worlds.load` that leave features out.
OPTIONS = ("collisions", "sensors", "sleep")


@dataclass(frozen=True, slots=True)
class MissingFeature:
    """A feature that worlds do not have, and the elements of a model that use it.

    Args:
        feature: Its name, such as "contact of hfield with box" or "the sensor type user".
        places: The elements, such as "geom 'hand'".
        hint: What to write instead; "" for a feature that was left out.
        option: The argument of `worlds.load` that leaves it out, one of `OPTIONS`, or "".
    """

    feature: str
    places: tuple[str, ...]
    hint: str = ""
    option: str = ""

    def __str__(self) -> str:
        more = len(self.places) - 1
        return f"{self.feature}, of {self.places[0]}" + (f" and {more} more" if more else "")

    @property
    def remedy(self) -> str:
        """What to do about it, in words."""
        if not self.option:
            return self.hint
        return f'{self.hint[:-1]}; or leave these out: worlds.load(..., {self.option}="skip").'


class Unsupported(dt.DifftileError, ValueError):
    """A model that uses features of MuJoCo which difftile does not have.

    Args:
        reasons: The features, one at least.

    Attributes:
        reasons: The same.
        feature, place: The name of the first, and the first element that uses it.
    """

    def __init__(self, reasons: Sequence[MissingFeature]) -> None:
        self.reasons = tuple(reasons)
        self.feature, self.place = self.reasons[0].feature, self.reasons[0].places[0]
        if len(self.reasons) == 1:
            said = f": {self.reasons[0]}.\n  Hint: {self.reasons[0].remedy}"
        else:
            said = f", {len(self.reasons)} features of this model:"
            for remedy, alike in groupby(self.reasons, key=lambda one: one.remedy):
                said += "".join(f"\n  {one}." for one in alike) + f"\n    Hint: {remedy}"
        super().__init__(f"Unsupported in worlds{said}")


@dataclass(frozen=True, slots=True)
class InspectedModel:
    """A model as refusals see it: arrays by name, those of `opt` included.

    Args:
        get: Returns an array, or None if the model has none of that name.
        label: Returns the name of an element by kind and index, "" without one.
    """

    get: Callable[[str], Any]
    label: Callable[[str, int], str]

    def __getitem__(self, name: str) -> Array:
        """Return an array; zero for arrays that this release of MuJoCo does not have."""
        found = self.get(name)
        return np.zeros(0) if found is None else np.asarray(found)

    def place(self, kind: str, index: int) -> str:
        """Return the name of an element as messages show it."""
        if kind == "option":
            return "<option>"
        if kind == "dof":
            kind, index = "jnt", int(self["dof_jntid"][index])
        name = self.label(kind, index)
        word = {"jnt": "joint", "eq": "equality"}.get(kind, kind)
        if name:
            return f"{word} '{name}'"
        if kind not in ("jnt", "geom", "site"):
            return f"{word} {index}"
        at = int(self[f"{kind}_bodyid"][index])
        body = self.label("body", at)
        where = f"body '{body}'" if body else f"body {at}"
        return f"{word} {index} of {where if at else 'the world'}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A feature, and where it is used.

    Args:
        feature: Its name, with {} for the name of the type.
        kind: The kind of elements that use it; "option" for the whole model.
        used: For each element whether it uses the feature.
        hint: What to write instead.
        types: The array of types that the feature is about, which `kinds.TYPES` names.
        option: The argument of `worlds.load` that leaves it out; of sensors, always "sensors".
    """

    feature: str
    kind: str
    used: Callable[[InspectedModel], Any]
    hint: str
    types: str = ""
    option: str = ""

    def reasons(self, source: InspectedModel) -> list[MissingFeature]:
        """Return the features of this row that a model uses, one for each type."""
        found: dict[str, list[str]] = {}
        for k in np.flatnonzero(self.used(source)).tolist():
            name = self.feature
            if self.types:
                number = int(np.atleast_1d(source[self.types])[k])
                name = name.format(kinds.type_name(self.types, number))
            found.setdefault(name, []).append(source.place(self.kind, k))
        option = "sensors" if self.kind == "sensor" else self.option
        return [
            MissingFeature(name, tuple(ones), self.hint, option) for name, ones in found.items()
        ]


def _nonzero(name: str) -> Callable[[InspectedModel], Any]:
    """Return the test for any nonzero number of an element."""

    def used(source: InspectedModel) -> Any:
        values = source[name]
        return values.any(axis=tuple(range(1, values.ndim))) if values.ndim else [bool(values)]

    return used


def _at_least(name: str, least: float) -> Callable[[InspectedModel], Any]:
    return lambda source: np.atleast_1d(source[name]) >= least


def _other(name: str, *known: int) -> Callable[[InspectedModel], Any]:
    """Return the test for a kind that is not among the known ones."""
    return lambda source: ~np.isin(np.atleast_1d(source[name]), known)


def _bit(name: str, bit: int) -> Callable[[InspectedModel], Any]:
    return lambda source: (np.atleast_1d(source[name]).astype(np.int64) & bit) != 0


def _mixed(name: str) -> Callable[[InspectedModel], Any]:
    """Return the test for a pair of numbers of which only one is above 0."""
    return lambda source: (source[name] > 0.0).sum(axis=1) == 1


def _all_of(count: str) -> Callable[[InspectedModel], Any]:
    return lambda source: np.ones(int(source[count] if source[count].ndim == 0 else 0), bool)


def _on_joints(*types: int) -> Callable[[InspectedModel], Any]:
    """Return the test for an actuator with transmission "jointinparent" on some joints."""

    def used(source: InspectedModel) -> Any:
        transmission, joint = source["actuator_trntype"], source["actuator_trnid"]
        if not len(transmission):
            return []
        found = transmission == kinds.JOINTINPARENT  # other targets are no joints
        found[found] = np.isin(source["jnt_type"][joint[found, 0]], types)
        return found

    return used


def _heavy_around_geoms(source: InspectedModel) -> Any:
    """Return for each tendon whether it has armature, its actuators' included, and wraps geoms."""
    heavy, around = source["tendon_armature"] > 0, np.isin(source["wrap_type"], kinds.ON_GEOMS)
    if not len(heavy):
        return []
    pulling = (source["actuator_trntype"] == kinds.TENDON) & (source["actuator_armature"] > 0)
    heavy[source["actuator_trnid"][pulling, 0]] = True
    ends = zip(source["tendon_adr"].tolist(), source["tendon_num"].tolist(), strict=True)
    return heavy & [around[adr : adr + num].any() for adr, num in ends]


def _winding(source: InspectedModel) -> Any:
    """Return for each actuator whether it integrates a position that MuJoCo keeps within a turn."""
    if not len(source["actuator_trntype"]):
        return []
    names = ("actuator_trntype", "actuator_trnid", "jnt_type")
    servo = source["actuator_gainprm"][:, 0] == -source["actuator_biasprm"][:, 1]
    servo &= (source["actuator_gaintype"] == 0) & (source["actuator_biastype"] == kinds.AFFINE)
    found = turning({name: source[name] for name in names})
    return found & servo & (source["actuator_dyntype"] == kinds.INTEGRATOR)


def _turning_cameras(source: InspectedModel) -> Any:
    """Return for each sensor whether it reads a camera that follows or looks at a body."""
    found = np.zeros(len(source["sensor_type"]), bool)
    for name in ("obj", "ref"):
        which = source[f"sensor_{name}type"] == kinds.CAMERA
        if which.any() and source["cam_mode"].size:
            found[which] |= source["cam_mode"][source[f"sensor_{name}id"][which]] != 0
    return found


def _unseen(source: InspectedModel) -> Any:
    """Return for each sensor whether it is a rangefinder that may meet what rays do not."""
    found = source["sensor_type"] == kinds.RANGEFINDER
    if found.any():
        names = ("geom_matid", "mat_rgba", "geom_rgba")
        shown = visible({name: source[name] for name in names})
        odd = shown & np.isin(source["geom_type"], (kinds.HFIELD, kinds.SDF))
        own = source["site_bodyid"][source["sensor_objid"][found]]
        found[found] = [(source["geom_bodyid"][odd] != body).any() for body in own]
    return found


def _shapeless(source: InspectedModel) -> Any:
    """Return for each sensor whether it measures the distance of a geom that has none."""
    odd = np.isin(source["geom_type"], (kinds.HFIELD, kinds.SDF))
    found = np.isin(source["sensor_type"], kinds.GAPS)
    for s in np.flatnonzero(found):
        own = np.zeros(len(odd), bool)
        for which in ("obj", "ref"):
            kind, index = source[f"sensor_{which}type"][s], int(source[f"sensor_{which}id"][s])
            own |= (
                np.arange(len(odd)) == index
                if kind == kinds.GEOM
                else (source["geom_bodyid"] == index)
            )
        found[s] = (odd & own).any()
    return found


def _pairs(source: InspectedModel) -> Array:
    names = ("geom_type", "geom_bodyid", "geom_contype", "geom_conaffinity", "body_weldid")
    given = {name: source[name] for name in (*names, "body_parentid", "exclude_signature")}
    given |= {name: source[name].astype(int) for name in ("pair_geom1", "pair_geom2")}
    given["disableflags"] = (
        np.zeros((), int) if not source["disableflags"].size else source["disableflags"]
    )
    return pairs_of(given)


_TRANSMISSIONS = (kinds.JOINT, kinds.JOINTINPARENT, kinds.CRANK, kinds.TENDON, kinds.SITED)
_FREEJOINTS = (kinds.FREE, kinds.BALL)
_SENSORS = (
    *range(kinds.TOUCH, kinds.RANGEFINDER + 1),
    *range(kinds.JOINTPOS, kinds.SUBTREEANGMOM + 1),
    *kinds.GAPS,
    *kinds.ENERGIES,
)
_REMOVE = "remove it, or set it to 0."
_SIGNS = "write a time and a damping ratio, or a negative stiffness and damping."

REFUSALS: tuple[Refusal, ...] = (
    # joints
    Refusal("plasticity", "jnt", lambda s: s["jnt_plasticadr"] >= 0, "use 'stiffness' alone."),
    Refusal("a yielding spring", "jnt", _nonzero("jnt_springyield"), "use 'stiffness' alone."),
    # constraints
    Refusal(
        "the equality type {}",
        "eq",
        _other("eq_type", kinds.CONNECT, kinds.WELD, kinds.FOLLOWER, kinds.ROPE),
        "use <connect>, <weld>, <joint> or <tendon>.",
        "eq_type",
    ),
    Refusal(
        "a yielding spring of a tendon",
        "tendon",
        _nonzero("tendon_springyield"),
        "use 'stiffness' alone.",
    ),
    Refusal(
        "armature of a tendon around geoms",
        "tendon",
        _heavy_around_geoms,
        "give it to the joints, as MuJoCo asks too.",
    ),
    Refusal(
        "plasticity of a tendon",
        "tendon",
        lambda s: s["tendon_plasticadr"] >= 0,
        "use 'stiffness' alone.",
    ),
    # geoms
    *(
        Refusal(f"a sign of its own for each number of '{name}'", kind, _mixed(name), _SIGNS)
        for kind, name in (
            *(("jnt", "jnt_solref"), ("dof", "dof_solref"), ("geom", "geom_solref")),
            *(("pair", "pair_solref"), ("pair", "pair_solreffriction"), ("eq", "eq_solref")),
        )
    ),
    Refusal("adhesion of geoms", "geom", _nonzero("geom_adhesion"), _REMOVE),
    Refusal("adhesion of pairs", "pair", _nonzero("pair_adhesion"), _REMOVE),
    Refusal("surface velocity", "geom", _nonzero("geom_surfacevel"), _REMOVE),
    Refusal("flexible bodies", "flex", _all_of("nflex"), "use rigid bodies."),
    Refusal("plugins", "plugin", _all_of("nplugin"), "use what MuJoCo has built in."),
    # actuators
    Refusal(
        "the transmission {}",
        "actuator",
        _other("actuator_trntype", *_TRANSMISSIONS),
        'use joint="...", tendon="...", site="..." or cranksite="...".',
        "actuator_trntype",
    ),
    Refusal(
        "'jointinparent' on a free or ball joint",
        "actuator",
        _on_joints(*_FREEJOINTS),
        'use joint="...".',
    ),
    Refusal(
        "the gain type {}",
        "actuator",
        _other("actuator_gaintype", 0, kinds.AFFINE, kinds.MUSCLE),
        'use <general> with gaintype "fixed", "affine" or "muscle".',
        "actuator_gaintype",
    ),
    Refusal(
        "the bias type {}",
        "actuator",
        _other("actuator_biastype", 0, kinds.AFFINE, kinds.MUSCLE),
        'use <general> with biastype "none", "affine" or "muscle".',
        "actuator_biastype",
    ),
    Refusal(
        "the dynamics type {}",
        "actuator",
        _other("actuator_dyntype", *range(kinds.MUSCULAR + 1)),
        'use <general> with dyntype "integrator", "filter", "filterexact" or "muscle".',
        "actuator_dyntype",
    ),
    Refusal(
        "an integrated position of a ball joint, or of the turn of a site",
        "actuator",
        _winding,
        'use <position>, or dyntype="none".',
    ),
    Refusal("several activations", "actuator", lambda s: s["actuator_actnum"] > 1, "use one each."),
    Refusal("a delay", "actuator", _nonzero("actuator_delay"), _REMOVE),
    # sensors
    Refusal(
        "the sensor type {}",
        "sensor",
        _other("sensor_type", *_SENSORS),
        "remove it.",
        "sensor_type",
    ),
    Refusal(
        "a sensor of a camera that turns by itself",
        "sensor",
        _turning_cameras,
        'give the camera mode="fixed".',
    ),
    Refusal(
        "a rangefinder that reads more than a distance",
        "sensor",
        lambda s: (
            (s["sensor_type"] == kinds.RANGEFINDER)
            & ((s["sensor_objtype"] != kinds.SITE) | (s["sensor_dim"] != 1))
        ),
        'give it a site, and data="dist".',
    ),
    Refusal(
        "a rangefinder among height fields or signed distance fields",
        "sensor",
        _unseen,
        "make these geoms transparent, by the fourth number of 'rgba'.",
    ),
    Refusal(
        "a distance of height fields or signed distance fields",
        "sensor",
        _shapeless,
        "measure the distance of other geoms.",
    ),
    Refusal("a delay", "sensor", _nonzero("sensor_delay"), _REMOVE),
    Refusal("an interval", "sensor", _nonzero("sensor_interval"), _REMOVE),
    # the whole model
    Refusal(
        "the integrator {}",
        "option",
        _other("integrator", kinds.EULER, kinds.RK4, kinds.IMPLICIT, kinds.IMPLICITFAST),
        'use integrator="Euler", "RK4", "implicit" or "implicitfast".',
        "integrator",
    ),
    Refusal(
        "noslip under the integrator implicit",
        "option",
        lambda s: (s["noslip_iterations"] > 0) & (s["integrator"] == kinds.IMPLICIT),
        'use integrator="implicitfast", or load it with noslip="skip".',
    ),
    Refusal(
        "disabled sensors",
        "option",
        lambda s: (
            _bit("disableflags", kinds.NO_SENSOR)(s) & (np.atleast_1d(s["sensor_type"]).size > 0)
        ),
        "remove the sensors.",
    ),
    Refusal(
        "overrides of contact parameters", "option", _bit("enableflags", 1), "give them to geoms."
    ),
    Refusal("sleeping", "option", _bit("enableflags", 16), "remove the flag.", option="sleep"),
    Refusal("'diagexact'", "option", _bit("enableflags", 32), "remove the flag."),
    Refusal("'ipc'", "option", _bit("enableflags", 64), "remove the flag."),
    Refusal("'speculative'", "option", _bit("enableflags", 128), "remove the flag."),
)


def refuse(source: InspectedModel, skipped: Collection[str] = ()) -> tuple[MissingFeature, ...]:
    """Check that a model uses only what worlds support.

    Args:
        source: The model.
        skipped: The options of `load` that leave features out.

    Returns:
        The features that are left out, by these options.

    Raises:
        Unsupported: It uses others.
    """
    found = reasons_of(source)
    kept = [one for one in found if one.option not in skipped]
    if kept:
        raise Unsupported(kept)
    return tuple(found)


def reasons_of(source: InspectedModel) -> list[MissingFeature]:
    """Return the features of a model that worlds do not have."""
    return [reason for row in REFUSALS for reason in row.reasons(source)] + _collisions(source)


def refused_sensors(source: InspectedModel) -> Array:
    """Return the indices of sensors that worlds do not have."""
    used = [row.used(source) for row in REFUSALS if row.kind == "sensor"]
    return np.unique(np.concatenate([np.flatnonzero(one) for one in used]))


def _collisions(source: InspectedModel) -> list[MissingFeature]:
    """Return the kinds of pairs of geoms that would have to collide, and are refused."""
    pairs = _pairs(source)
    found, known = [], (*COLLISIONS, (kinds.PLANE, kinds.PLANE))
    types = source["geom_type"].astype(int)[pairs[:, :2]]
    codes = len(GEOMS) * types[:, 0] + types[:, 1]
    for code in np.unique(codes).tolist():
        kind = divmod(code, len(GEOMS))
        if kind not in known:
            names = " with ".join(GEOMS[one] for one in kind)
            places = (
                f"{source.place('geom', one)} and {source.place('geom', other)}"
                for one, other, _ in pairs[codes == code]
            )
            found.append(
                MissingFeature(f"contact of {names}", tuple(places), _INSTEAD, "collisions")
            )
    return found


GEOMS = kinds.TYPES["geom_type"].split()
_INSTEAD = (
    "use a plane, boxes or meshes; or let the geoms not collide, by contype, conaffinity or "
    "<exclude>."
)

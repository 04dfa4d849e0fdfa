"""What kernels need to know about a model besides its arrays: sizes, and tables of indices.

A chain of **nodes** stands for the tree: a node for each joint, and one for each body without
joints. The frame, the velocity and the acceleration of a node follow from those of its parent, so
that each is stored once. Node 0 is the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from difftile.worlds.arrays import Array, ArrayMisfit, Arrays
from difftile.worlds.gap_tables import gap_tables
from difftile.worlds.hulls import hull_tables, seen_triangles
from difftile.worlds.kinds import (
    BALL,
    BOX,
    CAPSULE,
    CRANK,
    CYLINDER,
    ELLIPSOID,
    EULER,
    FIXED,
    FOLLOWER,
    FREE,
    IMPLICIT,
    IMPLICITFAST,
    JOINT,
    JOINTINPARENT,
    LIMITS,
    MESH,
    MUSCLE,
    MUSCULAR,
    NO_ACTUATION,
    NO_CONSTRAINT,
    NO_CONTACT,
    NO_EQUALITY,
    NO_EULERDAMP,
    NO_FILTERPARENT,
    NO_FRICTIONLOSS,
    NO_ISLAND,
    NO_LIMIT,
    NO_MULTICCD,
    NO_REFSAFE,
    PLANE,
    RANGEFINDER,
    ROPE,
    SDF,
    SITE,
    SITED,
    SPHERE,
    TENDONLIMITPOS,
)
from difftile.worlds.path_tables import paths_of

# Pairs of geom types that collide, in the order of the tables, and their contact slots.
COLLISIONS = {
    (PLANE, SPHERE): 1,
    (PLANE, CAPSULE): 2,
    (PLANE, BOX): 8,
    (SPHERE, SPHERE): 1,
    (SPHERE, CAPSULE): 1,
    (CAPSULE, CAPSULE): 2,
    (SPHERE, BOX): 1,
    (CAPSULE, BOX): 2,
    (PLANE, CYLINDER): 4,
    (SPHERE, CYLINDER): 1,
    (PLANE, ELLIPSOID): 1,
    (PLANE, MESH): 4,
    (SPHERE, ELLIPSOID): 1,
    (SPHERE, MESH): 1,
    (CAPSULE, ELLIPSOID): 1,
    (CAPSULE, CYLINDER): 2,
    (CAPSULE, MESH): 2,
    (ELLIPSOID, ELLIPSOID): 1,
    (ELLIPSOID, CYLINDER): 1,
    (ELLIPSOID, BOX): 1,
    (ELLIPSOID, MESH): 1,
    (CYLINDER, CYLINDER): 4,
    (CYLINDER, BOX): 4,
    (CYLINDER, MESH): 4,
    (BOX, BOX): 8,
    (BOX, MESH): 4,
    (MESH, MESH): 4,
}
# Those, from here on, whose features are searched before contacts are measured (`convex`).
FEATURED = tuple(COLLISIONS)[tuple(COLLISIONS).index((PLANE, ELLIPSOID)) :]
# Coordinates and degrees of freedom of a joint, by its type.
_NO_MASS = 1e-15  # of bodies on which a fluid does not act [kg]
_COORDINATES, _FREEDOMS = (7, 4, 1, 1), (6, 3, 1, 1)


@dataclass(frozen=True)
class Sizes:
    """Everything about a model that is compiled into a step; the rest is data.

    Models with equal sizes share their compiled steps.

    Args:
        nq: Coordinates; nv, nu, na, nbody and so on are the other sizes of `mjModel`.
        nnode: Nodes, the world included.
        nentry: Entries of the inertia matrix, its lower triangle, that are not zero: the rows of
            `entry_row` and `entry_column`.
        nequality: Equality constraints that are active, the rows of `tie_eqid`.
        npath, nmoment: Paths, of which the first are tendons, and moments of all.
        spatial, wrapping: Whether there are tendons between sites, and around geoms.
        clamped: Whether the force of actuators on a tendon is limited.
        nlimit: Joints with limits, the rows of `limit_jntid`.
        ntendonlimit: Tendons with limits, the rows of `limit_tendonid`.
        nfriction: Degrees of freedom with frictionloss, the rows of `friction_dofid`.
        roped: Whether equalities tie tendons.
        ntendonfriction: Tendons with frictionloss, the rows of `friction_tendonid`.
        ncollider: Geoms whose frames are needed, the rows of `collider_geomid`.
        collisions: For each row of `COLLISIONS`, the number of pairs of geoms.
        joints: The types of nodes that occur, but that of the world: of joints, or fixed.
        limited, pulled: The types of joints that have limits, and that actuators move.
        turning: Whether actuators may turn around a circle: ball joints, and sites.
        explicit: Whether pairs have parameters of their own.
        nslot: Contact slots of all pairs.
        ncontact: The contacts that a world has room for.
        ncorner: The largest number of corners of a face of a geom that collides, rounded up.
        multiccd: Whether convex geoms may have several contacts.
        condim: The largest number of dimensions that a contact has.
        nrow: The rows that each contact is given: as many, but 3 at least.
        nalone: Free bodies whose subtree has no other joints, the rows of `alone_dofadr`, under
            implicitfast.
        integrator: Euler (0), RK4 (1), implicit (2) or implicitfast (3).
        cone: Pyramidal (0) or elliptic (1).
        gravcomp: Whether a body has gravity compensation.
        lifting: Whether some of it counts as a force of actuators.
        fluid: Whether there is a fluid; nfluidbody and nfluidgeom, the bodies that are boxes in it
            and the geoms that are ellipsoids, the rows of `fluid_bodyid` and `fluid_geomid`.
        cranked, muscles: Whether there are slider-cranks, and muscles.
        curved: Whether a stiffness or a damping is a polynomial.
        geared: Whether actuators add damping or armature to what they move.
        armed: Whether a tendon has armature.
        acting, muted: Whether actuators work at all, and whether some of them do not, by
            `actuator_muted`.
        damped: Whether the integrator is implicit in the damping of joints.
        sensors: The types of sensors that there are.
        measured: The types of geoms whose distance sensors measure.
        nseen: Geoms that rangefinders see, the rows of `seen_geomid`.
        pierced: Whether some of these are meshes.
        relative: Whether a sensor has a reference frame.
        refsafe: Whether time constants of constraints are two steps at least.
        noslip: Whether there are sweeps after the solver.
        islands: Whether these are of each island by itself.
    """

    nq: int
    nv: int
    nu: int
    na: int
    nbody: int
    njnt: int
    ngeom: int
    nsite: int
    nsensor: int
    nsensordata: int
    ntendon: int
    ncam: int
    nnode: int
    nentry: int
    nequality: int
    npath: int
    nmoment: int
    spatial: bool
    wrapping: bool
    clamped: bool
    nlimit: int
    ntendonlimit: int
    nfriction: int
    ntendonfriction: int
    roped: bool
    ncollider: int
    collisions: tuple[int, ...]
    joints: tuple[int, ...]
    limited: tuple[int, ...]
    pulled: tuple[int, ...]
    turning: bool
    explicit: bool
    nslot: int
    ncontact: int
    ncorner: int
    multiccd: bool
    condim: int
    nrow: int
    nalone: int
    integrator: int
    cone: int
    gravcomp: bool
    lifting: bool
    fluid: bool
    nfluidbody: int
    nfluidgeom: int
    cranked: bool
    muscles: bool
    curved: bool
    geared: bool
    armed: bool
    acting: bool
    muted: bool
    damped: bool
    sensors: tuple[int, ...]
    measured: tuple[int, ...]
    nseen: int
    pierced: bool
    relative: bool
    refsafe: bool
    noslip: bool
    islands: bool

    @property
    def nend(self) -> int:
        """Ranges with limits, of joints and tendons."""
        return self.nlimit + self.ntendonlimit

    @property
    def ndry(self) -> int:
        """Rows of frictionloss, of degrees of freedom and tendons."""
        return self.nfriction + self.ntendonfriction


LARGEST = 4096  # numbers of an array of a thread, the compiler's limit
ROOM = LARGEST // 9  # contacts, whose frames are nine numbers
# Compiling a step takes longer with larger arrays: of 5,500 slots 3 s of processor time with room
# for 50 or 128 contacts, 5 s for 256 and 11 s for 455 (`benchmarks/first_step.py`).
_FEW, _LEAST, _EACH = 256, 128, 4


def room_of(slots: int, freedoms: int) -> int:
    """Return how many contacts a world has room for by default: all, if the model has few slots."""
    return slots if slots <= _FEW else min(slots, ROOM, max(_LEAST, _EACH * freedoms))


def weld_parents(arrays: Mapping[str, Array]) -> Array:
    """Return for each body the welded body that its own welded body hangs on."""
    weld = arrays["body_weldid"]
    return weld[arrays["body_parentid"][weld]]


def pairs_of(arrays: Mapping[str, Array]) -> Array:
    """Return the geoms of each pair that can collide, and its explicit pair or -1, (pairs, 3).

    Source: MuJoCo's documentation, "Collision detection". The geom of the smaller type comes first.
    """
    disabled, types = int(arrays["disableflags"]), arrays["geom_type"]
    body, weld = arrays["geom_bodyid"], arrays["body_weldid"]
    explicit = np.stack([arrays["pair_geom1"], arrays["pair_geom2"]], axis=1).astype(int)
    apart = weld[body[explicit[:, 0]]] != weld[body[explicit[:, 1]]]  # else no joint moves them
    chosen = [np.column_stack([explicit, np.arange(len(explicit))])[apart]]
    if disabled & (NO_CONTACT | NO_CONSTRAINT):
        return np.zeros((0, 3), int)
    above = weld_parents(arrays)[body]
    weld = weld[body]
    contype, conaffinity = arrays["geom_contype"], arrays["geom_conaffinity"]
    excluded, taken = arrays["exclude_signature"], np.sort(explicit, axis=1)
    able = np.flatnonzero((contype | conaffinity) != 0)
    for k, one in enumerate(able):
        others = able[k + 1 :]
        met = (contype[one] & conaffinity[others]) | (contype[others] & conaffinity[one])
        met = (met != 0) & (weld[one] != weld[others])
        if not disabled & NO_FILTERPARENT:
            related = (weld[one] == above[others]) | (weld[others] == above[one])
            met &= ~(related & (weld[one] != 0) & (weld[others] != 0))
        others = others[met]
        low, high = (np.asarray(f(body[one], body[others]), int) for f in (np.minimum, np.maximum))
        if len(excluded):
            others = others[~np.isin((low << 16) + high, excluded)]
        if len(taken):
            others = others[~np.isin(others, taken[taken[:, 0] == one, 1])]
        first = np.where(body[others] < body[one], others, one)
        chosen.append(np.column_stack([first, one + others - first, np.full(len(others), -1)]))
    found = np.concatenate(chosen)
    found[:, :2] = _by_type(found[:, :2], types)
    return found


def _by_type(pairs: Array, types: Array) -> Array:
    """Return pairs of geoms with the smaller type first."""
    swapped = types[pairs[:, 0]] > types[pairs[:, 1]]
    return np.where(swapped[:, None], pairs[:, ::-1], pairs)


def derived(arrays: Arrays, sizes: Mapping[str, int]) -> tuple[Arrays, Sizes]:
    """Return the tables of a model that kernels read, and what is compiled in.

    Tables: `node_bodyid`, `node_parentid` (nodes), `node_type`, `node_jntid`, `node_first` (1 for
    the first of a body), `node_qposadr`, `node_dofadr`, `node_dofnum`; `body_nodeid`, the last node
    of a body; those of `paths`; `tie_eqid`, the active equalities; `limit_jntid`,
    `limit_tendonid`, `friction_dofid`, `friction_tendonid`; `sensor_limitid`, the row that a sensor
    reads, or -1; those of `gap_tables`; `collider_geomid`, `fluid_bodyid`,
    `fluid_geomid`, `seen_geomid`, `alone_dofadr`; `actuator_muted`, 1 of those in disabled groups;
    of collisions, in the order of `COLLISIONS`, `collision_geom1`, `collision_geom2`,
    `collision_pair` (explicit, or -1), `collision_slot` (the first of its slots, and the end of
    all); of slots, the same of their collisions, `slot_geom1`, `slot_geom2`, `slot_pair`,
    `slot_place`, the place among them, and `slot_rank`, the place of the collision among MuJoCo's;
    `body_lastdofid`, the last degree of freedom that moves a body, or -1; `entry_row` and
    `entry_column`, for each degree of freedom itself and those above it; and of hulls and
    triangles, see `hulls`.

    Raises:
        Misfit: Indices of the arrays do not form a tree.
    """
    _check(arrays, sizes)
    tables = {**_nodes(arrays, sizes), "body_lastdofid": _last_freedoms(arrays)}
    tables |= paths_of(arrays, tables["body_lastdofid"])
    tables |= _rows_of_constraints(arrays, tables)
    tables["fluid_bodyid"], tables["fluid_geomid"] = _in_fluid(arrays)
    ranging = bool((arrays["sensor_type"] == RANGEFINDER).any())
    tables["seen_geomid"] = (visible(arrays) & ranging).nonzero()[0]
    tables["sensor_limitid"] = _sensed_limits(arrays, tables)
    counts = _collisions(arrays, tables)
    tables |= gap_tables(arrays)
    shaped = [tables[name] for name in ("collider_geomid", "gap_geom1", "gap_geom2")]
    shapes = hull_tables(arrays, np.unique(np.concatenate(shaped)).tolist())
    shapes |= seen_triangles(arrays, tables["seen_geomid"])
    tables["entry_row"], tables["entry_column"] = _entries(arrays)
    tables["actuator_muted"] = int(arrays["disableactuator"]) >> arrays["actuator_group"] & 1
    alone = _alone(arrays) if arrays["integrator"] == IMPLICITFAST else []
    tables["alone_dofadr"] = np.array(alone, np.int32)
    compiled = _sizes(arrays, sizes, {**tables, **shapes}, counts)
    tables = {name: np.asarray(table, np.int32) for name, table in tables.items()}
    return {**tables, **shapes}, compiled


def _rows_of_constraints(arrays: Arrays, tables: Arrays) -> Arrays:
    """Return what has rows: active equalities, limits, and frictionloss."""
    off, nothing = int(arrays["disableflags"]), np.zeros(0, np.int32)
    ties = arrays["eq_active0"].nonzero()[0]
    found = {"tie_eqid": nothing if off & (NO_CONSTRAINT | NO_EQUALITY) else ties}
    strung = tables["path_num"][: len(arrays["tendon_num"])] > 0
    moving = {"tendon": strung}  # others have no rows
    for kind in ("jnt", "tendon"):
        limits = (arrays[f"{kind}_limited"] * moving.get(kind, 1)).nonzero()[0]
        found[f"limit_{kind}id"] = nothing if off & (NO_CONSTRAINT | NO_LIMIT) else limits
    for kind in ("dof", "tendon"):
        dry = (arrays[f"{kind}_frictionloss"] * moving.get(kind, 1) > 0).nonzero()[0]
        found[f"friction_{kind}id"] = nothing if off & (NO_CONSTRAINT | NO_FRICTIONLOSS) else dry
    return found


# Sizes that are lengths of tables.
_LENGTHS = {
    "nnode": "node_type",
    "nentry": "entry_row",
    "nequality": "tie_eqid",
    "npath": "path_adr",
    "nmoment": "path_dofid",
    "nlimit": "limit_jntid",
    "ntendonlimit": "limit_tendonid",
    "nfriction": "friction_dofid",
    "ntendonfriction": "friction_tendonid",
    "ncollider": "collider_geomid",
    "nalone": "alone_dofadr",
    "nfluidbody": "fluid_bodyid",
    "nfluidgeom": "fluid_geomid",
    "nseen": "seen_geomid",
}


def _sizes(
    arrays: Arrays, sizes: Mapping[str, int], tables: Arrays, counts: tuple[int, ...]
) -> Sizes:
    """Return what is compiled in, from all tables and the number of pairs of each kind."""
    off = int(arrays["disableflags"])
    condim = _condim(arrays, tables)
    slots = sum(n * each for n, each in zip(counts, COLLISIONS.values(), strict=True))
    return Sizes(
        **{name: sizes[name] for name in Sizes.__annotations__ if name in sizes},
        **{name: len(tables[table]) for name, table in _LENGTHS.items()},
        spatial=len(tables["segment_site1"]) > 0,
        wrapping=bool((tables["segment_geomid"] >= 0).any()),
        clamped=bool(arrays["tendon_actfrclimited"].any()),
        roped=bool((arrays["eq_type"][tables["tie_eqid"]] == ROPE).any()),
        collisions=counts,
        joints=_distinct(tables["node_type"][1:]),
        limited=_distinct(arrays["jnt_type"][tables["limit_jntid"]]),
        pulled=_distinct(arrays["jnt_type"][_pulled(arrays)]),
        turning=bool(turning(arrays).any()),
        explicit=sizes["npair"] > 0,
        nslot=slots,
        ncontact=room_of(slots, sizes["nv"]),
        ncorner=-4 * (-int(np.diff(tables["hull_cornadr"]).max()) // 4),
        multiccd=not off & NO_MULTICCD,
        condim=condim,
        nrow=max(condim, 3),
        integrator=int(arrays["integrator"]),
        cone=int(arrays["cone"]),
        gravcomp=bool(arrays["body_gravcomp"].any()),
        lifting=bool(arrays["jnt_actgravcomp"].any() and arrays["body_gravcomp"].any()),
        fluid=len(tables["fluid_bodyid"]) + len(tables["fluid_geomid"]) > 0,
        cranked=bool((arrays["actuator_trntype"] == CRANK).any()),
        muscles=bool(
            (arrays["actuator_gaintype"] == MUSCLE).any()
            or (arrays["actuator_biastype"] == MUSCLE).any()
            or (arrays["actuator_dyntype"] == MUSCULAR).any()
        ),
        curved=_any(arrays, *_CURVED),
        geared=_any(arrays, *_GEARED),
        armed=_any(arrays, "tendon_armature", "actuator_armature") and sizes["ntendon"] > 0,
        acting=not off & NO_ACTUATION,
        muted=bool(tables["actuator_muted"].any()),
        damped=arrays["integrator"] in (IMPLICIT, IMPLICITFAST)
        or bool(arrays["integrator"] == EULER and not off & NO_EULERDAMP),
        sensors=tuple(np.unique(arrays["sensor_type"]).tolist()),
        measured=_distinct(
            arrays["geom_type"][np.append(tables["gap_geom1"], tables["gap_geom2"])]
        ),
        pierced=bool(tables["triangle_num"].any()),
        relative=bool((arrays["sensor_refid"] >= 0).any()),
        refsafe=not off & NO_REFSAFE,
        noslip=bool(arrays["noslip_iterations"] > 0),
        islands=not off & NO_ISLAND,
    )


_CURVED = (
    *("jnt_stiffnesspoly", "tendon_stiffnesspoly"),
    *("dof_dampingpoly", "tendon_dampingpoly", "actuator_dampingpoly"),
)
_GEARED = ("actuator_armature", "actuator_damping", "actuator_dampingpoly")


def _any(arrays: Arrays, *names: str) -> bool:
    """Return whether any number of some arrays is not 0."""
    return any(arrays[name].any() for name in names)


def _distinct(values: Array) -> tuple[int, ...]:
    return tuple(np.unique(values).tolist())


def _pulled(arrays: Arrays) -> Array:
    """Return the joints that actuators move by themselves."""
    on_joints = np.isin(arrays["actuator_trntype"], (JOINT, JOINTINPARENT))
    return arrays["actuator_trnid"][on_joints, 0]


def turning(arrays: Mapping[str, Array]) -> Array:
    """Return for each actuator whether it turns a ball joint, or a site beside another."""
    kind, target = arrays["actuator_trntype"], arrays["actuator_trnid"]
    found = (kind == SITED) & (target[:, 1] >= 0)
    joints = np.isin(kind, (JOINT, JOINTINPARENT))
    found[joints] = arrays["jnt_type"][target[joints, 0]] == BALL
    return found


def _check(arrays: Arrays, sizes: Mapping[str, int]) -> None:
    """Check the indices that kernels follow."""
    bodies, parents = np.arange(sizes["nbody"]), arrays["body_parentid"]
    if parents[0] != 0 or (parents[1:] < 0).any() or (parents[1:] >= bodies[1:]).any():
        raise ArrayMisfit("has 'body_parentid' out of order", "each body after its parent")
    types = arrays["jnt_type"]
    if ((types < 0) | (types > len(_FREEDOMS) - 1)).any():
        raise ArrayMisfit("has a 'jnt_type' that is none", "0 to 3")
    for name, each in (("jnt_qposadr", _COORDINATES), ("jnt_dofadr", _FREEDOMS)):
        lengths = np.array(each)[types]
        total = sizes["nq" if name == "jnt_qposadr" else "nv"]
        if lengths.sum() != total or (arrays[name] != np.cumsum(lengths) - lengths).any():
            raise ArrayMisfit(f"has other addresses in '{name}'", "those of the types of joints")
    geoms = arrays["geom_type"]
    if ((geoms < 0) | (geoms > SDF)).any():
        raise ArrayMisfit("has a 'geom_type' that is none", f"0 to {SDF}")
    lengths = np.array(_FREEDOMS)[types]
    own = np.repeat(np.arange(len(types)), lengths)
    owners = arrays["jnt_bodyid"][own] if len(own) else own
    if (arrays["dof_jntid"] != own).any() or (arrays["dof_bodyid"] != owners).any():
        raise ArrayMisfit("has other joints in 'dof_jntid'", "those of the types of joints")
    above = arrays["dof_parentid"]
    if (above < -1).any() or (above >= np.arange(sizes["nv"])).any():
        raise ArrayMisfit("has 'dof_parentid' out of order", "each after its parent")
    adr, num = arrays["body_jntadr"], arrays["body_jntnum"]
    joints = [j for b in bodies for j in range(adr[b], adr[b] + num[b])]
    hosts = np.repeat(bodies, np.maximum(num, 0))
    if joints != list(range(len(types))) or (arrays["jnt_bodyid"] != hosts).any():
        raise ArrayMisfit("has other joints in 'body_jntadr'", "those of 'jnt_bodyid'")
    free = arrays["jnt_bodyid"][types == FREE]
    if (parents[free] != 0).any() or (num[free] != 1).any():
        raise ArrayMisfit("has a free joint within a tree", "one at its root, without others")
    for kind, of, one, other in zip(*(arrays[f"eq_{name}"] for name in _TIED), strict=True):
        count = sizes[_OF_TIES.get(kind, "nsite" if of == SITE else "nbody")]
        if not (0 <= one < count and (-1 if kind in _OF_TIES else 0) <= other < count):
            raise ArrayMisfit("has an equality of things out of range", f"0 to {count - 1}")
    if (_pulled(arrays) >= sizes["njnt"]).any() or (_pulled(arrays) < 0).any():
        raise ArrayMisfit("has actuators of joints out of range", f"0 to {sizes['njnt'] - 1}")
    for name, count in _INDICES.items():
        if ((arrays[name] < 0) | (arrays[name] >= sizes[count])).any():
            raise ArrayMisfit(f"has an index in '{name}' out of range", f"0 to {sizes[count] - 1}")


_TIED = ("type", "objtype", "obj1id", "obj2id")
_OF_TIES = {FOLLOWER: "njnt", ROPE: "ntendon"}
_INDICES = {
    "body_rootid": "nbody",
    "body_weldid": "nbody",
    "geom_bodyid": "nbody",
    "site_bodyid": "nbody",
    "pair_geom1": "ngeom",
    "pair_geom2": "ngeom",
}


def _nodes(arrays: Arrays, sizes: Mapping[str, int]) -> Arrays:
    rows, last = [(0, 0, FIXED, 0, 0, 0, 0, 0)], np.zeros(sizes["nbody"], np.int32)
    for b in range(1, sizes["nbody"]):
        parent = int(last[arrays["body_parentid"][b]])
        adr = int(arrays["body_jntadr"][b])
        joints = range(adr, adr + int(arrays["body_jntnum"][b]))
        for j in joints:
            kind = int(arrays["jnt_type"][j])
            adrs = int(arrays["jnt_qposadr"][j]), int(arrays["jnt_dofadr"][j])
            rows.append((b, parent, kind, j, int(j == adr), *adrs, _FREEDOMS[kind]))
            parent = len(rows) - 1
        if not joints:
            rows.append((b, parent, FIXED, 0, 1, 0, 0, 0))
        last[b] = len(rows) - 1
    names = ("bodyid", "parentid", "type", "jntid", "first", "qposadr", "dofadr", "dofnum")
    table = np.array(rows, np.int32)
    found = {f"node_{name}": table[:, k].copy() for k, name in enumerate(names)}
    return {**found, "body_nodeid": last}


def _collisions(arrays: Arrays, tables: Arrays) -> tuple[int, ...]:
    """Add the tables of pairs, and return the number of pairs of each kind."""
    found = pairs_of(arrays)
    kinds = arrays["geom_type"][found[:, :2]]
    of_kind = [found[(kinds == kind).all(axis=1)] for kind in COLLISIONS]
    table, counts = np.concatenate(of_kind), tuple(map(len, of_kind))
    for k, name in enumerate(("geom1", "geom2", "pair")):
        tables[f"collision_{name}"] = table[:, k].copy()
    each = np.repeat(list(COLLISIONS.values()), counts)
    first = np.cumsum(each) - each
    tables["collision_slot"] = np.append(first, each.sum())
    for name in ("geom1", "geom2", "pair"):
        tables[f"slot_{name}"] = np.repeat(tables[f"collision_{name}"], each)
    tables["slot_rank"] = np.repeat(_ranks(arrays, table), each)
    tables["slot_place"] = np.arange(each.sum()) - np.repeat(first, each)
    seen = arrays["sensor_objid"][arrays["sensor_objtype"] == 5]
    tables["collider_geomid"] = np.unique(np.concatenate([table[:, 0], table[:, 1], seen]))
    return counts


def _ranks(arrays: Arrays, pairs: Array) -> Array:
    """Return the places of pairs in the order in which MuJoCo has their contacts.

    By pairs of bodies; of each, explicit pairs first, and others by geoms, that of the smaller type
    first (measured: 4.0.0).
    """
    bodies = np.sort(arrays["geom_bodyid"][pairs[:, :2]], axis=1)
    one, other, explicit = pairs.T
    within = other, one, np.maximum(explicit, 0), explicit < 0
    order = np.lexsort((*within, bodies[:, 1], bodies[:, 0]))
    found = np.empty(len(pairs), int)
    found[order] = np.arange(len(pairs))
    return found


def _last_freedoms(arrays: Arrays) -> Array:
    adr, num, parent = (arrays[f"body_{name}"] for name in ("dofadr", "dofnum", "parentid"))
    last = np.full(len(parent), -1)
    for b in range(1, len(parent)):
        last[b] = adr[b] + num[b] - 1 if num[b] else last[parent[b]]
    return last


def _entries(arrays: Arrays) -> tuple[list[int], list[int]]:
    """Return the rows and columns of the entries of the inertia matrix that are not zero."""
    rows: list[int] = []
    columns: list[int] = []
    parents = arrays["dof_parentid"]
    for i in range(len(parents)):
        j = i
        while j >= 0:
            rows.append(i)
            columns.append(j)
            j = int(parents[j])
    return rows, columns


def _sensed_limits(arrays: Arrays, tables: Arrays) -> Array:
    """Return the row of limits that each sensor reads, -1 for others and for those switched off."""
    found = np.full(len(arrays["sensor_type"]), -1)
    rows = [("jnt", k) for k in tables["limit_jntid"]]
    rows += [("tendon", k) for k in tables["limit_tendonid"]]
    for s, kind in enumerate(arrays["sensor_type"]):
        if kind in LIMITS:
            of = "jnt" if kind < TENDONLIMITPOS else "tendon"
            one = of, arrays["sensor_objid"][s]
            found[s] = rows.index(one) if one in rows else -1
    return found


def visible(arrays: Mapping[str, Array]) -> Array:
    """Return for each geom whether it has a colour that is not transparent."""
    own, colours = arrays["geom_matid"], arrays["mat_rgba"]
    alpha = arrays["geom_rgba"][:, 3].copy()
    alpha[own >= 0] = colours[own[own >= 0], 3]
    return alpha > 0


def _in_fluid(arrays: Arrays) -> tuple[Array, Array]:
    """Return the bodies that are boxes in a fluid, and the geoms that are ellipsoids."""
    there = bool(arrays["density"] or arrays["viscosity"])
    heavy = (arrays["body_mass"] >= _NO_MASS) & there
    shaped = (arrays["geom_fluid"][:, 0] > 0) & heavy[arrays["geom_bodyid"]]
    heavy[arrays["geom_bodyid"][shaped]] = False
    return heavy.nonzero()[0], shaped.nonzero()[0]


def _condim(arrays: Arrays, tables: Arrays) -> int:
    """Return the largest number of dimensions of a contact."""
    one, other, explicit = (tables[f"collision_{name}"] for name in ("geom1", "geom2", "pair"))
    if not len(one):
        return 1
    priority, condim = arrays["geom_priority"], arrays["geom_condim"]
    found = np.where(priority[one] >= priority[other], condim[one], 1)
    found = np.maximum(found, np.where(priority[other] >= priority[one], condim[other], 1))
    given = explicit >= 0
    found[given] = arrays["pair_dim"][explicit[given]]
    return int(found.max())


def _alone(arrays: Arrays) -> list[int]:
    """Return the first degree of freedom of each free body without jointed descendants."""
    roots, owners = arrays["body_rootid"], arrays["jnt_bodyid"]
    free = owners[arrays["jnt_type"] == FREE]
    return [int(arrays["body_dofadr"][b]) for b in free if (roots[owners] == roots[b]).sum() == 1]

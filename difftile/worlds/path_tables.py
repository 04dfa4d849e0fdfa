"""Tables of paths: which degrees of freedom a tendon depends on, and the sites that it joins."""

from __future__ import annotations

import numpy as np

from difftile.worlds.arrays import Array, ArrayMisfit, Arrays
from difftile.worlds.kinds import CRANK, ON_GEOMS, ON_JOINT, ON_PULLEY, ON_SITE, SITED, TENDON


def paths_of(arrays: Arrays, last: Array) -> Arrays:
    """Return the tables of paths.

    `path_adr`, `path_num` and `path_dofid`, the moments of each path and their degrees of freedom,
    in rising order; `wrap_momentid` and `wrap_qposadr` of joints of fixed tendons, otherwise -1 and
    0; of the segments of spatial tendons, `tendon_segmentadr` and `tendon_segmentnum`, the sites
    `segment_site1` and `segment_site2`, the geom between them and the site of its side,
    `segment_geomid` and `segment_sideid`, or -1, and `segment_pulley`, the wrap whose divisor
    counts, or -1; `body_moved`, whether a degree of freedom moves a body, by rows of bodies, if
    there are segments or actuators on sites; `actuator_pathid`, or -1 of those on joints, and
    `path_actuatorid`, the actuators on sites, whose paths follow those of tendons.

    Args:
        arrays: The arrays of the model.
        last: `body_lastdofid`.
    """
    nv = len(arrays["dof_parentid"])
    segments = [_segments(arrays, t) for t in range(len(arrays["tendon_adr"]))]
    freedoms = [
        _between([_above(arrays, last, body) for body in _bodies(arrays, found)])
        if found
        else sorted({int(arrays["jnt_dofadr"][j]) for j in _joints(arrays, t)})
        for t, found in enumerate(segments)
    ]
    sited = np.isin(arrays["actuator_trntype"], (SITED, CRANK)).nonzero()[0]
    freedoms += [_of_site(arrays, last, u) for u in sited]
    counts = [len(one) for one in freedoms]
    starts = np.cumsum([0, *counts])[:-1]
    moments, qpos = np.full(len(arrays["wrap_type"]), -1), np.zeros(len(arrays["wrap_type"]))
    for t, (start, own) in enumerate(zip(starts, freedoms[: len(segments)], strict=False)):
        for w in _wraps(arrays, t):
            if arrays["wrap_type"][w] == ON_JOINT and not segments[t]:
                j = arrays["wrap_objid"][w]
                moments[w] = start + own.index(int(arrays["jnt_dofadr"][j]))
                qpos[w] = arrays["jnt_qposadr"][j]
    rows = np.array([one for found in segments for one in found], np.int32).reshape(-1, 5)
    names = ("site1", "site2", "geomid", "sideid", "pulley")
    numbers = [len(found) for found in segments]
    pulling = arrays["actuator_trntype"] == TENDON
    routes = np.where(pulling, arrays["actuator_trnid"][:, 0], -1)
    routes[sited] = len(segments) + np.arange(len(sited))
    moved = np.zeros((len(last) if len(rows) + len(sited) else 0, nv), np.int32)
    for body in range(len(moved)):
        moved[body, _above(arrays, last, body)] = 1
    found = {
        "path_adr": starts,
        "path_num": np.array(counts),
        "path_dofid": np.array([i for own in freedoms for i in own]),
        "wrap_momentid": moments,
        "wrap_qposadr": qpos,
        "tendon_segmentadr": np.cumsum([0, *numbers])[:-1],
        "tendon_segmentnum": np.array(numbers),
        **{f"segment_{name}": rows[:, k].copy() for k, name in enumerate(names)},
        "body_moved": moved.ravel(),
        "actuator_pathid": routes,
        "path_actuatorid": sited,
    }
    return {name: np.asarray(table, np.int32) for name, table in found.items()}


def _between(chains: list[list[int]]) -> list[int]:
    """Return the degrees of freedom that move some of a path's bodies, and not all."""
    return sorted(set().union(*chains) - set.intersection(*map(set, chains)))


def _of_site(arrays: Arrays, last: Array, u: int) -> list[int]:
    """Return the degrees of freedom that an actuator on a site moves."""
    sites = [int(site) for site in arrays["actuator_trnid"][u] if site >= 0]
    if any(site >= len(arrays["site_bodyid"]) for site in sites):
        raise ArrayMisfit("has an index in 'actuator_trnid' out of range", "one of a site")
    chains = [_above(arrays, last, int(arrays["site_bodyid"][site])) for site in sites]
    return _between(chains) if len(chains) > 1 else sorted(chains[0])


def _wraps(arrays: Arrays, t: int) -> range:
    first = int(arrays["tendon_adr"][t])
    return range(first, first + int(arrays["tendon_num"][t]))


def _joints(arrays: Arrays, t: int) -> list[int]:
    """Return the joints of a fixed tendon."""
    found = [int(arrays["wrap_objid"][w]) for w in _wraps(arrays, t)]
    if any(not 0 <= j < len(arrays["jnt_type"]) for j in found):
        raise ArrayMisfit("has an index in 'wrap_objid' out of range", "one of a joint")
    return found


def _segments(arrays: Arrays, t: int) -> list[tuple[int, int, int, int, int]]:
    """Return the segments of a tendon, none of a fixed one."""
    kinds, objects = arrays["wrap_type"], arrays["wrap_objid"]
    found, site, between, pulley = [], -1, (-1, -1), -1
    for w in _wraps(arrays, t):
        if kinds[w] == ON_PULLEY:
            site, pulley = -1, w
        elif kinds[w] in ON_GEOMS:
            between = int(objects[w]), round(float(arrays["wrap_prm"][w]))
        elif kinds[w] == ON_SITE:
            if site >= 0:
                found.append((site, int(objects[w]), *between, pulley))
            site, between = int(objects[w]), (-1, -1)
    for one in found:
        limits = *(len(arrays["site_bodyid"]),) * 2, len(arrays["geom_bodyid"])
        if any(not -1 <= k < most for k, most in zip(one, limits, strict=False)):
            raise ArrayMisfit("has an index in 'wrap_objid' out of range", "one of a site or geom")
    return found


def _bodies(arrays: Arrays, segments: list[tuple[int, int, int, int, int]]) -> set[int]:
    """Return the bodies on which a spatial tendon has points."""
    found = {int(arrays["site_bodyid"][k]) for one in segments for k in one[:2]}
    return found | {int(arrays["geom_bodyid"][one[2]]) for one in segments if one[2] >= 0}


def _above(arrays: Arrays, last: Array, body: int) -> list[int]:
    """Return the degrees of freedom that move a body."""
    found, i = [], int(last[body])
    while i >= 0:
        found.append(i)
        i = int(arrays["dof_parentid"][i])
    return found

"""Splats as `.ply` files of the INRIA code, gsplat, nerfstudio and Mip-Splatting.

Properties are found by name, in any order and among others. `f_rest` is channel-major: all
coefficients of red, then of green, then of blue. Mip-Splatting blurs gaussians in space before it
draws them: `filter_3D` is the standard deviation of that blur.

Source: github.com/graphdeco-inria/gaussian-splatting; Yu et al., Mip-Splatting, 2024, equation 9.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from difftile.datasets.columns import by_channel, by_coefficient, columns, rest_names, single
from difftile.datasets.packed import PACKED, unpacked
from difftile.datasets.ply import read_ply, write_ply
from difftile.datasets.splats import Floats, Splats
from difftile.diagnostics import DatasetError
from difftile.files.regular import shown

_CENTRE = ("x", "y", "z")
_NORMAL = ("nx", "ny", "nz")
_SCALE = ("scale_0", "scale_1", "scale_2")
_ROTATION = ("rot_0", "rot_1", "rot_2", "rot_3")
_CONSTANT = ("f_dc_0", "f_dc_1", "f_dc_2")
_NEEDED = (*_CENTRE, *_CONSTANT, "opacity", *_SCALE, *_ROTATION)
_BLUR = "filter_3D"


def read_splat_ply(path: Path) -> Splats:
    """Return the splats of a `.ply` file; rows that are not finite are dropped and counted.

    Raises:
        DatasetError: The file is broken, or contains no splats.
    """
    tables = read_ply(path)
    if "vertex" not in tables:
        raise DatasetError(path, f"has the elements {shown([*tables])}", "an element 'vertex'")
    names = tables["vertex"].dtype.names or ()
    if {*PACKED} <= {*names}:
        return unpacked(path, tables).kept()
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        points = {*_CENTRE} <= {*names} and len(missing) == len(_NEEDED) - len(_CENTRE)
        raise DatasetError(
            path,
            f"element 'vertex' has no {', '.join(map(repr, missing))}",
            "the properties of splats",
            hint="this is a point cloud; train splats from it." if points else None,
        )
    rest = rest_names(path, names)
    vertex = tables["vertex"]
    found = Splats(
        means=columns(vertex, _CENTRE),
        scales=columns(vertex, _SCALE),
        quaternions=columns(vertex, _ROTATION),
        opacities=columns(vertex, ("opacity",))[:, 0],
        sh0=columns(vertex, _CONSTANT),
        shN=by_coefficient(columns(vertex, rest)),
    )
    if _BLUR in names:
        found = _blurred(found, columns(vertex, (_BLUR,))[:, 0])
    return found.kept()


def write_splat_ply(path: Path, splats: Splats, *, normals: bool = True) -> int:
    """Write splats as the INRIA code does; return the number of dropped rows, which are not finite.

    Args:
        path: The file.
        splats: The splats.
        normals: Write the columns nx, ny, nz of zeros that the INRIA code writes.
    """
    kept = splats.kept()
    rest = by_channel(kept.shN)
    table: dict[str, Floats] = dict(zip(_CENTRE, kept.means.T, strict=True))
    if normals:
        table |= dict.fromkeys(_NORMAL, np.zeros(len(kept), np.float32))
    table |= zip(_CONSTANT, kept.sh0.T, strict=True)
    table |= {f"f_rest_{k}": column for k, column in enumerate(rest.T)}
    table |= {"opacity": kept.opacities}
    table |= zip(_SCALE, kept.scales.T, strict=True)
    table |= zip(_ROTATION, kept.quaternions.T, strict=True)
    vertex = np.empty(len(kept), [(name, "<f4") for name in table])
    for name, column in table.items():
        vertex[name] = column
    write_ply(path, {"vertex": vertex})
    return kept.dropped - splats.dropped


def _blurred(splats: Splats, blur: Floats) -> Splats:
    """Return splats blurred in space, whose opacities fall as their volumes grow.

    Args:
        splats: The splats.
        blur: A standard deviation in all directions [scene units], shape (n,).
    """
    with np.errstate(all="ignore"):  # rows of which something is not finite are dropped
        scales, more = splats.scales.astype(np.float64), 2 * np.log(np.abs(blur))[:, None]
        wide = 0.5 * np.logaddexp(2 * scales, more)
        # The logit of opacity * share, which neither rounds to 0 nor to 1.
        share = np.sum(scales - wide, axis=1)
        seen = share - np.logaddexp(0.0, -splats.opacities.astype(np.float64))
        logits = seen - np.log(-np.expm1(seen))
        bad = ~np.isfinite(blur)
    return replace(
        splats,
        scales=np.where(bad[:, None], np.nan, wide),
        opacities=single(np.where(share < 0, logits, splats.opacities)),
        antialiased=True,
    )

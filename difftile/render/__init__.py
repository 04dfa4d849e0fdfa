"""`dt.render`: cameras, splats, meshes, and losses between images."""

from difftile.render.cameras import Cameras
from difftile.render.compositing import composite, composite_plain
from difftile.render.coverage import coverage, triangle_coverage
from difftile.render.ellipsoids import Ellipsoids
from difftile.render.ewa import cull, project
from difftile.render.gaussians import make_gaussians
from difftile.render.harmonics import MAX_DEGREE, shade, spherical_harmonics
from difftile.render.losses import dssim, l1, l2
from difftile.render.metrics import decibels, psnr, ssim
from difftile.render.raster import Raster, rasterize
from difftile.render.silhouettes import hit_distance, march, next_surface, silhouette
from difftile.render.splats2d import AlphaSplats, sum_splats, sum_splats_plain
from difftile.render.splatter import Projected, Rendering, Splatter
from difftile.render.tiles import TileLists
from difftile.sorting import Sorter

__all__ = [
    "MAX_DEGREE",
    "AlphaSplats",
    "Cameras",
    "Ellipsoids",
    "Projected",
    "Raster",
    "Rendering",
    "Sorter",
    "Splatter",
    "TileLists",
    "composite",
    "composite_plain",
    "coverage",
    "cull",
    "decibels",
    "dssim",
    "hit_distance",
    "l1",
    "l2",
    "make_gaussians",
    "march",
    "next_surface",
    "project",
    "psnr",
    "rasterize",
    "shade",
    "silhouette",
    "spherical_harmonics",
    "ssim",
    "sum_splats",
    "sum_splats_plain",
    "triangle_coverage",
]

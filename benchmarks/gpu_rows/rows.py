"""The rows of `benchmarks.gpu`: work at the size of a GPU, who does it, and targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isqrt

from benchmarks.gpu_rows import of_cases, of_cloth, of_splats
from benchmarks.gpu_rows.cases import CASES
from benchmarks.gpu_rows.side import DIFFTILE, Makers
from benchmarks.kernel_rows.sides import TOLERANCE
from benchmarks.rendering import APART

JAX, TAICHI, WARP = "JAX", "Taichi", "Warp"
EAGER, COMPILED = "torch", "torch.compile"
TORCHES = EAGER, COMPILED
GSPLATS = "gsplat", "gsplat, packed"


@dataclass(frozen=True)
class Target:
    """The largest acceptable ratio of a time of difftile's to the best of other times.

    Attributes:
        time: "forward", "backward" or "total", of difftile.
        most: The largest acceptable ratio.
        sides: Whose time divides it.
        of: The name of that time; by default the same.
    """

    time: str
    most: float
    sides: tuple[str, ...]
    of: str = ""

    @property
    def divisor(self) -> str:
        return self.of or self.time

    def __str__(self) -> str:
        of = f" {self.of}" if self.of else ""
        return f"{self.time} <= {self.most:g} x {' or '.join(self.sides)}{of}"


@dataclass(frozen=True)
class Row:
    """Work that several sides do.

    Attributes:
        title: What it is, with its size.
        make: Returns the makers of the sides, for a factor of the size.
        quick: That factor for a short run.
        targets: Of difftile's times.
        tolerance: How far gradients may be apart, relative to their norm.
    """

    title: str
    make: Callable[[float], Makers]
    quick: float
    targets: tuple[Target, ...]
    tolerance: float = TOLERANCE


def _case(name: str, title: str, *targets: Target, quick: float = 1e-3) -> Row:
    return Row(title, lambda scale: of_cases.makers(name, CASES[name](scale)), quick, targets)


def _splats(gaussians: int, pixels: int) -> Row:
    def make(scale: float) -> Makers:
        return of_splats.makers(round(scale * gaussians), max(isqrt(round(scale * pixels**2)), 32))

    title = f"splats, {gaussians:,} at {pixels} x {pixels}"
    targets = Target("forward", 1.0, GSPLATS), Target("total", 1.0, GSPLATS)
    return Row(title, make, 1e-3, targets, APART)


ARRAYS = (*TORCHES, WARP)
BESIDE_ARRAYS = Target("backward", 1.0, ARRAYS), Target("total", 1.0, (JAX,))
BESIDE_TORCH = Target("forward", 1.0, TORCHES), Target("backward", 1.0, TORCHES)
BESIDE_TAICHI = Target("forward", 1.0, (TAICHI, WARP)), Target("backward", 1.0, (TAICHI, WARP))

ROWS: Mapping[str, Row] = {
    "map": _case("map", "map, 64M", Target("backward", 0.8, (COMPILED,))),
    "stencil": _case("stencil", "stencil, 8192 x 8192", Target("backward", 1.0, (COMPILED,))),
    "gather": _case("gather", "gather, 16M at random", *BESIDE_ARRAYS),
    "scatter-add": _case("scatter-add", "scatter-add, 16M at random", *BESIDE_ARRAYS),
    "sum": _case("sum", "sum of squares, 64M", Target("backward", 1.2, (WARP,))),
    "matvec": _case(
        "matvec",
        "matvec, 8192 x 8192, both gradients",
        Target("forward", 1.5, TORCHES),
        Target("backward", 1.5, TORCHES),
    ),
    "compositing": _case(
        "compositing", "compositing, 1024 x 1024 x 64", Target("total", 1.0, (JAX,))
    ),
    "n-body": _case(
        "n-body", "n-body, 16,384 bodies", Target("backward", 3.0, (DIFFTILE,), of="forward"),
        quick=1e-2,
    ),
    "splats-100k": _splats(100_000, 512),
    "splats-1m": _splats(1_000_000, 1024),
    "splats-3m": _splats(3_000_000, 1920),
    "texture": _case("texture", "texture 2048 x 2048 x 4, 4M lookups at random", *BESIDE_TORCH),
    "texture-rows": _case(
        "texture-rows", "texture 2048 x 2048 x 4, 4M neighbouring lookups", *BESIDE_TORCH
    ),
    "volume": _case("volume", "volume 256 x 256 x 256 x 4, 4M lookups at random", *BESIDE_TORCH),
    "volume-rays": _case(
        "volume-rays", "volume 256 x 256 x 256 x 4, 4M lookups along rays", *BESIDE_TORCH
    ),
    "mpm": _case("mpm", "MPM step, 1M points on 256 x 256 x 256", *BESIDE_TAICHI),
    "cloth": Row("cloth, 128 x 128, 100 steps", of_cloth.makers, 0.03, BESIDE_TAICHI),
}  # fmt: skip

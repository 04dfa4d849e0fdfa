"""Gaussian splats as raw parameters, in the units of the INRIA files."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]

DEGREES = {0: 0, 3: 1, 8: 2, 15: 3}  # of spherical harmonics, by higher coefficients
C0 = 0.28209479177387814  # the constant harmonic, 1 / sqrt(4 pi)
_LARGEST_SCALE = np.log(np.finfo(np.float32).max)  # whose exponential single precision holds
# The logit of the largest opacity below 1 in single precision, 1 - 2**-24; and of 2**-24.
_OPAQUE = float(np.log(2.0**24 - 1.0))
_LENGTHS = 1e-18, 1e18  # of quaternions, whose squares single precision holds


@dataclass(frozen=True, slots=True, eq=False)
class Splats:
    """Raw parameters of n gaussians, in single precision.

    Args:
        means: Centres [scene units], shape (n, 3).
        scales: Logarithms of the standard deviations along the axes, shape (n, 3).
        quaternions: Rotations wxyz, of any length from 1e-18 to 1e18, shape (n, 4).
        opacities: Logits of the opacities, shape (n,).
        sh0: Coefficients of the constant harmonic, shape (n, 3): colour = 0.5 + 0.282 sh0.
        shN: Coefficients of the others, shape (n, 0 | 3 | 8 | 15, 3).
        dropped: The number of rows of their file that were left out; see `kept`.
        clamped: The number of rows whose infinite opacities were made finite; see `kept`.
        antialiased: Whether the file says that they were trained as `Splatter(antialiased=True)`
            draws them.

    Raises:
        ValueError: The shapes do not match.
    """

    means: Floats
    scales: Floats
    quaternions: Floats
    opacities: Floats
    sh0: Floats
    shN: Floats
    dropped: int = 0
    clamped: int = 0
    antialiased: bool = False

    def __post_init__(self) -> None:
        for name in PARAMETERS:
            with np.errstate(over="ignore"):  # not kept, as infinite
                array = np.ascontiguousarray(getattr(self, name), np.float32)
            object.__setattr__(self, name, array)
        n = len(self.means)
        shapes = {name: array.shape for name, array in self.arrays.items()}
        wanted: dict[str, tuple[int, ...]] = {
            **{"means": (n, 3), "scales": (n, 3), "quaternions": (n, 4), "opacities": (n,)},
            **{"sh0": (n, 3), "shN": (n, *shapes["shN"][1:2], 3)},
        }
        wrong = [f"{k} {shapes[k]}, not {wanted[k]}" for k in PARAMETERS if shapes[k] != wanted[k]]
        if wrong:
            raise ValueError(f"The shapes of splats do not match: {'; '.join(wrong)}.")
        if self.shN.shape[1] not in DEGREES:
            raise ValueError(
                f"Splats have 0, 3, 8 or 15 coefficients in shN, not {self.shN.shape[1]}."
            )

    def __len__(self) -> int:
        return len(self.means)

    @property
    def arrays(self) -> dict[str, Floats]:
        """The parameters by name, as `render.make_gaussians` takes them."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def sh_degree(self) -> int:
        """The degree of the spherical harmonics, 0 to 3."""
        return DEGREES[self.shN.shape[1]]

    def kept(self) -> Splats:
        """Return the rows that can be drawn; the other ones count as dropped.

        Rows that can be drawn are finite in single precision, including the exponentials of the
        scales, and have a quaternion whose length can be squared. The logits of opacities of
        exactly 1 and 0 are infinite: these become the nearest opacities in between.
        """
        endless = np.isinf(self.opacities)
        opacities = np.where(endless, np.copysign(_OPAQUE, self.opacities), self.opacities)
        least, most = _LENGTHS
        with np.errstate(invalid="ignore"):  # comparisons with NaN are false
            lengths = np.linalg.norm(self.quaternions.astype(np.float64), axis=1)
            rows = (lengths >= least) & (lengths <= most)
            rows &= (self.scales <= _LARGEST_SCALE).all(axis=1)
        given = {**self.arrays, "opacities": opacities}
        for array in given.values():
            rows &= np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
        arrays: dict[str, Any] = {name: array[rows] for name, array in given.items()}
        return replace(
            self,
            **arrays,
            dropped=self.dropped + int(np.count_nonzero(~rows)),
            clamped=self.clamped + int(np.count_nonzero(endless & rows)),
        )


PARAMETERS = tuple(one.name for one in fields(Splats) if one.type == "Floats")

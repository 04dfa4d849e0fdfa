"""Corrections of single views, learned along with the gaussians: poses and exposures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import LaunchError
from difftile.training.options import Options

POSES, EXPOSURES = "poses", "exposures"
# How far a view's correction can move in all [radians and scene scales; shares of 1], the largest
# rate for each time that the view comes, and the factor of the rate after all steps.
_REACH = {POSES: (0.2, 4e-3, 0.05), EXPOSURES: (1.0, 0.01, 0.01)}
_ALIGNMENT = 4e-3, 0.02
_NEUTRAL = 0.01  # the weight of the mean square by which an exposure differs from none
_COPIES = 256  # of an exposure, among which pixels share out their gradients


@dt.kernel
def _pose(poses, k: ti.i32, scale: float, twist):
    """Set the twist of a camera to the correction of a view; see `Corrections`."""
    for n in twist:
        p = poses[k]
        twist[n] = ti.Vector([scale * p[0], scale * p[1], scale * p[2], p[3], p[4], p[5]])


@dt.kernel
def _copy(exposures, k: ti.i32, copies):
    for n in copies:
        copies[n] = exposures[k]


@dt.kernel
def _expose(image, copies, out):
    for c, i, j in image:
        given = image[c, i, j]
        e = copies[(i * image.shape[2] + j) % copies.shape[0]]
        out[c, i, j] = e @ ti.Vector([given[0], given[1], given[2], 1.0])


@dt.kernel
def _stay_neutral(exposures, k: ti.i32, weight: float, loss):
    for _ in range(1):
        apart = exposures[k] - ti.Matrix(
            [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
        )
        loss[None] += weight * apart.norm_sqr() / 12.0


@final
class Corrections:
    """Motions of the cameras and changes of the colours, one for each view.

    A pose is corrected by exp(twist), a small motion in the frame of the camera. An exposure is
    a matrix E, shape (3, 4): the picture is compared with E (r, g, b, 1) for the colours that the
    gaussians show. A small part of the loss holds it at the identity. Only the views of a step
    move.

    Args:
        views: The number of views.
        trained: The number of training views.
        scale: The size of the scene [scene units], the unit of the translations.
        options: Say which are learned, and for how many steps.
        dtype: The type of the numbers.
    """

    def __init__(
        self, views: int, trained: int, scale: float, options: Options, dtype: Any = ti.f32
    ) -> None:
        self._scale = scale
        self.poses = (
            dt.zeros(views, dt.vec(6, dtype), grad=True) if options.optimise_poses else None
        )
        self.exposures: dt.Field | None = None
        if options.exposure:
            none = np.tile(np.eye(3, 4), (views, 1, 1))
            self.exposures = dt.from_numpy(none, dt.mat(3, 4, dtype), grad=True)
        held = {POSES: self.poses, EXPOSURES: self.exposures}
        self._fields = {name: field for name, field in held.items() if field is not None}
        self._copies = dt.zeros(_COPIES, dt.mat(3, 4, dtype), grad=True)
        self._mask = dt.zeros(views, ti.i32)
        self._adam: dt.optim.Adam | None = None
        if self._fields:
            times = options.steps * options.batch / trained
            rates = {name: _rate(*_REACH[name], times, options.steps) for name in self._fields}
            self._adam = dt.optim.Adam(self._fields, rates, eps=1e-15, nonfinite="zero")

    def pose(self, k: int, twist: dt.Field) -> None:
        """Set the twist of a camera to the correction of a view, by a launch that tapes record."""
        if self.poses is not None:
            _pose(self.poses, k, self._scale, twist)

    def expose(
        self, k: int, image: dt.Field, out: dt.Field, loss: dt.Field, share: float = 1.0
    ) -> dt.Field:
        """Return an image with the exposure of a view, and add to a loss how far it is from none.

        Args:
            k: The view.
            image: The colours that the gaussians show.
            out: A field for the result, of the same shape.
            loss: The loss, shape ().
            share: The weight of the view in the loss.

        Returns:
            `out`, or `image` if no exposures are learned.
        """
        if self.exposures is None:
            return image
        _copy(self.exposures, k, self._copies)
        _expose(image, self._copies, out)
        _stay_neutral(self.exposures, k, share * _NEUTRAL, loss)
        return out

    def add_gradients(self) -> None:
        """Add up the gradients of all ranks, each of which has seen a part of the gaussians."""
        if self._fields:
            dt.distributed.all_reduce(self._fields)

    def step(self, which: Sequence[int]) -> None:
        """Move the corrections of some views against their gradients."""
        if self._adam is not None:
            self._mark(which)
            self._adam.step(visible=self._mask)

    def _mark(self, which: Sequence[int]) -> None:
        mask = np.zeros(self._mask.shape, np.int32)
        mask[list(which)] = 1
        self._mask.from_numpy(mask)

    def alignment(self, k: int, steps: int) -> Iterator[Callable[[], None]]:
        """Begin the pose of a view anew, and yield what moves it, once for each step."""
        if self.poses is None:
            return
        poses = self.poses.to_numpy()
        poses[k] = 0.0
        self.poses.from_numpy(poses)
        adam = dt.optim.Adam(
            [self.poses],
            dt.optim.schedules.exponential(*_ALIGNMENT, steps),
            eps=1e-15,
            nonfinite="zero",
        )
        self._mark([k])
        for _ in range(steps):
            yield lambda: adam.step(visible=self._mask)  # pyrefly: ignore[invalid-yield]

    def twists(self) -> npt.NDArray[np.float64]:
        """Return the corrections of the poses as twists of `render.Cameras`, shape (views, 6)."""
        if self.poses is None:
            return np.zeros((len(self._mask), 6))
        return self.poses.to_numpy() * np.repeat([self._scale, 1.0], 3)

    def moved(self, which: range) -> dict[str, Any]:
        """Return how far the cameras of some views have moved: means and the largest.

        Distances are in scene units, and angles in degrees.
        """
        if self.poses is None:
            return {}
        twists = self.twists()[which.start : which.stop]
        far = np.linalg.norm(twists[:, :3], axis=1)
        turned = np.degrees(np.linalg.norm(twists[:, 3:], axis=1))
        return {
            "distance": {"mean": float(far.mean()), "most": float(far.max())},
            "degrees": {"mean": float(turned.mean()), "most": float(turned.max())},
        }

    # Saving

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return the corrections and the state of their optimiser, as arrays by name."""
        arrays = {name: field.to_numpy() for name, field in self._fields.items()}
        state = {} if self._adam is None else self._adam.state_dict()
        return {**arrays, **{f"optimiser.{name}": array for name, array in state.items()}}

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a state that `state_dict` returned.

        Raises:
            LaunchError: The state belongs to other options or another number of views.
        """
        arrays = {name: np.asarray(array) for name, array in saved.items()}
        own = {name: a for name, a in arrays.items() if not name.startswith("optimiser.")}
        if {name: a.shape for name, a in own.items()} != {
            name: field.to_numpy().shape for name, field in self._fields.items()
        }:
            raise LaunchError(
                f"Corrections: load_state_dict() is given {', '.join(own) or 'none'} for "
                f"{', '.join(self._fields) or 'none'} of {len(self._mask)} views. Use the options "
                "of the saved run."
            )
        for name, field in self._fields.items():
            field.from_numpy(own[name])
        if self._adam is not None:
            self._adam.load_state_dict(
                {
                    name.removeprefix("optimiser."): array
                    for name, array in arrays.items()
                    if name.startswith("optimiser.")
                }
            )


def _rate(reach: float, most: float, factor: float, times: float, steps: int) -> dt.optim.Rate:
    """Return a falling rate whose sum over the times that a view comes is `reach`, if it can be."""
    mean = (factor - 1.0) / math.log(factor)  # in units of the first rate
    return dt.optim.schedules.exponential(min(reach / (mean * times), most), factor, steps)


def fitted_exposure(
    image: npt.NDArray[Any], picture: npt.NDArray[Any], mask: npt.NDArray[Any] | None = None
) -> npt.NDArray[np.float64]:
    """Return the exposure with which an image is nearest to a picture, shape (3, 4).

    Args:
        image: Shape (height, width, 3).
        picture: Of the same shape.
        mask: The weights of the pixels, shape (height, width).
    """
    given = np.concatenate([image, np.ones_like(image[..., :1])], axis=-1, dtype=np.float64)
    given = given.reshape(-1, 4)
    # Where the colours leave it open, as in an image of one colour, there is no change.
    light = 1e-4 * max(len(given), 1) * np.eye(4)
    apart = (picture - image).astype(np.float64).reshape(-1, 3)
    weighed = given if mask is None else given * mask.reshape(-1, 1)
    return np.eye(3, 4) + np.linalg.solve(weighed.T @ given + light, weighed.T @ apart).T

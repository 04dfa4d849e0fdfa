"""Cameras in batches, whose poses and intrinsics may have gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, counted
from difftile.fields.recording import RECORDING, may_vary
from difftile.render.checks import check_size
from difftile.tracebacks import boundary

_ORTHOGONAL = 1e-4  # the largest deviation of a rotation from orthonormal rows
_COPIES = 256
PINHOLE, FISHEYE = "pinhole", "fisheye"


@final
class Cameras:
    """Cameras that look along +z, with +x to the right and +y down, as in OpenCV.

    `rotation` (mat3) and `translation` (vec3) map points of the world to the camera and are
    constant. `twist` (vec6, zero at first) is a further motion in the frame of the camera:
    exp(twist) [rotation | translation], the first three components its translation [scene units],
    the last three its rotation [rad]. `intrinsics` (vec4) are focal lengths and centre fx, fy, cx,
    cy [pixels]; the centre of the pixel in row i and column j is (j + 0.5, i + 0.5).

    All are fields of shape (cameras,). Parts of a batch (`cameras[2]`, `cameras[1:3]`, iteration)
    share its memory and its gradients.

    Args:
        world_to_camera: Matrices of shape (cameras, 4, 4), or one of shape (4, 4).
        intrinsics: fx, fy, cx, cy of each camera, shape (cameras, 4), or one for all.
        width: The width of the images [pixels].
        height: The height of the images [pixels].
        dtype: The type of the numbers.
        grad: Give `twist` and `intrinsics` gradients.
        model: "pinhole", or "fisheye": the distance of a point from the centre of the image is
            the focal length times its angle from the axis. `Splatter` draws for both.

    Raises:
        FieldError: The model is another one, the shapes do not fit, a matrix is not a rigid motion,
            or a focal length is not positive.
    """

    @boundary
    def __init__(
        self,
        world_to_camera: npt.ArrayLike,
        intrinsics: npt.ArrayLike,
        width: int,
        height: int,
        *,
        dtype: Any = float,
        grad: bool = False,
        model: str = PINHOLE,
    ) -> None:
        if model not in (PINHOLE, FISHEYE):
            raise FieldError(f"Cameras: model is '{PINHOLE}' or '{FISHEYE}', not {model!r}.")
        poses = np.array(world_to_camera, np.float64, ndmin=3)
        if poses.ndim != 3 or poses.shape[1:] != (4, 4):
            raise FieldError(f"Cameras: poses have the shape (cameras, 4, 4), not {poses.shape}.")
        lenses = np.array(intrinsics, np.float64, ndmin=2)
        if lenses.shape not in ((1, 4), (len(poses), 4)):
            raise FieldError(
                f"Cameras: intrinsics are fx, fy, cx, cy of {len(poses)} cameras, shape "
                f"({len(poses)}, 4), not {lenses.shape}."
            )
        check_size("Cameras", FieldError, width, height)
        _check(poses, lenses)
        self.rotation = dt.from_numpy(poses[:, :3, :3], dt.mat(3, 3, dtype))
        self.translation = dt.from_numpy(poses[:, :3, 3], dt.vec(3, dtype))
        self.twist = dt.zeros(len(poses), dt.vec(6, dtype), grad=grad)
        lenses = np.broadcast_to(lenses, (len(poses), 4))
        self.intrinsics = dt.from_numpy(lenses, dt.vec(4, dtype), grad=grad)
        self.width = width
        self.height = height
        self.model = model

    @classmethod
    def look_at(
        cls,
        eyes: npt.ArrayLike,
        target: npt.ArrayLike,
        width: int,
        height: int,
        *,
        fov: float = 60.0,
        up: npt.ArrayLike = (0.0, 1.0, 0.0),
        dtype: Any = float,
        grad: bool = False,
        model: str = PINHOLE,
    ) -> Cameras:
        """Return cameras that look at a point.

        Args:
            eyes: The positions of the cameras, shape (cameras, 3) or (3,).
            target: The point that they look at, shape (3,), or one for each, shape (cameras, 3).
            width: The width of the images [pixels].
            height: The height of the images [pixels].
            fov: The angle that the width of an image covers [degrees].
            up: The direction that is up in the images.
            dtype: The type of the numbers.
            grad: See `Cameras`.
            model: See `Cameras`.

        Raises:
            FieldError: A camera is at its target, or looks along `up`.
        """
        check_size("Cameras.look_at", FieldError, width, height)
        if not 0.0 < fov < 180.0:
            raise FieldError(f"Cameras.look_at: fov is an angle between 0 and 180, not {fov}.")
        eyes = np.array(eyes, np.float64, ndmin=2)
        if eyes.ndim != 2 or eyes.shape[1] != 3:
            raise FieldError(
                f"Cameras.look_at: eyes have the shape (cameras, 3), not {eyes.shape}."
            )
        poses = np.tile(np.eye(4), (len(eyes), 1, 1))
        forward = np.broadcast_to(np.asarray(target, np.float64), eyes.shape) - eyes
        with np.errstate(invalid="ignore", over="ignore"):
            right = np.cross(forward, np.asarray(up, np.float64))
            down = np.cross(forward, right)
            for row, axis in enumerate((right, down, forward)):
                length = np.linalg.norm(axis, axis=1, keepdims=True)
                if not ((length > 0) & np.isfinite(length)).all():
                    raise FieldError(
                        "Cameras.look_at: a camera is at its target, looks along up, or is too far."
                    )
                poses[:, row, :3] = axis / length
        poses[:, :3, 3] = -np.einsum("cij,cj->ci", poses[:, :3, :3], eyes)
        half = 0.5 * math.radians(fov)
        focal = 0.5 * width / (half if model == FISHEYE else math.tan(half))
        intrinsics = [focal, focal, 0.5 * width, 0.5 * height]
        return cls(poses, intrinsics, width, height, dtype=dtype, grad=grad, model=model)

    def __len__(self) -> int:
        return len(self.twist)

    def __getitem__(self, which: int | slice) -> Cameras:
        """Return a batch of one camera, or of several, with the same memory and gradients."""
        if isinstance(which, slice):
            part = which
        else:
            k = range(len(self))[which]  # raises IndexError, which ends iteration
            part = slice(k, k + 1)
        return self._with(lambda field: field[part])

    def detach(self) -> Cameras:
        """Return the same cameras, in the same memory, as constants."""
        return self._with(lambda field: field.detach())

    def _with(self, change: Callable[[Any], Any]) -> Cameras:
        made = object.__new__(Cameras)
        for name in ("rotation", "translation", "twist", "intrinsics"):
            setattr(made, name, change(getattr(self, name)))
        made.width, made.height, made.model = self.width, self.height, self.model
        return made

    def __iter__(self) -> Iterator[Cameras]:
        return (self[k] for k in range(len(self)))

    @property
    def has_grads(self) -> bool:
        """Whether poses or intrinsics have gradients."""
        return self.twist.has_grads or self.intrinsics.has_grads

    @property
    def may_vary(self) -> bool:
        """Whether derivatives may pass to poses or intrinsics."""
        return may_vary(self.twist) or may_vary(self.intrinsics)

    def __repr__(self) -> str:
        kind = "camera" if self.model == PINHOLE else self.model
        return f"<{counted(len(self), kind)} of {self.width}x{self.height} pixels>"

    def world_to_camera(self) -> npt.NDArray[np.float64]:
        """Return the poses with their twists, shape (cameras, 4, 4)."""
        poses = Poses(len(self), self.twist.numpy_dtype, grad=False)
        poses.set(self)
        matrices = np.tile(np.eye(4), (len(self), 1, 1))
        matrices[:, :3, :3] = poses.rotation.to_numpy()[:, 0]
        matrices[:, :3, 3] = poses.translation.to_numpy()[:, 0]
        return matrices


def _check(poses: npt.NDArray[np.float64], lenses: npt.NDArray[np.float64]) -> None:
    turns = poses[:, :3, :3]
    off = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        sign = np.linalg.det(turns)
    faults: list[tuple[npt.NDArray[np.bool_], Callable[[int], str]]] = [
        (
            ~(off < _ORTHOGONAL) | ~(sign > 0) | ~np.isfinite(poses).all((1, 2)),
            lambda k: (
                f"pose {k} is not a rigid motion from the world to the camera: its rotation "
                f"is off by {off[k]:.2g}, with determinant {sign[k]:.3g}."
            ),
        ),
        (
            (np.abs(poses[:, 3] - (0.0, 0.0, 0.0, 1.0)) > _ORTHOGONAL).any(axis=1),
            lambda k: f"the last row of pose {k} must be 0, 0, 0, 1, not {poses[k, 3].tolist()}.",
        ),
        (
            ~np.isfinite(lenses).all(axis=1) | ~(lenses[:, :2] > 0).all(axis=1),
            lambda k: (
                f"intrinsics {k} must be fx, fy, cx, cy, finite and with fx and fy above 0, "
                f"not {lenses[k].tolist()}."
            ),
        ),
    ]
    for wrong, message in faults:
        if wrong.any():
            raise FieldError(f"Cameras: {message(int(np.argmax(wrong)))}")


@final
class Poses:
    """The poses of cameras as kernels read them: motions with the twists, and positions.

    With gradients there are several copies, which gaussians use in turn, so that fewer threads add
    to the same numbers at once.

    Args:
        count: The number of cameras.
        dtype: The type of the numbers.
        grad: Give the fields gradients.
    """

    def __init__(self, count: int, dtype: Any, grad: bool) -> None:
        shape = count, _COPIES if grad else 1
        self.rotation = dt.zeros(shape, dt.mat(3, 3, dtype), grad=grad)
        self.translation = dt.zeros(shape, dt.vec(3, dtype), grad=grad)
        self.place = dt.zeros(shape, dt.vec(3, dtype), grad=grad)
        self.intrinsics = dt.zeros(shape, dt.vec(4, dtype), grad=grad)
        self._constant = not grad
        self._source: list[object] = []

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_source": []}

    def set(self, cameras: Cameras) -> None:
        """Set the poses from cameras, by a launch that tapes record.

        Without gradients nothing is launched if they have not changed since the last call, unless
        somebody observes which fields launches use.
        """
        given = (cameras.rotation, cameras.translation, cameras.twist, cameras.intrinsics)
        source: list[object] = []
        if self._constant and RECORDING.get().observer is None:
            for one in given:
                buffer = one.base.storage.buffer
                source += buffer, buffer.contents.version, one.window
            if source == self._source:
                return
        self._source = []
        _pose(*given, self.rotation, self.translation, self.place, self.intrinsics)
        self._source = source


@dt.kernel
def _pose(rotation, translation, twist, intrinsics, turned, moved, place, lens):
    for c, copy in turned:
        whole = ti.zero(rotation[c])
        way = ti.math.nan + ti.zero(translation[c])  # a camera without a pose sees no gaussians
        if math.isfinite(twist[c].norm_sqr() + rotation[c].norm_sqr() + translation[c].norm_sqr()):
            turn, shift = dt.rotations.se3_exp(twist[c])
            whole = turn @ rotation[c]
            way = turn @ translation[c] + shift
        turned[c, copy] = whole
        moved[c, copy] = way
        place[c, copy] = -(whole.transpose() @ way)
        lens[c, copy] = intrinsics[c]

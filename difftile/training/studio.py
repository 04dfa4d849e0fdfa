"""The views of a run: their cameras, pictures and splatters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from difftile.datasets.dataset import View
from difftile.fields.create import vec, zeros
from difftile.fields.field import Field
from difftile.fields.rows import Rows
from difftile.render.cameras import Cameras
from difftile.render.splatter import Rendering, Splatter
from difftile.substrate import ti

_KEPT = 2**31  # bytes of pictures that stay in memory; others are read each time


@dataclass(frozen=True, slots=True)
class _Size:
    """All views of one size: their splatter, their cameras, and a field for a picture."""

    splatter: Splatter
    cameras: Cameras
    target: Field


@final
class Studio:
    """Draws gaussians as views show them, and provides the pictures of the views.

    Args:
        views: The views, of any sizes.
        make: Makes a splatter for images of a width and a height.
    """

    def __init__(self, views: Sequence[View], make: Callable[[int, int], Splatter]) -> None:
        self.views = views
        self._pictures: dict[int, npt.NDArray[np.float32]] = {}
        self._room = _KEPT
        self._place: dict[int, tuple[_Size, int]] = {}
        sizes: dict[tuple[int, int], list[int]] = {}
        for k, view in enumerate(views):
            sizes.setdefault((view.width, view.height), []).append(k)
        for (width, height), members in sizes.items():
            poses = np.stack([views[k].world_to_camera for k in members])
            lenses = np.stack([views[k].intrinsics for k in members])
            cameras = Cameras(poses, lenses, width, height, dtype=ti.f32)
            target = zeros((1, height, width), vec(3, ti.f32))
            size = _Size(make(width, height), cameras, target)
            for place, k in enumerate(members):
                self._place[k] = size, place

    def __len__(self) -> int:
        return len(self.views)

    def splatter(self, k: int) -> Splatter:
        """Return the splatter of a view."""
        return self._place[k][0].splatter

    def draw(self, k: int, gaussians: Rows) -> Rendering:
        """Draw gaussians as a view shows them, by launches that tapes record."""
        size, place = self._place[k]
        return size.splatter(gaussians, size.cameras[place])

    def target(self, k: int) -> Field:
        """Return the picture of a view, shape (1, height, width); the next call changes it."""
        target = self._place[k][0].target
        target.from_numpy(self.picture(k)[None])
        return target

    def picture(self, k: int) -> npt.NDArray[Any]:
        """Return the picture of a view, shape (height, width, 3)."""
        if k in self._pictures:
            return self._pictures[k]
        picture = self.views[k].image()
        if picture.nbytes <= self._room:
            self._room -= picture.nbytes
            self._pictures[k] = picture
        return picture

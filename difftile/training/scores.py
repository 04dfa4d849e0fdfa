"""Scores of images beside the pictures of their views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

import difftile as dt


@dataclass(frozen=True, slots=True)
class Score:
    """The similarity of an image to its picture.

    Args:
        name: The name of the view.
        psnr: The ratio of the peak, 1, to the mean square error [dB].
        ssim: The structural similarity, with windows within the image ("valid").
        image: The image, shape (height, width, 3).
        picture: The picture, of the same shape.
        depth: The mean absolute difference of inverse depths [1/scene units] from the depth map;
            None if maps are not used, or none of its depths can be compared.
        mask: The weights of the pixels in `psnr` and `ssim`, shape (height, width); None if all
            count.
    """

    name: str
    psnr: float
    ssim: float
    image: npt.NDArray[Any]
    picture: npt.NDArray[Any]
    depth: float | None = None
    mask: npt.NDArray[Any] | None = None


def similarity(
    image: npt.NDArray[Any],
    picture: npt.NDArray[Any],
    mask: npt.NDArray[Any] | None,
    padding: str,
    dtype: Any,
) -> tuple[float, float]:
    """Return the PSNR [dB] and the SSIM of an image, over the pixels that count.

    Args:
        image: Shape (height, width, 3).
        picture: Of the same shape.
        mask: The weights of the pixels, shape (height, width); None if all count.
        padding: See `render.ssim`.
        dtype: The type of the numbers.
    """
    element = dt.vec(3, dtype)
    drawn, target = (dt.from_numpy(one[None], element) for one in (image, picture))
    if mask is None:
        return dt.render.psnr(drawn, target), dt.render.ssim(drawn, target, padding)
    weights = dt.from_numpy(mask[None], dtype)
    # 0 where pixels do not count, as in the loss, so that windows see no difference there.
    cut = [dt.from_numpy((one * mask[..., None])[None], element) for one in (image, picture)]
    return dt.render.psnr(drawn, target, mask=weights), dt.render.ssim(*cut, padding, mask=weights)

"""Splats by gsplat, with a loss of L1. To import the module is to import torch and gsplat."""

import importlib
from typing import Any

import numpy as np

torch: Any = importlib.import_module("torch")
gsplat: Any = importlib.import_module("gsplat")

NAMES = "means", "scales", "quaternions", "opacities", "sh0", "shN"


class GsplatPeer:
    """One image and its gradients.

    Args:
        given: The gaussians as files hold them, by name.
        poses: World to camera, shape (1, 4, 4).
        intrinsics: fx, fy, cx, cy, shape (1, 4).
        target: The image that is compared with, shape (1, height, width, 3).
        packed: Keep only what is seen of the gaussians between the kernels.
    """

    def __init__(
        self,
        given: dict[str, np.ndarray],
        poses: np.ndarray,
        intrinsics: np.ndarray,
        target: np.ndarray,
        *,
        packed: bool,
    ) -> None:
        def put(values: np.ndarray) -> Any:
            return torch.tensor(np.asarray(values, np.float32), device="cuda")

        self._leaves = [put(given[name]).requires_grad_() for name in NAMES]
        fx, fy, cx, cy = intrinsics[0]
        self._poses = put(poses)
        self._pinhole = put(np.array([[[fx, 0, cx], [0, fy, cy], [0, 0, 1]]]))
        self._target, self._packed = put(target), packed
        self._image: Any = None
        self._loss: Any = None
        self._gradients: Any = ()

    def _draw(self) -> None:
        means, scales, quaternions, opacities, sh0, sh_n = self._leaves
        _, height, width, _ = self._target.shape
        self._image, _, _ = gsplat.rasterization(
            means,
            quaternions,
            torch.exp(scales),
            torch.sigmoid(opacities),
            torch.cat([sh0[:, None], sh_n], dim=1),
            self._poses,
            self._pinhole,
            width,
            height,
            sh_degree=3,
            packed=self._packed,
        )

    def forward(self) -> None:
        """Draw without gradients."""
        with torch.no_grad():
            self._draw()

    def record(self) -> None:
        """Draw, and measure the loss."""
        self._draw()
        self._loss = (self._image - self._target).abs().mean()

    def backward(self) -> None:
        """Compute the gradients."""
        self._gradients = torch.autograd.grad(self._loss, self._leaves)

    def synchronize(self) -> None:
        """Wait for the device."""
        torch.cuda.synchronize()

    def results(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the image and the gradients by name."""
        gradients = (one.cpu().numpy() for one in self._gradients)
        image = {"image": self._image.detach().cpu().numpy()}
        return image, dict(zip(NAMES, gradients, strict=True))

"""Training of splats in torch around gsplat's rasterisation, with the numbers of `Trainer`.

Rates, schedules, losses and the order of the views are ours; gaussians come and go by gsplat's
`DefaultStrategy`, with the resets of opacities that its version 1.5.3 leaves out. SSIM is two
separable convolutions in torch, with windows within the image.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import difftile as dt

# No dependencies of the project: this module is imported where they are asked for.
torch: Any = importlib.import_module("torch")
gsplat: Any = importlib.import_module("gsplat")
_BELL = torch.exp(-0.5 * (torch.arange(11) - 5.0) ** 2 / 1.5**2)
_NAMES = {"means": "means", "scales": "scales", "quaternions": "quats", "opacities": "opacities"}


def ssim(x: Any, y: Any) -> Any:
    """Return the mean structural similarity of two images, shape (1, height, width, 3)."""
    both = torch.cat([x, y, x * x, y * y, x * y]).permute(0, 3, 1, 2)
    window = (_BELL / _BELL.sum()).to(both).expand(3, 1, 1, 11)
    rows = torch.nn.functional.conv2d(both, window, groups=3)
    averages = torch.nn.functional.conv2d(rows, window.transpose(2, 3), groups=3)
    a, b, aa, bb, ab = averages.chunk(5)
    upper = (2 * a * b + 0.01**2) * (2 * (ab - a * b) + 0.03**2)
    return (upper / ((a * a + b * b + 0.01**2) * (aa - a * a + bb - b * b + 0.03**2))).mean()


def wait() -> None:
    """Wait for the device."""
    torch.cuda.synchronize()


class GsplatTrainer:
    """A run with the options of a `Trainer`.

    Args:
        data: The data set, with points.
        options: The options; the strategy is "default".
        start: The first gaussians by name, as arrays.
        order: The view of each step.
    """

    def __init__(
        self,
        data: dt.datasets.Dataset,
        options: dt.training.Options,
        start: dict[str, np.ndarray],
        order: Sequence[int],
    ) -> None:
        train, held_out = data.split(options.hold_out)
        self.views = [self._on_device(view) for view in (*train, *held_out)]
        self.held_out = range(len(train), len(self.views))
        self.size = train[0].width, train[0].height
        self.order, self.steps, self.most = order, options.steps, options.most
        self.step = 0
        rates = {
            "scales": 5e-3,
            "quats": 1e-3,
            "opacities": 5e-2,
            "sh0": 2.5e-3,
            "shN": 2.5e-3 / 20,
        }
        rates["means"] = 1.6e-4 * data.scale
        values = {_NAMES.get(name, name): value for name, value in start.items()}
        values["sh0"] = values["sh0"][:, None]
        self.params = torch.nn.ParameterDict(
            {k: torch.nn.Parameter(torch.tensor(v, device="cuda")) for k, v in values.items()}
        )
        self.optimisers = {
            k: torch.optim.Adam([v], lr=rates[k], eps=1e-15, fused=True)
            for k, v in self.params.items()
        }
        self.falling = torch.optim.lr_scheduler.ExponentialLR(
            self.optimisers["means"], 0.01 ** (1.0 / options.steps)
        )
        spread = options.steps / 30_000
        self.every = max(1, round(1000 * spread))
        self.strategy = gsplat.DefaultStrategy(
            refine_start_iter=round(500 * spread), refine_stop_iter=round(15_000 * spread)
        )
        self.strategy.check_sanity(self.params, self.optimisers)
        self.state = self.strategy.initialize_state(scene_scale=data.scale)

    @staticmethod
    def _on_device(view: dt.datasets.View) -> tuple[Any, Any, Any]:
        fx, fy, cx, cy = view.intrinsics
        lens = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        given = (view.image()[None], view.world_to_camera[None], lens[None])
        image, pose, matrix = (torch.tensor(one, dtype=torch.float32) for one in given)
        return image.cuda(), pose.cuda(), matrix.cuda()

    def draw(self, k: int) -> tuple[Any, dict[str, Any]]:
        """Return the image of a view, and what gsplat knows of it."""
        p = self.params
        _, pose, lens = self.views[k]
        image, _, info = gsplat.rasterization(
            p["means"],
            p["quats"],
            torch.exp(p["scales"]),
            torch.sigmoid(p["opacities"]),
            torch.cat([p["sh0"], p["shN"]], 1),
            pose,
            lens,
            *self.size,
            sh_degree=min(self.step // self.every, 3),
            packed=False,
        )
        return image, info

    def advance(self) -> None:
        """Make a step."""
        k = self.order[self.step]
        image, info = self.draw(k)
        target = self.views[k][0]
        growing = len(self) < self.most
        if growing:
            self.strategy.step_pre_backward(
                self.params, self.optimisers, self.state, self.step, info
            )
        loss = 0.8 * (image - target).abs().mean() + 0.2 * (1.0 - ssim(image, target))
        loss.backward()
        for optimiser in self.optimisers.values():
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.falling.step()
        self.step += 1
        if growing:
            self.strategy.step_post_backward(
                self.params, self.optimisers, self.state, self.step, info, packed=False
            )
            self._reset()

    def _reset(self) -> None:
        """Reset opacities where the strategy is to do so.

        gsplat 1.5.3 never does (its issue 797: `step % self.reset_every == 0 & step > 0` is false
        for all steps). A second reset after that of another version changes nothing.
        """
        given = self.strategy
        if self.step < given.refine_stop_iter and self.step % given.reset_every == 0:
            gsplat.strategy.ops.reset_opa(
                params=self.params,
                optimizers=self.optimisers,
                state=self.state,
                value=2.0 * given.prune_opa,
            )

    def __len__(self) -> int:
        return len(self.params["means"])

    @torch.no_grad()
    def scores(self) -> tuple[float, float]:
        """Return the mean PSNR [dB] and SSIM of held-out views."""
        found: list[tuple[float, float]] = []
        for k in self.held_out:
            image, target = self.draw(k)[0].clamp(0.0, 1.0), self.views[k][0]
            error = float(((image - target) ** 2).mean())
            found.append((-10.0 * math.log10(error), float(ssim(image, target))))
        psnr, similarity = np.mean(found, axis=0)
        return float(psnr), float(similarity)

"""What a run reports at its end: `metrics.json` and the last lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import difftile as dt
from difftile.training.scores import Score
from difftile.training.trainer import Trainer


def metrics_of(
    trainer: Trainer, data: dt.datasets.Dataset, scores: Sequence[Score]
) -> dict[str, Any]:
    """Return the contents of `metrics.json`, but for times."""
    moved = trainer.corrections.moved(trainer.training)
    masks = trainer.masks.report(trainer.views)
    errors = [one.depth for one in scores if one.depth is not None]
    return {
        "dataset": data.found,
        "options": asdict(trainer.options),
        "steps": trainer.step,
        "gaussians": trainer.count,
        "views": {"training": len(trainer.training), "held_out": len(trainer.held_out)},
        **({"missing": data.missing} if data.missing else {}),
        **({"masks": masks} if masks else {}),
        **({"cameras_moved": moved} if moved else {}),
        "measured_on": "held_out" if trainer.held_out else "training",
        "mean": {
            "psnr": float(np.mean([one.psnr for one in scores])),
            "ssim": float(np.mean([one.ssim for one in scores])),
            **({"depth": float(np.mean(errors))} if errors else {}),
        },
        "each": {
            one.name: {
                "psnr": one.psnr,
                "ssim": one.ssim,
                **({} if one.depth is None else {"depth": one.depth}),
            }
            for one in scores
        },
    }


def told(metrics: Mapping[str, Any]) -> str:
    """Return the last lines of a run, of which the last one has no end."""
    lines: list[str] = []
    if moved := metrics.get("cameras_moved"):
        far, turned = moved["distance"], moved["degrees"]
        lines.append(
            f"cameras moved by {far['mean']:.2g} scene units and {turned['mean']:.2g} degrees on "
            f"average, {far['most']:.2g} and {turned['most']:.2g} at most"
        )
    if masks := metrics.get("masks"):
        lines.append(f"masks exclude {100 * masks['excluded']:.0f} % of the pixels of all views")
    mean = metrics["mean"]
    if "depth" in mean:
        lines.append(f"inverse depths differ from the maps by {mean['depth']:.2g} on average")
    which = metrics["measured_on"]
    lines.append(
        f"{mean['psnr']:.2f} dB, SSIM {mean['ssim']:.4f} on {metrics['views'][which]} "
        f"{which.replace('_', ' ')} views; {metrics['gaussians']} gaussians "
        f"after {metrics['steps']} steps"
    )
    return "\n".join(lines)

"""The fit of pictures: the training loop with its PSNR, and the pictures of a fit.

A picture is an array of colours from 0 to 1, shape (rows, columns, 3), or of brightness, shape
(rows, columns); row 0 is at the top. Numbers outside 0 to 1 are clamped when shown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from demos.support.images import Look, Panel, save_images, save_images_animation
from demos.support.pictures import AFTER, INK, PALE, make_figure
from demos.support.training import Optimiser, Simulation, Training, train

_FRAMES = 40  # of an animation
_ERRORS = "magma"


@dataclass(frozen=True, slots=True)
class PictureFit:
    """How pictures were fitted.

    Attributes:
        training: Losses, parameters and seconds.
        measured: Iterations after which the PSNR was measured.
        decibels: The PSNR then [dB].
        shown: Iterations of the frames, from the first, before any step, to the last.
        frames: The picture then.
        result: The picture of the parameters that were kept.
    """

    training: Training
    measured: list[int]
    decibels: list[float]
    shown: list[int]
    frames: list[np.ndarray]
    result: np.ndarray

    def __str__(self) -> str:
        each = 1e3 * self.training.seconds / len(self.training.losses)
        return (
            f"PSNR {self.decibels[0]:.2f} dB at first, {max(self.decibels):.2f} dB at best; "
            f"{len(self.training.losses)} gradients in {self.training.seconds:.1f} s, "
            f"{each:.1f} ms each"
        )


def psnr(picture: np.ndarray, target: np.ndarray) -> float:
    """Return the ratio of the peak, which is 1, to the mean square that a picture is off [dB]."""
    return float(-10.0 * np.log10(max(np.mean(np.square(picture - target)), 1e-30)))


def to_srgb(linear: np.ndarray) -> np.ndarray:
    """Return linear light from 0 to 1 as a screen takes it (IEC 61966-2-1)."""
    x = np.clip(linear, 0.0, 1.0)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def fit_pictures(
    simulation: Simulation,
    optimiser: Optimiser,
    iterations: int,
    label: str,
    *,
    picture: Callable[[], np.ndarray],
    quality: Callable[[], float],
    every: int = 1,
    begin: Callable[[np.ndarray], object] | None = None,
    keep: Literal["best", "last"] = "best",
    memory: str | int | None = None,
) -> PictureFit | None:
    """Train as `train` does, and record pictures and the PSNR.

    Args:
        simulation: The program to run and differentiate.
        optimiser: Updates the parameters.
        iterations: Number of steps.
        label: Text of the progress bar.
        picture: Returns a frame of the animation; called after a run, so that it may read the
            rendered picture.
        quality: Returns the PSNR [dB]; called after a run too.
        every: Number of iterations between measurements of the PSNR.
        begin: Gets the first frame, to show it while the fit goes on.
        keep: Selects the parameters to keep, see `train`.
        memory: The limit of the tape.

    Returns:
        The fit, or None if it was interrupted before the first gradient.
    """
    # Closer at first, where more changes.
    picks = {int(k) for k in np.linspace(0.0, 1.0, _FRAMES) ** 2 * iterations}
    measured, decibels, shown, frames = [], [], [], []

    def watch(iteration: int) -> Mapping[str, str]:
        if iteration in picks:
            shown.append(iteration)
            frames.append(picture())
            if begin is not None and iteration == 0:
                begin(frames[0])
        if iteration % every == 0 or iteration == iterations:
            decibels.append(quality())
            measured.append(iteration)
        return {"PSNR": f"{decibels[-1]:.2f} dB"}

    training = train(
        simulation, optimiser, iterations, label, memory=memory, watch=watch, keep=keep
    )
    if not decibels:
        return None
    simulation.run()
    result, last = picture(), len(training.losses) - 1
    if shown[-1] < last:  # interrupted between two frames
        shown.append(last)
        frames.append(result)
    return PictureFit(training, measured, decibels, shown, frames, result)


def save_fit_strip(
    path: Path,
    rows: Sequence[tuple[str, np.ndarray, np.ndarray, np.ndarray]],
    *,
    linear: bool = False,
) -> None:
    """Draw target, start, result and error side by side.

    Args:
        path: The PNG to write.
        rows: A name, the target, and the pictures at the start and at the end, of one shape.
        linear: Whether they are linear light, which is then encoded for the screen; errors are of
            the linear numbers.
    """
    errors = [_error(result, target) for _, target, _, result in rows]
    look = Look(0.0, max(float(np.quantile(np.stack(errors), 0.995)), 1e-6), _ERRORS, "error")
    drawn = []
    for (name, target, start, result), error in zip(rows, errors, strict=True):
        panels = [Panel("target", _colours(target, linear))]
        for title, image in (("start", start), ("result", result)):
            decibels = f"{title}, {psnr(image, target):.1f} dB"
            panels.append(Panel(decibels, _colours(image, linear)))
        drawn.append((name, [*panels, Panel("error", error)]))
    save_images(path, drawn, look)


def save_fit_curve(
    path: Path, fit: PictureFit, label: str, goals: Mapping[int, float] | None = None
) -> None:
    """Draw the loss and the PSNR over the iterations.

    Args:
        path: The PNG to write.
        fit: How it went.
        label: What the loss is.
        goals: PSNR of other libraries after numbers of iterations [dB], to be marked.
    """
    figure = make_figure(9.6, 3.4)
    left, right = figure.subplots(1, 2)
    left.plot(fit.training.losses, color=AFTER, linewidth=1.4)
    left.set(ylabel=label, yscale="log")
    right.plot(fit.measured, fit.decibels, color=AFTER, linewidth=1.8, label="here")
    best = int(np.argmax(fit.decibels))
    right.plot(fit.measured[best], fit.decibels[best], "o", color=INK, markersize=5)
    right.annotate(
        f"{fit.decibels[best]:.1f} dB",
        (fit.measured[best], fit.decibels[best]),
        xytext=(-2, -14),
        textcoords="offset points",
        ha="right",
        va="top",
        color=INK,
    )
    reached = {k: v for k, v in (goals or {}).items() if k <= fit.measured[-1]}
    if reached:
        right.plot(list(reached), list(reached.values()), "x", color=PALE, label="others")
        right.legend(loc="lower right", frameon=False)
    right.set_ylabel("PSNR [dB]")
    for axes in (left, right):
        axes.set_xlabel("iteration")
        axes.grid(color=PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def save_fit_animation(
    path: Path, fit: PictureFit, target: np.ndarray, *, linear: bool = False
) -> None:
    """Animate the picture during training next to the target, as a GIF."""
    frames = np.stack([_colours(frame, linear) for frame in fit.frames])
    panels = [Panel("result", frames), Panel("target", _colours(target, linear)[None])]
    captions = [f"iteration {k}" for k in fit.shown]
    save_images_animation(path, panels, captions=captions, fps=10.0)


def _colours(picture: np.ndarray, linear: bool) -> np.ndarray:
    """The picture as red, green and blue that a screen takes."""
    shown = to_srgb(picture) if linear else np.clip(picture, 0.0, 1.0)
    return shown if shown.ndim == 3 else np.stack([shown] * 3, axis=-1)


def _error(result: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How far each pixel is off, the mean over its components."""
    off = np.abs(result - target)
    return off.mean(axis=-1) if off.ndim == 3 else off

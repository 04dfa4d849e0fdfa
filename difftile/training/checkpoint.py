"""Runs of training as files, from which they go on exactly."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import DatasetError
from difftile.training.options import Options

_FOLDER = "checkpoints"
_KEPT = 2  # the latest, and the one before it
_ABOUT = "about"  # the name of the array that says what the others are


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A run, as far as it is.

    Args:
        options: How it was started.
        views: The names of the views that it is trained on, and then of those held out.
        seconds: How long it has taken.
        history: Step, loss, PSNR [dB] and number of gaussians on the way, shape (m, 4).
        state: See `Trainer.state_dict`.
    """

    options: Options
    views: Sequence[str]
    seconds: float
    history: npt.NDArray[np.float64]
    state: dict[str, npt.NDArray[Any]]


def latest(folder: Path) -> Path | None:
    """Return the checkpoint of the run in a folder that has come farthest, or None."""
    return next(reversed(_all(folder)), None)


def _all(folder: Path) -> list[Path]:
    return sorted((folder / _FOLDER).glob("step_*.npz"), key=lambda path: path.name)


def save(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint into the folder of a run; return its file.

    It appears under its name when it is whole, so that an interruption leaves none in halves. Of
    those before it only the latest is kept.
    """
    path = folder / _FOLDER / f"step_{int(checkpoint.state['step']):08d}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = json.dumps(
        {
            "options": asdict(checkpoint.options),
            "views": list(checkpoint.views),
            "seconds": checkpoint.seconds,
        }
    )
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        arrays = {_ABOUT: np.array(about), "history": checkpoint.history, **checkpoint.state}
        np.savez(file, **arrays)
    os.replace(part, path)
    for old in _all(folder)[:-_KEPT]:
        old.unlink()
    return path


def read(path: Path) -> Checkpoint:
    """Return a checkpoint.

    Raises:
        DatasetError: The file is broken, or is none.
    """
    try:
        with path.open("rb") as raw, np.load(raw) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop(_ABOUT)))
        options = about["options"]
        return Checkpoint(
            Options(**{**options, "background": tuple(options["background"])}),
            about["views"],
            about["seconds"],
            arrays.pop("history"),
            arrays,
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise DatasetError(
            path,
            f"cannot be read ({' '.join(str(error).split())})",
            "a checkpoint of difftile train",
            hint="remove it, to go on from the one before.",
        ) from None

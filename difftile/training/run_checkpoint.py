"""Checkpoints of runs of training, files from which a run continues exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import DatasetError
from difftile.files.arrays import Arrays, read_arrays, write_arrays
from difftile.files.json_values import Value, parse_json
from difftile.files.regular import shown
from difftile.files.writing import PART
from difftile.training.options import MASKS, MISSING, STRATEGIES, Options

_FOLDER = "checkpoints"
_KEPT = 2  # the number of checkpoints that are kept
_VERSION = 1
_ABOUT, _HISTORY = "about", "history"  # the names of the arrays that are not of the state
_EXPECTED = "a checkpoint of difftile train"
_HINT = "remove it, to go on from the one before."


@dataclass(frozen=True, slots=True)
class RunCheckpoint:
    """The state of a run between two steps.

    Args:
        options: The options of the run.
        views: The names of the views that it is trained on, and then of the held-out ones.
        seconds: The time that it has taken.
        history: Step, loss, PSNR [dB] and number of gaussians on the way, shape (m, 4).
        state: See `Trainer.state_dict`.
        path: The file that it was read from.
    """

    options: Options
    views: Sequence[str]
    seconds: float
    history: npt.NDArray[np.float64]
    state: dict[str, npt.NDArray[Any]]
    path: Path | None = None

    @property
    def step(self) -> int:
        """The number of steps made."""
        return int(self.state["step"])


def step_of(path: Path) -> int:
    """Return the number of steps that a checkpoint has by its name."""
    digits = path.stem.removeprefix("step_")
    return int(digits) if digits.isdecimal() else 0


def fault_of(arrays: Arrays) -> str | None:
    """Return a description of a number that single precision does not hold, or None."""
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            continue
        with np.errstate(over="ignore"):  # infinite then
            good = np.isfinite(array.astype(np.float32, copy=False))
        if not good.all():
            at = tuple(int(k) for k in np.argwhere(~good)[0])
            return f"has {array[at]:g} in {shown(name)} at index {at}"
    return None


def latest(folder: Path) -> Path | None:
    """Return the latest checkpoint of the run in a folder, or None."""
    return next(reversed(_all(folder)), None)


def _all(folder: Path) -> list[Path]:
    return sorted((folder / _FOLDER).glob("step_*.npz"), key=lambda path: path.name)


def save(folder: Path, checkpoint: RunCheckpoint) -> Path:
    """Write a checkpoint into the folder of a run; return its file.

    The file appears under its name when it is whole, so an interruption leaves no partial one. Only
    the latest of the earlier checkpoints is kept.
    """
    path = folder / _FOLDER / f"step_{checkpoint.step:08d}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    for part in path.parent.glob(f"*{PART}"):  # of a run that was killed while it wrote
        part.unlink()
    about = json.dumps(
        {
            "version": _VERSION,
            "options": asdict(checkpoint.options),
            "views": list(checkpoint.views),
            "seconds": checkpoint.seconds,
        }
    )
    arrays = {_ABOUT: np.array(about), _HISTORY: checkpoint.history, **checkpoint.state}
    write_arrays(path, arrays)
    for old in _all(folder)[:-_KEPT]:
        old.unlink()
    return path


def read(path: Path) -> RunCheckpoint:
    """Return a checkpoint whose numbers are finite; the caller checks that it fits the run.

    Raises:
        DatasetError: The file is broken, is not a checkpoint, or was written by a later version.
    """
    try:
        arrays = read_arrays(path)
        text = arrays.pop(_ABOUT, None)
        if text is None or text.dtype.kind != "U" or text.shape:
            raise DatasetError(path, f"has no text '{_ABOUT}'", _EXPECTED)
        about = parse_json(path, str(text))
        version = about.get("version")
        if version is not None:  # the first checkpoints had no version
            version.whole(1, _VERSION)
        history = arrays.pop(_HISTORY, np.empty(0))
        if history.dtype.kind != "f" or history.shape[1:] != (4,):
            found = f"'{_HISTORY}' has the shape {history.shape}"
            raise DatasetError(path, found, "(m, 4), of floats")
        _check_state(path, arrays)
        given = about.member("options", "those of the run")
        for name in given.members():
            if name not in _OPTIONS:
                found = f"{given.place} has '{shown(name)}'"
                raise DatasetError(path, found, "known options")
        values = {name: given.get(name) for name in _OPTIONS}
        options = Options(**{k: _OPTIONS[k](v) for k, v in values.items() if v is not None})
        views = [one.text() for one in about.member("views", "the names of views").items()]
        seconds = about.member("seconds", "the time it has taken")
        if seconds.number() < 0:
            raise seconds.wrong("a number from 0")
        return RunCheckpoint(
            options, views, seconds.number(), history.astype(np.float64), arrays, path
        )
    except DatasetError as error:
        raise DatasetError(error.path, error.found, error.expected, hint=_HINT) from None


def _check_state(path: Path, arrays: Arrays) -> None:
    step = arrays.get("step")
    if step is None or step.dtype.kind not in "iu" or step.shape or not 0 <= int(step) < 2**32:
        raise DatasetError(path, "has no number 'step'", "a whole number from 0")
    found = fault_of(arrays)
    if found is not None:
        raise DatasetError(path, found, "finite numbers in single precision")


def _colour(value: Value) -> tuple[float, float, float]:
    parts = value.items("three numbers")
    if len(parts) != 3 or not all(0 <= part.number() <= 1 for part in parts):
        raise value.wrong("three numbers from 0 to 1")
    red, green, blue = (part.number() for part in parts)
    return red, green, blue


_Reader: TypeAlias = Callable[[Value], Any]


def _one_of(names: Sequence[str]) -> _Reader:
    def read(value: Value) -> str:
        if value.text() not in names:
            raise value.wrong(f"one of {', '.join(names)}")
        return value.text()

    return read


def _weight(value: Value) -> float:
    if value.number() < 0:
        raise value.wrong("a number from 0")
    return value.number()


def _whole(least: int) -> _Reader:
    return lambda value: value.whole(least, 2**32 - 1)


_OPTIONS: dict[str, _Reader] = {
    "steps": _whole(1),
    "batch": _whole(1),
    "strategy": _one_of(STRATEGIES),
    "sh_degree": lambda value: value.whole(0, 3),
    "start": Value.text,
    "points": _whole(1),
    "most": _whole(1),
    "antialiased": Value.flag,
    "background": _colour,
    "downscale": _whole(1),
    "images": Value.text,
    "model": Value.text,
    "missing": _one_of(MISSING),
    "optimise_poses": Value.flag,
    "exposure": Value.flag,
    "masks": _one_of(MASKS),
    "depth": _weight,
    "hold_out": _whole(0),
    "seed": _whole(0),
}

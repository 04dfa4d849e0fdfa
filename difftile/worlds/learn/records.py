"""What a training leaves in its folder: a table, a picture of it, and a checkpoint."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import difftile as dt
from difftile.files.writing import whole
from difftile.worlds.robots import PALETTE

SAVE_EVERY = 20.0  # [s]
INTERRUPTED = 130  # the exit code of shells after SIGINT
CURVE, CHECKPOINT, PICTURE = "curve.csv", "checkpoint.npz", "curve.png"
_INK, _PALE = "#22272e", "#9aa3ad"
Row = tuple[float, ...]  # seconds, iteration, and the numbers of each kind for each seed


@final
class TrainingRecord:
    """The rows of a training so far, and its files.

    Args:
        folder: Where they are written, or None.
        seeds: Of the networks.
        kinds: What a row holds for each of them; the first is drawn.
        fields: What a checkpoint holds, by name.
        optimisers: The same for their state.
        about: What a checkpoint is of, such as task and algorithm: texts by name.

    Attributes:
        rows: Seconds, iteration, and the numbers of each kind for each seed.
        is_whole: Whether the networks are those after a whole update.
        code: The exit code of a program that the signal ended which ended the training, or 0.
    """

    def __init__(
        self,
        folder: Path | None,
        seeds: Sequence[int],
        kinds: Sequence[str],
        fields: Mapping[str, dt.Field],
        optimisers: Mapping[str, dt.optim.Adam],
        about: Mapping[str, str],
    ) -> None:
        self.folder, self.seeds, self.kinds = folder, tuple(seeds), tuple(kinds)
        self.fields, self.optimisers, self.about = fields, optimisers, about
        self.rows: list[Row] = []
        self.is_whole, self.code = True, 0
        self._saved = 0.0

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return ["seconds", "iteration", *(f"{kind}_{s}" for kind in self.kinds for s in self.seeds)]

    def column(self, kind: str) -> np.ndarray:
        """Return the numbers of a kind, (rows, seeds)."""
        first = 2 + self.kinds.index(kind) * len(self.seeds)
        return np.array(self.rows, float).reshape(-1, len(self.names))[
            :, first : first + len(self.seeds)
        ]

    def load(self) -> None:
        """Go on from the checkpoint.

        Raises:
            DatasetError: There is none, or it is of another training.
        """
        assert self.folder is not None
        file = self.folder / CHECKPOINT
        state = dt.optim.read_state(file)
        found = {name: str(state.get(f"about.{name}", "")) for name in self.about}
        if found != self.about:
            said = ", ".join(f"{name} {found[name] or '?'}" for name in self.about)
            mine = ", ".join(f"{name} {one}" for name, one in self.about.items())
            raise dt.DatasetError(file, f"it is of {said}", f"one of {mine}")
        try:
            for name, field in self.fields.items():
                field.from_numpy(state[name])
            for name, adam in self.optimisers.items():
                at = f"{name}.adam."
                kept = {key[len(at) :]: one for key, one in state.items() if key.startswith(at)}
                adam.load_state_dict(kept)
            self.rows = [tuple(row) for row in state["rows"].tolist()]
        except (dt.DifftileError, KeyError, ValueError) as fault:
            raise dt.DatasetError(file, f"it is of other networks: {fault}") from None
        self._write_table()

    def add(self, row: Row) -> None:
        """Append a row; now and then write all files."""
        self.rows.append(row)
        if self.folder is None:
            return
        if len(self.rows) == 1:
            self._write_table()
        else:
            with open(self.folder / CURVE, "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(f"{one:.6g}" for one in row)
        if time.perf_counter() - self._saved > SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Write picture and checkpoint, each of which replaces the one before when it is whole."""
        if self.folder is None or not self.rows:
            return
        state: dict[str, np.ndarray] = {n: field.to_numpy() for n, field in self.fields.items()}
        for name, adam in self.optimisers.items():
            state |= {f"{name}.adam.{key}": one for key, one in adam.state_dict().items()}
        state |= {f"about.{name}": np.array(one) for name, one in self.about.items()}
        state["rows"] = np.array(self.rows)
        dt.optim.write_state(self.folder / CHECKPOINT, state)
        self._draw(self.folder / PICTURE)
        self._saved = time.perf_counter()

    def _write_table(self) -> None:
        assert self.folder is not None
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(self.names)
        writer.writerows([f"{one:.6g}" for one in row] for row in self.rows)
        with whole(self.folder / CURVE) as file:
            file.write(text.getvalue().encode())

    def _draw(self, path: Path) -> None:
        """Draw the first kind over time, a line for each seed."""
        figure = Figure(figsize=(7.0, 3.6), dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        seconds = np.array(self.rows)[:, 0]
        for k, (seed, values) in enumerate(
            zip(self.seeds, self.column(self.kinds[0]).T, strict=True)
        ):
            colour = PALETTE[k % len(PALETTE)]
            axes.plot(seconds, values, color=colour, linewidth=1.5, label=f"seed {seed}")
        axes.set(xlabel="time [s]", ylabel=self.kinds[0])
        axes.set_title(", ".join(self.about.values()), fontsize=10, color=_INK)
        axes.grid(color=_PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, labelcolor=_INK)
        with whole(path) as file:
            figure.savefig(file, format="png")

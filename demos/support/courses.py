"""The course of a training of policies: a table, a picture and a checkpoint, while it goes on."""

import csv
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.pictures import INK, PALE, make_figure
from difftile.worlds.robots import PALETTE

SAVE_EVERY = 20.0  # [s]
KINDS = "speed", "reward", "falls"
Row = tuple[float, ...]  # seconds, iteration, and the numbers of KINDS for each seed


def names_of(seeds: Sequence[int]) -> list[str]:
    return ["seconds", "iteration", *(f"{kind}_{seed}" for kind in KINDS for seed in seeds)]


class Course:
    """What a training has written so far.

    Args:
        folder: Where it is written, or None.
        method: Its name; files of other methods than "shac" have it in theirs.
        seeds: Of the networks.
        fields: What a checkpoint holds, by name.
        optimisers: The same for their state.
    """

    def __init__(
        self,
        folder: Path | None,
        method: str,
        seeds: Sequence[int],
        fields: Mapping[str, dt.Field],
        optimisers: Mapping[str, dt.optim.Adam],
    ) -> None:
        self.folder, self.method, self.seeds = folder, method, seeds
        self.fields, self.optimisers = fields, optimisers
        self.rows: list[Row] = []
        self.saved = 0.0

    def _file(self, name: str) -> Path:
        return (self.folder or Path()) / named(name, self.method)

    def load(self) -> None:
        """Go on from the checkpoint.

        Raises:
            SystemExit: There is none, or it is of other networks.
        """
        file = self._file("checkpoint.npz")
        try:
            state = dt.optim.read_state(file)
            for name, field in self.fields.items():
                field.from_numpy(state[name])
            for name, adam in self.optimisers.items():
                at = f"{name}.adam."
                kept = {key[len(at) :]: one for key, one in state.items() if key.startswith(at)}
                adam.load_state_dict(kept)
            self.rows = [tuple(row) for row in state["rows"]]
        except (dt.DifftileError, OSError, KeyError, ValueError) as error:
            raise SystemExit(
                f"difftile demo ant-policy: cannot go on from {file}: {error}"
            ) from None

    def add(self, row: Row) -> None:
        """Append a row; now and then write picture and checkpoint too."""
        self.rows.append(row)
        if self.folder is None:
            return
        is_first = len(self.rows) == 1
        with open(self._file("curve.csv"), "w" if is_first else "a", newline="") as file:
            writer = csv.writer(file)
            if is_first:
                writer.writerow(names_of(self.seeds))
            writer.writerow(f"{one:.6g}" for one in row)
        if time.perf_counter() - self.saved > SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Write picture and checkpoint."""
        if self.folder is None or not self.rows:
            return
        state = {name: field.to_numpy() for name, field in self.fields.items()}
        for name, adam in self.optimisers.items():
            state |= {f"{name}.adam.{key}": one for key, one in adam.state_dict().items()}
        state["rows"] = np.array(self.rows)
        dt.optim.write_state(self._file("checkpoint.npz"), state)
        save_curves(self.folder)
        self.saved = time.perf_counter()


def named(name: str, method: str) -> str:
    """Return the name of a file of a method."""
    stem, ending = name.split(".")
    return name if method == "shac" else f"{stem}-{method}.{ending}"


def save_curves(folder: Path) -> None:
    """Draw the speeds of all seeds over time, of both methods as far as their tables are there."""
    figure = make_figure(7.0, 3.6)
    axes = figure.subplots()
    for method, style in (("shac", "-"), ("ppo", ":")):
        file = folder / named("curve.csv", method)
        if not file.exists():
            continue
        with open(file, newline="") as table:
            names, *lines = csv.reader(table)
        rows = np.array(lines, float)
        for k, name in enumerate(one for one in names if one.startswith("speed_")):
            axes.plot(
                rows[:, 0],
                rows[:, names.index(name)],
                style,
                color=PALETTE[k % len(PALETTE)],
                linewidth=1.5,
                label=f"{method.upper()}, seed {name.removeprefix('speed_')}",
            )
    axes.set_xlabel("time [s]")
    axes.set_ylabel("speed [m/s]")
    axes.grid(color=PALE, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=INK)
    figure.savefig(folder / "curve.png")

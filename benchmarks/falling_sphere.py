"""The derivative of a sphere's height after its impact, beside the slope of its secant.

`python -m benchmarks.falling_sphere [--smooth] [--picture docs/pictures/falling-sphere.png]`

A sphere falls 0.2 m onto a plane. Worlds begin at 41 heights within 5 cm around that. The secant is
the slope between the ends of the interval; mean and spread (standard deviation) are of the
derivatives of the steps, by the reverse pass, at the 41 heights.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import difftile as dt
from difftile import ti, worlds

RADIUS, FALL, INTERVAL, HEIGHTS, DURATION = 0.1, 0.2, 0.05, 41, 0.25  # m, s
MODEL = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom type="plane" size="1 1 1" solimp="0 0.95 0.01" condim="1"/>
  <body pos="0 0 0.3"><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size="0.1" mass="1" solimp="0 0.95 0.01" condim="1"/></body>
</worldbody></mujoco>
"""


@dataclass(frozen=True)
class Case:
    """A row of the table.

    Args:
        solimp: d0, d1 and width [m] of the contact.
        solref: T [s] and damping ratio, or minus stiffness and minus damping.
        timestep: In seconds.
    """

    solimp: tuple[float, float, float]
    solref: tuple[float, float]
    timestep: float

    def __str__(self) -> str:
        solimp, solref = (" ".join(f"{x:g}" for x in of) for of in (self.solimp, self.solref))
        return f"`{solimp}` | `{solref}` | {1e3 * self.timestep:g} ms"


DEFAULT, SOFT, STIFF, BOUNCES = (0.9, 0.95, 0.001), (0.0, 0.95, 0.01), (0.02, 1.0), (-2e4, -40.0)
CASES = (
    Case(DEFAULT, STIFF, 0.002),
    Case(DEFAULT, STIFF, 0.0005),
    *(Case((d0, 0.95, 0.01), STIFF, 0.002) for d0 in (0.9, 0.5, 0.1, 0.03, 0.01)),
    Case(SOFT, STIFF, 0.002),
    Case(SOFT, STIFF, 0.0005),
    Case(DEFAULT, BOUNCES, 0.002),
    Case(SOFT, BOUNCES, 0.002),
    Case(SOFT, BOUNCES, 0.00025),
)


@dataclass(frozen=True)
class Outcome:
    """The heights at the end and their derivatives.

    Args:
        first: Heights at the start [m].
        last: Heights at the end [m].
        slope: The derivatives of the steps.
    """

    first: np.ndarray
    last: np.ndarray
    slope: np.ndarray

    @property
    def secant(self) -> float:
        """The slope between the ends of the interval."""
        return float((self.last[-1] - self.last[0]) / (self.first[-1] - self.first[0]))


@dt.kernel
def add_up(qpos, total):
    for w in range(qpos.shape[0]):
        total[None] += qpos[w, 0]


class Falls:
    """The sphere in 41 worlds, which one compiled step serves in all cases.

    Args:
        contact: As in `worlds.Worlds`.
    """

    def __init__(self, contact: str = "model") -> None:
        self._sim = worlds.Worlds(worlds.load(MODEL), HEIGHTS, dtype=ti.f64, contact=contact)

    def run(self, case: Case) -> Outcome:
        """Let the sphere fall in all worlds."""
        sim = self._sim
        sim.m.timestep.fill(case.timestep)
        sim.m.geom_solimp.from_numpy(np.tile([*case.solimp, 0.5, 2.0], (2, 1)))
        sim.m.geom_solref.from_numpy(np.tile(case.solref, (2, 1)))
        change = np.linspace(-0.5 * INTERVAL, 0.5 * INTERVAL, HEIGHTS)
        first = dt.from_numpy(change[:, None], grad=True)
        total = dt.zeros((), ti.f64, grad=True)
        sim.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of contacts with a large d0, which are the subject
            with dt.Tape(total):
                sim.qpos.copy_from(first)
                for _ in range(round(DURATION / case.timestep)):
                    sim.step()
                add_up(sim.qpos, total)
        start = RADIUS + FALL
        last = start + sim.qpos.to_numpy()[:, 0]
        return Outcome(start + change, last, first.grad.to_numpy()[:, 0].copy())


def row(case: Case, found: Outcome) -> str:
    """Return a row of the table."""
    mean, spread = found.slope.mean(), found.slope.std()
    return f"| {case} | {found.secant:+.2f} | {mean:+.2f} | {spread:.2f} |"


def save_picture(path: Path, shown: dict[str, Outcome]) -> None:
    """Write a picture: heights at the end above, their derivatives below."""
    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    axes = figure.subplots(2, len(shown), sharex=True, sharey="row")
    for (title, one), (above, below) in zip(shown.items(), axes.T, strict=True):
        above.plot(one.first, 100.0 * one.last, ".-", color="#44546a", ms=4, lw=1)
        above.set_title(title, fontsize=10)
        below.axhline(0.0, color="#c0c0c0", lw=0.8)
        below.plot(one.first, one.slope, ".", color="#c8553d", label="derivative of the steps")
        below.axhline(one.secant, color="#44546a", lw=1.2, label="slope of the secant")
        below.set_xlabel("height at the start [m]")
    axes[0, 0].set_ylabel("height at 0.25 s [cm]")
    axes[1, 0].set_ylabel("derivative")
    axes[1, 0].legend(fontsize=8, loc="center right")
    for one in axes.flat:
        one.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=100)


def main() -> None:
    """Print the table and, if asked, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="heights and derivatives")
    parser.add_argument("--smooth", action="store_true", help="add rows of smooth contact")
    options = parser.parse_args()
    dt.init(arch="cpu")
    falls, found = Falls(), {}
    print("| `solimp` | `solref` | step | secant | mean derivative | spread |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        found[case] = falls.run(case)
        print(row(case, found[case]), flush=True)
    if options.smooth:
        falls = Falls(contact="smooth")
        for case in CASES[:2]:
            print(row(case, falls.run(case)).replace(" ms", ' ms, `contact="smooth"`'), flush=True)
    if options.picture is not None:
        save_picture(
            options.picture,
            {
                "solimp 0.9 0.95 0.001 (default)": found[CASES[0]],
                "solimp 0 0.95 0.01": found[Case(SOFT, STIFF, 0.002)],
            },
        )


if __name__ == "__main__":
    main()

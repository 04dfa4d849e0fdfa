"""A cloth falls on a ball in the wind; observations of it reveal the wind, or its stiffness.

Masses in a grid, joined by springs, are pushed by the air and by a ball with friction. A step
updates positions and velocities in place, and the loss compares some of the states with
observations. The tape stores old values within `--memory` and runs steps again for the rest of the
gradient. With `--view window` you can change material, wind and ball, and watch the gradient run
back over the cloth.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.drapes import Fall, view
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.surfaces import Ball, Drape, save_drape_animation, save_drape_strip
from demos.support.training import Training, fit, print_check, write
from demos.support.viewing import add_view_options, is_viewed, show
from difftile import ti
from difftile.arguments import Parser, positive_float, positive_int
from scenes.cloth import (
    SPRING_KINDS,
    FallingCloth,
    choose_masses,
    draw_parameters,
    guess_parameters,
    make_scene,
)

PREDICTED = 0.5  # time that is drawn beyond the one that was seen, relative to it
FRAMES_PER_LOOK = 2  # of the animation
SKIN = 0.03  # the part of the ball's radius that is not drawn: flat triangles cut the corner
DISTANCE = "mean square distance [cm²]"
GUESS = {"wind": "no wind", "stiffness": "4 N/m for all springs"}


def watch(cloth: FallingCloth, times: Sequence[int]) -> np.ndarray:
    """Simulate without a tape, and return where all masses are after these numbers of steps [m].

    The shape is (times, rows, columns, 3).
    """
    positions, wanted = {}, set(times)
    cloth.start()
    for t in range(max(times) + 1):
        if t in wanted:
            positions[t] = cloth.x.to_numpy()
        cloth.step(t)
    found = np.array([positions[t] for t in times])
    return found.reshape(-1, *cloth.scene.cloth.shape, 3)


def observe(cloth: FallingCloth, noise: float = 0.0, seed: int = 0) -> None:
    """Fill `cloth.places` from a run, with normal errors of standard deviation `noise` [m]."""
    looks, n = cloth.places.shape
    times = range(cloth.every, looks * cloth.every + 1, cloth.every)
    places = watch(cloth, times).reshape(looks, -1, 3)[:, cloth.masses.to_numpy()]
    errors = noise * np.random.default_rng(seed).standard_normal((looks, n, 3))
    cloth.places.from_numpy(places + errors)


def full_storage(cloth: FallingCloth) -> float:
    """Estimate the bytes that a tape without a limit stores, from a run over fewer steps."""
    steps, cloth.steps = cloth.steps, max(cloth.steps // 10, 1)
    with dt.Tape() as tape:
        cloth.run()
    share, cloth.steps = cloth.steps / steps, steps
    return tape.nbytes / share


def add_own_options(parser: Parser) -> None:
    """Add the options of this demo."""
    say = "default: %(default)s"
    parser.add_argument(
        "--fit",
        choices=("wind", "stiffness"),
        default="wind",
        help=f"hidden values to recover; {say}",
    )
    for name in ("rows", "columns"):
        parser.add_argument(
            f"--{name}", type=positive_int, default=25, help=f"of masses in the cloth; {say}"
        )
    parser.add_argument(
        "--stride", type=positive_int, default=2, help=f"one of so many masses is observed; {say}"
    )
    parser.add_argument(
        "--looks", type=positive_int, default=20, help=f"number of observations; {say}"
    )
    parser.add_argument(
        "--noise",
        type=positive_float,
        help="standard deviation of observations [mm]; default: none",
    )
    add_view_options(parser)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("cloth", __doc__, steps=560, iterations=45, limit="1MB")
    add_own_options(parser)
    options = start(parser, argv)
    if min(options.rows, options.columns) < 2:
        parser.error("arguments --rows and --columns: a cloth has 2 or more of both")
    if options.check:
        options.rows, options.columns = min(options.rows, 9), min(options.columns, 9)

    scene = make_scene(options.rows, options.columns)
    masses, every = choose_masses(scene.cloth, options.stride), options.steps // options.looks
    hidden, guess = draw_parameters(options.seed), guess_parameters()
    # In double precision: a line search of L-BFGS compares losses that differ by little.
    cloth = FallingCloth(scene, hidden, masses, max(every, 1), options.steps, ti.f64)
    if is_viewed(options) and not options.check:
        return show(view(Fall(cloth), options), options)
    observe(cloth, 1e-3 * (options.noise or 0.0), options.seed)
    n_frames = int((1 + PREDICTED) * cloth.places.shape[0]) * FRAMES_PER_LOOK + 1
    frames = [k * cloth.every // FRAMES_PER_LOOK for k in range(n_frames)]
    runs = {f"seen: the {options.fit} is hidden": watch(cloth, frames)}
    write(cloth, {options.fit: getattr(guess, options.fit)})
    if options.check:
        return print_check(cloth, options.fit)

    runs[f"before: {GUESS[options.fit]}"] = watch(cloth, frames)
    label, fields = f"finding the {options.fit}", {options.fit: cloth.parameters[options.fit]}
    if not options.no_pictures:
        draw_strip(options.out, cloth, runs, frames)
    training = fit(cloth, fields, options.iterations, label, memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    runs[f"after: the {options.fit} that was found"] = watch(cloth, frames)
    print(training)
    print(f"without a limit the tape would hold about {full_storage(cloth) / 1e6:.1f} MB")
    report(options.fit, getattr(hidden, options.fit), training)
    if not options.no_pictures:
        save_loss_curve(options.out / "loss.png", training.losses, DISTANCE, "log")
        draw(options.out, cloth, runs, frames)
        print(f"pictures in {options.out}")
    return 0


def report(name: str, hidden: np.ndarray, training: Training) -> None:
    """Print the recovered and the hidden values."""
    found, first = training.best[name], training.first[name]
    rows = {
        "wind": ["wind at 0 s [m/s]", "wind at 1 s [m/s]"],
        "stiffness": [f"{kind} springs [N/m]" for kind in SPRING_KINDS],
    }
    for label, a, b in zip(rows[name], found, hidden, strict=True):
        print(f"{label}: found {_text(a)}, hidden {_text(b)}, {_percent(a, b)} off")
    after, before = (np.sqrt(loss) for loss in (min(training.losses), training.losses[0]))
    print(
        f"the {name} is found to {_percent(found, hidden)}, guessed to {_percent(first, hidden)}; "
        f"the masses are {after:.2g} cm off where they were seen, {before:.2g} cm before the fit "
        "(root mean square)"
    )


def _text(values: np.ndarray) -> str:
    return np.array2string(np.asarray(values), precision=3, separator=", ")


def _percent(found: np.ndarray, hidden: np.ndarray) -> str:
    return f"{100 * np.linalg.norm(found - hidden) / np.linalg.norm(hidden):.3g} %"


def draw(
    out: Path,
    cloth: FallingCloth,
    runs: dict[str, np.ndarray],
    frames: Sequence[int],
) -> None:
    """Write strip and animation; `runs` has what `watch` returned for `frames`, by its label."""
    ball, captions = draw_strip(out, cloth, runs, frames)
    plain = [
        Drape(label, points, np.full((len(frames), 0, 3), np.nan)) for label, points in runs.items()
    ]
    save_drape_animation(
        out / "cloth.gif", plain, cloth.scene.cloth.triangles, ball, captions, fps=15.0
    )


def draw_strip(
    out: Path,
    cloth: FallingCloth,
    runs: dict[str, np.ndarray],
    frames: Sequence[int],
) -> tuple[Ball, list[str]]:
    """Draw some of the frames of all runs; return the ball and the captions of all frames."""
    scene, triangles, places = cloth.scene, cloth.scene.cloth.triangles, cloth.places.to_numpy()
    ball, looks = Ball(scene.center, (1 - SKIN) * scene.radius), len(places)
    marks = np.full((len(frames), *places.shape[1:]), np.nan)
    marks[FRAMES_PER_LOOK : FRAMES_PER_LOOK * looks + 1 : FRAMES_PER_LOOK] = places
    captions = [
        f"{t * scene.time_step:.2f} s" + (", not fitted" if t > looks * cloth.every else "")
        for t in frames
    ]
    marked = [Drape(label, points, marks) for label, points in runs.items()]
    picks = [FRAMES_PER_LOOK * int(share * looks) for share in (0.3, 0.55, 0.8, 1.0, 1 + PREDICTED)]
    texts = [captions[k] for k in picks]
    save_drape_strip(out / "before_after.png", marked, triangles, ball, picks, texts)
    return ball, captions


if __name__ == "__main__":
    sys.exit(main())

"""Many worlds of one robot: `difftile.worlds` beside MuJoCo, mujoco_warp and MJX.

Each side computes the same rollout from the same starts under the same controls in a process of its
own; the sides take turns. Printed are million world-steps a second, in the median of the turns, and
ours divided by theirs. MuJoCo is one core in double precision, with fewer worlds; the others are
f32. 'gradient' is a rollout with its reverse pass, for the sum of the squared speeds at the end, by
the controls of each world and step; MJX does so with four iterations of its solver, all of which
run. Compilation is the seconds of a first run, without those of a second one; for gradients that of
the forward pass is in it.

Sides that are not installed are left out: `pip install mujoco mujoco-warp mujoco-mjx`.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import difftile as dt
from benchmarks.peers import worlds as peers
from difftile import ti
from difftile import worlds as our_worlds
from difftile.arguments import Parser, positive_int

FOLDER = Path(__file__).parents[1] / "tests" / "worlds" / "data"
PACKAGES = {"difftile": "mujoco", "mujoco": "mujoco", "warp": "mujoco_warp", "mjx": "mujoco.mjx"}
BY_ONE_CORE = 64  # worlds of MuJoCo
TARGETS = {  # million world-steps a second of the ant on an H100
    ("forward", 4096): 20.0,
    ("forward", 65536): 70.0,
    ("gradient", 4096): 5.0,
    ("gradient", 65536): 18.0,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if a side computes another motion."""
    parser = Parser("python -m benchmarks.worlds", __doc__)
    parser.add_argument("--model", default="ant", help="a model of tests/worlds/data, or a file")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--worlds", nargs="+", type=positive_int, metavar="N", default=None)
    parser.add_argument("--steps", type=positive_int, default=32, help="default: %(default)s")
    parser.add_argument("--substeps", type=positive_int, default=4, help="steps of a control")
    parser.add_argument("--turns", type=positive_int, default=5, help="default: %(default)s")
    parser.add_argument("--sides", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    parser.add_argument("--rows", nargs="+", choices=("forward", "gradient"), default=None)
    options = parser.parse_args(argv)
    path = FOLDER / f"{options.model}.xml"
    path = path if path.exists() else Path(options.model)
    sides = [side for side in options.sides if installed(PACKAGES[side])]
    if "difftile" not in sides:
        parser.error("MuJoCo is not installed, which reads the model: pip install difftile[worlds]")
    counts = options.worlds or ([256] if options.device == "cpu" else [4096, 65536])
    wrong: list[str] = []
    for row in options.rows or ("forward", "gradient"):
        for worlds in counts:
            print(f"\n{row}: {path.stem}, {worlds} worlds, {options.steps} steps, {options.device}")
            print(f"{'':14}{'M steps/s':>10}{'ours/theirs':>12}{'compile [s]':>12}")
            taking = [side for side in sides if row == "forward" or side in ("difftile", "mjx")]
            wrong += measure(row, path, worlds, taking, options)
    for text in wrong:
        print(text)
    return 1 if wrong else 0


def installed(package: str) -> bool:
    """Tell whether a package can be imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def measure(row: str, path: Path, worlds: int, sides: list[str], options: Any) -> list[str]:
    """Print the lines of a row; return in words what sides compute otherwise."""
    context = multiprocessing.get_context("spawn")
    pipes: dict[str, Any] = {}
    first: dict[str, dict[str, Any]] = {}
    times: dict[str, list[float]] = {side: [] for side in sides}
    for side in sides:
        ours, theirs = context.Pipe()
        arguments = (theirs, row, side, str(path), worlds, options)
        context.Process(target=serve, args=arguments, daemon=True).start()
        theirs.close()
        pipes[side] = ours
    for turn in range(options.turns + 1):
        for side in list(pipes):
            try:
                pipes[side].send("run")
                found = pipes[side].recv()
            except (EOFError, ConnectionError):
                print(f"{side:14} ended", flush=True)
                del pipes[side]
                continue
            if turn == 0:
                first[side] = found
            else:
                times[side].append(found)
    rates: dict[str, float] = {}
    for side in pipes:
        seconds = median(times[side])
        count = first[side]["worlds"] * options.steps
        rates[side] = count / seconds / 1e6
        ratio = median(
            (count / own) / (worlds * options.steps / our)
            for own, our in zip(times[side], times["difftile"], strict=False)
        )
        line = f"{side:14}{rates[side]:10.3g}{1 / ratio:12.2f}{first[side]['compile']:12.1f}"
        target = TARGETS.get((row, worlds)) if side == "difftile" and path.stem == "ant" else None
        if target is not None and options.device == "cuda":
            line += f"  {'>=' if rates[side] >= target else '< '} {target:g}"
        facts = first[side]["facts"]
        print(line + "".join(f"  {name} {value:.3g}" for name, value in facts.items()), flush=True)
    for pipe in pipes.values():
        pipe.send(None)
    return list(differences(first, sides))


def differences(first: dict[str, dict[str, Any]], sides: list[str]) -> Any:
    """Yield in words which sides moved the first worlds elsewhere, beyond rounding and contacts."""
    ours = first.get("difftile", {}).get("final")
    for side in sides:
        if side in first and ours is not None:
            theirs = first[side]["final"]
            count = min(len(ours), len(theirs))
            off = float(np.median(np.abs(ours[:count] - theirs[:count]).max(1)))
            if not off < 1e-2:
                yield f"{side} and difftile differ by {off:.2g} in the median of the worlds"


def serve(pipe: Any, row: str, side: str, path: str, worlds: int, options: Any) -> None:
    """Answer each message with the seconds of a run, the first one with what was made."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # which leaves no memory for others
    if options.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    model = peers.load(Path(path))
    if side == "mujoco":
        worlds = min(worlds, BY_ONE_CORE)
    steps, held = options.steps, options.substeps
    facts: dict[str, float] = {}
    first = True
    rollout: Any = None
    while pipe.recv() is not None:
        started = time.perf_counter()
        if rollout is None:
            if side == "difftile":
                rollout, facts = ours(model, worlds, steps, held, row, options.device)
            else:
                make = {"mujoco": peers.by_mujoco, "warp": peers.by_warp, "mjx": peers.by_mjx}[side]
                more = {"gradient": row == "gradient"} if side == "mjx" else {}
                rollout = make(model, worlds, steps, held=held, **more)
        rollout.run()
        seconds = time.perf_counter() - started
        if first:
            started = time.perf_counter()
            rollout.run()
            again = time.perf_counter() - started
            pipe.send(
                {
                    "worlds": worlds,
                    "compile": max(0.0, seconds - again),
                    "final": np.asarray(rollout.final())[:BY_ONE_CORE],
                    "facts": facts,
                }
            )
            first = False
        else:
            pipe.send(seconds)


def ours(model: Any, worlds: int, steps: int, held: int, row: str, device: str) -> Any:
    """Return the rollout by difftile, and figures of it, which its first run fills in."""
    dt.init(arch=device)
    sim = our_worlds.Worlds(our_worlds.load(model), worlds, iterations=peers.ITERATIONS)
    joints, speeds = peers.start(model, worlds)
    given = np.repeat(peers.controls(model, steps, held)[::held, None], worlds, 1)
    inputs = dt.from_numpy(np.ascontiguousarray(given), dtype=ti.f32, grad=True)
    loss = dt.zeros((), ti.f32, grad=True)
    first = dt.from_numpy(joints, dtype=ti.f32), dt.from_numpy(speeds, dtype=ti.f32)
    facts: dict[str, float] = {}

    @dt.kernel
    def drive(t: int, inputs, ctrl):
        for w, i in ti.ndrange(ctrl.shape[0], ctrl.shape[1]):
            ctrl[w, i] = inputs[t, w, i]

    @dt.kernel
    def squares(qvel, loss):
        for w, i in ti.ndrange(qvel.shape[0], qvel.shape[1]):
            loss[None] += qvel[w, i] ** 2

    def rollout() -> None:
        sim.qacc.fill(0.0)
        sim.qpos.copy_from(first[0])
        sim.qvel.copy_from(first[1])
        for t in range(steps // held):
            drive(t, inputs, sim.ctrl)
            sim.step(held)

    def forward() -> None:
        rollout()
        sim.qpos.to_numpy()
        residuals, newton = sim._outcome.to_numpy().T  # of the last step
        facts["residual"], facts["Newton"] = float(residuals.max()), float(newton.mean())

    def gradient() -> None:
        inputs.grad.fill(0.0)
        loss.fill(0.0)
        with dt.Tape() as tape:
            rollout()
            squares(sim.qvel, loss)
        facts["B a world-step"] = tape.nbytes / (worlds * steps)
        tape.backward(loss)
        inputs.grad.to_numpy()

    return peers.Rollout(forward if row == "forward" else gradient, sim.qpos.to_numpy), facts


if __name__ == "__main__":
    sys.exit(main())

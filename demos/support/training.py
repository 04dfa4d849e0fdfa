"""How a demo learns: gradient after gradient of a whole simulation, and the check of one."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

import difftile as dt
from difftile.progress import progress_bar


class Simulation(Protocol):
    """A simulation that ends in a loss.

    Attributes:
        loss: What is minimised, 0-D.
        parameters: What the gradient is for, by name.
    """

    loss: dt.Field
    parameters: Mapping[str, dt.Field]

    def run(self) -> None:
        """Simulate from the start and write the loss."""
        ...


class Optimiser(Protocol):
    """An object that updates the parameters from their gradients."""

    def step(self) -> object: ...


# Called with the number of a gradient, before its step; returns the text that the progress bar
# shows next to the loss.
Watch: TypeAlias = Callable[[int], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Training:
    """The course of an optimisation.

    Attributes:
        losses: One for each gradient, the first before any step.
        seconds: Wall-clock time of all of it, compilation included.
        kept: Largest memory of the last tape in bytes, apart from the fields.
        first: The parameters before any step, by name.
        best: The parameters with the least loss, or the last ones if these are kept; the fields
            hold them at the end.
    """

    losses: list[float]
    seconds: float
    kept: int
    first: dict[str, np.ndarray]
    best: dict[str, np.ndarray]

    def __str__(self) -> str:
        return (
            f"loss {self.losses[0]:.4g} at first, {min(self.losses):.4g} at best, "
            f"{len(self.losses)} gradients in {self.seconds:.1f} s, "
            f"{self.kept / 1e6:.2f} MB of old values on the tape"
        )


def train(
    simulation: Simulation,
    optimiser: Optimiser,
    iterations: int,
    label: str,
    *,
    memory: str | int | None = None,
    watch: Watch | None = None,
    keep: Literal["best", "last"] = "best",
) -> Training:
    """Take `iterations` steps along the gradient, and leave the best parameters in their fields.

    Ctrl-C ends the training, not the program: the result so far is kept.

    Args:
        simulation: The program to run and differentiate.
        optimiser: Updates the parameters.
        iterations: Number of steps; the loss is measured once more after the last one.
        label: Text of the progress bar.
        memory: The limit of the tape, as for `dt.Tape`.
        watch: Called after each gradient.
        keep: Which parameters stay in their fields: those of the least loss, or the last ones, for
            losses that are measured on different data each time.
    """

    def descend(measure: Callable[[], dt.Field]) -> None:
        for _ in range(iterations + 1):
            measure()
            optimiser.step()

    return _learn(simulation, descend, iterations + 1, label, memory, watch, keep)


def fit(
    simulation: Simulation,
    fields: Mapping[str, dt.Field],
    iterations: int,
    label: str,
    *,
    memory: str | int | None = None,
    watch: Watch | None = None,
    rtol: float = 0.0,
) -> Training:
    """Move a few parameters by L-BFGS, for losses that are smooth; otherwise as `train`.

    Args:
        simulation: The program to run and differentiate.
        fields: Which of its parameters move.
        iterations: The most iterations; each needs one gradient, a few of them more.
        label: Text of the progress bar.
        memory: The limit of the tape, as for `dt.Tape`.
        watch: Called after each gradient.
        rtol: The relative decrease of the loss in an iteration that is the last one.
    """

    def search(measure: Callable[[], dt.Field]) -> None:
        dt.optim.LBFGS(fields, iterations=iterations, rtol=rtol).step(measure)

    return _learn(simulation, search, None, label, memory, watch)


def _learn(
    simulation: Simulation,
    improve: Callable[[Callable[[], dt.Field]], None],
    total: int | None,
    label: str,
    memory: str | int | None,
    watch: Watch | None = None,
    keep: Literal["best", "last"] = "best",
) -> Training:
    """Let `improve` call a function that runs and differentiates the simulation."""
    first = read(simulation)
    losses, best, kept = [], first, 0
    started = time.perf_counter()
    with progress_bar(total=total, desc=label, unit="run") as bar:

        def measure() -> dt.Field:
            nonlocal best, kept
            with dt.Tape(simulation.loss, memory=memory) as tape:
                simulation.run()
            losses.append(float(simulation.loss[None]))
            kept = tape.peak_nbytes
            seen = watch(len(losses) - 1) if watch else {}
            bar.set_postfix(loss=f"{losses[-1]:.4g}", **seen, refresh=False)
            bar.update()
            if keep == "best" and losses[-1] == np.nanmin(losses):
                best = read(simulation)
            return simulation.loss

        try:
            improve(measure)
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    if keep == "last":
        best = read(simulation)
    write(simulation, best)
    return Training(losses, time.perf_counter() - started, kept, first, best)


def read(simulation: Simulation) -> dict[str, np.ndarray]:
    """Copy the parameters out."""
    return {name: values.to_numpy() for name, values in simulation.parameters.items()}


def write(simulation: Simulation, values: Mapping[str, np.ndarray]) -> None:
    """Copy parameters in."""
    for name, array in values.items():
        simulation.parameters[name].from_numpy(array)


def check(simulation: Simulation, name: str, eps: float = 1e-5) -> tuple[float, float]:
    """Return one entry of the gradient by the tape and by central differences, in that order.

    The entry is the largest of the parameter of that name. The simulation should use f64. The
    differences have an error of the fourth order in `eps`.
    """
    with dt.Tape(simulation.loss):
        simulation.run()
    parameter = simulation.parameters[name]
    gradient, values = parameter.grad.to_numpy(), parameter.to_numpy()
    entry = np.unravel_index(int(np.argmax(np.abs(gradient))), gradient.shape)

    def loss(change: float) -> float:
        moved = values.copy()
        moved[entry] += change
        parameter.from_numpy(moved)
        simulation.run()
        return simulation.loss[None]

    by_differences = slope(loss, eps)
    parameter.from_numpy(values)
    return float(gradient[entry]), by_differences


def slope(loss: Callable[[float], float], eps: float) -> float:
    """Return the derivative of a function at 0, by central differences of fourth order."""
    near, far = (loss(change) - loss(-change) for change in (eps, 2 * eps))
    return (8 * near - far) / (12 * eps)


def print_check(simulation: Simulation, name: str, eps: float = 1e-5, rel: float = 1e-6) -> int:
    """Print both values of `check` and return the exit code: 0 if they agree to `rel`."""
    by_tape, by_differences = check(simulation, name, eps)
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    return 0 if abs(by_tape - by_differences) <= rel * abs(by_differences) else 1

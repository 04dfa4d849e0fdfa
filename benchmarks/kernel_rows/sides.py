"""Who runs a kernel of `benchmarks.kernels`: difftile, plain Taichi, NumPy, torch.compile, JAX.

A side measures itself: a turn returns seconds by the names of `cases.Target`.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.kernel_rows.cases import Case
from benchmarks.peers import kernels_taichi

Arrays = dict[str, np.ndarray]
Seconds = dict[str, float]
QUIET = 0.003  # seconds until the threads of another library sleep

TOLERANCE = 2e-4  # of the norm of a gradient: f32, and sums in another order
SUM_TOLERANCE = 5e-3  # of values: Taichi adds up millions of squares in one f32 for each thread


class Side(Protocol):
    """One that runs a kernel and its derivative."""

    def turn(self) -> Seconds:
        """Run, and return the seconds of each part."""
        ...

    def results(self) -> Iterator[tuple[str, Arrays, Arrays]]:
        """Yield the names of forms, their outputs, and their gradients of inputs if any."""
        ...


class Ours:
    """A case in difftile."""

    def __init__(self, case: Case, seeds: Arrays):
        def dtype(name: str, values: np.ndarray | None = None) -> Any:
            if values is not None and values.dtype == np.int32:
                return ti.i32
            element = case.elements.get(name, ())
            makers = {0: lambda: ti.f32, 1: lambda: dt.vec(*element), 2: lambda: dt.mat(*element)}
            return makers[len(element)]()

        self.case, self.seeds = case, seeds
        self.inputs = {
            name: dt.from_numpy(values, dtype=dtype(name), grad=True)
            for name, values in case.inputs.items()
        }
        constants = [
            dt.from_numpy(values, dtype=dtype(name, values))
            for name, values in case.constants.items()
        ]
        self.outputs = {
            name: dt.zeros(shape, dtype=dtype(name), grad=True)
            for name, shape in case.outputs.items()
        }
        self.args = [*self.inputs.values(), *constants, *self.outputs.values()]
        self.end = dt.zeros((), dtype=ti.f32, grad=True)

    def turn(self) -> Seconds:
        forward = self._forward()
        recorded, backward = self._recorded_and_backward()
        return {"forward": forward, "recorded": recorded, "backward": backward}

    def results(self) -> Iterator[tuple[str, Arrays, Arrays]]:
        self._recorded_and_backward()
        values = {name: made.to_numpy() for name, made in self.outputs.items()}
        yield "difftile", values, {name: of.grad.to_numpy() for name, of in self.inputs.items()}

    def _forward(self) -> float:
        """Launch twice without a tape; return the seconds of the second, with warm caches."""
        seconds = 0.0
        for _ in range(2):
            for made in self.outputs.values():
                made.fill(0.0)
            seconds = timed(lambda: self.case.kernel(*self.args))
        return seconds

    def _recorded_and_backward(self) -> tuple[float, float]:
        """Launch on a tape and replay; return the seconds of each."""
        for made in self.outputs.values():
            made.fill(0.0)
        dt.zero_grads()  # or the launch would do that when the tape meets its fields
        with dt.Tape() as tape:
            recorded = timed(lambda: self.case.kernel(*self.args))
            # A replay starts with a seed. This one is a single number that no result depends on,
            # so that filling in the seeds proper is not measured, as it is not for the others.
            self.end[None] = 0.0
        for made in self.inputs.values():  # they are zero; now they are in the caches, as theirs
            made.grad.fill(0.0)
        for name, made in self.outputs.items():
            made.grad.from_numpy(self.seeds[name])
        return recorded, timed(lambda: tape.backward({self.end: 1.0}))


class InTaichi:
    """A case in plain Taichi, differentiated by Taichi and by hand."""

    def __init__(self, case: Case, seeds: Arrays):
        def make(name: str, shape: tuple[int, ...], dtype: Any = ti.f32, grad: bool = True) -> Any:
            element = case.elements.get(name, ())
            makers = {0: ti.field, 1: ti.Vector.field, 2: ti.Matrix.field}
            return makers[len(element)](*element, dtype=dtype, shape=shape, needs_grad=grad)

        self.inputs, self.outputs, constants, self.seeds = {}, {}, [], seeds
        for name, values in case.inputs.items():
            rank = len(case.elements.get(name, ()))
            self.inputs[name] = make(name, values.shape[: values.ndim - rank])
            self.inputs[name].from_numpy(values)
        for name, values in case.constants.items():
            rank = len(case.elements.get(name, ()))
            dtype = ti.i32 if values.dtype == np.int32 else ti.f32
            constants.append(make(name, values.shape[: values.ndim - rank], dtype, grad=False))
            constants[-1].from_numpy(values)
        for name, shape in case.outputs.items():
            self.outputs[name] = make(name, shape)
        self.peer = case.peer(*self.inputs.values(), *constants, *self.outputs.values())

    def turn(self) -> Seconds:
        forward = self._forward(self.peer.forward)
        self._forward(self.peer.differentiable)  # its gradient reads the fields that it writes
        backward = self._backward(self.peer.differentiable.grad)
        by_hand = self._backward(self.peer.adjoint)
        return {"Taichi forward": forward, "Taichi backward": backward, "by hand": by_hand}

    def results(self) -> Iterator[tuple[str, Arrays, Arrays]]:
        self._forward(self.peer.forward)
        yield "Taichi", self._values(), {}
        self._forward(self.peer.differentiable)
        for name, adjoint in (
            ("Taichi's autodiff", self.peer.differentiable.grad),
            ("the adjoint written by hand", self.peer.adjoint),
        ):
            self._backward(adjoint)
            gradients = {name: made.grad.to_numpy() for name, made in self.inputs.items()}
            yield name, self._values(), gradients

    def _forward(self, kernel: Callable[[], None]) -> float:
        """Launch one form of the kernel twice; return the seconds of the second."""
        seconds = 0.0
        for _ in range(2):
            for made in self.outputs.values():
                made.fill(0.0)
            seconds = timed(kernel)
        return seconds

    def _backward(self, adjoint: Callable[[], None]) -> float:
        """Launch an adjoint; return the seconds."""
        for made in self.inputs.values():
            made.grad.fill(0.0)
        self.peer.clear_gradients()
        for name, made in self.outputs.items():
            made.grad.from_numpy(self.seeds[name])
        return timed(adjoint)

    def _values(self) -> Arrays:
        return {name: made.to_numpy() for name, made in self.outputs.items()}


class _OverArrays:
    """A case in a library whose functions take arrays and return new ones."""

    def __init__(self, name: str, case: Case, seeds: Arrays):
        self.name, self.case = name, case
        self.inputs: list[Any] = list(case.inputs.values())
        self.constants: list[Any] = list(case.constants.values())
        self.seeds: list[Any] = [
            np.array(seeds[name][case.written], order="C") for name in case.outputs
        ]

    def _found(self, outputs: Any, gradients: Any) -> Iterator[tuple[str, Arrays, Arrays]]:
        values = dict(zip(self.case.outputs, map(np.asarray, outputs), strict=True))
        of_inputs = dict(zip(self.case.inputs, map(np.asarray, gradients), strict=True))
        yield self.name, values, of_inputs


class InNumpy(_OverArrays):
    """A case in NumPy, with an adjoint written by hand."""

    def __init__(self, name: str, case: Case, seeds: Arrays):
        from benchmarks.peers.kernels_numpy import KERNELS  # noqa: PLC0415 - as the others

        super().__init__("NumPy", case, seeds)
        peer, of = KERNELS[name], [*self.inputs, *self.constants]
        self.forward = partial(peer.forward, *of, **case.sizes)
        self.adjoint = partial(peer.adjoint, *of, *self.seeds, **case.sizes)

    def turn(self) -> Seconds:
        return {"NumPy forward": second(self.forward), "NumPy backward": second(self.adjoint)}

    def results(self) -> Iterator[tuple[str, Arrays, Arrays]]:
        return self._found(self.forward(), self.adjoint())


class InTorch(_OverArrays):
    """A case for torch.compile, on the CPU.

    The compiled function runs without gradients and with them. `torch.autograd.grad` calls its
    compiled reverse, and returns new tensors.
    """

    def __init__(self, name: str, case: Case, seeds: Arrays):
        from benchmarks.peers.kernels_torch import KERNELS, torch  # noqa: PLC0415 - is optional

        super().__init__("torch", case, seeds)
        if "OMP_NUM_THREADS" in os.environ:
            torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        torch.compiler.reset()
        self.torch = torch
        self.inputs = [torch.tensor(of, requires_grad=True) for of in self.inputs]
        self.constants = [torch.tensor(of) for of in self.constants]
        self.seeds = [torch.tensor(of) for of in self.seeds]
        compiled = torch.compile(partial(KERNELS[name], **case.sizes), dynamic=False)
        self.run = partial(compiled, *self.inputs, *self.constants)

    def turn(self) -> Seconds:
        with self.torch.no_grad():
            forward = second(self.run)
        backward = 0.0
        for _ in range(2):
            outputs = self.run()
            backward = timed(partial(self._gradients, outputs), wake=False)
        time.sleep(QUIET)
        return {"torch forward": forward, "torch backward": backward}

    def results(self) -> Iterator[tuple[str, Arrays, Arrays]]:
        outputs = self.run()
        gradients = self._gradients(outputs)
        return self._found([of.detach() for of in outputs], gradients)

    def _gradients(self, outputs: Any) -> Any:
        return self.torch.autograd.grad(outputs, self.inputs, self.seeds)


class InJax(_OverArrays):
    """A case in JAX, on the CPU. Values and gradients come from one compiled function."""

    def __init__(self, name: str, case: Case, seeds: Arrays):
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        from benchmarks.peers.kernels_jax import KERNELS, jax  # noqa: PLC0415 - is optional

        super().__init__("JAX", case, seeds)
        of = [jax.numpy.asarray(values) for values in (*self.inputs, *self.constants)]
        seeds_of = tuple(map(jax.numpy.asarray, self.seeds))
        run, n = partial(KERNELS[name], **case.sizes), len(self.inputs)

        def both(of: Any, seeds_of: Any) -> Any:
            outputs, pull = jax.vjp(lambda *inputs: run(*inputs, *of[n:]), *of[:n])
            return outputs, pull(seeds_of)

        forward, both = jax.jit(run), jax.jit(both)
        self.forward = lambda: jax.block_until_ready(forward(*of))
        self.both = lambda: jax.block_until_ready(both(of, seeds_of))

    def turn(self) -> Seconds:
        return {"JAX forward": second(self.forward), "JAX both": second(self.both)}

    def results(self) -> Iterator[tuple[str, Arrays, Arrays]]:
        return self._found(*self.both())


PEERS: dict[str, Callable[[str, Case, Arrays], Side]] = {
    "numpy": InNumpy,
    "torch": InTorch,
    "jax": InJax,
}


def installed() -> list[str]:
    """Return the peers over arrays that this machine has."""
    return [name for name in PEERS if find_spec(name)]


def second(run: Callable[[], Any]) -> float:
    """Run twice; return the seconds of the second time."""
    run()
    return timed(run, wake=False)


def timed(run: Callable[[], Any], *, wake: bool = True) -> float:
    """Return the seconds of a run.

    Args:
        run: What is measured.
        wake: Wake the threads of Taichi's pool before.
    """
    if wake:
        kernels_taichi.wake()
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def seeds_of(case: Case) -> Arrays:
    """Return gradients of the outputs."""
    rng = np.random.default_rng(0)
    return {
        name: np.asarray(1 + 0.5 * rng.standard_normal(case.shape_of(name)), np.float32)
        for name in case.outputs
    }


def check(name: str, case: Case, ours: Side, others: list[Side]) -> None:
    """Compare outputs and gradients of all sides.

    Raises:
        SystemExit: They differ.
    """
    ((_, values, gradients),) = ours.results()
    for side in others:
        for whose, outputs, of_inputs in side.results():
            for of, theirs in outputs.items():
                mine = values[of]
                if theirs.shape != mine.shape:
                    mine = mine[case.written]
                compare(f"{name}: {of} of {whose}", mine, theirs, SUM_TOLERANCE)
            for of, theirs in of_inputs.items():
                compare(f"{name}: gradient of {of} of {whose}", gradients[of], theirs, TOLERANCE)


def compare(what: str, ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> None:
    """Compare two arrays.

    Raises:
        SystemExit: They are apart.
    """
    if ours.shape != theirs.shape:
        raise SystemExit(f"{what}: shape {theirs.shape} instead of {ours.shape}")
    apart, size = np.linalg.norm(ours - theirs), np.linalg.norm(theirs)
    if not apart <= tolerance * size:
        raise SystemExit(f"{what}: {apart / size:.1e} of their norm apart")


def keep_memory() -> None:
    """Have the C library keep what it frees, so that new arrays do not cost page faults."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)  # glibc has it
        mallopt(-4, 0)  # M_MMAP_MAX: no mapping for a large block
        mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: nothing back to the system

"""Who runs a kernel on a GPU: difftile, torch, JAX, Warp, plain Taichi. See `side.Side`.

What a kernel adds to is zero before, and that is set to zero within the measured time; so are the
gradients of the inputs where a library adds to them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.gpu_rows.cases import ADDING, texels_first
from benchmarks.gpu_rows.side import DIFFTILE, Arrays, Makers, nothing
from benchmarks.kernel_rows import sides
from benchmarks.kernel_rows.cases import Case

IN_TAICHI = {"mpm"}
IN_WARP = {"map", "stencil", "gather", "scatter-add", "sum", "matvec", "n-body", "mpm"}
IN_TORCH = {"map", "stencil", "gather", "scatter-add", "sum", "matvec", "compositing", "n-body"}
IN_JAX = {*IN_TORCH, "texture", "texture-rows"}
LOOKUPS = {"texture", "texture-rows", "volume", "volume-rays"}


def makers(name: str, case: Case) -> Makers:
    """Return who runs a case."""
    rng = np.random.default_rng(0)
    seeds = {of: rng.standard_normal(case.shape_of(of), np.float32) for of in case.outputs}
    found: dict[str, Callable[[], Any]] = {DIFFTILE: lambda: Ours(name, case, seeds)}
    if name in IN_TORCH | LOOKUPS:
        found["torch"] = lambda: InTorch(name, case, seeds, compiled=False)
        found["torch.compile"] = lambda: InTorch(name, case, seeds, compiled=True)
    if name in IN_JAX:
        found["JAX"] = lambda: InJax(name, case, seeds)
    if name in IN_WARP:
        found["Warp"] = lambda: InWarp(name, case, seeds)
    if name in IN_TAICHI:
        found["Taichi"] = lambda: InTaichi(case, seeds, by_hand=False)
        found["Taichi, by hand"] = lambda: InTaichi(case, seeds, by_hand=True)
    return found


class Ours(sides.Ours):
    """A case in difftile."""

    name, in_one = DIFFTILE, False

    def __init__(self, name: str, case: Case, seeds: Arrays) -> None:
        super().__init__(case, dict(seeds))
        self._added_to = list(self.outputs.values()) if name in ADDING else []
        # On the device: what passes through the host leaves its caches cold.
        self._given = [dt.from_numpy(seeds[of], made.dtype) for of, made in self.outputs.items()]
        self._tape = dt.Tape()

    def forward(self) -> None:
        for made in self._added_to:
            made.fill(0.0)
        self.case.kernel(*self.args)

    def clear(self) -> None:
        dt.zero_grads()

    def record(self) -> None:
        self._tape = dt.Tape()
        with self._tape:
            self.forward()
            # The replay starts with a seed, here of a number that nothing depends on: the gradients
            # of the outputs are there before, as they are for the others.
            self.end[None] = 0.0

    def seed(self) -> None:
        for given, made in zip(self._given, self.outputs.values(), strict=True):
            made.grad.copy_from(given)

    def backward(self) -> None:
        self._tape.backward({self.end: 1.0})

    def synchronize(self) -> None:
        ti.sync()

    def results(self) -> tuple[Arrays, Arrays]:  # pyrefly: ignore[bad-override]
        values = {name: made.to_numpy() for name, made in self.outputs.items()}
        return values, {name: made.grad.to_numpy() for name, made in self.inputs.items()}


class InTaichi(sides.InTaichi):
    """A case in plain Taichi, whose adjoint is Taichi's own or written by hand."""

    in_one, clear, seed = False, staticmethod(nothing), staticmethod(nothing)

    def __init__(self, case: Case, seeds: Arrays, by_hand: bool) -> None:
        super().__init__(case, dict(seeds))
        self.name = "Taichi, by hand" if by_hand else "Taichi"
        self.forward = self.record = self.peer.forward
        self._adjoint = self.peer.adjoint if by_hand else self.peer.differentiable.grad
        for name, made in self.outputs.items():
            made.grad.from_numpy(self.seeds[name])

    def backward(self) -> None:
        for made in self.inputs.values():
            made.grad.fill(0.0)
        self.peer.clear_gradients()
        self._adjoint()

    def synchronize(self) -> None:
        ti.sync()

    def results(self) -> tuple[Arrays, Arrays]:  # pyrefly: ignore[bad-override]
        values = {name: made.to_numpy() for name, made in self.outputs.items()}
        return values, {name: made.grad.to_numpy() for name, made in self.inputs.items()}


class InTorch:
    """A case for torch, eager or compiled."""

    in_one, clear, seed = False, staticmethod(nothing), staticmethod(nothing)

    def __init__(self, name: str, case: Case, seeds: Arrays, *, compiled: bool) -> None:
        from benchmarks.peers import kernels_torch, lookups_torch  # noqa: PLC0415 - is optional

        self.name = "torch.compile" if compiled else "torch"
        self._torch = torch = kernels_torch.torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._case = case
        self._lookups = name in LOOKUPS
        if self._lookups:
            case = texels_first(case)
        put = partial(torch.tensor, device=self._device)
        self._inputs = [put(of, requires_grad=True) for of in case.inputs.values()]
        constants = [put(of) for of in case.constants.values()]
        self._seeds = [put(_written(case, of, seeds[of])) for of in case.outputs]
        run = lookups_torch.sample if self._lookups else kernels_torch.KERNELS[name]
        if compiled:
            torch.compiler.reset()
            run = torch.compile(run, dynamic=False)
        self._run = partial(run, *self._inputs, *constants, **case.sizes)
        self._outputs: Any = ()
        self._gradients: Any = ()

    def forward(self) -> None:
        with self._torch.no_grad():
            self._outputs = self._run()

    def record(self) -> None:
        self._outputs = self._run()

    def backward(self) -> None:
        self._gradients = self._torch.autograd.grad(self._outputs, self._inputs, self._seeds)

    def synchronize(self) -> None:
        if self._device == "cuda":
            self._torch.cuda.synchronize()

    def results(self) -> tuple[Arrays, Arrays]:
        values, gradients = (
            dict(zip(names, (one.detach().cpu().numpy() for one in found), strict=True))
            for names, found in (
                (self._case.outputs, self._outputs),
                (self._case.inputs, self._gradients),
            )
        )
        if self._lookups:
            gradients["texels"] = np.moveaxis(gradients["texels"], 0, -1)
        return values, gradients


class InJax:
    """A case in JAX. Values and gradients come from one compiled function."""

    name, in_one = "JAX", True
    clear, record, seed = (staticmethod(nothing),) * 3

    def __init__(self, name: str, case: Case, seeds: Arrays) -> None:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        from benchmarks.peers.kernels_jax import KERNELS, jax  # noqa: PLC0415 - is optional

        jax.config.update("jax_default_matmul_precision", "highest")  # f32, not TF32
        self._case = case
        # All are arguments: XLA computes with constants while it compiles.
        given = [*case.inputs.values(), *case.constants.values()]
        of = [jax.device_put(values) for values in given]
        seeds_of = tuple(jax.device_put(_written(case, one, seeds[one])) for one in case.outputs)
        run = partial(KERNELS["texture" if name in LOOKUPS else name], **case.sizes)
        n = len(case.inputs)

        def both(of: Any, seeds_of: Any) -> Any:
            outputs, pull = jax.vjp(lambda *inputs: run(*inputs, *of[n:]), *of[:n])
            return outputs, pull(seeds_of)

        forward, both = jax.jit(run), jax.jit(both)
        self.forward = lambda: jax.block_until_ready(forward(*of))
        self._both = lambda: jax.block_until_ready(both(of, seeds_of))
        self._found: Any = None
        self.synchronize = nothing  # each call waits

    def backward(self) -> None:
        self._found = self._both()

    def results(self) -> tuple[Arrays, Arrays]:
        outputs, gradients = self._found
        values = dict(zip(self._case.outputs, map(np.asarray, outputs), strict=True))
        return values, dict(zip(self._case.inputs, map(np.asarray, gradients), strict=True))


class InWarp:
    """A case in Warp, whose tape reverses the launches."""

    name, in_one = "Warp", False
    clear = staticmethod(nothing)

    def __init__(self, name: str, case: Case, seeds: Arrays) -> None:
        from benchmarks.peers.kernels_warp import KERNELS, make_array, wp  # noqa: PLC0415

        self._wp, self._case = wp, case
        self._device = "cuda" if wp.is_cuda_available() else "cpu"
        make = partial(make_array, device=self._device)

        def element(of: str) -> tuple[int, ...]:
            return case.elements.get(of, ())

        self._inputs = {of: make(v, element(of)) for of, v in case.inputs.items()}
        constants = [make(v, element(of), grad=False) for of, v in case.constants.items()]
        self._outputs, self._seeds = {}, {}
        for of in case.outputs:
            shape = case.shape_of(of) or (1,)
            self._outputs[of] = make(np.zeros(shape, np.float32), element(of))
            given = np.zeros(case.shape_of(of), np.float32)
            given[case.written] = seeds[of][case.written]
            self._seeds[of] = make(given.reshape(shape), element(of), grad=False)
        self._added_to = list(self._outputs.values()) if name in ADDING else []
        arguments = [*self._inputs.values(), *constants, *self._outputs.values()]
        self._launch = KERNELS[name](*arguments, device=self._device, **case.sizes)
        self._tape = wp.Tape()

    def forward(self) -> None:
        for made in self._added_to:
            made.zero_()
        self._launch()

    def record(self) -> None:
        self._tape = self._wp.Tape()
        with self._tape:
            self.forward()

    def seed(self) -> None:
        for of, made in self._outputs.items():
            self._wp.copy(made.grad, self._seeds[of])

    def backward(self) -> None:
        for made in self._inputs.values():
            made.grad.zero_()
        self._launch.clear_gradients()
        self._tape.backward()

    def synchronize(self) -> None:
        self._wp.synchronize_device(self._device)

    def results(self) -> tuple[Arrays, Arrays]:
        values = {of: made.numpy() for of, made in self._outputs.items()}
        values = {of: made.reshape(self._case.shape_of(of)) for of, made in values.items()}
        return values, {of: made.grad.numpy() for of, made in self._inputs.items()}


def _written(case: Case, name: str, values: np.ndarray) -> np.ndarray:
    """Return the part of an output that a kernel writes."""
    return np.array(values[case.written], order="C")

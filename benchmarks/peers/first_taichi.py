"""Programs of `benchmarks.first_gradient` in plain Taichi: with a time axis, or the value only."""

from typing import Any

import numpy as np
import taichi as ti

from benchmarks.first_rows import inputs
from benchmarks.first_rows.texts import layers, mixture
from benchmarks.peers.mass_spring_taichi import make_mass_spring
from benchmarks.peers.peer import Peer
from benchmarks.peers.wave_taichi import make_wave
from scenes.mass_spring import make_network, make_scene
from scenes.wave import WaveScene

Arrays = list[np.ndarray]


def start(program: str) -> None:
    """Start Taichi."""
    wide = ti.f64 if program == "gmm" else ti.f32
    ti.init(ti.cpu, default_fp=wide, force_scalarize_matrix=True)


def readme(quick: bool) -> Arrays:
    x, k, loss = (ti.field(ti.f32, shape, needs_grad=True) for shape in [(101, 8), (), ()])

    @ti.kernel
    def step(t: int):
        for i in range(8):
            x[t + 1, i] = x[t, i] - k[None] * ti.sin(x[t, i])
            loss[None] += x[t + 1, i] ** 2

    x.from_numpy(np.eye(101, 1, dtype=np.float32).repeat(8, 1))
    k[None] = 0.05
    with ti.ad.Tape(loss):
        for t in range(100):
            step(t)
    return [loss.to_numpy(), k.grad.to_numpy()]


def gmm(quick: bool) -> Arrays:
    *given, x = inputs.gmm(quick)
    loss = np.zeros(())
    ti.kernel(mixture)(*given, x, np.zeros((len(x), len(given[0]))), loss)
    return [loss]


def network(quick: bool) -> Arrays:
    *given, x = inputs.network(quick)
    loss = np.zeros((), np.float32)
    ti.kernel(layers(x.shape[1], len(given[0])))(*given, x, loss)
    return [loss]


def wave(quick: bool) -> Arrays:
    initial, target = inputs.wave(quick)
    peer = make_wave(WaveScene(target), inputs.wave_steps(quick))
    peer.parameters["initial"].from_numpy(initial)
    return _both(peer)


def mass_spring(quick: bool) -> Arrays:
    scene = make_scene("C")
    return _both(make_mass_spring(scene, make_network(scene), inputs.ROBOT_STEPS))


def _both(peer: Peer) -> Arrays:
    peer.differentiate()
    return [peer.loss.to_numpy(), *peer.gradients().values()]


PROGRAMS: dict[str, Any] = {
    "readme": readme,
    "gmm": gmm,
    "network": network,
    "wave": wave,
    "mass_spring": mass_spring,
}

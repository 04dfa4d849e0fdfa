"""Lookups in textures, for `benchmarks.rendering`: at random, and as neighbouring pixels make them.

Of the peers `grid_sample` of torch takes part where that is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.meter import Findings, Meter, Row
from benchmarks.peers import texture_taichi, texture_torch
from benchmarks.peers.texture_taichi import TexturePeer

RATIO = 2.5  # to plain Taichi with an adjoint written by hand
CHANNELS = 4


@dt.kernel
def look(texture, at, out):
    for i in at:
        out[i] = texture.sample(at[i])


@dt.kernel
def look_between_levels(texture, at, out):
    for i in at:
        out[i] = texture.sample_lod(at[i], 1.3)


@dataclass(frozen=True)
class Lookups:
    """Lookups in difftile.

    Attributes:
        kernel: Makes them.
        texture: The texture.
        at: Positions or directions.
        out: What is found.
    """

    kernel: Any
    texture: dt.Texture
    at: dt.Field
    out: dt.Field

    def forward(self) -> None:
        self.kernel(self.texture, self.at, self.out)

    def backward(self, meter: Meter, seed: np.ndarray) -> float:
        """Return the seconds of the reverse of lookups on a tape."""
        dt.zero_grads((self.texture.data, self.at))
        nothing = dt.zeros((), ti.f32, grad=True)
        with dt.Tape() as tape:
            self.forward()
            nothing[None] = 0.0  # a trivial seed; the seed of the results is in place already
        self.out.grad.from_numpy(seed)
        return meter.timed(lambda: tape.backward(nothing))

    def results(self) -> list[np.ndarray]:
        return [self.out.to_numpy(), self.texture.data.grad.to_numpy(), self.at.grad.to_numpy()]


def positions(n: int) -> dict[str, np.ndarray]:
    """Return n positions, shape (n, 2), by how they lie."""
    across, down = np.divmod(np.arange(n), int(np.sqrt(n)))[::-1]
    rows = np.stack([across + 0.3, down + 0.4], axis=1) / np.sqrt(n)
    return {"in rows": rows, "at random": np.random.default_rng(1).random((n, 2))}


def measure(meter: Meter, n: int, size: int, with_peers: bool) -> Findings:
    """Measure n lookups of four channels in textures of size x size texels."""
    rng = np.random.default_rng(0)
    texels = rng.random((size, size, CHANNELS), np.float32)
    faces = rng.random((6, size // 2, size // 2, CHANNELS), np.float32)
    seed = rng.normal(size=(n, CHANNELS)).astype(np.float32)
    out = dt.zeros(n, dt.vec(CHANNELS, ti.f32), grad=True)
    found = Findings()
    for how, uv in positions(n).items():
        at = dt.from_numpy(uv, dt.vec(2, ti.f32), grad=True)
        # Towards the front, and half as far to the sides as that.
        towards = np.concatenate([2 * uv - 1, np.ones((n, 1))], axis=1)
        direction = dt.from_numpy(towards, dt.vec(3, ti.f32), grad=True)
        cases = {
            "": Lookups(look, dt.Texture(texels, grad=True), at, out),
            ", two levels": Lookups(
                look_between_levels, dt.Texture(texels, mip="linear", grad=True), at, out
            ),
            ", cube": Lookups(look, dt.Texture(faces, cube=True, grad=True), direction, out),
        }
        peers = peers_of(texels, uv.astype(np.float32), seed) if with_peers else {}
        title = f"{n:,} lookups {how}"
        for name, lookups in cases.items():
            add(found, title + name, meter, lookups, seed, {} if name else peers)
    return found


def peers_of(texels: np.ndarray, uv: np.ndarray, seed: np.ndarray) -> dict[str, TexturePeer]:
    """Return the peers that are installed."""
    made = {"": texture_taichi.make_lookups(texels, uv, seed)}
    try:
        made[" (torch)"] = texture_torch.make_lookups(texels, uv, seed)
    except ModuleNotFoundError:
        pass
    return made


def add(
    found: Findings,
    title: str,
    meter: Meter,
    lookups: Lookups,
    seed: np.ndarray,
    peers: dict[str, TexturePeer],
) -> None:
    """Add the rows of one case, forward and backward, compared with each of the peers."""

    def reversed_by(peer: TexturePeer) -> float:
        peer.clear()
        return meter.timed(peer.backward)

    calls: list[Callable[[], float]] = [
        lambda: meter.timed(lookups.forward),
        lambda: lookups.backward(meter, seed),
    ]
    for peer in peers.values():
        calls += [
            lambda peer=peer: meter.timed(peer.forward),
            lambda peer=peer: reversed_by(peer),
        ]
    forward, backward, *theirs = meter.in_turn(*calls)
    if not peers:
        found.rows += [Row(f"{title}: forward", forward), Row("  backward", backward)]
    for k, (name, peer) in enumerate(peers.items()):
        found.rows.append(Row(f"{title}: forward{name}", forward, theirs[2 * k], RATIO))
        found.rows.append(Row(f"  backward{name}", backward, theirs[2 * k + 1], RATIO))
        for what, mine, other in zip(
            ("values", "texels", "positions"), lookups.results(), peer.results(), strict=True
        ):
            off = np.linalg.norm(mine - other) / np.linalg.norm(other)
            found.apart[f"{title}{name}, {what}"] = float(off)

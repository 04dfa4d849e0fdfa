"""Splats as SuperSplat and GaussianSplats3D pack them."""

from __future__ import annotations

import gzip
import importlib
import struct
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from difftile.datasets import Splats


def packed(n: int = 300, bounds_of_colour: bool = True, sh: bool = True) -> dict[str, np.ndarray]:
    """A packed file of splats that stand at known places, with exact bounds."""
    low, high = [-1.0, -2.0, -3.0, -5.0, -5.0, -5.0], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    names = [f"{e}_{a}{c}" for a in ("", "scale_") for e in ("min", "max") for c in "xyz"]
    values = [*low[:3], *high[:3], *low[3:], *high[3:]]
    if bounds_of_colour:
        names += [f"{e}_{c}" for e in ("min", "max") for c in "rgb"]
        values += [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    chunk = np.zeros(-(-n // 256), [(name, "<f4") for name in names])
    chunk[:] = tuple(values)
    kinds = ("position", "rotation", "scale", "color")
    vertex = np.zeros(n, [(f"packed_{kind}", "<u4") for kind in kinds])
    vertex["packed_position"] = (2047 << 21) | (0 << 11) | 2047
    vertex["packed_scale"] = (0 << 21) | (1023 << 11) | 0
    vertex["packed_color"] = (255 << 24) | (0 << 16) | (51 << 8) | 51
    zero = 511 if n else 0
    vertex["packed_rotation"] = (2 << 30) | (zero << 20) | (zero << 10) | zero
    tables = {"chunk": chunk, "vertex": vertex}
    if sh:
        tables["sh"] = np.zeros(n, [(f"f_rest_{k}", "u1") for k in range(9)])
        tables["sh"]["f_rest_3"] = 255
    return tables


def ksplat(splats: Splats, level: int) -> bytes:
    """A .ksplat of two sections, with full buckets of four and two partial ones in each."""
    count, degree = len(splats), splats.sh_degree
    sections = [(0, count - 3), (count - 3, count)]
    head = struct.pack("<BBxxIIIIH", 0, 1, 2, 2, count, count, level).ljust(36, b"\0")
    head = (head + struct.pack("<ff", -1.5, 1.5)).ljust(4096, b"\0")
    headers, bodies = b"", b""
    for low, high in sections:
        n = high - low
        full = max(0, n // 4 - 1) if level else 0
        partial = [n - 4 * full - 1, 1] if level else []
        buckets = full + len(partial)
        centres = np.zeros((buckets, 3), "<f4")
        at = np.repeat(np.arange(buckets), [4] * full + partial)
        means = splats.means[low:high]
        for k in range(buckets):
            centres[k] = means[at == k].mean(axis=0)
        word = ("IIIIfHxxIIII", n, n, 4, buckets, 5.0, 12, 32767, 0, full, len(partial))
        if not level:
            word = (word[0], n, n, 0, 0, 0.0, 0, 0, 0, 0, 0)
        header = struct.pack("<" + str(word[0]), *word[1:]) + struct.pack("<H", degree)
        headers += header.ljust(1024, b"\0")
        bodies += struct.pack(f"<{len(partial)}I", *partial) + centres.tobytes()
        for k in range(n):
            row = low + k
            rest = np.concatenate(
                [splats.shN[row, a:b].T.ravel() for a, b in ((0, 3), (3, 8), (8, 15))]
            )
            bytes_of_rest = np.rint((rest + 1.5) / 3 * 255).astype("u1")
            real = np.exp(splats.scales[row]), splats.quaternions[row]
            centre = means[k].astype("<f4")
            if level:
                centre = np.rint((means[k] - centres[at[k]]) * (32767 / 2.5) + 32767).astype("<u2")
            bodies += centre.tobytes()
            bodies += b"".join(one.astype("<f2" if level else "<f4").tobytes() for one in real)
            bodies += bytes([128, 128, 128, 128])
            bodies += (rest.astype("<f4"), rest.astype("<f2"), bytes_of_rest)[level].tobytes()
    return head + headers + bodies


def spz_of_streams(raw: bytes, parts: Sequence[bytes] = (), claimed: int | None = None) -> bytes:
    """A .spz of version 4 with the contents of one of version 3.

    Args:
        raw: The file of version 3.
        parts: Other contents of the first streams.
        claimed: The size that the file says the first stream has, if another.
    """
    zstandard = importlib.import_module("zstandard")
    content = gzip.decompress(raw)
    count, degree = struct.unpack_from("<IB", content, 8)
    rest = 3 * ((degree + 1) ** 2 - 1)
    ends = 16 + count * np.cumsum([0, 9, 1, 3, 3, 4, rest])
    streams = [content[a:b] for a, b in pairwise(ends)]
    sizes = [len(one) for one in streams]
    streams[: len(parts)] = parts
    packed = [zstandard.compress(one) for one in streams]
    sizes[0] = sizes[0] if claimed is None else claimed
    head = content[:4] + struct.pack("<I", 4) + content[8:14] + struct.pack("<BBI12x", 0, 6, 40)
    table = b"".join(struct.pack("<QQ", len(a), b) for a, b in zip(packed, sizes, strict=True))
    return head + bytes(8) + table + b"".join(packed)

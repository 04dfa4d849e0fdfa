"""Splats as `.spz` files of Niantic: 20 bytes each and one for each number of harmonics, packed.

Versions 1 to 3 are one stream of gzip, version 4 has a stream of Zstandard for each part. Positions
have 24 bits with a fixed point, logarithms of sizes steps of 1/16, colours, opacities and harmonics
are bytes, and rotations have their three smaller components. Axes are right, up, back, while those
of a `.ply` are right, down, forward.

Source: github.com/nianticlabs/spz.
"""

from __future__ import annotations

import gzip
import importlib
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.datasets.quantised import (
    Bytes,
    byte_of,
    logit_of_byte,
    opacities_of,
    smallest_three,
    units_of,
    whole_of,
)
from difftile.datasets.splats import DEGREES, Splats
from difftile.diagnostics import DatasetError, counted
from difftile.files.regular import check_claim, read_bytes, shown, understood
from difftile.files.writing import write_bytes

_MAGIC, _GZIP = b"NGSP", b"\x1f\x8b"
_HEADER = struct.Struct("<4sIIBBBB")  # magic, version, count, degree, bits, flags, streams
_WRITTEN, _PLAIN, _STREAMS = 3, (1, 2, 3), 4  # versions
_ANTIALIASED, _EXTENDED = 1, 2  # flags
_EXTENSIONS = 2**16  # bytes after the splats, which are not used
_COEFFICIENTS = {degree: count for count, degree in DEGREES.items()}
_BITS = 23  # after the point, at most
_COLOUR = 0.15 * 255  # of a unit of a harmonic
_STEP, _SMALLEST = 16.0, -10.0  # logarithms of sizes
_HALF = 511.0 * np.sqrt(2.0)
_COARSE = 8, 16  # steps of the bytes of the first band of harmonics, and of the others
# By turning half around x, which makes y and z negative: harmonics odd in them change their sign.
_TURN = np.array([1.0, -1.0, -1.0])
_SIGNS = np.array([-1, -1, 1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1, -1, 1], np.float32)


def read_spz(path: Path) -> Splats:
    """Return the splats of a `.spz` file.

    Raises:
        DatasetError: The file is broken, of another version or degree, or holds fewer splats than
            its header says; or Zstandard is needed and missing.
    """
    raw = read_bytes(path)
    if raw.startswith(_GZIP):
        return _of_one_stream(path, raw).kept()
    if raw.startswith(_MAGIC):
        return _of_streams(path, raw).kept()
    raise DatasetError(path, f"begins with {raw[:4]!r}", "a .spz file, packed by gzip or Zstandard")


def write_spz(path: Path, splats: Splats) -> int:
    """Write splats as version 3, in their order; return the number of dropped rows.

    Positions have as many bits after the point as hold the farthest, 23 at most. Sizes and colours
    beyond what bytes hold become the nearest; so do harmonics beyond -1 ... 1.

    Raises:
        DatasetError: A position is farther from the origin than 24 bits hold.
    """
    kept = splats.kept()
    means = kept.means.astype(np.float64) * _TURN
    farthest = float(np.abs(means).max(initial=0.0))
    bits = min(_BITS, _BITS - int(np.ceil(np.log2(max(farthest, 1e-9) * (1 + 2.0**-20)))))
    if bits < 0:
        raise DatasetError(
            path,
            f"would have a position {farthest:.3g} from the origin",
            f"up to {2.0**_BITS:.3g}",
            hint="a .ply has no such limit.",
        )
    fixed = np.rint(means * 2.0**bits).astype("<i4").reshape(-1, 1)
    turned = units_of(kept) * np.append(1.0, _TURN)
    largest, three = smallest_three(np.roll(turned, -1, axis=1))  # xyzw
    words = largest.astype("<u4") << 30
    for place, part in zip((20, 10, 0), three.T, strict=True):
        size = np.minimum(np.rint(np.abs(part) * _HALF), 511).astype(np.uint32)
        words |= (size | (part < 0).astype(np.uint32) << 9) << np.uint32(place)
    harmonics = kept.shN * _SIGNS[: kept.shN.shape[1], None] * 128 + 128
    steps = np.where(np.arange(kept.shN.shape[1]) < 3, *_COARSE)[:, None]
    header = _HEADER.pack(
        *(_MAGIC, _WRITTEN, len(kept), kept.sh_degree, bits, _ANTIALIASED * kept.antialiased, 0)
    )
    parts = (
        fixed.view(np.uint8)[:, :3],
        byte_of(opacities_of(kept) * 255),
        byte_of(kept.sh0.astype(np.float64) * _COLOUR + 127.5),
        byte_of((kept.scales - _SMALLEST) * _STEP),
        words,
        byte_of(np.rint(harmonics / steps) * steps),
    )
    content = header + b"".join(part.tobytes() for part in parts)
    write_bytes(path, gzip.compress(content, mtime=0))
    return kept.dropped - splats.dropped


def _of_one_stream(path: Path, raw: bytes) -> Splats:
    stream = zlib.decompressobj(31)  # with the header of gzip
    with understood(path, "a whole .spz file"):
        head = stream.decompress(raw, _HEADER.size)
        header = _header(path, head, _PLAIN)
        sizes = _sizes(header)
        check_claim(path, sum(sizes), len(raw))
        more = _EXTENSIONS if header[5] & _EXTENDED else 1
        content = stream.decompress(stream.unconsumed_tail, sum(sizes) + more)
    whole = len(content) == sum(sizes) and stream.eof
    if not whole and (len(content) < sum(sizes) or not header[5] & _EXTENDED):
        raise _other_size(path, header, len(content), sum(sizes))
    parts = [content[a:b] for a, b in pairwise(np.cumsum([0, *sizes]))]
    return _splats(header, parts)


def _of_streams(path: Path, raw: bytes) -> Splats:
    header = _header(path, raw, (_STREAMS,))
    sizes, count, start = _sizes(header), header[6], _HEADER.size
    (at,) = struct.unpack_from("<I", raw, start) if len(raw) >= start + 4 else (0,)
    if at < 2 * start or at + 16 * count > len(raw):
        raise DatasetError(
            path, f"says that its {count} streams are listed at byte {at}", f"of {len(raw)} bytes"
        )
    table = struct.unpack_from(f"<{2 * count}Q", raw, at)
    at += 16 * count
    if [*table[1::2], *[0] * (len(sizes) - count)] != sizes or at + sum(table[::2]) > len(raw):
        raise DatasetError(
            path,
            f"has streams of {shown(table[1::2])} bytes",
            f"{shown(sizes)} for {counted(header[2], 'splat')}",
        )
    check_claim(path, sum(sizes), len(raw))
    zstandard = _zstandard(path)
    parts: list[bytes] = []
    for packed, size in zip(table[::2], table[1::2], strict=True):
        with understood(path, "a whole .spz file"):
            reader = zstandard.ZstdDecompressor().stream_reader(raw[at : at + packed])
            parts.append(reader.read(size + 1) if packed else b"")
        if len(parts[-1]) != size:
            raise _other_size(path, header, len(parts[-1]), size)
        at += packed
    return _splats(header, [*parts, *[b""] * (len(sizes) - count)])


def _zstandard(path: Path) -> Any:
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        raise DatasetError(
            path,
            "is of version 4, which needs the package zstandard",
            hint="pip install 'difftile[splats]', or write the file as version 3.",
        ) from None


def _other_size(path: Path, header: tuple[Any, ...], found: int, wanted: int) -> DatasetError:
    said = f"holds {found} bytes of {counted(header[2], 'splat')}, or more"
    return DatasetError(path, said, f"{wanted} bytes")


def _header(path: Path, raw: bytes, versions: tuple[int, ...]) -> tuple[Any, ...]:
    if len(raw) < _HEADER.size or not raw.startswith(_MAGIC):
        raise DatasetError(path, f"holds {raw[:4]!r}", "the header of .spz, which begins with NGSP")
    header = _HEADER.unpack_from(raw)
    _, version, _, degree, bits, _, _ = header
    if version not in versions:
        raise DatasetError(path, f"is of version {version}", f"{' or '.join(map(str, versions))}")
    if degree not in _COEFFICIENTS:
        raise DatasetError(
            path,
            f"has harmonics of degree {degree}",
            "0 to 3",
            hint="write it again with harmonics to degree 3.",
        )
    if bits > _BITS:
        raise DatasetError(path, f"has {bits} bits after the point", f"0 to {_BITS}")
    return header


def _sizes(header: tuple[Any, ...]) -> list[int]:
    """Return the bytes of positions, opacities, colours, sizes, rotations and harmonics."""
    _, version, count, degree, *_ = header
    each = 6 if version == 1 else 9, 1, 3, 3, 3 if version < 3 else 4, 3 * _COEFFICIENTS[degree]
    return [count * one for one in each]


def _splats(header: tuple[Any, ...], parts: list[bytes]) -> Splats:
    _, version, count, degree, bits, flags, _ = header
    position, opacity, colour, size, rotation, rest = (np.frombuffer(p, "u1") for p in parts)
    if version == 1:
        means = position.view("<f2").reshape(count, 3).astype(np.float64)
    else:
        low, middle, high = position.reshape(count, 3, 3).astype(np.int32).transpose(2, 0, 1)
        fixed = low | middle << 8 | high << 16
        means = ((fixed ^ 0x800000) - 0x800000) * 2.0**-bits
    harmonics = (rest.reshape(count, _COEFFICIENTS[degree], 3).astype(np.float32) - 128) / 128
    return Splats(
        means=np.asarray(means * _TURN, np.float32),
        scales=np.asarray(size.reshape(count, 3) / _STEP + _SMALLEST, np.float32),
        quaternions=_rotations(rotation, version, count) * np.append(1.0, _TURN),
        opacities=logit_of_byte(opacity),
        sh0=np.asarray((colour.reshape(count, 3) - 127.5) / _COLOUR, np.float32),
        shN=np.asarray(harmonics * _SIGNS[: _COEFFICIENTS[degree], None], np.float32),
        antialiased=bool(flags & _ANTIALIASED),
    )


def _rotations(raw: Bytes, version: int, count: int) -> npt.NDArray[np.float32]:
    """Return quaternions wxyz."""
    if version < 3:
        three = raw.reshape(count, 3) / 127.5 - 1
        return whole_of(np.zeros(count, np.int64), three)
    words = raw.view("<u4")
    parts = np.stack([words >> np.uint32(place) & 1023 for place in (20, 10, 0)], axis=1)
    three = np.where(parts & 512, -1.0, 1.0) * (parts & 511) / _HALF
    return np.roll(whole_of(words >> 30, three), 1, axis=1)

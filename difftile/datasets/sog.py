"""Splats as `.sog` files of PlayCanvas: pictures of bytes with a `meta.json`, in a zip or a folder.

A pixel is a splat. Positions have 16 bits on a logarithmic scale, sizes, colours and harmonics are
indices into books of 256 numbers, rotations have their three smaller components, and harmonics are
rows of a palette of up to 65,536.

Source: developer.playcanvas.com (The SOG Format), version 2; axes are those of a `.ply`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from difftile.datasets.columns import single
from difftile.datasets.images import picture_in
from difftile.datasets.quantised import (
    Bytes,
    Doubles,
    Ints,
    byte_of,
    check_some,
    codes_of,
    logit_of_byte,
    opacities_of,
    order_in_space,
    smallest_three,
    units_of,
    whole_of,
)
from difftile.datasets.splats import DEGREES, Floats, Splats
from difftile.diagnostics import DatasetError
from difftile.files.inside import Folder
from difftile.files.json_values import Value, parse_json
from difftile.files.regular import check_claim, opened, read_bytes, shown, size_of, understood
from difftile.files.writing import whole

META = "meta.json"
_VERSION, _MOST = 2, 2**31
_WIDE = 65535
_FIRST = 252  # the fourth byte of a rotation whose first component is the largest
_ROW = 64  # entries of the palette in a row of its picture
_PALETTE = 65536
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_COEFFICIENTS = {degree: count for count, degree in DEGREES.items()}
_HALF = 255 / np.sqrt(2.0)
_FILE = "a .sog file, a zip of pictures with a meta.json"


def read_sog(path: Path) -> Splats:
    """Return the splats of a `.sog` file, or of the folder of a `meta.json`.

    Raises:
        DatasetError: The file is broken or of another version, a picture is missing or too small,
            or an index is beyond its book.
    """
    if path.suffix.lower() == ".json":
        inside = Folder(path.parent, hint=None)
        return _read(
            path,
            lambda name: read_bytes(
                inside.within(path.parent, name, path, "the name of a picture")
            ),
            read_bytes(path),
        ).kept()
    with ExitStack() as stack:
        file = stack.enter_context(opened(path, _FILE, zipped=True))
        with understood(path, _FILE):
            archive = stack.enter_context(zipfile.ZipFile(file))

        def take(name: str) -> bytes:
            try:
                one = archive.getinfo(name)
            except KeyError:
                raise DatasetError(path, f"has no {shown(name)}", _FILE) from None
            check_claim(path, one.file_size, size_of(file))
            if one.flag_bits & 1 or one.compress_type not in _METHODS:
                raise DatasetError(path, f"has {shown(name)} packed in another way", "deflate")
            with understood(path, f"the whole of {shown(name)}"):
                return archive.read(one)

        return _read(path, take, take(META)).kept()


def write_sog(path: Path, splats: Splats) -> int:
    """Write splats in the order of a curve through space; return the number of dropped rows.

    Up to 65,536 splats have harmonics of their own; more share the means of groups that are
    similar.

    Raises:
        DatasetError: No row is left, but a `.sog` needs at least one.
    """
    kept = splats.kept()
    dropped = kept.dropped - splats.dropped
    check_some(path, kept, dropped)
    order = order_in_space(kept.means)
    means = kept.means[order].astype(np.float64)
    logs = np.sign(means) * np.log1p(np.abs(means))
    least, most = logs.min(axis=0), logs.max(axis=0)
    span = np.where(most > least, most - least, 1.0)
    fixed = np.rint((logs - least) / span * _WIDE).astype(np.uint16)
    largest, three = smallest_three(units_of(kept)[order])
    size_book, sizes = codes_of(kept.scales[order])
    colour_book, colours = codes_of(kept.sh0[order])
    opacity = byte_of(opacities_of(kept)[order] * 255)
    turns = byte_of(three * _HALF + 127.5)
    pictures = {
        "means_l": (fixed & 255).astype(np.uint8),
        "means_u": (fixed >> 8).astype(np.uint8),
        "scales": sizes,
        "quats": np.column_stack([turns, (_FIRST + largest).astype(np.uint8)]),
        "sh0": np.column_stack([colours, opacity]),
    }
    meta: dict[str, Any] = {
        "version": _VERSION,
        "count": len(kept),
        "antialias": kept.antialiased,
        "means": {"mins": least.tolist(), "maxs": (least + span).tolist()},
        "scales": {"codebook": size_book.tolist()},
        "quats": {},
        "sh0": {"codebook": colour_book.tolist()},
    }
    if degree := kept.sh_degree:
        palette, labels = _palette_of(kept.shN[order])
        book, entries = codes_of(palette)
        meta["shN"] = {"count": len(palette), "bands": degree, "codebook": book.tolist()}
        rows = -(-len(palette) // _ROW)
        blank = np.zeros((rows * _ROW, *entries.shape[1:]), np.uint8)
        blank[: len(entries)] = entries
        pictures["shN_centroids"] = blank.reshape(rows, _ROW * entries.shape[1], 3)
        blue = np.zeros(len(labels), np.int64)
        pictures["shN_labels"] = np.column_stack([labels & 255, labels >> 8, blue]).astype("u1")
    for name in pictures:
        part = meta["means" if name.startswith("means") else name.partition("_")[0]]
        part.setdefault("files", []).append(f"{name}.webp")
    with whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, pixels in pictures.items():
            _add(archive, f"{name}.webp", _webp(pixels))
        _add(archive, META, json.dumps(meta).encode())
    return dropped


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), content)  # of 1980: the same splats, the same bytes


def _webp(pixels: Bytes) -> bytes:
    """Return rows of channels, or a picture, as WebP without loss."""
    if pixels.ndim == 2:
        width = 4 * -(-int(np.ceil(np.sqrt(len(pixels)))) // 4)
        height = -(-len(pixels) // width)
        square = np.zeros((height * width, pixels.shape[1]), np.uint8)
        square[: len(pixels)] = pixels
        pixels = square.reshape(height, width, -1)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "WEBP", lossless=True, exact=True)
    return out.getvalue()


def _palette_of(rest: Floats) -> tuple[Floats, Ints]:
    """Return entries of harmonics, and the entry of each row.

    Rows are halved along the coefficient that varies most, until there are as many groups as
    entries; entries are means.
    Source: Heckbert, Color Image Quantization for Frame Buffer Display, 1982 (median cut).
    """
    flat = rest.reshape(len(rest), -1).astype(np.float64)
    order, starts = np.arange(len(flat)), np.zeros(1, np.int64)
    while len(starts) < min(len(flat), _PALETTE):
        counts = np.diff([*starts, len(flat)])
        group = np.repeat(np.arange(len(starts)), counts)
        sums, squares = (np.add.reduceat(x, starts) for x in (flat[order], flat[order] ** 2))
        axis = np.argmax(squares - sums**2 / counts[:, None], axis=1)
        order = order[np.lexsort((flat[order, axis[group]], group))]
        room = min(len(flat), _PALETTE) - len(starts)
        split = np.flatnonzero(counts > 1)
        split = split[np.argsort(-counts[split], kind="stable")[:room]]
        starts = np.sort(np.append(starts, starts[split] + counts[split] // 2))
    counts = np.diff([*starts, len(flat)])
    labels = np.empty(len(flat), np.int64)
    labels[order] = np.repeat(np.arange(len(starts)), counts)
    entries = np.add.reduceat(flat[order], starts) / counts[:, None]
    return entries.reshape(-1, *rest.shape[1:]).astype(np.float32), labels


def _read(path: Path, take: Callable[[str], bytes], raw: bytes) -> Splats:
    with understood(path, "a meta.json in UTF-8"):
        text = raw.decode()
    meta = parse_json(path, text)
    if (version := meta.get("version")) is None or version.whole(0, _MOST) != _VERSION:
        raise DatasetError(
            path,
            f"is of version {1 if version is None else shown(version.held)}",
            f"version {_VERSION}",
            hint="SplatTransform of PlayCanvas converts others.",
        )
    count = meta.member("count", "the number of splats").whole(1, _MOST)

    def pixels(part: Value, k: int, channels: int = 3) -> Bytes:
        return _pixels(path, take, part, k)[:, :, :channels].reshape(-1, channels)

    def rows(part: Value, k: int, channels: int = 3) -> Bytes:
        found = pixels(part, k, channels)
        if len(found) < count:
            place = f"{part.place}.files[{k}]"
            raise DatasetError(path, f"{place} has {len(found)} pixels", f"{count} or more")
        return found[:count]

    parts = {name: meta.member(name, "an object") for name in ("means", "scales", "quats", "sh0")}
    means = parts["means"]
    share = (rows(means, 0) + 256.0 * rows(means, 1)) / _WIDE
    least, most = _numbers(means, "mins", 3), _numbers(means, "maxs", 3)
    turns, colours = rows(parts["quats"], 0, 4), rows(parts["sh0"], 0, 4)
    if (odd := np.flatnonzero(turns[:, 3] < _FIRST)).size:
        found = f"row {odd[0]} of 'quats' has the mode {turns[odd[0], 3]}"
        raise DatasetError(path, found, f"{_FIRST} to 255")
    with np.errstate(over="ignore", invalid="ignore"):  # of rows that are dropped
        logs = least * (1 - share) + most * share
        return Splats(
            means=np.asarray(np.sign(logs) * np.expm1(np.abs(logs)), np.float32),
            scales=_book(parts["scales"])[rows(parts["scales"], 0)],
            quaternions=whole_of(turns[:, 3] - _FIRST, (turns[:, :3] - 127.5) / _HALF),
            opacities=logit_of_byte(colours[:, 3]),
            sh0=_book(parts["sh0"])[colours[:, :3]],
            shN=_harmonics(path, take, meta.get("shN"), rows, count),
            antialiased=(flag := meta.get("antialias")) is not None and flag.flag(),
        )


def _harmonics(
    path: Path,
    take: Callable[[str], bytes],
    part: Value | None,
    rows: Callable[[Value, int], Bytes],
    count: int,
) -> Floats:
    if part is None:
        return np.zeros((count, 0, 3), np.float32)
    bands = part.member("bands", "a degree").whole(1, 3)
    entries = part.member("count", "a number of entries").whole(1, _PALETTE)
    picture = _pixels(path, take, part, 0)[:, :, :3]
    width = _ROW * _COEFFICIENTS[bands]
    if picture.shape[1] != width or picture.shape[0] * _ROW < entries:
        raise DatasetError(
            path,
            f"{part.place}.files[0] is {picture.shape[1]} x {picture.shape[0]}",
            f"{width} x {-(-entries // _ROW)} pixels or more",
        )
    labels = rows(part, 1).astype(np.int64)
    labels = labels[:, 0] | labels[:, 1] << 8
    if (beyond := np.flatnonzero(labels >= entries)).size:
        found = f"row {beyond[0]} has the harmonics {labels[beyond[0]]}"
        raise DatasetError(path, found, f"0 to {entries - 1}")
    palette = picture.reshape(-1, _COEFFICIENTS[bands], 3)
    return _book(part)[palette[labels]]


def _book(part: Value) -> Floats:
    return single(_numbers(part, "codebook", 256))


def _numbers(part: Value, name: str, count: int) -> Doubles:
    given = part.member(name, f"{count} numbers").items(f"{count} numbers")
    if len(given) != count:
        raise DatasetError(part.path, f"{part.place}.{name} has {len(given)} values", f"{count}")
    return np.array([one.number() for one in given])


def _pixels(path: Path, take: Callable[[str], bytes], part: Value, k: int) -> Bytes:
    """Return a picture of a part, shape (height, width, 4)."""
    files = part.member("files", "a list of pictures").items("a list of pictures")
    if len(files) <= k:
        raise DatasetError(path, f"{part.place}.files has {len(files)} names", f"{k + 1}")
    name = files[k].text("the name of a picture")
    content, place = take(name), path / shown(name)[1:-1]
    with picture_in(place, io.BytesIO(content), len(content)) as image:
        with understood(place, "a whole picture"):
            image.load()
        if image.mode not in ("RGB", "RGBA", "RGBX"):
            raise DatasetError(place, f"has pixels of the kind {image.mode}", "RGB or RGBA")
        return np.asarray(image.convert("RGBA"))

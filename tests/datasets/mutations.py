"""Mutations of files: of bytes, of numbers and words, of the parts of formats."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

Mutator = Callable[[bytes, random.Random], bytes]

INTEGERS = (0, 1, 2, 7, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**33, 2**40)
INTEGERS += (2**62, 2**63 - 1, 2**63, 2**64 - 1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e-300, 1e19, 3.5e38, 1e300, np.inf, -np.inf, np.nan)
WORDS = (
    *("nan", "inf", "-inf", "-1", "0", "1e400", "-1e39", "1e-320", "0x10", "1_0", "٣", "+", "-"),
    *("9" * 19, "9" * 40, "9" * 5000, "256", "1.5", "2147483648", "", "\0", "\n", "\u2028"),
    *("../outside.png", "/etc/passwd", "/dev/zero", "a" * 5000, "list", "uchar", "element x 9"),
    *("PINHOLE", "OPENCV", "FOV", "end_header", "#", "comment", "\ud800"),
    *("RADIAL", "FULL_OPENCV", "OPENCV_FISHEYE", "SIMPLE_RADIAL_FISHEYE", "THIN_PRISM_FISHEYE"),
)


# What is there in place of a file: a pointer of Git LFS, a zip file.
_OTHERS = (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", b"PK\3\4\0\0")


def anything(raw: bytes, draw: random.Random) -> bytes:
    """Change bytes, whatever they mean."""
    if not raw:
        return draw.randbytes(draw.choice((1, 100)))
    a, b = sorted(draw.choices(range(len(raw) + 1), k=2))
    b = min(b, a + draw.choice((1, 4, 8, 64, len(raw))))
    at = draw.randrange(len(raw))
    return draw.choice(
        (
            lambda: raw[:a],
            lambda: raw[a:],
            lambda: raw[:at] + bytes([raw[at] ^ (1 << draw.randrange(8))]) + raw[at + 1 :],
            lambda: raw[:a] + draw.randbytes(draw.choice((1, 2, 8, 100))) + raw[a:],
            lambda: raw[:a] + raw[b:],
            lambda: raw[:b] + raw[a:],
            lambda: raw[:a] + bytes(b - a) + raw[b:],
            lambda: raw[:a] + b"\xff" * (b - a) + raw[b:],
            lambda: raw + raw,
            lambda: b"",
            lambda: raw + b"\0",
            lambda: draw.choice(_OTHERS),
        )
    )()


def numbers(raw: bytes, draw: random.Random) -> bytes:
    """Overwrite a place with an extreme number, of any width and byte order."""
    order, code = draw.choice("<>"), draw.choice("BHIQfd")
    value: Any = draw.choice(FLOATS if code in "fd" else INTEGERS)
    if code in "BHIQ":
        value &= 256 ** struct.calcsize(code) - 1
    elif code == "f":
        value = np.float32(min(max(value, -3.4e38), 3.4e38) if np.isfinite(value) else value)
    packed = struct.pack(order + code, value)
    # Counts stand at the beginning.
    at = draw.randrange(max(1, len(raw) - len(packed))) if draw.random() < 0.7 else 0
    at -= at % draw.choice((1, 4, 8))
    return raw[:at] + packed + raw[at + len(packed) :]


def words(raw: bytes, draw: random.Random) -> bytes:
    """Change a word or a line of a text; the data after the header of a binary file stays."""
    head, end, body = raw.partition(b"end_header\n")
    text = head if end and draw.random() < 0.7 else raw
    lines = text.decode("latin-1").split("\n")
    k = draw.randrange(len(lines))
    kind = draw.randrange(6)
    if kind <= 2:
        parts = lines[k].split(" ")
        j = draw.randrange(len(parts))
        word = draw.choice(WORDS).encode("utf-8", "surrogatepass").decode("latin-1")
        parts[j : j + draw.randrange(2)] = [word]
        lines[k] = " ".join(parts)
    elif kind == 3:
        del lines[k]
    elif kind == 4:
        lines.insert(k, lines[draw.randrange(len(lines))])
    else:
        j = draw.randrange(len(lines))
        lines[j], lines[k] = lines[k], lines[j]
    changed = "\n".join(lines).encode("latin-1")
    return changed if text is raw else changed + end + body


# JSON

_HOLE = "a hole for what JSON cannot be made of"
_RAW = (
    *("[" * 100_000, '{"a":' * 5_000, "[" * 40 + "]" * 40, "9" * 5000, "1e999", "-1e999", "NaN"),
    *("Infinity", "1" + "0" * 400, '"\\ud800"', '"\\u0000"', "tru", "{", "]", '"', "'a'", "1,", ""),
    *('{"a": 1, "a": 2}', "[1, 2", "\x01", "-", "01", "1e400", "3.4e39", "1e-320"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "a", 0, -1, 1, 0.5, 1e18, 1e19, 1e300, -1e300, 1e-300, 2**63, [], {}),
    *([[]], [None] * 4, [[1] * 4] * 4, [[0] * 4] * 4, [["1"] * 4] * 4, {"a": 1}, "a" * 5000),
    *("../outside.png", "/etc/passwd", "/dev/zero", ".", "..", "images", "a/../../b", "~"),
    *("images/view_001.png", "points.ply", "link.png", "OPENCV", "FISHEYE", 3.2, 40, [0, 0, 0, 1]),
    *("OPENCV_FISHEYE", "FULL_OPENCV", "PINHOLE", "k1", -0.3, 1e6, 1.0001, 0.998, 0.001),
    *("EQUIRECTANGULAR", "ORTHOPHOTO"),
    *("IMAGES\\View_001.PNG", "images\\..\\..\\a.png", "images/view_001", "m", "m\\A.png", "masks"),
)


def json_values(raw: bytes, draw: random.Random) -> bytes:
    """Change a value, a name or a part of JSON."""
    try:
        content = json.loads(raw)
    except ValueError:
        return anything(raw, draw)
    places: list[tuple[Any, Any]] = []
    todo: list[Any] = [content]
    while todo:
        one = todo.pop()
        keys = range(len(one)) if isinstance(one, list) else [*one]
        places += [(one, key) for key in keys]
        todo += [one[key] for key in keys if isinstance(one[key], (list, dict))]
    if not places:
        return anything(raw, draw)
    holder, key = draw.choice(places)
    kind = draw.randrange(7)
    if kind <= 2:
        holder[key] = draw.choice(_VALUES)
    elif kind == 3:
        holder[key] = _HOLE
    elif kind == 4:
        del holder[key]
    elif kind == 5 and isinstance(holder, list):
        holder.insert(key, holder[draw.randrange(len(holder))])
    else:
        other, name = draw.choice(places)
        try:
            holder[key] = json.loads(json.dumps(other[name]))
        except (IndexError, KeyError):
            holder[key] = None
    return json.dumps(content).replace(json.dumps(_HOLE), draw.choice(_RAW)).encode()


# Pictures

_BOMBS = tuple(zlib.compress(bytes(size)) for size in (10**5, 2 * 10**7))


def png_chunks(raw: bytes, draw: random.Random) -> bytes:
    """Change chunks of a PNG, with checksums that fit."""
    if not raw.startswith(b"\x89PNG"):
        return anything(raw, draw)
    chunks: list[tuple[bytes, bytes]] = []
    at = 8
    while at + 8 <= len(raw):
        size, name = struct.unpack(">I4s", raw[at : at + 8])
        chunks.append((name, raw[at + 8 : at + 8 + size]))
        at += 12 + size
    k = draw.randrange(len(chunks))
    name, body = chunks[k]
    kind = draw.randrange(7)
    if kind == 0:
        header = bytearray(chunks[0][1])
        at = draw.choice((0, 4, 8, 9, 10, 11, 12))
        size = draw.choice((0, 1, 3000, 20_000, 2**31 - 1, 2**32 - 1))
        header[at : at + (4 if at < 8 else 1)] = (
            struct.pack(">I", size) if at < 8 else bytes([draw.randrange(256)])
        )
        chunks[0] = b"IHDR", bytes(header)
    elif kind == 1:
        chunks.insert(draw.randrange(len(chunks)), (name, body))
    elif kind == 2:
        del chunks[k]
    elif kind == 3:
        chunks[k] = name, anything(body, draw)
    elif kind == 4:
        chunks[k] = b"IDAT", draw.choice(_BOMBS)
    elif kind == 5:
        kinds = b"zTXt", b"iCCP", b"iTXt"
        chunks.insert(1, (draw.choice(kinds), b"a\0\0" + draw.choice(_BOMBS)))
    else:
        extra = draw.choice((b"tRNS", b"PLTE", b"gAMA", b"acTL", b"fcTL", b"eXIf", b"pHYs"))
        chunks.insert(1, (extra, draw.randbytes(draw.choice((0, 1, 2, 6, 26, 768)))))
    found = raw[:8]
    for name, body in chunks:
        sum_ = zlib.crc32(name + body)
        found += struct.pack(">I", len(body)) + name + body + struct.pack(">I", sum_)
    return found


# Archives

_HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f4', 'fortran_order': True, 'shape': (-1, 3), }",
    "{'descr': '<U4', 'fortran_order': False, 'shape': (), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (99999999999,), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999999999), }",
    "{'descr': '<f8', 'fortran_order': 3, 'shape': 7, }",
    "(" * 5000,
    "{" * 300,
    "-" * 20_000,
    "__import__('os')",
)


def archive_members(raw: bytes, draw: random.Random) -> bytes:
    """Change members of a zip: names, headers, contents and how they are packed."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.14 warns of members that overlap
            members = [(one.filename, archive.read(one)) for one in archive.infolist()]
    except Exception:  # it was changed before
        return anything(raw, draw)
    if not members:
        return anything(raw, draw)
    k = draw.randrange(len(members))
    name, body = members[k]
    method = draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    kind = draw.randrange(11)
    if kind == 0:
        del members[k]
    elif kind == 1:
        members.append((name, body))
    elif kind == 2:
        members[k] = draw.choice(("", "../x.npy", "a", "step.npy", "\ud7ff.npy", "a/b.npy")), body
    elif kind == 3:
        members[k] = name, draw.choice((anything, numbers))(body, draw)
    elif kind == 4:
        header = draw.choice(_HEADERS).encode()
        members[k] = name, b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + body[-8:]
    elif kind == 5:
        members[k], method = (name, body + bytes(10**7)), zipfile.ZIP_DEFLATED
    elif kind == 6:
        members[k] = name, pickle.dumps({"a": 1})
    elif kind == 7:
        members += [(f"{j}.npy", body) for j in range(draw.choice((1, 200)))]
    elif kind == 8:
        array = draw.choice(_ARRAYS)
        members[k] = name, _npy(array)
    else:
        members[k] = name, _changed_array(body, draw)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        seen: set[str] = set()
        for name, body in members:
            one = zipfile.ZipInfo(name if name not in seen else f"{name}", (2000, 1, 1, 0, 0, 0))
            seen.add(name)
            one.compress_type = method
            archive.NameToInfo.pop(name, None)  # which would warn of a name that is there twice
            archive.writestr(one, body)
    return out.getvalue()


_ARRAYS = (
    *(
        np.array(v)
        for v in (0, -1, 2**62, 1.5, np.nan, "Adam", "{}", "a" * 1000, True, 1j, [], b"")
    ),
    np.zeros((0, 3), np.float32),
    np.full((3, 3), np.nan),
    np.full((5, 3), 1e300),
    np.array({"a": 1}, object),
    np.array("2000-01-01", "M8[D]"),
)


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def _changed_array(body: bytes, draw: random.Random) -> bytes:
    """Change a number of an array, its type or its shape."""
    try:
        given = np.load(io.BytesIO(body))
        array = given.copy() if given.itemsize else np.empty(0)  # 1e11 elements of no bytes
    except Exception:
        return body
    if array.dtype.kind == "U":
        try:
            text = json_values(str(array).encode(), draw)
            return _npy(np.array(text.decode("utf-8", "replace").replace("\0", "")))
        except ValueError:
            return body
    kind = draw.randrange(5)
    if kind == 0:
        array = array.astype(draw.choice(("<f2", ">f8", "<i4", "?", "<U8")))
    elif kind == 1:
        array = array[None] if draw.random() < 0.5 else array.reshape(-1)[1:]
    elif array.size:
        flat = array.reshape(-1)
        value = draw.choice(FLOATS if array.dtype.kind == "f" else (0, 1, -1, 2**31))
        with np.errstate(over="ignore"):
            flat[draw.randrange(flat.size)] = np.array(value).astype(array.dtype)
    return _npy(array)


def streams(raw: bytes, draw: random.Random) -> bytes:
    """Change what is packed by gzip, with a checksum that fits."""
    try:
        return gzip.compress(draw.choice((anything, numbers))(gzip.decompress(raw), draw), 1)
    except Exception:  # it was changed before
        return anything(raw, draw)


def listed_members(raw: bytes, draw: random.Random) -> bytes:
    """Change the JSON of a zip, or another member."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {one.filename: archive.read(one) for one in archive.infolist()}
    except Exception:  # it was changed before
        return anything(raw, draw)
    name = draw.choice([*members, *["meta.json"] * 4])
    mutator = json_values if name == "meta.json" else anything
    members[name] = mutator(members.get(name, b""), draw)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return out.getvalue()


# By the ending of a name. Bytes are changed in every format.
MUTATORS: dict[str, tuple[Mutator, ...]] = {
    ".bin": (anything, numbers, numbers),
    ".txt": (anything, words, words),
    ".json": (anything, json_values, json_values, json_values),
    ".png": (anything, numbers, png_chunks, png_chunks),
    ".jpg": (anything, numbers),
    ".webp": (anything, numbers),
    ".tif": (anything, numbers),
    ".bmp": (anything, numbers),
    ".ply": (anything, numbers, words, words),
    ".splat": (anything, numbers, numbers),
    ".ksplat": (anything, numbers, numbers),
    ".spz": (anything, numbers, streams, streams, streams),
    ".sog": (anything, numbers, archive_members, listed_members, listed_members),
    ".npz": (anything, numbers, archive_members, archive_members, archive_members),
}

"""The PLY format: named elements, each a table of named numbers.

Source: Greg Turk, The PLY Polygon File Format, 1994. Reads text, little and big endian, and writes
little endian. Elements with lists, such as the corners of faces, are checked and left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import DatasetError, counted
from difftile.files.regular import read_bytes, shown
from difftile.files.writing import write_bytes

Table: TypeAlias = npt.NDArray[np.void]  # a row per item, a named member per property

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_NAMES = {kind: name for name, kind in reversed(_TYPES.items())}
_FORMATS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
_END = b"end_header"
_HEADER = 2**20  # bytes of a header
_DIGITS = 40  # of a count


@dataclass(frozen=True, slots=True)
class _Property:
    """A number of each row, or with `counts`, the type of the length, a list of numbers."""

    name: str
    type: np.dtype[Any]
    counts: np.dtype[Any] | None = None


@dataclass(slots=True)
class _PlyElement:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list[_Property])

    @property
    def lists(self) -> bool:
        return any(one.counts is not None for one in self.properties)

    @property
    def row(self) -> np.dtype[Any]:
        return np.dtype([(one.name, one.type) for one in self.properties])


@dataclass(slots=True)
class _Payload:
    """The bytes after the header, and the position of the reader."""

    path: Path
    raw: bytes
    at: int

    @property
    def left(self) -> int:
        return len(self.raw) - self.at

    def cut(self, element: _PlyElement, row: int, expected: str = "") -> NoReturn:
        raise DatasetError(
            self.path,
            f"ends in row {row} of element '{element.name}'",
            expected or f"{element.count} rows",
        )

    def wrong(self, element: _PlyElement, row: int, found: str, expected: str) -> NoReturn:
        place = f"row {row} of element '{element.name}'"
        raise DatasetError(self.path, f"{place} is {found}", expected)


def read_ply(path: Path) -> dict[str, Table]:
    """Return the elements of a file by name, except elements with lists.

    Raises:
        DatasetError: The file is not PLY, or its size does not match its header.
    """
    raw = read_bytes(path)
    if not raw.startswith((b"ply\n", b"ply\r\n")):
        raise DatasetError(path, f"begins with {raw[:4]!r}", "a PLY file, which begins with 'ply'")
    text, elements, start = _header(path, raw)
    body = _Payload(path, raw, start)
    rows_of, pass_over = (_text, _pass_lines) if text else (_binary, _pass_rows)
    tables: dict[str, Table] = {}
    for element in elements:
        if element.lists:
            pass_over(body, element)
        else:
            tables[element.name] = rows_of(body, element)
    if raw[body.at :].strip() if text else body.left:
        counts = {e.name: e.count for e in elements}
        raise DatasetError(
            path,
            f"goes on for {body.left} bytes after the last element",
            f"its end: the counts of the header are {shown(counts)}",
        )
    return tables


def write_ply(path: Path, tables: Mapping[str, Table]) -> None:
    """Write elements as little endian PLY, in their order and in the order of their members."""
    lines = ["ply", "format binary_little_endian 1.0"]
    parts: list[bytes] = []
    for name, table in tables.items():
        lines.append(f"element {name} {len(table)}")
        kinds: list[tuple[str, str]] = []
        for member in table.dtype.names or ():
            code = table.dtype[member].str[1:]
            lines.append(f"property {_NAMES[code]} {member}")
            kinds.append((member, f"<{code}"))
        parts.append(table.astype(np.dtype(kinds)).tobytes())
    header = "\n".join([*lines, "end_header", ""])
    write_bytes(path, header.encode() + b"".join(parts))


def _header(path: Path, raw: bytes) -> tuple[bool, list[_PlyElement], int]:
    """Return whether the body is text, the elements, and the end of the header."""
    found = raw.find(b"\n" + _END, 0, _HEADER)
    end = raw.find(b"\n", found + 1)
    if found < 0 or raw[found + 1 : end].rstrip() != _END:
        raise DatasetError(path, "has a header without an end", "a line 'end_header'")
    order = ""
    elements: list[_PlyElement] = []
    for number, line in enumerate(raw[:found].decode("latin-1").split("\n")[1:], 2):
        match line.split():
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", name, "1.0"] if name in _FORMATS and not order and not elements:
                order = _FORMATS[name]
            case ["element", name, count] if (
                _is_name(name)
                and order
                and count.isascii()
                and count.isdecimal()
                and len(count) <= _DIGITS
            ):
                elements.append(_PlyElement(name, int(count)))
            case ["property", "list", counts, kind, name] if (
                elements and _is_name(name) and kind in _TYPES and _TYPES.get(counts, "f")[0] != "f"
            ):
                types = [np.dtype(order + _TYPES[one]) for one in (kind, counts)]
                elements[-1].properties.append(_Property(name, *types))
            case ["property", kind, name] if elements and kind in _TYPES and _is_name(name):
                elements[-1].properties.append(_Property(name, np.dtype(order + _TYPES[kind])))
            case ["element" | "property", *_] if not order:
                break
            case _:
                raise DatasetError(
                    path,
                    f"has the line {shown(line.rstrip())} in its header, line {number}",
                    "a line of the PLY format",
                )
    if not order:
        raise DatasetError(
            path, "does not say its format", "a line 'format binary_little_endian 1.0'"
        )
    _check_names(path, elements)
    return order == "=", elements, end + 1


def _is_name(word: str) -> bool:
    return word.isascii() and word.isprintable() and len(word) <= 80


def _check_names(path: Path, elements: list[_PlyElement]) -> None:
    names = [element.name for element in elements]
    if len({*names}) != len(names):
        raise DatasetError(path, f"has an element twice: {shown(names)}", "each name once")
    for element in elements:
        names = [one.name for one in element.properties]
        place = f"element '{element.name}'"
        if len({*names}) != len(names):
            raise DatasetError(path, f"{place} has a property twice: {shown(names)}", "each once")
        if not names and element.count:
            raise DatasetError(path, f"{place} has no properties", "a line 'property float x'")


def _binary(body: _Payload, element: _PlyElement) -> Table:
    kind = element.row
    size = kind.itemsize * element.count
    if body.left < size:
        row = body.left // kind.itemsize
        body.cut(element, row, f"{element.count} rows of {kind.itemsize} bytes each")
    body.at += size
    return np.frombuffer(body.raw[body.at - size : body.at], kind) if size else np.empty(0, kind)


def _text(body: _Payload, element: _PlyElement) -> Table:
    rows = _lines(body, element)
    width = len(element.properties)
    words = [row.split() for row in rows]
    try:
        if any(len(row) != width for row in words) or any(b"_" in row for row in rows):
            raise ValueError
        found = np.array([float(word) for row in words for word in row]).reshape(len(rows), width)
    except ValueError:
        k = next(k for k, row in enumerate(words) if not _are_numbers(row, width))
        body.wrong(element, k, shown(rows[k].decode("utf-8", "replace")), counted(width, "number"))
    table = np.empty(len(rows), element.row)
    for one, column in zip(element.properties, found.T, strict=True):
        bad = np.empty(0, np.intp)
        if one.type.kind != "f":  # integers have bounds and no fractions
            limits = np.iinfo(one.type)
            inside = (column >= limits.min) & (column <= limits.max)
            bad = np.flatnonzero(~(inside & (column == np.rint(column))))
        if len(bad):
            value = f"{column[bad[0]]:g} for '{one.name}'"
            body.wrong(element, int(bad[0]), value, f"a number of the type {one.type}")
        with np.errstate(over="ignore"):  # infinite then, which callers check
            table[one.name] = column
    return table


def _are_numbers(words: list[bytes], count: int) -> bool:
    if len(words) != count or any(b"_" in word for word in words):  # Python reads 1_000
        return False
    try:
        [float(word) for word in words]
    except ValueError:
        return False
    return True


def _lines(body: _Payload, element: _PlyElement) -> list[bytes]:
    """Return the next lines of a text, one per row, and advance."""
    lines = body.raw[body.at :].split(b"\n", min(element.count, body.left))  # a row has a byte
    rest = lines[element.count :]
    rows = lines[: element.count]
    if not rest and rows and not rows[-1].strip():
        rows.pop()  # the empty text after the last newline
    if len(rows) < element.count:
        body.cut(element, len(rows))
    body.at = len(body.raw) - sum(map(len, rest))
    return rows


# Elements with lists


def _pass_lines(body: _Payload, element: _PlyElement) -> None:
    for k, row in enumerate(_lines(body, element)):
        words, at = row.split(), 0
        try:
            for one in element.properties:
                if one.counts is not None:
                    at += int(words[at])
                at += 1
            if not _are_numbers(words, at):
                raise ValueError
        except (ValueError, IndexError):
            body.wrong(element, k, shown(row.decode("utf-8", "replace")), "its numbers and lists")


def _pass_rows(body: _Payload, element: _PlyElement) -> None:
    alike = _row_like_first(body, element)
    if alike is not None and alike.itemsize * element.count <= body.left:
        size = alike.itemsize * element.count
        rows = np.frombuffer(body.raw[body.at : body.at + size], alike)
        counts = [name for name in alike.names or () if name.endswith("counts")]
        if all((rows[name] == rows[name][0]).all() for name in counts):
            body.at += size
            return
    for k in range(element.count):
        for one in element.properties:
            body.at += _size(body, element, k, one)
            if body.left < 0:
                body.cut(element, k)


def _size(body: _Payload, element: _PlyElement, row: int, one: _Property) -> int:
    """Return the number of bytes of a property in the current row."""
    if one.counts is None:
        return one.type.itemsize
    if body.left < one.counts.itemsize:
        body.cut(element, row)
    number = int(np.frombuffer(body.raw, one.counts, 1, body.at)[0])
    if number < 0:
        body.wrong(element, row, f"a list of {number}", "0 or more")
    return one.counts.itemsize + number * one.type.itemsize


def _row_like_first(body: _Payload, element: _PlyElement) -> np.dtype[Any] | None:
    """Return the type of rows whose lists have the lengths of the first row, as in most meshes."""
    if not element.count:
        return None
    members: list[Any] = []
    start = body.at
    for k, one in enumerate(element.properties):
        size = _size(body, element, 0, one)
        body.at += size
        if body.left < 0:
            body.cut(element, 0)
        if one.counts is not None:
            members.append((f"{k} counts", one.counts))
            size -= one.counts.itemsize
        members.append((f"{k}", f"V{size}") if size else (f"{k}", one.type, (0,)))
    body.at = start
    return np.dtype(members)

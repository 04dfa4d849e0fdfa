"""The PLY format: named elements, each a table of named numbers.

Source: Greg Turk, The PLY Polygon File Format, 1994. Text, little and big endian are read, little
endian is written. Lists, such as the corners of faces, are not read, nor is what follows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.datasets.cursor import file_bytes
from difftile.diagnostics import DatasetError, counted

Table: TypeAlias = npt.NDArray[np.void]  # one row an item, one named member a property

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_NAMES = {kind: name for name, kind in reversed(_TYPES.items())}
_FORMATS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
_END = b"end_header"


@dataclass(slots=True)
class _Element:
    name: str
    count: int
    properties: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    lists: bool = False


def read_ply(path: Path) -> dict[str, Table]:
    """Return the elements of a file by name, up to the first that has lists.

    Raises:
        DatasetError: The file is no PLY, or is shorter or longer than its header says.
    """
    raw = file_bytes(path)
    if not raw.startswith((b"ply\n", b"ply\r\n")):
        raise DatasetError(path, f"begins with {raw[:4]!r}", "a PLY file, which begins with 'ply'")
    order, elements, body = _header(path, raw)
    tables: dict[str, Table] = {}
    for element in elements:
        if element.lists:
            return tables
        names = [name for name, _ in element.properties]
        if len({*names}) != len(names):
            raise DatasetError(path, f"element '{element.name}' has a property twice: {names}")
        kind = np.dtype([(name, order + code) for name, code in element.properties])
        read = _text if order == "=" else _binary
        table, body = read(path, element, kind, body)
        tables[element.name] = table
    if body.strip() if order == "=" else body:
        raise DatasetError(
            path,
            f"goes on for {len(body)} bytes after the last element",
            f"its end: the counts of the header are { ({e.name: e.count for e in elements}) }",
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
    path.write_bytes(header.encode() + b"".join(parts))


def _header(path: Path, raw: bytes) -> tuple[str, list[_Element], bytes]:
    """Return the byte order ("=" for text), the elements, and what follows the header."""
    found = raw.find(b"\n" + _END)
    end = raw.find(b"\n", found + 1)
    if found < 0 or end < 0:
        raise DatasetError(path, "has a header without an end", "a line 'end_header'")
    order = ""
    elements: list[_Element] = []
    for line in raw[:found].decode("utf-8", "replace").splitlines()[1:]:
        match line.split():
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", name, "1.0"] if name in _FORMATS:
                order = _FORMATS[name]
            case ["element", name, count] if count.isdecimal():
                elements.append(_Element(name, int(count)))
            case ["property", "list", _, _, _] if elements:
                elements[-1].lists = True
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append((name, _TYPES[kind]))
            case _:
                raise DatasetError(
                    path, f"has the line {line!r} in its header", "a line of the PLY format"
                )
    if not order:
        raise DatasetError(
            path, "does not say its format", "a line 'format binary_little_endian 1.0'"
        )
    return order, elements, raw[end + 1 :]


def _binary(path: Path, element: _Element, kind: np.dtype[Any], body: bytes) -> tuple[Table, bytes]:
    size = kind.itemsize * element.count
    if len(body) < size:
        whole = len(body) // kind.itemsize
        raise DatasetError(
            path,
            f"ends in row {whole} of element '{element.name}'",
            f"{element.count} rows of {kind.itemsize} bytes each",
        )
    table = np.frombuffer(body[:size], kind) if size else np.empty(element.count, kind)
    return table, body[size:]


def _text(path: Path, element: _Element, kind: np.dtype[Any], body: bytes) -> tuple[Table, bytes]:
    lines = body.split(b"\n", min(element.count, len(body)))  # a row has one byte at least
    if element.count and not lines[-1].strip():
        lines.pop()  # the last line had its newline, and nothing follows
    rows = lines[: element.count]
    if len(rows) < element.count:
        raise DatasetError(
            path, f"ends in row {len(rows)} of element '{element.name}'", f"{element.count} rows"
        )
    table = np.empty(element.count, kind)
    for k, row in enumerate(rows):
        try:
            table[k] = tuple(float(word) for word in row.split())
        except (ValueError, OverflowError):
            raise DatasetError(
                path,
                f"row {k} of element '{element.name}' is {row.decode('utf-8', 'replace')!r}",
                counted(len(element.properties), "number"),
            ) from None
    return table, b"\n".join(lines[element.count :])

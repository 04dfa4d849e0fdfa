"""Which models of a folder load: the process that `difftile worlds check` asks, file by file.

It reads paths from its input, a line each, and writes a row of JSON for each to its output. MuJoCo
may crash on a file, or never return; the caller ends the process and starts another.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import difftile as dt
from difftile.worlds.model import Model
from difftile.worlds.mujoco_models import arrays_of, compiled, mujoco_module, source_of
from difftile.worlds.refusals import InspectedModel, MissingFeature, reasons_of

_ROOT = re.compile(r"<\s*([A-Za-z][\w:.-]*)")
_NOTES = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_ABSENT = re.compile(r"[Ee]rror opening file '([^']*)'")
_CORNERS = (0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1)  # of a tetrahedron [m]


def row_of(path: Path, outside: bool = False) -> dict[str, Any]:
    """Return what becomes of a file.

    Args:
        path: The file.
        outside: Whether it may name files out of its folder.

    Returns:
        "state": "loads", "skips" if it does with options of `load`, "refused", "no joints",
        "fragment", "other" for files that are no models, "unread" or "mujoco" if these stop it;
        "why" of the last two; "reasons": how many elements use each refused feature; "notes"; and
        sizes.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    root = _ROOT.search(_NOTES.sub("", text))
    tag = root[1].lower() if root else ""
    if tag not in ("mujoco", "robot"):
        return {"state": "fragment" if tag == "mujocoinclude" else "other"}
    try:
        model, notes = _compiled(path, outside)
    except dt.DatasetError as error:
        return {"state": "unread", "why": str(error)}
    except ValueError as error:
        return {"state": "mujoco", "why": str(error)}
    if not model.nv:
        return {"state": "no joints", "notes": notes}
    return {"notes": notes, "nv": int(model.nv), "ngeom": int(model.ngeom), **_found(model)}


def _found(model: Any) -> dict[str, Any]:
    """Return the state of a model that MuJoCo compiles, and the features that are refused."""
    source: InspectedModel = source_of(model)
    reasons: list[MissingFeature] = reasons_of(source)
    counts = {one.feature: len(one.places) for one in reasons}
    if not reasons:
        one = Model(arrays_of(model))
        return {"state": "loads", "slots": one.sizes.nslot, "reasons": counts}
    options = sorted({one.option for one in reasons})
    return {"state": "skips" if all(options) else "refused", "reasons": counts, "skips": options}


def _compiled(path: Path, outside: bool) -> tuple[Any, list[str]]:
    """Return an `mjModel`, with tetrahedra for meshes that are absent, and notes on these."""
    absent: set[str] = set()
    while True:
        try:
            model = _substituted(path, absent).compile() if absent else compiled(path, outside)
            return model, [f"{name} is absent" for name in sorted(absent)]
        except ValueError as error:
            found = _ABSENT.search(str(error))
            name = Path(found[1]).name if found else ""
            if isinstance(error, dt.DifftileError) or not name or name in absent:
                raise
            present = {other.name for other in path.parent.rglob("*")}
            absent |= {name} | (_names_of(_parsed(path)) - present if not absent else set())


def _parsed(path: Path) -> Any:
    return mujoco_module().MjSpec.from_file(str(path))


def _names_of(spec: Any) -> set[str]:
    """Return the names of the files of meshes and textures."""
    files = (one.file for kind in (spec.meshes, spec.textures) for one in kind if one.file)
    return {Path(file).name for file in files}


def _substituted(path: Path, absent: set[str]) -> Any:
    """Return the `MjSpec` of a file, with something in the place of absent meshes and textures.

    The file is parsed again: an `MjSpec` that was compiled once keeps parts of its meshes.
    """
    spec = _parsed(path)
    for mesh in spec.meshes:
        if Path(mesh.file).name in absent:
            mesh.file, mesh.uservert = "", list(_CORNERS)
    for texture in spec.textures:
        if Path(texture.file).name in absent:
            texture.file, texture.width, texture.height = "", 1, 1
            texture.builtin = mujoco_module().mjtBuiltin.mjBUILTIN_FLAT
    return spec


def main() -> None:
    """Answer until the input ends; MuJoCo's own messages go to stderr."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        outside = "--allow-outside" in sys.argv
        mujoco_module()
        for line in sys.stdin:
            started = time.perf_counter()
            row = row_of(Path(line.rstrip("\n")), outside)
            row["seconds"] = round(time.perf_counter() - started, 3)
            answers.write(json.dumps(row) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()

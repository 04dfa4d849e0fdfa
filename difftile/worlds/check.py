"""Which models of a folder load: the process that `difftile worlds check` asks, file by file.

It reads paths from its input, a line each, and writes a row of JSON for each to its output. MuJoCo
may crash on a file, or never return; whoever asks ends the process and starts another.
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
        "state": "loads", "skips" if it does without collisions or sensors, "refused", "no joints",
        "fragment", "other" for files that are no models, "outside" or "mujoco" if these stop it;
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
        return {"state": "outside", "why": str(error)}
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
    mujoco, notes, spec = mujoco_module(), [], None
    while True:
        try:
            return (compiled(path, outside) if spec is None else spec.compile()), notes
        except ValueError as error:
            absent = _ABSENT.search(str(error))
            if isinstance(error, dt.DifftileError) or absent is None or len(notes) > 999:
                raise
            spec = spec or mujoco.MjSpec.from_file(str(path))
            if not _replaced(spec, Path(absent[1]).name):
                raise
            notes.append(f"{Path(absent[1]).name} is absent")


def _replaced(spec: Any, name: str) -> bool:
    """Put something in the place of the meshes and textures of a file; return if there are any."""
    found = False
    for mesh in spec.meshes:
        if os.path.basename(mesh.file) == name:
            mesh.file, mesh.uservert, found = "", list(_CORNERS), True
    for texture in spec.textures:
        if os.path.basename(texture.file) == name:
            texture.file, texture.width, texture.height, found = "", 1, 1, True
            texture.builtin = mujoco_module().mjtBuiltin.mjBUILTIN_FLAT
    return found


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

"""`difftile worlds check`: which models below a folder load."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from difftile.cli import main
from difftile.commands.worlds import Worker

pytest.importorskip("mujoco", reason="needs MuJoCo")

_MOVES = '<body><joint type="hinge"/><geom {}/></body>'
_SPHERE = _MOVES.format('size="0.1"')
_MESH = _MOVES.format('type="mesh" mesh="arm" contype="0" conaffinity="0"')
_PART = '<asset><mesh name="arm" file="arm.stl"/><texture type="2d" name="t" file="t.png"/></asset>'
FILES = {
    "a/hand.xml": f"<mujoco><worldbody>{_SPHERE}</worldbody></mujoco>",
    "a/mesh.xml": f"<!-- robot --><mujoco>{_PART}<worldbody>{_MESH}</worldbody></mujoco>",
    "arm.urdf": '<robot name="r"><link name="a"/></robot>',
    "broken.xml": "<mujoco><wrong/></mujoco>",
    "clock.xml": f"<mujoco><worldbody>{_SPHERE}</worldbody><sensor>"
    '<user name="own" dim="2"/></sensor></mujoco>',
    "noise.xml": "<html></html>",
    "outside.xml": '<mujoco><include file="../outside.xml"/></mujoco>',
    "part.xml": "<mujocoinclude/>",
    "sleeps.xml": '<mujoco><option><flag sleep="enable"/></option>'
    f"<worldbody>{_SPHERE}</worldbody></mujoco>",
    "half.xml": '<mujoco><contact><pair geom1="none" geom2="none"/></contact></mujoco>',
    "whole.xml": '<mujoco><include file="half.xml"/></mujoco>',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of each kind, and one beside it."""
    inside = tmp_path / "models"
    for name, text in FILES.items():
        path = inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "outside.xml").write_text("<mujoco/>")
    return inside


def test_files_are_listed_by_what_becomes_of_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["worlds", "check", str(folder), "--json"]) == 1
    out, err = capsys.readouterr()
    assert err.startswith(f"Checking the models below {folder} ...\n")
    found = json.loads(out)
    rows = {row["file"].replace("\\", "/"): row for row in found["files"]}
    assert {name: row["state"] for name, row in rows.items()} == {
        "a/hand.xml": "loads",
        "a/mesh.xml": "loads",
        "arm.urdf": "no joints",
        "broken.xml": "mujoco",
        "clock.xml": "skips",
        "half.xml": "fragment",
        "outside.xml": "unread",
        "part.xml": "fragment",
        "sleeps.xml": "skips",
        "whole.xml": "mujoco",
    }
    assert rows["a/mesh.xml"]["notes"] == ["arm.stl is absent", "t.png is absent"]
    assert rows["clock.xml"]["reasons"] == {"the sensor type user": 1}
    assert found["features"] == {"the sensor type user": 1, "sleeping": 1}
    assert found["states"]["fragment"] == 2


def test_a_line_for_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("sleeps.xml", "outside.xml", "broken.xml", "clock.xml"):
        (folder / name).unlink()
    (folder / "whole.xml").write_text('<other><include file="half.xml"/></other>')
    assert main(["worlds", "check", str(folder), "--jobs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("  loads      a") and "hand.xml  nv 1, 0 slots, " in lines[1]
    assert lines[2].endswith("[arm.stl is absent and 1 more]")
    assert lines[-3:] == ["      2  loads", "      1  no joints", "      2  fragment"]


def test_a_missing_folder_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["worlds", "check", "none"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "difftile worlds: error: there is no folder 'none'\n"


_FRAGILE = """
import os, sys, time
for line in sys.stdin:
    if "crash" in line: os._exit(3)
    if "hang" in line: time.sleep(60)
    print('{"state": "loads"}', flush=True)
"""


def test_crashes_and_hangs_end_one_file() -> None:
    worker = Worker([sys.executable, "-c", _FRAGILE], 0.5)
    try:
        rows = [worker.ask(Path(name)) for name in ("a", "crash", "b", "hang", "c")]
    finally:
        worker.end()
    loads = {"state": "loads"}
    crashed = {"state": "crashed", "why": "exit code 3"}
    late = {"state": "timed out", "why": "after 0.5 s"}
    assert rows == [loads, crashed, loads, late, loads]

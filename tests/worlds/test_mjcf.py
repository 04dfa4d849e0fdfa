"""What texts of MJCF may have MuJoCo read, and how large the models may be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import worlds

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

BEYOND = 9.0  # the size of meshes that lie outside
BALL = '<body><joint/><geom size="0.1"/></body>'
INSIDE = f"<mujoco><worldbody>{BALL}</worldbody></mujoco>"
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)[
    [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
]


def write_stl(path: Path, size: float) -> None:
    """Write a mesh."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.zeros(4, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = TETRAHEDRON * size
    path.write_bytes(bytes(80) + np.uint32(4).tobytes() + rows.tobytes())


def with_mesh(file: str, compiler: str = "") -> str:
    """Return a model with a mesh that collides with nothing."""
    return f"""<mujoco><compiler {compiler}/><asset><mesh name="foot" file="{file}"/></asset>
      <worldbody>{BALL}<geom type="mesh" mesh="foot" contype="0" conaffinity="0"/></worldbody>
      </mujoco>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """Return the folder of a model, with files in it and beside it."""
    root = tmp_path / "robot"
    for folder in (root, root / "meshes", root / "parts", tmp_path, tmp_path / "meshes"):
        write_stl(folder / "foot.stl", 1.0 if folder.is_relative_to(root) else BEYOND)
        balls = BALL if folder.is_relative_to(root) else 2 * BALL
        (folder / "part.xml").write_text(INSIDE.replace(BALL, balls))
    (root / "parts" / "ball.xml").write_text(f"<mujoco>{BALL}</mujoco>")
    (root / "parts" / "deep.xml").write_text(INSIDE.replace(BALL, '<include file="ball.xml"/>'))
    (root / "parts" / "out.xml").write_text('<mujoco><include file="../../part.xml"/></mujoco>')
    (root / "link.stl").symlink_to(tmp_path / "foot.stl")
    (root / "far").symlink_to(tmp_path / "meshes")
    return root


def including(file: str) -> str:
    return f'<mujoco><include file="{file}"/></mujoco>'


def attaching(file: str) -> str:
    return f"""<mujoco><asset><model name="part" file="{file}"/></asset><worldbody>{BALL}<frame>
      <attach model="part" prefix="a"/></frame></worldbody></mujoco>"""


WITHIN = {
    "a mesh": with_mesh("foot.stl"),
    "a mesh in a folder": with_mesh("meshes/foot.stl"),
    "meshdir": with_mesh("foot.stl", 'meshdir="meshes"'),
    "assetdir": with_mesh("foot.stl", 'assetdir="meshes"'),
    "up and down": with_mesh("../foot.stl", 'meshdir="meshes"'),
    "without its path": with_mesh("/nowhere/foot.stl", 'strippath="true"'),
    "an include": including("part.xml"),
    "an include in a folder": including("parts/part.xml"),
    "includes in a folder": including("parts/deep.xml"),
    "a model": attaching("parts/part.xml"),
}
OUTSIDE = {
    "a mesh": (with_mesh("../foot.stl"), "the file of mesh 'foot' is '../foot.stl'"),
    "a mesh by its whole name": (with_mesh("{}/foot.stl"), "the file of mesh 'foot' is"),
    "backslashes": (with_mesh("..\\foot.stl"), "is '../foot.stl'"),
    "a link": (with_mesh("link.stl"), "is 'link.stl'"),
    "a linked folder": (with_mesh("foot.stl", 'meshdir="far"'), "is 'far/foot.stl'"),
    "meshdir": (with_mesh("foot.stl", 'meshdir="../meshes"'), "is '../meshes/foot.stl'"),
    "assetdir": (with_mesh("foot.stl", 'assetdir=".."'), "is '../foot.stl'"),
    "an include": (including("../part.xml"), "the file of an include is '../part.xml'"),
    "an include of another case": (including("../part.xml").replace("inc", "Inc"), "an include"),
    "an include in a namespace": (
        including("../part.xml").replace("mujoco>", 'mujoco xmlns="x">', 1),
        "an include",
    ),
    "an include in a folder": (including("parts/out.xml"), "is '../part.xml'"),
    "a model": (attaching("../part.xml"), "the file of model 'part' is '../part.xml'"),
}


@pytest.mark.parametrize("case", WITHIN)
def test_files_in_the_folder_of_a_model_are_read(case: str, robot: Path) -> None:
    (robot / "a.xml").write_text(WITHIN[case])
    assert worlds.load(robot / "a.xml").sizes.ngeom >= 1


@pytest.mark.parametrize("case", OUTSIDE)
def test_files_outside_of_the_folder_of_a_model_are_read_if_that_is_allowed(
    case: str, robot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, said = OUTSIDE[case]
    text = text.replace("{}", str(robot.parent))
    (robot / "a.xml").write_text(text)
    monkeypatch.chdir(robot)  # the folder of a text
    for source in (robot / "a.xml", text):
        with pytest.raises(dt.DatasetError) as caught:
            worlds.load(source)
        assert said in str(caught.value) and "which leads out of" in str(caught.value)
        assert str(caught.value).endswith(
            "Hint: if you trust the model, allow it: worlds.load(..., allow_outside=True)."
        )
    if "namespace" not in case and "case" not in case:  # as only some releases read them
        assert worlds.load(robot / "a.xml", allow_outside=True).sizes.ngeom >= 1


def test_what_mujoco_reads_outside_is_refused_and_all_else_is_read(robot: Path) -> None:
    rng, counts = np.random.default_rng(0), [0, 0]
    roots = ["", "", "", "", f"{robot}/", f"{robot.parent}/", "./", "../"]
    parts = ["meshes", "far", "..", ".", "parts", "robot"]

    def folder() -> str:
        said = "".join(f"{one}/" for one in rng.choice(parts, rng.integers(0, 4)))
        return (rng.choice(roots) + said).replace("/", rng.choice(["/", "/", "/", "\\"]))

    for kind in ["mesh", "include", "include in a folder"] * 25:
        keys = ["meshdir", "assetdir", "texturedir", "strippath"]
        settings = " ".join(
            f'{key}="{rng.choice(["true", "false"]) if key == "strippath" else folder()}"'
            for key in rng.choice(keys, rng.integers(0, 3), replace=False)
        )
        text = with_mesh(folder() + rng.choice(["foot.stl", "foot.stl", "link.stl"]), settings)
        if kind != "mesh":
            text = including(f"{folder()}part.xml")
        (robot / "a.xml").write_text(text)
        if kind == "include in a folder":
            (robot / "parts" / "next.xml").write_text(text)
            (robot / "a.xml").write_text(including("parts/next.xml"))
        try:
            read = mujoco.MjModel.from_xml_path(str(robot / "a.xml"))
        except ValueError:  # there is no such file
            continue
        outside = read.geom_rbound.max() > BEYOND / 3 or (kind != "mesh" and read.ngeom > 1)
        counts[int(outside)] += 1
        try:
            worlds.load(robot / "a.xml")
        except dt.DatasetError:
            assert outside or 'dir=""' in text, text
        else:
            assert not outside, text
    assert min(counts) > 8


def test_meshes_of_urdf_are_read_without_their_path(robot: Path) -> None:
    text = """<robot name="a"><link name="base"><visual><geometry><mesh filename="{}foot.stl"/>
      </geometry></visual></link><link name="arm"><inertial><mass value="1"/><inertia ixx="1"
      iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">
      <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"
      effort="1" velocity="1"/></joint></robot>"""
    for prefix in ("", "package://far/", "package://../../", "../"):
        (robot / "a.urdf").write_text(text.format(prefix))
        assert worlds.load(robot / "a.urdf").sizes.nv == 1
    kept = '<mujoco><compiler strippath="false"/></mujoco><link name="base">'
    for prefix in ("package://../", f"package://{robot.parent}/", "../"):
        (robot / "a.urdf").write_text(text.format(prefix).replace('<link name="base">', kept))
        with pytest.raises(dt.DatasetError, match="leads out of"):
            worlds.load(robot / "a.urdf")


def grid(count: str) -> str:
    return f'<replicate count="{count}" offset="1 0 0"><geom size="0.1"/></replicate>'


HUGE = {
    "replicate": (BALL + grid("100000000"), "has more than 100000 elements, with its replicates"),
    "replicate as a float": (
        BALL + grid("1e8"),
        "has more than 100000 elements, with its replicates",
    ),
    "replicates in each other": (
        BALL + f'<replicate count="9999">{grid("9999")}</replicate>',
        "has more than 100000 elements, with its replicates",
    ),
    "a grid": (
        '<body name="a"><flexcomp name="f" type="grid" count="1000 1000 100"/></body>',
        "has more than 100000 elements, with its replicates",
    ),
    "a height field": (
        '</worldbody><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
        "<worldbody>",
        "has <hfield> with nrow 100000 and ncol 100000; expected 67108864 numbers in all, or fewer",
    ),
    "a texture": (
        '</worldbody><asset><texture name="t" builtin="flat" width="100000" height="100000"/>'
        "</asset><worldbody>",
        "has <texture> with width 100000 and height 100000",
    ),
    "a time step of 0": (f'</worldbody><option timestep="0"/><worldbody>{BALL}', "timestep 0;"),
    "a negative time step": (
        f'</worldbody><option timestep="-1"/><worldbody>{BALL}',
        "has the timestep -1; expected a number above 0",
    ),
    "no time step": (f'</worldbody><option timestep="nan"/><worldbody>{BALL}', "'timestep'"),
    "an impratio of 0": (f'</worldbody><option impratio="0"/><worldbody>{BALL}', "impratio 0;"),
    "entities": (BALL + "&a;", "is not XML"),
    **{
        f"{name} of <size>": (
            f'</worldbody><size {name}="1000000000"/><worldbody>{BALL}',
            f"has <size> with {name} 1000000000; expected 67108864 numbers in all, or fewer",
        )
        for name in ("nuser_body", "nkey", "nuserdata")
    },
    "a sensor": (
        f'{BALL}</worldbody><sensor><user dim="2000000000"/></sensor><worldbody>',
        "has <user> with dim 2000000000",
    ),
}


@pytest.mark.parametrize("case", HUGE)
def test_models_that_are_none_or_huge_are_refused_at_once(case: str) -> None:
    content, said = HUGE[case]
    begin = time.process_time()
    with pytest.raises(ValueError) as caught:
        worlds.load(f"<mujoco><worldbody>{content}</worldbody></mujoco>")
    assert said in str(caught.value)
    assert time.process_time() - begin < 1.0


def test_a_model_that_attaches_itself_is_refused(robot: Path) -> None:
    (robot / "a.xml").write_text(attaching("a.xml"))
    with pytest.raises(dt.DatasetError, match="attaches itself"):
        worlds.load(robot / "a.xml")


def test_models_that_attach_others_many_times_are_counted(robot: Path) -> None:
    (robot / "m0.xml").write_text(INSIDE)
    for k in range(1, 8):
        many = "".join(f'<frame><attach model="m" prefix="a{n}"/></frame>' for n in range(10))
        asset = f'<asset><model name="m" file="m{k - 1}.xml"/></asset>'
        text = f"<mujoco>{asset}<worldbody>{many}</worldbody></mujoco>"
        (robot / f"m{k}.xml").write_text(text)
    with pytest.raises(dt.DatasetError, match="has more than 100000 elements"):
        worlds.load(robot / "m7.xml")


def test_a_document_type_is_refused() -> None:
    text = '<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>'
    with pytest.raises(dt.DatasetError, match="DOCTYPE"):
        worlds.load(text)

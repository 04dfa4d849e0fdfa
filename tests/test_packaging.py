"""Agreement of pyproject.toml with the tree and with the installed packages."""

import re
import sys
from importlib.metadata import entry_points, version
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from difftile.commands.demo import find_demos, source_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_installed_version_is_that_of_the_tree(pyproject: dict[str, Any]) -> None:
    assert version("difftile") == pyproject["project"]["version"]


def test_the_version_has_a_date_in_the_changelog(pyproject: dict[str, Any]) -> None:
    """Under a heading of its own; changes after it are collected under `[Unreleased]`."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", text, re.MULTILINE)
    assert dated[0] == pyproject["project"]["version"]


def test_the_command_is_installed(pyproject: dict[str, Any]) -> None:
    (command,) = entry_points(group="console_scripts", name="difftile")
    assert command.value == pyproject["project"]["scripts"]["difftile"]
    assert callable(command.load())


def test_every_demo_has_a_picture_its_code_and_a_description_in_the_gallery() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    described = " ".join(re.findall(r"^### (.*)", page, re.MULTILINE)).split()
    pictures = dict(re.findall(r"\[!\[([\w-]+)\]\(pictures/\1\.png\)\]\(\.\./(\S+?)\)", page))
    demos = find_demos(ROOT)
    assert set(pictures) == set(demos)
    for name, file in demos.items():
        physics = source_of(file)
        assert pictures[name] == physics.relative_to(ROOT).as_posix()
        links = f"[physics](../{pictures[name]}), [demo](../demos/{file.name}), [more](#"
        assert f"**{name}**: " in page
        assert links in page
        assert name in described
    sizes = {path.stem: path.stat().st_size for path in (ROOT / "docs/pictures").glob("*.png")}
    assert set(sizes) == {*demos, "silhouettes"}
    assert max(sizes.values()) < 50_000


# These are written in the kernel language, whose annotations and operators no type checker knows.
IN_KERNEL_LANGUAGE = {
    "difftile/render",
    "difftile/rotations",
    "difftile/textures",
    "difftile/training",
}


def test_types_are_strict_in_every_package_but_the_backends(pyproject: dict[str, Any]) -> None:
    folders = {path.parent for path in (ROOT / "difftile").glob("*/*.py")}
    packages = {folder.relative_to(ROOT).as_posix() for folder in folders}
    strict = set(pyproject["tool"]["pyright"]["strict"])
    assert packages - strict <= {"difftile/substrate"} | IN_KERNEL_LANGUAGE
    assert {"difftile/*.py", "difftile/substrate/*.py"} <= strict


def test_every_dependency_has_its_reason_on_record(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    needed = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in needed}
    texts = [path.read_text("utf-8") for path in (ROOT / "docs/decisions").glob("0*.md")]
    tables = [text for text in texts if "| Package | Version | Reason |" in text]
    found = [re.findall(r"^\| `([\w-]+)` \|", text, flags=re.MULTILINE) for text in tables]
    assert set(chain(*found)) == names


def test_the_pythons_listed_are_those_supported(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    low, high = map(int, re.findall(r"3\.(\d+)", project["requires-python"]))
    listed = {line for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert listed == {f"Programming Language :: Python :: 3.{n}" for n in range(low, high)}

"""The examples of the documentation run, and the names that it lists exist."""

from __future__ import annotations

import ast
import builtins
import importlib
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import taichi as ti
from PIL import Image

import difftile as dt
from difftile import diagnostics
from difftile.lang import meanings, names
from difftile.ops.table import NAMED
from difftile.ops.vocabulary import Refused

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(p for at in ("*", "recipes/*") for p in sorted((ROOT / "docs").glob(f"{at}.md"))),
]
FENCE = re.compile(r"^```python(?P<kind>[^\n]*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
NEEDED = {
    "torch": ("torch",),
    "jax": ("jax", "optax"),
    "worlds": ("mujoco",),
    "learning": ("mujoco",),
}  # by pages, and by packages of `dt`
MODULES: dict[str, Any] = {
    "": builtins,
    "math": math,
    "ti.math": ti.math,
    "ti.types": ti.types,
    "ti": ti,
    "ti.Matrix": ti.Matrix,
    "dt": dt,
    "np": np,
}


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Return line, kind and text of the examples on a page."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start("text")), found["kind"].strip(), found["text"])
        for found in FENCE.finditer(text)
    ]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of a page are one program; a `python fragment` is not run."""
    for package in NEEDED.get(page.stem, ()):
        pytest.importorskip(package)
    monkeypatch.setenv("DIFFTILE_VIEWER", "null")
    monkeypatch.chdir(tmp_path)  # the files of examples
    namespace: dict[str, Any] = {"np": np, "ti": ti, "dt": dt, "__name__": page.stem}
    for line, kind, text in blocks(page):
        if kind == "fragment":
            ast.parse(text)
            continue
        assert kind == "", f"{page.name}: an example of the kind {kind!r}"
        file = tmp_path / f"{page.stem}_{line}.py"  # kernels need their source in a file
        file.write_text("\n" * line + text, encoding="utf-8")
        source = file.read_text(encoding="utf-8")
        exec(compile(source, str(file), "exec", dont_inherit=True), namespace)
        app = namespace.get("app")  # an error in a step only shows in its picture
        assert not isinstance(app, dt.viewer.App) or app.error is None


def test_pages_with_examples_say_what_those_begin_with() -> None:
    lacking = {
        page.name
        for page in PAGES
        if any(kind == "" for _, kind, _ in blocks(page))
        and "import difftile as dt" not in page.read_text(encoding="utf-8")
    }
    assert not lacking


def test_pictures_of_the_readme_are_there_and_small() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = [ROOT / name for name in re.findall(r"^!\[[^\]]+\]\((\S+)\)$", text, re.MULTILINE)]
    assert len(pictures) == 1
    assert all(picture.stat().st_size < 600_000 for picture in pictures)


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\[(\w+)\]", text)) == set(
        re.findall(r"^\[(\w+)\]: ", text, re.MULTILINE)
    )
    places = re.findall(r"\]\((?!https)([^)#]+)", text)
    assert places
    assert not [place for place in places if not (ROOT / place).exists()]


@pytest.mark.parametrize("page", ["README.md", "docs/gallery.md"])
def test_pages_count_demos_and_recipes(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    demos = [path for path in (ROOT / "demos").glob("*.py") if path.stem != "__init__"]
    counted = {"demos": len(demos), "recipes": len([*(ROOT / "docs" / "recipes").glob("*.md")])}
    found = re.findall(r"\b(\d+) (demos|recipes)\b", text)
    assert found
    assert [f"{number} {noun}" for number, noun in found] == [
        f"{counted[noun]} {noun}" for _, noun in found
    ]


_INVENTED = {"passes/descending.py", "tests/passes/descending.txt"}  # of a recipe


def _described() -> dict[Path, str]:
    """Return the description of the library, and of each package, by the file that holds it."""
    texts = {ROOT / "ARCHITECTURE.md": (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")}
    for path in sorted((ROOT / "difftile").glob("*/__init__.py")):
        texts[path] = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return texts


def test_the_architecture_names_files_that_exist() -> None:
    known = [
        path.relative_to(ROOT) for at in ("difftile", "tests") for path in (ROOT / at).rglob("*")
    ]
    lacking = []
    for page, text in _described().items():
        for name in re.findall(r"`([\w/*]+(?:\.(?:py|pyi|txt|md)|/))`", text):
            if name in _INVENTED or (ROOT / name).exists():
                continue
            if not any(path.match(name.rstrip("/")) for path in known):
                lacking.append(f"{page.relative_to(ROOT)}: {name}")
    assert not lacking


def test_the_architecture_is_short() -> None:
    assert len(_described()[ROOT / "ARCHITECTURE.md"].splitlines()) <= 150


def test_every_demo_gets_a_page_that_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    pages = importlib.import_module("demo_pages")
    texts: dict[str, str] = pages.examples()
    demos = {file.stem for file in (ROOT / "demos").glob("[!_]*.py")}
    assert {name.removesuffix(".py") for name in texts} == demos | {"GALLERY_HEADER.rst"}
    for stem in demos:
        commands = re.findall(r'^run\("difftile demo ([\w-]+)', texts[f"{stem}.py"], re.MULTILINE)
        assert {command.replace("-", "_") for command in commands} == {stem}
        (tmp_path / f"{stem}.rst").touch()
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(gallery/(\w+)\.rst\)", pages.linked(gallery, tmp_path))
    assert sorted(links) == sorted(demos)


def test_pictures_of_a_demo_move_to_its_page_the_animation_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    pages = importlib.import_module("demo_pages")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "PAGES", tmp_path / "pages")
    images, out = tmp_path / "pages" / "images", tmp_path / "build" / "demos" / "wave" / "out"
    for folder in (images, out):
        folder.mkdir(parents=True)
    (images / "wave_old.png").touch()
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("black", "red")]
    for name in ("curve.png", "gradients.png", "strip.png"):
        frames[0].save(out / name)
    frames[0].save(out / "wave.gif", save_all=True, append_images=frames[1:])
    text = pages.scrape((), {"src_file": "wave.py"}, {})
    found = re.findall(r"images/(\S+)", text)
    assert found == ["wave_wave.gif", "wave_strip.png", "wave_gradients.png", "wave_curve.png"]
    assert {file.name for file in images.glob("*.*")} == set(found)
    assert not list(out.iterdir())
    with Image.open(images / "thumb" / "sphx_glr_wave_thumb.png") as thumbnail:
        assert thumbnail.getpixel((200, 140)) == (255, 0, 0)  # the end of the animation


def listed() -> set[str]:
    """Return the functions in the tables of the language's page."""
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    section = text.split("\n## Functions\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    return set(re.findall(r"`([\w.]+)`", "\n".join(row.rsplit(" | ", 1)[1] for row in rows)))


def resolved(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(MODULES[module], attribute)


@pytest.mark.parametrize("name", sorted(listed() - {"dt.rand", "dt.randn", "dt.randint"}))
def test_listed_functions_are_known(name: str) -> None:
    meaning = meanings.meaning_of(resolved(name))
    assert meaning is not None
    assert not isinstance(meaning, Refused)


@pytest.mark.taichi
def test_known_functions_are_listed() -> None:
    known = {
        names.key(getattr(MODULES[module], name)): f"{module}.{name}".strip(".")
        for module in MODULES
        for name in dir(MODULES[module])
        if not name.startswith("_") and not (module == "dt" and name in NEEDED)
    }
    known |= {names.key(getattr(ti.Matrix, name)): f"ti.Matrix.{name}" for name in vars(ti.Matrix)}
    listed_ones = {names.key(resolved(name)) for name in listed()}
    meant = {
        *(names.key(value) for value, _ in (*meanings._OPS, *meanings._SPECIAL)),
        *(names.key(names.resolved(ti, name) or getattr(dt, name)) for name in names.OF_LANGUAGE),
    } - {names.key(getattr(ti, name)) for name in names.SCALAR_NAMES}
    assert not {known[key] for key in meant - listed_ones}


def test_functions_of_rows_and_composites_are_listed() -> None:
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    section = text.split("\n## Functions\n")[1].split("\n## ")[0]
    rest = text.split("dt.unique")[1:]  # it has a section of its own
    assert not [name for name in NAMED if f"`{name}" not in section and name != "dt.unique"]
    assert rest


def test_what_is_said_to_be_refused_is_refused() -> None:
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    section = page.split("\n## Where difftile refuses\n")[1].split("\n## ")[0]
    rows = [line.rsplit(" | ", 1)[1] for line in section.splitlines() if line.startswith("| ")]
    named = re.findall(r"`([^`/]+)`", "\n".join(rows[1:]))
    wrong = "\n".join(file.read_text("utf-8") for file in (ROOT / "tests/wrong").glob("*.txt"))
    assert named
    assert not set(named) - set(re.findall(r"^==== (.*)$", wrong, re.MULTILINE))


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.MULTILINE | re.DOTALL)
    named = {line for table in tables for line in table.splitlines()}
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - named == {"index"}


def exported(file: Path) -> list[str]:
    """Return the public names of a package that may lack what it imports."""
    (names,) = (
        node.value
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return ast.literal_eval(names)


def test_import_of_everything_imports_no_other_library() -> None:
    assert not NEEDED.keys() & set(dt.__all__)


def test_the_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^\.\. auto\w+:: difftile\.([\w.]+)$", page, re.MULTILINE)
    packages = {name for name in dt.__all__ if isinstance(getattr(dt, name), ModuleType)}
    wanted = set(dt.__all__) - packages
    for name in packages - set(named):  # one that is named itself is there whole
        wanted |= {f"{name}.{part}" for part in getattr(dt, name).__all__}
    for name in NEEDED.keys() & set(dir(dt)):
        wanted |= {f"{name}.{part}" for part in exported(ROOT / "difftile" / name / "__init__.py")}
    assert wanted <= set(named)
    assert len(named) == len(set(named))


def test_every_error_is_on_its_page_as_it_is_raised() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    kinds = (dt.DifftileError, Warning)
    named = {
        name
        for name, of in vars(diagnostics).items()
        if isinstance(of, type) and issubclass(of, kinds)
    }
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == named - {"DifftileError"}
    programs = [*(ROOT / "tests" / "wrong").glob("*.txt"), ROOT / "tests/newcomer/habits.txt"]
    wrong = "".join(file.read_text("utf-8") for file in programs)
    shown = re.findall(r"```python fragment\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert shown
    for program, error in shown:
        assert f"{program}----\n{error}" in wrong

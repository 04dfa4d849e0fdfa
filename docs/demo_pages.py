"""The gallery of the documentation: a page for each demo, with its output and pictures.

`examples` makes a script of each demo: its docstring, a line that runs it, its program. From these
sphinx-gallery makes the pages in `docs/gallery/`, running only the scripts that changed since their
last run. `add_links` puts a link to the page below each heading of a demo in `docs/gallery.md`.
"""

import ast
import hashlib
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

os.environ.setdefault("TI_LOG_LEVEL", "error")  # Taichi would log that stdout is captured

import difftile as dt  # first, so that its output on import is not on a page
from difftile.commands.demo import find_demos

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "build" / "examples"  # read by sphinx-gallery
PAGES = ROOT / "docs" / "gallery"  # written by it, and ignored by git
HEADER = """Output and programs
===================

The output of the demos when these pages were built. :doc:`/docs/gallery` leads to them.
"""
PAGE = """{quotes}{name}
{line}

{text}

`Description <../gallery.html#{anchor}>`_
{quotes}

{runs}
# %%
# The program
# -----------
# `{file}`:

{program}"""
RUN = """# sphinx_gallery_start_ignore
# {digest}
from demo_pages import run

# sphinx_gallery_end_ignore
run("{command}")
"""
MORE = """
# %%
# With ``--view window``:

run("{command}")
"""
# Recordings of the interactive demos, in addition to the pictures that they always write.
RECORDED = {
    "cloth": "--record wind.webp --iterations 210",
    "fit-image": "--record painting.webp --iterations 90",
    "fit-splats": "--record knot.webp --iterations 120",
    "mass-spring": "--record learning.webp --iterations 225",
    "wave": "--record pool.webp --iterations 240",
}
NEEDED = {"policy": "torch"}  # packages that are not in the extra `docs`
LAST_LINES = '\n\nif __name__ == "__main__":\n    sys.exit(main())\n'
THUMBNAIL = 400, 280  # pixels
MOVING = ".gif", ".webp"


def examples() -> dict[str, str]:
    """Return the names and texts of the files from which sphinx-gallery makes pages."""
    found = {"GALLERY_HEADER.rst": HEADER}
    for name, file in find_demos(ROOT).items():
        found[file.name] = _example(name, f"demos.{file.stem}")
    return found


def write_examples(app: object, config: object) -> None:
    """Write the examples that changed."""
    EXAMPLES.mkdir(parents=True, exist_ok=True)
    texts = examples()
    for file in EXAMPLES.glob("*.*"):
        if file.name not in texts:
            file.unlink()
    for name, text in texts.items():
        file = EXAMPLES / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _example(name: str, module: str) -> str:
    """Return the script for a demo."""
    source = _file(module).read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    after = source.index('"""', source.index('"""') + 3) + 3
    command = f"difftile demo {name}"
    runs = RUN.format(digest=_digest(module), command=command)
    if name in RECORDED:
        runs += MORE.format(command=f"{command} {RECORDED[name]}")
    if not source.endswith(LAST_LINES):
        raise ValueError(f"{_file(module)} does not end as demos do: {LAST_LINES}")
    return PAGE.format(
        quotes='"""',
        name=name,
        line="=" * len(name),
        text=docstring,
        anchor=_anchor(name),
        runs=runs,
        file=_file(module).relative_to(ROOT).as_posix(),
        program=source[after : -len(LAST_LINES)].strip() + "\n",
    )


def _anchor(name: str) -> str:
    """Return the anchor of a demo on the page of the gallery."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (.*)", page, re.MULTILINE)
    return next(h for h in headings if name in h.split()).lower().replace(" ", "-")


def _file(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _digest(module: str) -> str:
    """Return a hash of a demo and the modules of `demos` and `scenes` that it uses."""
    found = hashlib.sha256()
    for name in sorted(_used(module, set())):
        found.update(_file(name).read_bytes())
    return found.hexdigest()[:16]


def _used(module: str, seen: set[str]) -> set[str]:
    """Add to `seen` a module and the modules of `demos` and `scenes` that it imports."""
    if module in seen:
        return seen
    seen.add(module)
    for node in ast.walk(ast.parse(_file(module).read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(name)):
                imported = [name]
            case ast.Import(names=names):
                imported = [alias.name for alias in names]
            case _:
                continue
        for name in imported:
            if name.split(".")[0] in ("demos", "scenes"):
                _used(name, seen)
    return seen


def run(command: str) -> None:
    """Run a command in a process of its own, as a user would, and print its output.

    Args:
        command: A command line that begins with "difftile demo" and the name of the demo.

    Raises:
        RuntimeError: The command failed; the message is its output on stderr.
    """
    words = shlex.split(command)
    package = NEEDED.get(words[2])
    if package is not None and find_spec(package) is None:
        print(f"{package} was not installed when this page was made.")
        return
    folder = _work(words[2].replace("-", "_"))
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr}")
    print(done.stdout, end="")
    seconds = time.perf_counter() - started
    print(f"{command}: {seconds:.0f} s", file=sys.__stderr__)  # the page shows stdout


def _work(stem: str) -> Path:
    """Return the folder that a demo runs in."""
    return ROOT / "build" / "demos" / stem


def scrape(block: tuple[Any, ...], variables: dict[str, Any], config: dict[str, Any]) -> str:
    """Return reStructuredText with the pictures that a block of a script has written.

    The pictures are moved next to the pages. The first one, or the last frame of the first
    animation, becomes the thumbnail.
    """
    stem = Path(variables["src_file"]).stem
    folder = PAGES / "images"
    lines: list[str] = []
    if "thumbnail" not in variables:  # the first block that ran
        for old in folder.glob(f"{stem}_*"):
            old.unlink()
    for picture in sorted(_pictures(_work(stem)), key=_rank):
        name = f"{stem}_{picture.name}"
        picture.replace(folder / name)
        if not lines and "thumbnail" not in variables:
            variables["thumbnail"] = name
            _save_thumbnail(folder / name, folder / "thumb" / f"sphx_glr_{stem}_thumb.png")
        lines += [f".. image:: images/{name}", f"   :alt: {picture.stem.replace('_', ' ')}", ""]
    return "\n".join(["", *lines, ""])


def _pictures(folder: Path) -> Iterator[Path]:
    for suffix in (".png", *MOVING):
        yield from folder.rglob(f"*{suffix}")


def _rank(picture: Path) -> tuple[int, str]:
    """Return a sort key: animations first, then results, and curves last."""
    if picture.suffix in MOVING:
        return 0, picture.name
    return {"before_after": 1, "strip": 1, "loss": 3, "curve": 3}.get(picture.stem, 2), picture.name


def _save_thumbnail(picture: Path, thumbnail: Path) -> None:
    thumbnail.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(picture) as image:
        image.seek(getattr(image, "n_frames", 1) - 1)
        ImageOps.pad(image.convert("RGB"), THUMBNAIL, color="white").save(thumbnail)


def add_links(app: object, page: str, source: list[str]) -> None:
    """Put a link to its page below each heading of a demo in the gallery."""
    if page == "docs/gallery":
        source[0] = linked(source[0], PAGES)


def linked(text: str, pages: Path) -> str:
    """Return the text of the gallery with links to the existing pages."""
    for name, file in find_demos(ROOT).items():
        if (pages / f"{file.stem}.rst").exists():
            found = f"[Pictures, output and program](gallery/{file.stem}.rst)\n\n"
            pattern = rf"^(### (?:[\w-]+ and )?{name}(?: and [\w-]+)?\n\n)"
            text = re.sub(pattern, rf"\1{found}", text, flags=re.MULTILINE)
    if (pages / "index.rst").exists():
        text += "\n```{toctree}\n:hidden:\n\ngallery/index\n```\n"
    return text


CONFIG = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": str(PAGES.relative_to(ROOT)),
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("demo_pages.scrape",),
    "reset_modules": (),
    "capture_repr": (),
    "doc_module": (dt.__name__,),
    "notebook_extensions": set[str](),
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
}

"""How demos come into the documentation: a page for each, with what it prints and draws.

`examples` makes a script of each demo: its text, a line that runs it, its program. From these
sphinx-gallery makes the pages in `docs/gallery/`, and runs the scripts that are not what they were
when they ran last. The texts of `docs/gallery.md` are its own; `add_pictures` puts a picture below
each of its headings and leads to the page.
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
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

os.environ.setdefault("TI_LOG_LEVEL", "error")  # it notes that stdout goes to a page

import difftile as dt  # now: what it prints when it is imported is on no page

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "build" / "examples"  # what sphinx-gallery reads
PAGES = ROOT / "docs" / "gallery"  # what it writes, which git ignores
HEADER = """The gallery in pictures
=======================

What the demos wrote when these pages were built. :doc:`/docs/gallery` says what they are about.
"""
PAGE = """{quotes}{name}
{line}

{text}

`What it is about, and what to know <../gallery.html#{anchor}>`_
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
# As one sees it with ``--view window``:

run("{command}")
"""
# What is recorded of demos that one can take part in, beside what they write anyway.
RECORDED = {
    "cloth": "--record wind.webp --iterations 210",
    "fit-image": "--record painting.webp --iterations 90",
    "fit-splats": "--record knot.webp --iterations 120",
    "mass-spring": "--record learning.webp --iterations 225",
    "wave": "--record pool.webp --iterations 240",
}
LAST_LINES = '\n\nif __name__ == "__main__":\n    sys.exit(main())\n'
THUMBNAIL = 400, 280  # pixels
MOVING = ".gif", ".webp"


def examples() -> dict[str, str]:
    """Return the files that sphinx-gallery makes pages of: their names and texts."""
    found = {"GALLERY_HEADER.rst": HEADER}
    for demo in entry_points(group="difftile.demos"):
        if demo.module.startswith("demos."):
            found[f"{demo.module.removeprefix('demos.')}.py"] = _example(demo.name, demo.module)
    return found


def write_examples(app: object, config: object) -> None:
    """Write the examples; files that are as they were stay."""
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
    """Return the place on the page of the gallery that is about a demo."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)", page, re.MULTILINE)
    return next(h for h in headings if name in h.split()).lower().replace(" ", "-")


def _file(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _digest(module: str) -> str:
    """Return a number that changes with a demo and with what it uses of `demos` and `scenes`."""
    found = hashlib.sha256()
    for name in sorted(_used(module, set())):
        found.update(_file(name).read_bytes())
    return found.hexdigest()[:16]


def _used(module: str, seen: set[str]) -> set[str]:
    """Add to `seen` a module and what it imports of `demos` and `scenes`."""
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
    """Run a command in a process of its own, as a user would, and print what it prints.

    Args:
        command: It begins with "difftile demo", and the name of the demo.

    Raises:
        RuntimeError: It failed; the message is what it wrote to stderr.
    """
    words = shlex.split(command)
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
    print(f"{command}: {seconds:.0f} s", file=sys.__stderr__)  # stdout is what the page shows


def _work(stem: str) -> Path:
    """Return the folder that a demo runs in."""
    return ROOT / "build" / "demos" / stem


def scrape(block: tuple[Any, ...], variables: dict[str, Any], config: dict[str, Any]) -> str:
    """Return reStructuredText with the pictures that a block of a script has written.

    They are moved beside the pages. The first one becomes the thumbnail: of an animation its end.
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
    """Return what sorts animations to the front, then what was found, and curves to the end."""
    if picture.suffix in MOVING:
        return 0, picture.name
    return {"before_after": 1, "strip": 1, "loss": 3, "curve": 3}.get(picture.stem, 2), picture.name


def _save_thumbnail(picture: Path, thumbnail: Path) -> None:
    thumbnail.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(picture) as image:
        image.seek(getattr(image, "n_frames", 1) - 1)
        ImageOps.pad(image.convert("RGB"), THUMBNAIL, color="white").save(thumbnail)


def add_pictures(app: object, page: str, source: list[str]) -> None:
    """Put a picture and a link to its page below each heading of the gallery."""
    if page == "docs/gallery":
        source[0] = illustrated(source[0], PAGES)


def illustrated(text: str, pages: Path) -> str:
    """Return the text of the gallery with links to the pages, and pictures, that there are."""
    if (pages / "index.rst").exists():
        text = text.replace("\n\n", "\n\n[All of it in pictures](gallery/index.rst).\n\n", 1)
    for demo in entry_points(group="difftile.demos"):
        stem = demo.module.removeprefix("demos.")
        if not (pages / f"{stem}.rst").exists():
            continue
        found = f"[Its pictures, what it printed, and the program](gallery/{stem}.rst)\n\n"
        if any(pages.glob(f"images/{stem}_*")):
            thumbnail = f"gallery/images/thumb/sphx_glr_{stem}_thumb.png"
            found = f"[![{demo.name}]({thumbnail})](gallery/{stem}.rst)\n\n{found}"
        pattern = rf"^(## (?:[\w-]+ and )?{demo.name}(?: and [\w-]+)?\n\n)"
        text = re.sub(pattern, rf"\1{found}", text, flags=re.MULTILINE)
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

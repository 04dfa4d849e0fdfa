"""How Sphinx builds the documentation: `make docs` writes it to build/docs/.

The source folder is the root of the repository, so that the links which README.md, ARCHITECTURE.md
and the pages of docs/ have to each other lead to the same places in the built pages as they do in
the repository. Nothing is fetched from the network. `demo_pages.py` makes the gallery.
"""

import re
import sys
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import cast

sys.path.insert(0, str(Path(__file__).parent))

import demo_pages
from sphinx.application import Sphinx

project = "difftile"
author = copyright = "the difftile authors"
version = release = installed_version("difftile")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".venv", ".git", "build", "out"]  # pruned: they are large and hold no pages
sphinx_gallery_conf = demo_pages.CONFIG
highlight_language = "none"  # for blocks without a language: output of programs
nitpicky = False  # annotations name types, such as arrays of NumPy, that have no page here

myst_heading_anchors = 4  # a heading is `#its-words`, as on the pages of a repository
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes in the text of their class, which may be properties too
default_role = "code"  # docstrings write code between single backticks, as Markdown does
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# `dt.torch` and `dt.jax` are on the page without the libraries that they import.
autodoc_mock_imports = [name for name in ("torch", "jax", "optax") if find_spec(name) is None]
if "torch" in autodoc_mock_imports:
    autodoc_mock_imports.append("difftile.torch.eager_path")  # asks for a class of torch as such
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}  # by its name, not its expansion
suppress_warnings = ["toc.not_included"]  # decisions are in a table; a test finds any other page
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"difftile {release}"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_show_sphinx = False


def as_rst(*about: object) -> None:
    """Turn the Markdown in docstrings into reStructuredText: indented code, and signs."""
    lines = cast("list[str]", about[-1])
    written: list[str] = []
    in_code = False
    for line in lines:
        if not in_code and line.startswith("    ") and written and not written[-1]:
            written += [".. code-block:: python", ""]
            in_code = True
        elif line and not line.startswith(" "):
            in_code = False
        # In text a bar or a star is a sign of arithmetic; between backticks it is as it is anyway.
        parts = [line] if in_code else line.split("`")
        parts[::2] = [re.sub(r"[|*](?=\S)", r"\\\g<0>", part) for part in parts[::2]]
        written.append(line if in_code else "`".join(parts))
    lines[:] = written


def setup(app: Sphinx) -> None:
    """Read docstrings as they are written, before their sections are found."""
    app.connect("autodoc-process-docstring", as_rst, priority=400)
    app.connect("config-inited", demo_pages.write_examples)
    app.connect("source-read", demo_pages.add_links)

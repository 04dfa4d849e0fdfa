"""Run a user's file: as a module, without its part for programs, or as a program."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import CodeType, ModuleType

from difftile.diagnostics import DatasetError
from difftile.files.regular import TEXT, read_bytes

_NAME = "__explained__"  # of a file that is no program: its `__name__`


class Unloaded(Exception):
    """A file that failed; the text says all there is to say, a line or a traceback."""


def load(file: Path, argv: Sequence[str] | None) -> ModuleType:
    """Return the module that a file makes; what it prints goes to stderr.

    Args:
        file: The file. Imports in it are found as in `python FILE`, and if it is in a package also
            as in a module of that.
        argv: Arguments of the program that it is; None to leave out `if __name__ == "__main__":`.

    Raises:
        Unloaded: It is no Python, raised something, or ended with another exit code than 0.
    """
    path = file.resolve()
    code = _compiled(file, path)
    name = _NAME if argv is None else "__main__"
    module = ModuleType(name)
    root, package = _package_of(path)
    module.__file__, module.__package__ = str(path), package
    arguments = [str(file), *(argv or ())]
    with _in_place(module, arguments, root), redirect_stdout(sys.stderr):
        try:
            exec(code, module.__dict__)
        except SystemExit as stop:
            if stop.code not in (None, 0):
                raise Unloaded(f"{file} ended with exit code {stop.code}") from None
        except KeyboardInterrupt:
            if argv is None:
                raise
            print(f"{file} was interrupted: what was launched so far follows.", file=sys.stderr)
        except Exception as error:
            raise Unloaded(_traceback(error, path)) from None
    return module


def _compiled(file: Path, path: Path) -> CodeType:
    try:
        return compile(read_bytes(path, TEXT), str(path), "exec", dont_inherit=True)
    except DatasetError as error:
        raise Unloaded(str(error)) from None
    except (RecursionError, MemoryError):  # of Python's parser
        raise Unloaded(f"{file}: is nested too deeply for Python") from None
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        shown = f": {error.text.strip()}" if error.text else ""
        raise Unloaded(f"{file}{line}: {error.msg}{shown}") from None
    except ValueError as error:  # it holds zeros
        raise Unloaded(f"{file}: {error}") from None


def _package_of(path: Path) -> tuple[Path, str]:
    """Return the folder that imports start from, and the package that a file is in, or ''."""
    parts: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


@contextmanager
def _in_place(module: ModuleType, argv: list[str], root: Path) -> Generator[None]:
    """Make a module the one of its name for a while, with arguments and a folder of imports."""
    before = sys.modules.get(module.__name__), sys.argv, sys.path
    sys.modules[module.__name__] = module
    sys.argv, sys.path = argv, [str(root), *sys.path]
    try:
        yield
    finally:
        old, sys.argv, sys.path = before
        if old is None:
            sys.modules.pop(module.__name__, None)
        else:
            sys.modules[module.__name__] = old


def _traceback(error: Exception, path: Path) -> str:
    """Return the traceback of an error, from the user's file on."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != str(path):
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place)).rstrip()

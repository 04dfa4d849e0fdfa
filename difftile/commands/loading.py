"""Execution of a user's file, as an imported module or as a program."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import CodeType, ModuleType

from difftile.diagnostics import DatasetError
from difftile.files.regular import TEXT, read_bytes

_NAME = "__explained__"  # the `__name__` of an imported file


class Unloaded(Exception):
    """A file failed; the message is a line or a traceback."""


def load(file: Path, argv: Sequence[str] | None) -> ModuleType:
    """Return the module of a file, executed with its stdout redirected to stderr.

    Args:
        file: The file. Its imports are found as in `python FILE`, and relative to its package.
        argv: Arguments of the program; None to import the file, which skips
            `if __name__ == "__main__":`.

    Raises:
        Unloaded: The file is not Python, raised an error, or ended with a nonzero exit code.
    """
    path = file.resolve()
    code = _compiled(file, path)
    name = _NAME if argv is None else "__main__"
    module = ModuleType(name)
    packages: list[str] = []
    root = path.parent
    while (root / "__init__.py").is_file() and root.name.isidentifier():
        packages.insert(0, root.name)
        root = root.parent
    module.__file__, module.__package__ = str(path), ".".join(packages)
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
            print(f"{file} was interrupted; its launches so far are explained.", file=sys.stderr)
        except Exception as error:
            place = error.__traceback__  # from the user's file on
            while place is not None and place.tb_frame.f_code.co_filename != str(path):
                place = place.tb_next
            lines = traceback.format_exception(type(error), error, place)
            raise Unloaded("".join(lines).rstrip()) from None
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
    except ValueError as error:  # it contains zero bytes
        raise Unloaded(f"{file}: {error}") from None


@contextmanager
def _in_place(module: ModuleType, argv: list[str], root: Path) -> Generator[None]:
    """Install a module under its name inside the block, with arguments and a folder of imports."""
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

"""The definition of a line of code in `benchmarks/physics.py`."""

import sys

from benchmarks.code_lines import Code


def marked(function):
    return function


@marked
def program(
    x,
):
    """Not counted,
    nor this."""
    # Nor this.

    y = x  # but this
    text = """a text
    over two lines"""

    def inner():
        """Not counted."""
        return text

    return y, inner


class Holder:
    """Not counted."""

    member = 1


def test_docstrings_comments_and_blank_lines_do_not_count():
    module = sys.modules[__name__]
    assert Code(module, ("program",)).lines() == 10
    assert Code(module, ("program", "Holder")).lines() == 12

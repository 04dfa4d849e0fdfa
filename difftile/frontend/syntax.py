"""Python syntax that the kernel language does not have: names and replacements."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

_LOOP = "write an explicit 'for' over a range."

REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.SetComp: ("set comprehension", _LOOP),
    ast.DictComp: ("dict comprehension", _LOOP),
    ast.GeneratorExp: ("generator expression", _LOOP),
    ast.Lambda: (
        "lambda",
        "define it outside: 'f = lambda a: ...', or a function with '@dt.func'.",
    ),
    ast.Dict: ("dict", "use one local for each value, or a tuple."),
    ast.Set: ("set", "use a tuple."),
    ast.Slice: ("slice", "slices are for vectors and matrices; pick the entries one by one."),
    ast.Starred: ("'*'", "write the values one by one."),
    ast.JoinedStr: ("f-string", "kernels have text in 'print' and 'assert' only."),
    ast.NamedExpr: ("':='", "assign on a line of its own before."),
    ast.Await: ("'await'", "kernels are not asynchronous."),
    ast.Yield: ("'yield'", "store the values in a field."),
    ast.YieldFrom: ("'yield from'", "store the values in a field."),
    ast.Try: ("'try'", "kernels raise no exceptions; test the condition with 'if'."),
    # `except*` came with Python 3.11.
    getattr(ast, "TryStar", ast.Try): (
        "'try'",
        "kernels raise no exceptions; test the condition with 'if'.",
    ),
    ast.Raise: ("'raise'", "kernels raise no exceptions; store a flag in a field."),
    ast.With: ("'with'", "open it in Python around the launch."),
    ast.Delete: ("'del'", "leave it out; locals end with their block."),
    ast.Global: ("'global'", "store the value in a field of shape ()."),
    ast.Nonlocal: ("'nonlocal'", "store the value in a field of shape ()."),
    ast.Import: ("'import' in a kernel", "import at the top of the file."),
    ast.ImportFrom: ("'import' in a kernel", "import at the top of the file."),
    ast.FunctionDef: ("nested function", "define it outside with '@dt.func'."),
    ast.AsyncFunctionDef: ("nested function", "define it outside with '@dt.func'."),
    ast.AsyncFor: ("'async for'", "kernels are not asynchronous."),
    ast.AsyncWith: ("'async with'", "kernels are not asynchronous."),
    ast.ClassDef: ("nested class", "define it outside the kernel."),
    ast.Match: ("'match'", "use 'if' and 'elif'."),
}

LITERALS: dict[type, tuple[str, str]] = {
    complex: ("complex number", "keep real and imaginary part in a 'ti.math.vec2'."),
    bytes: ("bytes", "kernels work on numbers; use a field of 'ti.u8'."),
    type(...): ("'...'", "write the indices: 'x[i]'."),
}

# Attributes of vectors and matrices, which elements of a field have.
OF_ELEMENTS = (
    *"xyzw",
    *("dot", "cross", "outer_product", "norm", "norm_sqr", "norm_inv", "normalized"),
    *("transpose", "trace", "determinant", "inverse"),
)
# Methods of Python's lists that change the length.
OF_LISTS: dict[str, str] = dict.fromkeys(
    ("append", "extend", "insert", "pop", "remove"),
    "lengths are fixed: write '[f(k) for k in range(n)]' with a known n, or store into "
    "'a = dt.local(n)' or a field.",
)
_FROM_PYTHON = "call it from Python, before or after the launch."
_RESHAPED = "make the view in Python, and pass it to the kernel."
# Attributes that a field has in Python, or in another library, and not in a kernel.
ON_THE_HOST: dict[str, str] = {
    **OF_LISTS,
    **dict.fromkeys(
        ("fill", "clear", "to_numpy", "from_numpy", "copy_from", "with_grads", "detach"),
        _FROM_PYTHON,
    ),
    **dict.fromkeys(("copy", "clone", "tolist", "numpy"), _FROM_PYTHON),
    **dict.fromkeys(("view", "reshape", "flatten", "ravel", "broadcast_to"), _RESHAPED),
    **dict.fromkeys(
        ("sum", "mean"), "add in a loop, 'total[None] += x[i]', or call it from Python."
    ),
    **{
        name: f"write 'ti.atomic_{name}(found[None], x[i])' in a loop, or call it from Python."
        for name in ("max", "min")
    },
    "T": "write 'x[j, i]', or pass 'x.transpose(1, 0)' to the kernel.",
    "item": "write 'x[None]', or the index of an element.",
    **dict.fromkeys(
        ("grad", "grad_in", "grad_out"),
        "pass the gradient as a field of its own: 'kernel(x, x.grad)'.",
    ),
    "size": "multiply the entries of 'shape'.",
    "dtype": "a local takes the type of what it is assigned.",
}


def nodes_of(stmt: ast.AST, *kinds: type[ast.AST]) -> Sequence[Any]:
    """Return the nodes of a statement, itself included, of some kinds or all, from the top down.

    They are kept with it: a func is read at each of its calls, and each asks several times.
    """
    kept: Any = stmt
    known: _Nodes | None = getattr(stmt, "nodes_of_difftile", None)
    if known is None:
        known = kept.nodes_of_difftile = _Nodes({(): tuple(ast.walk(stmt))})
    found = known.get(kinds)
    if found is None:
        every: Sequence[ast.AST] = known[()]
        found = known[kinds] = tuple([node for node in every if isinstance(node, kinds)])
    return found


class _Nodes(dict[tuple[type[ast.AST], ...], Sequence[Any]]):
    """The nodes of a statement, by their kinds; all under ()."""

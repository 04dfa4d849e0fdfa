"""The documented derivatives at kinks, as a table made from the rows (docs/kinks.md)."""

from __future__ import annotations

from difftile.ops.composites import COMPOSITES
from difftile.ops.table import OPS

_INTRODUCTION = """\
# Derivatives at kinks

The values that difftile returns where a derivative does not exist, or is infinite. This page is
generated from the table of operations (`difftile/ops`), and each line of it is tested.

`z` is the result of the function, `z_bar` its adjoint. The last column lists the formulas that are
added to the adjoint of each argument. Functions without a formula cut the gradient.
"""

_BRANCHES = """\
A branch, a ternary and a loop follow the path that was taken: `x if x > 0 else 0` has the
derivative 0 at 0, and `x if x >= 0 else 0` has 1. The side that was not taken does not contribute
to the gradient, even where its values are infinite or NaN. Integers, comparisons and casts to
integers carry no derivative. A test such as `if hit:` therefore gives the outline of a shape no
gradient; [silhouettes.md](silhouettes.md) has functions that do.
"""

_DECOMPOSED = """\
## Decompositions

Signs and order follow Taichi where Taichi defines them. `ti.svd` returns singular values in
descending order and a rotation V. For a 2x2 matrix the singular values are not negative and U may
reflect; for a 3x3 matrix U is a rotation and the last singular value has the sign of the
determinant. `ti.polar_decompose` returns U V^T and V S V^T of these factors. `ti.sym_eig` uses the
symmetric part of its matrix; its eigenvalues are in descending order for 2x2 and in ascending order
for 3x3, and its eigenvectors form a rotation. `ti.eig` takes any 2x2 matrix: the eigenvalues are
pairs of a real and an imaginary part, in the rows of a matrix, the larger first; the eigenvectors
are columns of such pairs, of length 1. Where the eigenvalues are equal, the root that splits them
counts as 0, and so does its derivative.

The adjoint of `ti.svd` contains 1 / (s_i - s_j) and 1 / (s_i + s_j), each of which counts as 0
where its divisor is 0 up to rounding errors. At equal singular values this drops the rotation of
both U and V in the plane of the two vectors, which the matrix does not determine; a function of U,
S and V that does not depend on this rotation loses the part of its derivative that comes from it.
The adjoint of `ti.polar_decompose` contains only 1 / (s_i + s_j) and is exact there; prefer it
where the polar factors suffice.
"""

_COMPOSED = """\
## Functions composed of others

These functions are formulas over the functions above, which determine their kinks.
"""


def kink_table() -> str:
    """Return the text of docs/kinks.md."""
    rows = [op for op in OPS.values() if op.kinks]
    lines = [_INTRODUCTION, "| Function | At kinks | Adjoints |", "|---|---|---|"]
    for op in rows:
        arguments = "abc"[: max(len(op.vjp), len(op.domain))]
        formulas = zip(arguments, op.formulas(len(arguments)), strict=True)
        shown = "<br>".join(f"`{name}`: `{text}`" for name, text in formulas if text)
        lines.append(f"| `{op.name}({', '.join(arguments)})` | {op.kinks} | {shown or 'none'} |")
    lines += ["", _BRANCHES, _DECOMPOSED, _COMPOSED, "| Function | Formula |", "|---|---|"]
    lines += [
        f"| `{name}({', '.join(one.parameters)})` | `{one.formula}` |"
        for name, one in COMPOSITES.items()
    ]
    return "\n".join(lines) + "\n"

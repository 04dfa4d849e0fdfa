"""Linear algebra of matrices up to 8x8, for kernels.

Elimination and substitution: Golub and Van Loan, Matrix Computations (4th ed.), algorithms 3.4.1,
3.1.1 to 3.1.4 and 4.2.1. Loops are `while` loops over local matrices, which never run in parallel:
written out, an 8x8 system would be a thousand statements; short loops are unrolled by LLVM.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportReturnType=false, reportOptionalOperand=false

import taichi as ti


@ti.func
def matmul(a, b, dtype: ti.template()):
    """The product of two matrices."""
    n, m, inner = ti.static(a.n, b.m, a.m)
    z = ti.Matrix.zero(dtype, n, m)
    i = 0
    while i < n:
        j = 0
        while j < m:
            total = a[i, 0] * b[0, j]
            k = 1
            while k < inner:
                total += a[i, k] * b[k, j]
                k += 1
            z[i, j] = total
            j += 1
        i += 1
    return z


@ti.func
def _columns(b):
    """A vector as a matrix of one column; a matrix as it is."""
    if ti.static(len(b.get_shape()) == 1):
        return ti.Matrix([[b[i]] for i in ti.static(range(b.n))])
    else:
        return b


@ti.func
def _like(x, b):
    """A matrix of one column as a vector, if b is one."""
    if ti.static(len(b.get_shape()) == 1):
        return ti.Vector([x[i, 0] for i in ti.static(range(b.n))])
    else:
        return x


@ti.func
def _swap_rows(m: ti.template(), i, k, first):
    if i != k:
        j = first
        while j < ti.static(m.m):
            held = m[k, j]
            m[k, j] = m[i, j]
            m[i, j] = held
            j += 1


@ti.func
def _subtract_row(m: ti.template(), i, k, first, factor):
    j = first
    while j < ti.static(m.m):
        m[i, j] -= factor * m[k, j]
        j += 1


@ti.func
def _eliminate(m: ti.template(), x: ti.template()):
    """Bring m to upper triangular form by rows, with partial pivoting, and x along."""
    n = ti.static(m.n)
    k = 0
    while k < n:
        pivot = k
        i = k + 1
        while i < n:
            if ti.abs(m[i, k]) > ti.abs(m[pivot, k]):
                pivot = i
            i += 1
        _swap_rows(m, pivot, k, k)
        _swap_rows(x, pivot, k, 0)
        i = k + 1
        while i < n:
            factor = m[i, k] / m[k, k]
            _subtract_row(m, i, k, k + 1, factor)
            _subtract_row(x, i, k, 0, factor)
            i += 1
        k += 1


@ti.func
def _divide_row(m: ti.template(), i, divisor):
    j = 0
    while j < ti.static(m.m):
        m[i, j] = m[i, j] / divisor
        j += 1


@ti.func
def _forwards(m, x: ti.template()):
    """Replace x by the solution of a lower triangular system."""
    n = ti.static(m.n)
    i = 0
    while i < n:
        k = 0
        while k < i:
            _subtract_row(x, i, k, 0, m[i, k])
            k += 1
        _divide_row(x, i, m[i, i])
        i += 1


@ti.func
def _backwards(m, x: ti.template()):
    """Replace x by the solution of an upper triangular system."""
    n = ti.static(m.n)
    i = n - 1
    while i >= 0:
        k = i + 1
        while k < n:
            _subtract_row(x, i, k, 0, m[i, k])
            k += 1
        _divide_row(x, i, m[i, i])
        i -= 1


@ti.func
def solve(a, b):
    """The x with a @ x = b, a vector or matrix as b is."""
    m, x = a, _columns(b)
    _eliminate(m, x)
    _backwards(m, x)
    return _like(x, b)


@ti.func
def solve_lower(a, b):
    """The x with tril(a) @ x = b."""
    x = _columns(b)
    _forwards(a, x)
    return _like(x, b)


@ti.func
def solve_upper(a, b):
    """The x with triu(a) @ x = b."""
    x = _columns(b)
    _backwards(a, x)
    return _like(x, b)


@ti.func
def inverse(a, dtype: ti.template()):
    """The inverse, up to 3x3 by cofactors."""
    if ti.static(a.n <= 3):
        return a.inverse()
    else:
        return solve(a, ti.Matrix.identity(dtype, a.n))


@ti.func
def cholesky(a, dtype: ti.template()):
    """The lower triangular factor of the symmetric part."""
    n = ti.static(a.n)
    z = ti.Matrix.zero(dtype, n, n)
    i = 0
    while i < n:
        j = 0
        while j <= i:
            rest = (a[i, j] + a[j, i]) / 2
            k = 0
            while k < j:
                rest -= z[i, k] * z[j, k]
                k += 1
            z[i, j] = ti.sqrt(rest) if i == j else rest / z[j, j]
            j += 1
        i += 1
    return z

"""Linear algebra of matrices up to 16x16, for kernels.

Elimination and substitution: Golub and Van Loan, Matrix Computations (4th ed.), algorithms 3.4.1,
3.1.1 to 3.1.4 and 4.2.1. Loops are `while` loops over local matrices, which never run in parallel:
written out, an 8x8 system would be a thousand statements; short loops are unrolled by LLVM.

Matrices are taken by reference unless they are changed: Taichi copies a matrix entry by entry.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-return-type, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

from difftile.substrate.compiler import ti


@ti.func
def _blank(a: ti.template()):
    """A matrix like another, with one number in all entries."""
    number = a[0, 0]
    return ti.Matrix([[number for _ in ti.static(range(a.m))] for _ in ti.static(range(a.n))])


@ti.func
def _set(z: ti.template(), a: ti.template()):
    """Set z to another matrix."""
    i = 0
    while i < ti.static(a.n):
        j = 0
        while j < ti.static(a.m):
            z[i, j] = a[i, j]
            j += 1
        i += 1


@ti.func
def _columns(b: ti.template()):
    """A vector as a matrix of one column; a matrix as it is."""
    if ti.static(len(b.get_shape()) == 1):
        return ti.Matrix([[b[i]] for i in ti.static(range(b.n))])
    else:
        return b


@ti.func
def _like(x: ti.template(), b: ti.template()):
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
def _pivot(m: ti.template(), k):
    """The row of the largest entry of column k that is not above the diagonal."""
    pivot = k
    i = k + 1
    while i < ti.static(m.n):
        if ti.abs(m[i, k]) > ti.abs(m[pivot, k]):
            pivot = i
        i += 1
    return pivot


@ti.func
def _eliminate(m: ti.template(), x: ti.template()):
    """Bring m to upper triangular form by rows, with partial pivoting, and x along."""
    n = ti.static(m.n)
    k = 0
    while k < n:
        pivot = _pivot(m, k)
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
def _forwards(m: ti.template(), x: ti.template()):
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
def _backwards(m: ti.template(), x: ti.template()):
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
def determinant(a: ti.template()):
    """The determinant, by elimination with partial pivoting."""
    n = ti.static(a.n)
    m = a
    total = m[0, 0] * 0 + 1
    k = 0
    while k < n:
        pivot = _pivot(m, k)
        if pivot != k:
            total = -total
        _swap_rows(m, pivot, k, k)
        total *= m[k, k]
        if m[k, k] != 0:
            i = k + 1
            while i < n:
                _subtract_row(m, i, k, k + 1, m[i, k] / m[k, k])
                i += 1
        k += 1
    return total


@ti.func
def _swap_columns(m: ti.template(), j, k):
    if j != k:
        i = 0
        while i < ti.static(m.n):
            held = m[i, k]
            m[i, k] = m[i, j]
            m[i, j] = held
            i += 1


# Results that are handed in: a long one would be copied on its return, entry by entry


@ti.func
def into_matmul(z: ti.template(), a: ti.template(), b: ti.template()):
    """Set z to the product of two matrices."""
    i = 0
    while i < ti.static(a.n):
        j = 0
        while j < ti.static(b.m):
            total = a[i, 0] * b[0, j]
            k = 1
            while k < ti.static(a.m):
                total += a[i, k] * b[k, j]
                k += 1
            z[i, j] = total
            j += 1
        i += 1


@ti.func
def into_transpose(z: ti.template(), a: ti.template()):
    """Set z to the transpose of a matrix."""
    i = 0
    while i < ti.static(a.m):
        j = 0
        while j < ti.static(a.n):
            z[i, j] = a[j, i]
            j += 1
        i += 1


@ti.func
def into_outer(z: ti.template(), a: ti.template(), b: ti.template()):
    """Set z to the outer product of two vectors."""
    i = 0
    while i < ti.static(a.n):
        j = 0
        while j < ti.static(b.n):
            z[i, j] = a[i] * b[j]
            j += 1
        i += 1


@ti.func
def into_solve(z: ti.template(), a: ti.template(), b: ti.template()):
    """Set z to the x with a @ x = b."""
    m = _blank(a)
    _set(m, a)
    _set(z, b)
    _eliminate(m, z)
    _backwards(m, z)


@ti.func
def into_solve_lower(z: ti.template(), a: ti.template(), b: ti.template()):
    """Set z to the x with tril(a) @ x = b."""
    _set(z, b)
    _forwards(a, z)


@ti.func
def into_solve_upper(z: ti.template(), a: ti.template(), b: ti.template()):
    """Set z to the x with triu(a) @ x = b."""
    _set(z, b)
    _backwards(a, z)


@ti.func
def _set_identity(z: ti.template()):
    i = 0
    while i < ti.static(z.n):
        j = 0
        while j < ti.static(z.n):
            z[i, j] = 1 if i == j else 0
            j += 1
        i += 1


@ti.func
def into_inverse(z: ti.template(), a: ti.template()):
    """Set z to the inverse."""
    m = _blank(a)
    _set(m, a)
    _set_identity(z)
    _eliminate(m, z)
    _backwards(m, z)


@ti.func
def into_cholesky(z: ti.template(), a: ti.template()):
    """Set z, which is zero, to the lower triangular factor of the symmetric part."""
    i = 0
    while i < ti.static(a.n):
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


@ti.func
def into_cofactors(z: ti.template(), a: ti.template()):
    """Set z, which is zero, to the cofactors, by the steps of `ops.cofactors`."""
    n = ti.static(a.n)
    last = ti.static(a.n - 1)
    u = _blank(a)
    x = _blank(a)
    _set(u, a)
    _set_identity(x)
    columns = ti.Vector.zero(ti.i32, n)
    factor = u[0, 0] * 0 + 1
    k = 0
    while k < n:
        columns[k] = k
        k += 1
    k = 0
    while k < last:
        row = k
        column = k
        i = k
        while i < n:
            j = k
            while j < n:
                if ti.abs(u[i, j]) > ti.abs(u[row, column]):
                    row = i
                    column = j
                j += 1
            i += 1
        _swap_rows(u, row, k, 0)
        _swap_rows(x, row, k, 0)
        _swap_columns(u, column, k)
        held = columns[k]
        columns[k] = columns[column]
        columns[column] = held
        if (row != k) != (column != k):
            factor = -factor
        factor *= u[k, k]
        if u[k, k] != 0:
            i = k + 1
            while i < n:
                share = u[i, k] / u[k, k]
                _subtract_row(u, i, k, k, share)
                _subtract_row(x, i, k, 0, share)
                i += 1
        k += 1
    i = last - 1
    while i >= 0:
        j = 0
        while j < n:
            x[i, j] = u[last, last] * x[i, j] - u[i, last] * x[last, j]
            j += 1
        k = i + 1
        while k < last:
            _subtract_row(x, i, k, 0, u[i, k])
            k += 1
        _divide_row(x, i, u[i, i])
        i -= 1
    if factor != 0:  # else the rank is below n - 1
        i = 0
        while i < n:
            j = 0
            while j < n:
                z[j, columns[i]] = factor * x[i, j]
                j += 1
            i += 1


# Results that are returned


@ti.func
def matmul(a: ti.template(), b: ti.template(), dtype: ti.template()):
    """The product of two matrices."""
    z = ti.Matrix.zero(dtype, a.n, b.m)
    into_matmul(z, a, b)
    return z


@ti.func
def solve(a: ti.template(), b: ti.template()):
    """The x with a @ x = b, a vector or matrix as b is."""
    m = _blank(a)
    _set(m, a)
    x = _columns(b)
    _eliminate(m, x)
    _backwards(m, x)
    return _like(x, b)


@ti.func
def solve_lower(a: ti.template(), b: ti.template()):
    """The x with tril(a) @ x = b."""
    x = _columns(b)
    _forwards(a, x)
    return _like(x, b)


@ti.func
def solve_upper(a: ti.template(), b: ti.template()):
    """The x with triu(a) @ x = b."""
    x = _columns(b)
    _backwards(a, x)
    return _like(x, b)


@ti.func
def inverse(a: ti.template(), dtype: ti.template()):
    """The inverse, up to 3x3 by cofactors."""
    if ti.static(a.n <= 3):
        return a.inverse()
    else:
        z = ti.Matrix.zero(dtype, a.n, a.n)
        into_inverse(z, a)
        return z


@ti.func
def cholesky(a: ti.template(), dtype: ti.template()):
    """The lower triangular factor of the symmetric part."""
    z = ti.Matrix.zero(dtype, a.n, a.n)
    into_cholesky(z, a)
    return z


@ti.func
def cofactors(a: ti.template(), dtype: ti.template()):
    """The derivative of the determinant."""
    z = ti.Matrix.zero(dtype, a.n, a.n)
    into_cofactors(z, a)
    return z

"""Operations on expressions of Taichi's frontend.

Taichi's own functions check who calls them and with what, keep the place of every operation, and
write operations on vectors out again at each call. The functions here make expressions of arguments
that fit. An expression is computed wherever it is mentioned: one that is mentioned twice is a
variable first.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

from difftile.substrate.compiler import private, ti

core, impl = private.core, private.impl
Expression: TypeAlias = Any  # of Taichi's core
Value: TypeAlias = Any  # an expression, or a Python object: a number, type, list, function ...


def is_expression(value: Value) -> bool:
    """Tell whether a value is computed by the kernel."""
    return isinstance(value, private.Expression)


# The operators of Python by node, as functions of numbers and of expressions.
BINARY: dict[type[ast.operator], tuple[Callable[..., Any], str]] = {
    ast.Add: (operator.add, "expr_add"),
    ast.Sub: (operator.sub, "expr_sub"),
    ast.Mult: (operator.mul, "expr_mul"),
    ast.Div: (operator.truediv, "expr_truediv"),
    ast.FloorDiv: (operator.floordiv, "expr_floordiv"),
    ast.LShift: (operator.lshift, "expr_bit_shl"),
    ast.RShift: (operator.rshift, "expr_bit_sar"),
    ast.BitAnd: (operator.and_, "expr_bit_and"),
    ast.BitOr: (operator.or_, "expr_bit_or"),
    ast.BitXor: (operator.xor, "expr_bit_xor"),
}

COMPARISONS: dict[type[ast.cmpop], tuple[Callable[..., Any], str]] = {
    ast.Eq: (operator.eq, "expr_cmp_eq"),
    ast.NotEq: (operator.ne, "expr_cmp_ne"),
    ast.Lt: (operator.lt, "expr_cmp_lt"),
    ast.LtE: (operator.le, "expr_cmp_le"),
    ast.Gt: (operator.gt, "expr_cmp_gt"),
    ast.GtE: (operator.ge, "expr_cmp_ge"),
}

_FUNCTIONS: list[tuple[Any, str]] = [
    *((getattr(ti, name), f"expr_{name}") for name in ("sin", "cos", "tan", "asin", "acos")),
    *((getattr(ti, name), f"expr_{name}") for name in ("atan2", "tanh", "exp", "log", "pow")),
    *((getattr(ti, name), f"expr_{name}") for name in ("sqrt", "rsqrt", "floor", "ceil", "round")),
    (ti.abs, "expr_abs"),
    (ti.bit_shr, "expr_bit_shr"),
    (ti.raw_div, "expr_div"),
    (ti.raw_mod, "expr_mod"),
    (ti.math.popcnt, "expr_popcnt"),
    (ti.math.clz, "expr_clz"),
]

_ATOMICS: list[tuple[Any, str]] = [
    *(
        (getattr(ti, f"atomic_{n}"), f"expr_atomic_{n}")
        for n in ("add", "sub", "mul", "max", "min")
    ),
    *((getattr(ti, f"atomic_{n}"), f"expr_atomic_bit_{n}") for n in ("and", "or", "xor")),
]

ATOMICS: dict[int, str] = {id(function): name for function, name in _ATOMICS}


class Operations:
    """Makes expressions, and the variables that they need, in the kernel that is being read.

    Args:
        builder: Taichi's builder of the kernel.

    Attributes:
        place: Where the kernel's source is read, for messages of debug mode.
        made: How many expressions there are.
    """

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.place: Any = core.DebugInfo("")
        program: Any = impl.get_runtime().prog
        self.made = 0
        self._config: Any = program.config()
        self._constants: dict[tuple[str, str], Expression] = {}
        self._free: dict[int, Expression] = {}

    # Expressions and variables

    def typed(self, expression: Expression) -> Expression:
        """Return a new expression, whose type is found."""
        self.made += 1
        expression.type_check(self._config)
        return expression

    def of(self, value: Value) -> Expression:
        """Return a value as an expression."""
        if is_expression(value):
            return value
        if isinstance(value, (list, tuple)):
            return self.tensor(value)
        return self.constant(value)

    def constant(self, value: float | int | bool, dtype: Any = None) -> Expression:
        """Return a number in a type, by default the type of a literal."""
        key = ("" if dtype is None else dtype.to_string(), repr(value))
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = private.make_constant_expr(value, dtype).ptr
        return found

    def variable(self, value: Value) -> Value:
        """Declare a variable that starts with a value; a list has one for each of its parts."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.variable(part) for part in value)  # pyrefly: ignore[unknown-argument-type, unknown-variable-type]
        if not (is_expression(value) or isinstance(value, (bool, int, float))):
            return value
        return self.free(self.typed(self.builder.expr_var(self.of(value), self.place)))

    def free(self, expression: Expression) -> Expression:
        """Return an expression that costs nothing to mention, and note that."""
        self._free[id(expression)] = expression
        return expression

    def named(self, value: Value) -> Expression:
        """Return a value as an expression that may be mentioned several times."""
        expression = self.of(value)
        return expression if id(expression) in self._free else self.variable(expression)

    def assign(self, target: Expression, value: Value) -> None:
        """Append an assignment."""
        self.builder.expr_assign(target, self.of(value), self.place)

    # Numbers

    def call(self, name: str, *values: Value) -> Expression:
        """Return a function of the core of values."""
        return self.typed(getattr(core, name)(*map(self.of, values)))

    def binary(self, sign: type[ast.operator], left: Value, right: Value) -> Value:
        """Return the result of an operator between two values."""
        if sign is ast.MatMult:
            return self.matmul(left, right)
        if sign is ast.Mod:
            if not (is_expression(left) or is_expression(right)):
                return left % right
            rounded = self.call("expr_floordiv", left, right)
            return self.call("expr_sub", left, self.call("expr_mul", right, rounded))
        of_numbers, name = BINARY[sign]
        if is_expression(left) or is_expression(right):
            return self.call(name, left, right)
        return of_numbers(left, right)

    def compare(self, sign: type[ast.cmpop], left: Value, right: Value) -> Value:
        """Return a comparison of two values."""
        of_numbers, name = COMPARISONS[sign]
        if is_expression(left) or is_expression(right):
            return self.call(name, left, right)
        return of_numbers(left, right)

    def truth(self, value: Value) -> Value:
        """Return a condition, which may come as an integer."""
        if not is_expression(value) or value.get_rvalue_type() == ti.u1 or value.is_tensor():
            return value
        return self.call("expr_cmp_ne", value, 0)

    def all_of(self, values: Sequence[Value], sign: type[ast.boolop]) -> Value:
        """Return the conjunction or disjunction of conditions, which are all computed."""
        name = "expr_bit_and" if sign is ast.And else "expr_bit_or"
        return reduce(lambda left, right: self.call(name, left, right), map(self.truth, values))

    def negative(self, value: Value) -> Value:
        """Return -value."""
        return self.call("expr_neg", value) if is_expression(value) else -value

    def inverted(self, value: Value) -> Value:
        """Return ~value."""
        return self.call("expr_bit_not", value) if is_expression(value) else ~value

    def opposite(self, value: Value) -> Value:
        """Return the opposite of a condition."""
        return self.call("expr_logic_not", value) if is_expression(value) else not value

    def cast(self, value: Value, dtype: Any) -> Expression:
        """Return a number or tensor in another type."""
        if is_expression(value):
            return self.typed(core.value_cast(value, dtype))
        if isinstance(value, (list, tuple)):
            return self.typed(core.value_cast(self.tensor(value), dtype))
        if dtype == ti.u1:
            return self.constant(bool(value))
        as_float = dtype in (ti.f16, ti.f32, ti.f64)
        return self.constant(float(value) if as_float else int(value), dtype)

    def bit_cast(self, value: Value, dtype: Any) -> Expression:
        """Return the bits of a number as one of another type."""
        return self.typed(core.bits_cast(self.of(value), dtype))

    def select(self, condition: Value, left: Value, right: Value) -> Expression:
        """Return the value that a condition selects, or each condition of a vector."""
        return self.call("expr_select", self.truth(condition), left, right)

    def chosen(self, condition: Value, left: Value, right: Value) -> Value:
        """Return `left if condition else right`, of which only one is computed."""
        if not is_expression(condition):
            return left if condition else right
        return self.call("expr_ifte", self.truth(condition), left, right)

    # Tensors

    def tensor(self, values: Value, dtype: Any = None) -> Expression:
        """Return a vector of numbers, or a matrix of rows."""
        shape = [len(values)]
        if isinstance(values[0], (list, tuple)):
            shape.append(len(values[0]))
            values = [value for row in values for value in row]
        parts = [self.of(value) for value in values]
        if dtype is None:
            dtype = reduce(core.promoted_type, (part.get_rvalue_type() for part in parts))
        return self.typed(self.builder.make_matrix_expr(shape, dtype, parts, self.place))

    def element(self, whole: Expression, index: Sequence[Value]) -> Expression:
        """Return an element of an array, or a component of a tensor."""
        group = core.ExprGroup()
        for i in index:
            group.push_back(self.of(i))
        return self.typed(self.builder.expr_subscript(whole, group, self.place))

    def shape(self, value: Value) -> tuple[int, ...]:
        """Return the shape of a tensor; () of a number."""
        return tuple(value.get_shape()) if value.is_tensor() else ()

    def components(self, value: Value) -> list[Expression]:
        """Return the components of a tensor, in the order of rows."""
        whole = self.named(value)
        return [self.element(whole, index) for index in product(*map(range, self.shape(whole)))]

    def sum(self, value: Value) -> Expression:
        """Return the sum of the components."""
        return self._total(self.components(value))

    def _total(self, values: Sequence[Expression]) -> Expression:
        return reduce(lambda total, value: self.call("expr_add", total, value), values)

    def dot(self, left: Value, right: Value) -> Expression:
        """Return the sum of the products of components."""
        pairs = zip(self.components(left), self.components(right), strict=True)
        return self._total([self.call("expr_mul", *pair) for pair in pairs])

    def norm_sqr(self, value: Value) -> Expression:
        """Return the sum of the squares of the components."""
        value = self.named(value)
        return self.dot(value, value)

    def norm(self, value: Value) -> Expression:
        """Return the Euclidean or Frobenius norm."""
        return self.call("expr_sqrt", self.norm_sqr(value))

    def cross(self, left: Value, right: Value) -> Expression:
        """Return the cross product, a number in the plane."""
        a, b = self.components(left), self.components(right)

        def minor(i: int, j: int) -> Expression:
            first, second = self.call("expr_mul", a[i], b[j]), self.call("expr_mul", a[j], b[i])
            return self.call("expr_sub", first, second)

        return minor(0, 1) if len(a) == 2 else self.tensor([minor(1, 2), minor(2, 0), minor(0, 1)])

    def outer_product(self, left: Value, right: Value) -> Expression:
        """Return the products of each component with each."""
        columns = self.components(right)
        return self.tensor(
            [[self.call("expr_mul", a, b) for b in columns] for a in self.components(left)]
        )

    def determinant(self, matrix: Value) -> Expression:
        """Return the determinant of a matrix up to 4x4."""
        return self._determinant(self._rows(matrix))

    def _determinant(self, rows: Sequence[Sequence[Expression]]) -> Expression:
        """Expand by the first column."""
        if len(rows) == 1:
            return rows[0][0]
        if len(rows) == 2:
            first = self.call("expr_mul", rows[0][0], rows[1][1])
            return self.call("expr_sub", first, self.call("expr_mul", rows[0][1], rows[1][0]))
        total: Expression = None
        for k, row in enumerate(rows):
            minor = [list(other[1:]) for j, other in enumerate(rows) if j != k]
            term = self.call("expr_mul", row[0], self._determinant(minor))
            name = "expr_sub" if k % 2 else "expr_add"
            total = term if total is None else self.call(name, total, term)
        return total

    def inverse(self, matrix: Value) -> Expression:
        """Return the inverse of a matrix up to 3x3, by cofactors."""
        a = self._rows(matrix)
        n = len(a)
        scale = self.named(self.call("expr_truediv", 1.0, self._determinant(a)))

        def cofactor(i: int, j: int) -> Expression:
            """Rows and columns go round, which leaves no sign for three of them."""
            if n == 1:
                return self.constant(1.0)
            if n == 2:
                one = a[1 - i][1 - j]
                return one if i == j else self.call("expr_neg", one)
            i, j, k, m = (i + 1) % 3, (j + 1) % 3, (i + 2) % 3, (j + 2) % 3
            first = self.call("expr_mul", a[i][j], a[k][m])
            return self.call("expr_sub", first, self.call("expr_mul", a[k][j], a[i][m]))

        entries = self.tensor([[cofactor(i, j) for i in range(n)] for j in range(n)])
        return self.call("expr_mul", scale, entries)

    def normalized(self, vector: Value) -> Expression:
        """Return the direction of a vector."""
        vector = self.named(vector)
        return self.call("expr_mul", self.call("expr_truediv", 1, self.norm(vector)), vector)

    def max(self, value: Value) -> Expression:
        """Return the largest component."""
        return reduce(lambda a, b: self.call("expr_max", a, b), self.components(value))

    def columns(self, vectors: Sequence[Value]) -> Expression:
        """Return the matrix that has some vectors as columns."""
        return self.tensor(list(zip(*map(self.components, vectors), strict=True)))

    def zeros(self, dtype: Any, n: int, m: int | None = None) -> Expression:
        """Return a vector or matrix of zeros."""
        zero = self.cast(0, dtype)
        return self.tensor([zero] * n if m is None else [[zero] * m] * n, dtype)

    def _rows(self, matrix: Value) -> list[list[Expression]]:
        matrix = self.named(matrix)
        _, m = self.shape(matrix)
        parts = self.components(matrix)
        return [parts[k : k + m] for k in range(0, len(parts), m)]

    def transpose(self, matrix: Value) -> Expression:
        """Return the transposed matrix."""
        return self.tensor(list(zip(*self._rows(matrix), strict=True)))

    def trace(self, matrix: Value) -> Expression:
        """Return the sum of the diagonal."""
        return self._total([row[k] for k, row in enumerate(self._rows(matrix))])

    def matmul(self, left: Value, right: Value) -> Expression:
        """Return the product of two matrices, of which one may be a vector."""
        left, right = self.named(left), self.named(right)
        if len(self.shape(right)) == 1:
            factor = self.components(right)
            return self.tensor([self._product(row, factor) for row in self._rows(left)])
        columns = list(zip(*self._rows(right), strict=True))
        if len(self.shape(left)) == 1:
            factor = self.components(left)
            return self.tensor([self._product(factor, column) for column in columns])
        rows = self._rows(left)
        return self.tensor([[self._product(row, c) for c in columns] for row in rows])

    def _product(self, row: Sequence[Expression], column: Sequence[Expression]) -> Expression:
        pairs = zip(row, column, strict=True)
        return self._total([self.call("expr_mul", *pair) for pair in pairs])


def _fold(name: str) -> Callable[..., Expression]:
    def folded(to: Operations, *values: Value) -> Expression:
        return reduce(lambda left, right: to.call(name, left, right), values)

    return folded


def _plain(name: str) -> Callable[..., Expression]:
    def call(to: Operations, *values: Value) -> Expression:
        return to.call(name, *values)

    return call


CALLS: dict[int, Callable[..., Value]] = {
    **{id(function): _plain(name) for function, name in _FUNCTIONS},
    id(ti.max): _fold("expr_max"),
    id(ti.min): _fold("expr_min"),
    id(ti.cast): Operations.cast,
    id(ti.bit_cast): Operations.bit_cast,
    id(ti.select): Operations.select,
    id(ti.Vector): Operations.tensor,
    id(ti.Matrix): Operations.tensor,
    id(ti.Matrix.zero): Operations.zeros,
    id(ti.Matrix.cols): Operations.columns,
}
"""The functions of Taichi that are made here, by identity; they take the operations first."""

METHODS: dict[str, Callable[..., Value]] = {
    name: getattr(Operations, name)
    for name in (
        *("sum", "max", "dot", "norm_sqr", "norm", "normalized", "cross", "outer_product"),
        *("transpose", "trace", "determinant", "inverse"),
    )
}
"""The methods of tensors that are made here, by name."""

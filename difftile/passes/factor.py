"""Sums of products with one factor: `A @ u + A @ v` becomes `A @ (u + v)`.

Adjoints are full of them, since each use of a value adds to its adjoint. The common factors that
count are a matrix on the left of `@` and a scalar factor of a vector or matrix, where a product
costs more than a sum.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from difftile.ir.facts import count_uses
from difftile.ir.nodes import Block, Let, Program, Value, Var, is_scalar
from difftile.ir.walk import Substitution, with_blocks, with_operands
from difftile.ops.build import OpBuilder
from difftile.passes.dce import dce
from difftile.records import dataclass

_SUMS = ("add", "sub")


def factor(program: Program) -> Program:
    """Return the program with common factors taken out of sums."""
    body = _Factoring(count_uses(program.body)).block(program.body)
    return dce(replace(program, body=body))


@dataclass(frozen=True, slots=True)
class _Term:
    """One summand: `sign * scalar * (matrix @ value)`, without factors that are None."""

    negative: bool
    scalar: Value | None
    matrix: Value | None
    value: Value


class _Factoring:
    """Rewrites sums; `uses` counts how often each variable is read."""

    def __init__(self, uses: Counter[Var]) -> None:
        self.uses = uses
        self.env = Substitution()

    def block(self, block: Block) -> Block:
        """Return a block with its sums rewritten."""
        b = OpBuilder()
        defs: dict[Var, Let] = {}
        inside = self._inner_sums(block)
        for original in block.stmts:
            stmt = with_operands(original, self.env)
            b.span = stmt.span
            if isinstance(stmt, Let):
                defs[stmt.out] = stmt
                if stmt.op in _SUMS and stmt.out not in inside and not is_scalar(stmt.out):
                    total = self._sum(b, stmt, defs)
                    if total is not None:
                        self.env[stmt.out] = total
                        continue
            b.append(with_blocks(stmt, self.block))
        return Block(b.block().stmts, self.env.all(block.results))

    def _inner_sums(self, block: Block) -> set[Var]:
        """Return the sums that are read only by one other sum or negation of the block."""
        read = {
            v
            for stmt in block.stmts
            if isinstance(stmt, Let) and stmt.op in (*_SUMS, "neg")
            for v in stmt.args
            if isinstance(v, Var)
        }
        return {v for v in read if self.uses[v] == 1}

    def _sum(self, b: OpBuilder, root: Let, defs: dict[Var, Let]) -> Value | None:
        """Append a sum with its factors taken out and return it, or None if it has none."""
        terms = self._terms(root, defs, negative=False)
        groups: dict[tuple[Value | None, Value | None], list[_Term]] = {}
        for term in terms:
            groups.setdefault((term.scalar, term.matrix), []).append(term)
        shared = [g for (s, m), g in groups.items() if len(g) > 1 and not (s is None and m is None)]
        if not shared:
            return None
        total: _Term | None = None
        for (scalar, matrix), group in groups.items():
            first, *rest = group
            for term in rest:
                first = self._added(b, first, term)
            value = first.value
            if matrix is not None:
                value = b.call("matmul", matrix, value)
            if scalar is not None:
                value = b.call("mul", value, scalar)
            whole = _Term(first.negative, None, None, value)
            total = whole if total is None else self._added(b, total, whole)
        assert total is not None
        return b.call("neg", total.value) if total.negative else total.value

    def _added(self, b: OpBuilder, a: _Term, other: _Term) -> _Term:
        """Return the sum of two terms with the same factors."""
        if a.negative == other.negative:
            return replace(a, value=b.call("add", a.value, other.value))
        if a.negative:
            a, other = other, a
        return replace(a, value=b.call("sub", a.value, other.value))

    def _terms(self, let: Let, defs: dict[Var, Let], *, negative: bool) -> list[_Term]:
        """Return the summands of a sum, through parts that are read only here."""
        found: list[_Term] = []
        for k, arg in enumerate(let.args):
            flipped = negative != (let.op == "sub" and k == 1)
            found += self._parts(arg, defs, negative=flipped)
        return found

    def _parts(self, value: Value, defs: dict[Var, Let], *, negative: bool) -> list[_Term]:
        scalar: Value | None = None
        matrix: Value | None = None
        while True:
            let = defs.get(value) if isinstance(value, Var) and self.uses[value] == 1 else None
            if let is None or is_scalar(let.out):
                break
            if let.op == "neg":
                negative, value = not negative, let.args[0]
            elif let.op in _SUMS and scalar is None and matrix is None:
                return self._terms(let, defs, negative=negative)
            elif let.op == "mul" and scalar is None and matrix is None:
                scalars = [a for a in let.args if is_scalar(a)]
                if len(scalars) != 1:
                    break
                (scalar,) = scalars
                value = next(a for a in let.args if a is not scalar)
            elif let.op == "matmul" and matrix is None:
                matrix, value = let.args
            else:
                break
        return [_Term(negative, scalar, matrix, value)]

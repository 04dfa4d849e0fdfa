"""Derivatives of steps by sweeps in any mode, and stretches of launches as linear maps.

A `Sweep` runs steps with derivatives in a `Mode`: tangents along some directions, cotangents, or
both. It is a recorder: it follows a function while it runs, or runs over the steps of a `Pullback`,
which keeps the steps of a function and the contents that they found. With n directions each number
has 2^n parts, the parts of a hyper-dual number (`ir.derived.part_of`), and each part has memory of
its own. A mode translates to a request of a stage, `Tangent(.., Tangent(.., Adjoint(..)))`, and the
roles of the program say where each part is (`stages.py`). With the adjoint, a sweep records the
steps with the tangents of everything that they read, and `pull` runs back through the records; n
directions and the adjoint give derivatives of order n + 1 (decision 118). `active.py` finds which
fields carry derivatives.

Many directions run in one launch: `passes/batch` adds an axis to gradients or tangents
(`directions.py`). Rules of opaque steps are differentiated like any other function, by a sweep
through their launches, unless the step implements `derivative`; a step without a forward rule
pushes tangents by the transpose of its backward (`rules.py`, `transposed.py`).

`derivatives.py` has the products that callers ask for, `flat.py` the same with vectors, and
`local_energies.py` sparse Hessians of sums of local terms (decision 30).
"""

"""Derivatives of functions of fields and arrays, as functions.

A transformation runs a function on fields of its own (`stretch.py`) and asks `linearization` for
products. Inside another transformation, or on a tape, the value is an opaque step (`nested.py`),
and so is each derivative (`nested_steps.py`), whose own derivatives are derivatives of the next
order. The Hessian of a sum of local energies (`sparse_hessian.py`) pushes no directions:
`block_pattern.py` adds the blocks that each iteration computes.
"""

"""Checks of gradients and of rules against finite differences.

`gradcheck` runs a user's function again and again, and must leave no trace. Shadow fields
(`shadow_fields.py`) replace the contents of fields: each storage refers to a copy of its buffer
until the end, and fields change their type with it; kernels forget their prepared launches. A first
run on copies finds the fields that the function touches (`watch.py`); copies of floats are then
widened to double. `evaluator.py` runs the function on a tape, and as a function of one number;
`slopes.py` differentiates that numerically, with an estimate of the error; `probing.py` chooses
directions and entries; `naming.py` finds the names of fields. Memory that an operation of the
library keeps for itself is made inside `with scratch():`; it is copied and widened like any other
memory, but is neither a parameter nor an output.

`rulecheck` maps a func over samples (`samples.py`, `elementwise.py`), so that one launch evaluates
all of them, and compares sample by sample (`pointwise.py`).
"""

"""Python functions to typed programs.

`lower.py` turns a function and the types of its arguments into a program; `parameters.py` says what
each argument is in its body; `statements.py` and `expressions.py` have a handler for each kind of
syntax, and calls a file for each family. Literals have the widest float type among the kernel's
fields (f32 for f16). Captured floats become parameters, captured integers belong to the
specialisation. `break`, `continue` and `return` in loops
become flags, and results of a kernel become hidden fields that Python reads.

A func called from Python is lowered once by itself, to find the types of its results, and then once
for each index of the result (`mapping.py`); a kernel with a `dt.grid` is lowered in the same way
(`threads.py`). Fields that may share elements become one array of the program with an index for
each argument (`field_views.py`).
"""

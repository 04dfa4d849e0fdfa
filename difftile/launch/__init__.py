"""Launches: parsed arguments, programs bound to memory, and prepared launches.

`kinds.py` is the table of argument kinds: a row a kind. The key of a launch has the element type
and the number of dimensions of each field (not its shape), the type of each number, and the
identity of each function; for a part of a field, `x[1:, ::2]`, axes and steps belong to the key,
and starts and sizes are integers of the launch. Arrays of other libraries are fields over their
memory; arguments with elements in common become parts of one field (`overlaps.py`).

A `PreparedLaunch` binds the stages of a specialisation to a set of fields: where their memory is
found, which of them a loop overwrites entirely, and usually the variant are decided once. A later
launch on the same fields only replaces numbers. A `Binding` states for each parameter of a program,
by its role, where its argument comes from; each kind of memory is a `LaunchEnvironment`.
"""

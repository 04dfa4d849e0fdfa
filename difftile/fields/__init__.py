"""Fields: where a program's data lives, with their gradient buffers.

A field consists of three things on three floors (`tests/layers.py` has the table of floors): a
`Storage`, which knows where the contents are now; `Values`, a storage with a shape and gradients;
and a `Field`, values that Python reads and writes (decision 120). A `View` is values and a `Window`
that selects elements of them: versions, pins and gradients belong to the field. `x.view(2, 2)` is a
`Field` over the same `Storage`, passed with another shape. A `DerivedField` is computed from other
fields, as the levels of a texture are from its texels; it is filled again before a launch if a
version of its sources has changed.

`recording.py` holds the recording state of a thread or task: the open recorder, `no_grad`, and an
observer of accesses. Work that must not be recorded runs inside `with Recording():`.

A number that a kernel returns, or that Python reads, is a `Number` while a recorder is open
(`numbers.py`): it knows the field that holds it, or the operation that computes it, so that
gradients pass through arguments of later kernels (decision 26). It is not a float; converting it to
one warns at the user's line (decision 106).

*Shared memory does not move, and no record pins it.* Another library may write memory that it has
lent, or that it has an array of, at any time (`foreign.py`, `export.py`, over DLPack). Code that
needs contents again calls `keep(storage)`, which pins the buffer or a private copy of a shared one.
A recorder compares the contents of a shared field with those after its last use, and refuses
gradients through memory that was changed from outside (decision 47).
"""

"""Programs of other projects, written as a user would, with the values that those projects test.

`docs/outside.md` names the source of each. The modules hold the programs, which
`benchmarks.outside` runs as well; the references are in NumPy.
"""

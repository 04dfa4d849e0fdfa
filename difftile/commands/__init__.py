"""The commands of the command line, one module each, which `difftile.cli` imports on demand.

`doctor`, `explain` and `bench` parse their arguments without importing the language, which starts
only afterwards: in `inspection`, or in separate processes.
"""

"""What the command line runs, a module a command, imported by `difftile.cli` when it is asked for.

`doctor`, `explain` and `bench` understand their arguments without the language, which is imported
after that: by `inspection` here, and by processes of their own.
"""

"""The demos, each against an independent simulation in NumPy."""

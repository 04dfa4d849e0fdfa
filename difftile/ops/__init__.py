"""The table of operations, and building programs from its rows."""

"""Program to program, one file each; `optimise` is the order in which they run."""

"""The physics of the demos: each file stands by itself, to be copied and run."""

"""The shape of each parallel loop, as data: chosen from shapes and costs, applied, printed."""

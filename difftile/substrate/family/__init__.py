"""What Taichi and Quadrants, its fork, have alike: emitted source to code, memory and launches.

The modules here know no compiler by name: they take its package and its private names from
`substrate.compiler`.
"""

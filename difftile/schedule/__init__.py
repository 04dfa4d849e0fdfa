"""The shape of each parallel loop, as data: chosen from shapes and costs, applied, printed.

`finish` prepares a program for its target: it lists its passes, each with the reason for its place.
`choose` decides from shapes, numbers and costs how each parallel loop of a launch runs; `wishes`
replaces these decisions by the steps that users set and `legal` allows. The `Schedule` is plain
data, the key of a compiled variant. `apply` makes the program that is emitted (decision 115). A
step of the code of an iteration on a CPU is a pass with a line in `forms`.

*CPUs.* Each loop is cut into four parts for each thread (decision 39). Below tens of microseconds
of work a serial variant runs, without waking threads and without atomics (`work`, with the costs of
`speed`). Sums into shared elements use atomics, a copy for each thread, or one thread, by costs
measured once on the machine (`scatters`, decision 40). `vector_loops` predicts which loops LLVM
vectorises; in those, functions such as `sin` are polynomials (`vectorise_functions`), and arguments
without a polynomial are found in a first run of the loop (`moderate_arguments`). Loops with indices
that wrap are split at their ends, and loops that load from computed indices run in strips
(`strips`).

*Devices.* A loop has a literal number of threads, which take iterations in strides (`grids`,
decision 42). `device_loops` decides where warps run rows, serial loops become axes, and sums become
loops over their elements (decisions 44, 46 and 116).
"""

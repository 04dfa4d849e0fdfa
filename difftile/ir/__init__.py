"""The typed intermediate representation: types, nodes, traversal, printing, checking, building."""

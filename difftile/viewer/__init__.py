"""Interactive apps: look at a simulation, drag and play, while it goes on."""

"""Programs short enough to read as a tutorial; each runs headless and writes its pictures."""

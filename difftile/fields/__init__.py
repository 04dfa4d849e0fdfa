"""Fields: where a program's data lives, with their gradient buffers."""

"""Windows, pages and files that show what an app draws; GUI libraries are imported here alone."""
